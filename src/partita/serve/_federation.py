"""A federation: parties that are asked for ballots, and the vote that certifies what they answer.

The coordinator is trusted, no party is: whatever one of them sends, sends late or does not send
moves its own ballot and no other. Rows never come here, only keys go out and ballots come in.
"""

import asyncio
import json
import math
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any
from warnings import warn

import numpy as np

from .._support import Array
from ..certificates import Certificates
from ..errors import InputError, SoundnessWarning
from ._asking import MalformedReplyError, PartyClient, Reply, ask_all
from ._ballot_answers import most_bytes, read_answer
from ._parties import Party, check_parties
from ._party_vote import PartyVote


@dataclass(frozen=True, eq=False)
class PartyAnswers:
    """What the parties answered to one question.

    Attributes
    ----------
    ballots : array
        float32 (n_keys, n_parties, n_classes), or float64 (n_keys, n_parties) for values; NaN where
        a party is silent.
    reasons : tuple of str
        For each party why it is silent in all rows; empty where it answered.
    seconds : tuple of float
        How long each party took.
    identities : tuple of int
        Equal numbers: answers showed that these are one party, listed more than once. Empty: all
        differ.

    See Also
    --------
    Federation.ask : Returns one.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.serve import PartyAnswers
    >>> PartyAnswers(np.zeros((1, 2, 2)), ("", "the connection was refused"), (0.1, 0.0)).reasons
    ('', 'the connection was refused')
    """

    ballots: Array
    reasons: tuple[str, ...]
    seconds: tuple[float, ...]
    identities: tuple[int, ...] = ()


class Federation:
    """Parties that each hold their own columns and answer with ballots.

    Parameters
    ----------
    parties : sequence of Party
        Whom to ask.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the parties' scores. None: parties answer with values.
    rule : {"plurality", "runoff", "tournament", "median"} or Rule, optional
        How ballots decide; by default the tournament, or the median for values. A tournament knows
        no labels' shares unless you give them (``Tournament(shares=[0.9, 0.1])``): no constant of
        the vote may come from a party.
    timeout : float, default=2.0
        Seconds after which a party that has not answered in full is silent.
    default : label or float, optional
        What is predicted, without a proof, where all parties are silent: by default the first
        class, or 0.

    See Also
    --------
    Party : One of them.
    run : Serve a federation, or one party of it, over HTTP.

    References
    ----------
    Theory, section 11.

    Examples
    --------
    Nobody listens there, and nothing is proven:

    >>> from partita.serve import Federation, Party
    >>> parties = [Party(f"clinic {k}", f"http://127.0.0.1:{k}") for k in (1, 2, 3)]
    >>> federation = Federation(parties, classes=["ill", "well"], rule="plurality")
    >>> proof = federation.certify(["patient 7"])
    >>> proof.prediction.tolist(), proof.radius.tolist()
    (['ill'], [0])
    >>> proof.counts
    Counts(what='parties', total=3, trusted=())
    """

    def __init__(
        self,
        parties: Sequence[Party],
        *,
        classes: Any = None,
        rule: Any = None,
        timeout: float = 2.0,
        default: Any = None,
    ) -> None:
        if isinstance(timeout, bool) or not (
            isinstance(timeout, int | float) and math.isfinite(timeout) and timeout > 0
        ):
            raise InputError(f"timeout is {timeout!r}: it must be a number of seconds above 0")
        self.timeout = float(timeout)
        self.parties = check_parties(parties, self.timeout)
        self.vote = PartyVote([party.name for party in self.parties], classes, rule, default)
        self._lines = [PartyClient(party) for party in self.parties]
        self._identities, self._lock = list(range(len(self.parties))), Lock()

    @property
    def classes(self) -> list[Any] | None:
        """The labels in the order of the scores; None where parties answer with values."""
        return self.vote.classes

    # ---- asking ----

    def ask(self, keys: Sequence[Any]) -> PartyAnswers:
        """Ask all parties at the same time.

        Parameters
        ----------
        keys : sequence of str or int
            Which rows, by the keys that the parties have for them. Every party sees all of them.

        Returns
        -------
        PartyAnswers
            Ballots, and who was silent why.

        Raises
        ------
        InputError
            If there is no key, or one is neither a text nor a whole number.
        """
        # in a thread of its own: the caller's may run an event loop already, as in a notebook
        with ThreadPoolExecutor(1, thread_name_prefix="federation") as thread:
            return thread.submit(asyncio.run, self.submit(keys)).result()

    async def submit(self, keys: Sequence[Any]) -> PartyAnswers:
        """Ask all parties, in an event loop of yours; otherwise like :meth:`ask`.

        Parameters
        ----------
        keys : sequence of str or int
            Which rows.

        Returns
        -------
        PartyAnswers
            Ballots, and who was silent why.
        """
        # one challenge for all: a party that is asked twice answers twice with one identity
        question = {"keys": check_keys(keys), "challenge": secrets.token_hex(32)}
        body = json.dumps(question).encode()
        limit = most_bytes(len(keys), self.classes)
        replies = await ask_all(self._lines, body, limit, self.timeout)
        # in a thread: reading one answer must not make parties late who answer another question
        return await asyncio.to_thread(self._understood, replies, len(keys))

    def _understood(self, replies: Sequence[Reply], n_rows: int) -> PartyAnswers:
        """The replies as ballots; what cannot be read is silence."""
        of_values = self.classes is None
        shape = (
            (n_rows, len(replies)) if of_values else (n_rows, len(replies), len(self.classes or ()))
        )
        ballots = np.full(shape, np.nan, np.float64 if of_values else np.float32)
        reasons = []
        found: dict[str, int] = {}
        for k, reply in enumerate(replies):
            reason = reply.reason
            if reply.content is not None:
                try:
                    ballots[:, k], identity = read_answer(reply.content, n_rows, self.classes)
                    self._merge(found.setdefault(identity, k), k)
                except MalformedReplyError as exc:
                    reason = str(exc)
            reasons.append(reason)
        seconds = tuple(reply.seconds for reply in replies)
        return PartyAnswers(ballots, tuple(reasons), seconds, tuple(self._identities))

    def _merge(self, j: int, k: int) -> None:
        """Count two parties as one from now on: neither may take it back by another answer."""
        with self._lock:
            first, second = sorted((self._identities[j], self._identities[k]))
            if first == second:
                return
            self._identities = [first if own == second else own for own in self._identities]
        names = self.vote.names
        warn(same_party(names[j], names[k]), SoundnessWarning, stacklevel=2)

    # ---- predictions and certificates ----

    def ballots(self, keys: Sequence[Any]) -> Array:
        """Return every party's scores, NaN where it is silent.

        Parameters
        ----------
        keys : sequence of str or int
            Which rows.

        Returns
        -------
        array
            Float32 (n_keys, n_parties, n_classes), or float64 (n_keys, n_parties) for values.
        """
        return self.ask(keys).ballots

    def predict(self, keys: Sequence[Any]) -> Array:
        """Predict labels or values.

        Parameters
        ----------
        keys : sequence of str or int
            Which rows.

        Returns
        -------
        array of shape (n_keys,)
            Labels as ``classes`` has them, or values.
        """
        return self.vote.predict(self.ballots(keys))

    def certify(
        self,
        keys: Sequence[Any],
        *,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> Certificates:
        """Predict each row and compute how many parties must lie to change it.

        Parameters
        ----------
        keys : sequence of str or int
            Which rows, by the keys that the parties have for them.
        tolerance : float, optional
            For values: how far a prediction may move and still count as unchanged.
        relative : float, optional
            The same as a share of the prediction.

        Returns
        -------
        Certificates
            The radius counts parties; those that were shown to be one count once. However many of
            them lie, are late or fall silent, up to the radius, the prediction stays. ``silence``
            says which parties were silent, and what that cost at most.

        Raises
        ------
        InputError
            If a key or a tolerance is not valid.
        """
        answers = self.ask(keys)
        return self.vote.certify(answers.ballots, tolerance, relative, answers.identities)


def same_party(one: str, other: str) -> str:
    """What is wrong if two parties have one identity."""
    return (
        f"the parties {one!r} and {other!r} answered with the same identity and count as one: "
        "list each party once"
    )


def check_keys(keys: Any) -> list[str]:
    """Keys as texts, which is how parties compare them."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Sequence | np.ndarray):
        raise InputError(f"keys is {keys!r}: give a list of keys")
    listed = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if not listed:
        raise InputError("keys is empty: give at least one")
    for i, key in enumerate(listed):
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise InputError(f"key {i} is {key!r}: a key must be a text or a whole number")
    return [str(key) for key in listed]
