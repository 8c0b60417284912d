"""A federation: parties that are asked for ballots, and the vote that certifies what they answer.

Silence is read from what parties do, so the owner of a party can fake it, and can break it: the
rules for detected silence apply (theory, section 11). No constant of the vote comes from a party:
rule, classes and the ballot of a row in which all are silent are the coordinator's.
"""

import asyncio
import json
import math
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from ..._support import Array, JsonObject, PathLike, read_toml
from ...ballots import Abstentions, Ballots
from ...certificates import Certificates, Counts, recounted
from ...collective import criticality
from ...ensemble import FLOOR
from ...errors import InputError, SoundnessWarning
from ...rules import RULES, Median, Rule, TopK, bounds_around, named_rule, with_silence
from ...workflow import TASKS, check_label_sets
from ._client import (
    Label,
    MalformedReplyError,
    PartyClient,
    Reply,
    ask_all,
    most_bytes,
    read_answer,
)
from ._parties import Party, check_parties

Keys = Sequence[str | int] | Array


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
    No party answers there, and nothing is proven:

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
        classes: Sequence[Label] | Array | None = None,
        rule: str | Rule | None = None,
        timeout: float = 2.0,
        default: Label | None = None,
    ) -> None:
        if isinstance(timeout, bool) or not (
            isinstance(timeout, int | float) and math.isfinite(timeout) and timeout > 0
        ):
            raise InputError(f"timeout is {timeout!r}: it must be a number of seconds above 0")
        self.timeout = float(timeout)
        self.parties = check_parties(parties, self.timeout)
        self.vote = PartyVote([party.name for party in self.parties], classes, rule, default)
        self._clients = [PartyClient(party) for party in self.parties]
        self._identities, self._lock = list(range(len(self.parties))), Lock()

    @property
    def classes(self) -> list[Label] | None:
        """The labels in the order of the scores; None where parties answer with values."""
        return self.vote.classes

    # ---- asking ----

    def ask(self, keys: Keys) -> PartyAnswers:
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

    async def submit(self, keys: Keys) -> PartyAnswers:
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
        replies = await ask_all(self._clients, body, limit, self.timeout)
        # in a thread: reading one answer must not make parties late who answer another question
        return await asyncio.to_thread(self._understood, replies, len(keys))

    def _understood(self, replies: Sequence[Reply], n_rows: int) -> PartyAnswers:
        """Return the replies as ballots; what cannot be read is silence."""
        ballots = self.vote.empty_answers(n_rows)
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

    def ballots(self, keys: Keys) -> Array:
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

    def predict(self, keys: Keys) -> Array:
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
        keys: Keys,
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
    """Say what is wrong if two parties have one identity."""
    return (
        f"the parties {one!r} and {other!r} answered with the same identity and count as one: "
        "list each party once"
    )


def check_keys(keys: object) -> list[str]:
    """Return keys as texts, which is how parties compare them."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Sequence | np.ndarray):
        raise InputError(f"keys is {keys!r}: give a list of keys")
    listed = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if not listed:
        raise InputError("keys is empty: give at least one")
    for i, key in enumerate(listed):
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise InputError(f"key {i} is {key!r}: a key must be a text or a whole number")
    return [str(key) for key in listed]


# ---- the vote ----


class PartyVote:
    """How the ballots of parties decide, and what is proven of it.

    Answers are arrays (rows, parties, classes) or (rows, parties) of values, NaN where a party is
    silent. Equal numbers in ``identities`` are one party; without any, all differ.

    Parameters
    ----------
    names : sequence of str
        The parties.
    classes : sequence or None
        The labels in the order of the scores; None where parties answer with values.
    rule : str, Rule or None
        How ballots decide; None: the tournament, or the median for values.
    default : label or float, optional
        What is predicted where all parties are silent: by default the first class, or 0.
    """

    def __init__(
        self,
        names: Sequence[str],
        classes: Sequence[Label] | Array | None = None,
        rule: str | Rule | None = None,
        default: Label | None = None,
    ) -> None:
        self.names = tuple(names)
        self.classes = None if classes is None else check_classes(classes)
        chosen = named_rule(rule or ("median" if classes is None else "tournament"))
        chosen.check()
        if isinstance(chosen, TopK):
            raise InputError(
                f"rule is {chosen!r}, which cannot decide between parties: use plurality, runoff, "
                "tournament or median"
            )
        if isinstance(chosen, Median) != (self.classes is None):
            raise InputError(
                f"rule is {chosen!r} and classes is {self.classes!r}: parties answer with values "
                "for a median, and with scores for classes for any other rule"
            )
        self._labels = np.empty(len(self.classes or ()), dtype=object)
        self._labels[:] = self.classes or ()
        # None: parties took part in no training table that constants could come from
        self.rule: Any = chosen.resolve(None, self._labels)
        self.default = self._fixed_ballot(default)
        # settings of the rule that do not go with the classes are found before a party is asked
        ballots = self.ballots(np.zeros_like(self.empty_answers(1)))
        self._certify(ballots, self._bounds(ballots, 1.0, None))

    def empty_answers(self, n_rows: int) -> Array:
        """Return answers in which all parties are silent."""
        if self.classes is None:
            return np.full((n_rows, len(self.names)), np.nan)
        return np.full((n_rows, len(self.names), len(self.classes)), np.nan, np.float32)

    def _fixed_ballot(self, default: Label | None) -> Array:
        """Return the ballot of a row in which all parties are silent."""
        if self.classes is None:
            value = 0.0 if default is None else default
            if not isinstance(value, int | float) or not np.isfinite(value):
                raise InputError(f"default is {default!r}: it must be a finite number")
            return np.asarray(float(value))
        label = self.classes[0] if default is None else default
        if label not in self.classes:
            raise InputError(
                f"default is {default!r}, which is not among the classes: give one of "
                f"{', '.join(map(repr, self.classes))}"
            )
        position = self.classes.index(label)
        return np.where(np.arange(len(self.classes)) == position, 0, FLOOR).astype(np.float32)

    def ballots(self, answers: Array, identities: Sequence[int] = ()) -> Ballots:
        """Return answers as ballots."""
        answers = np.asarray(answers)
        silent = silent_parties(answers)
        scores = np.where(silent.reshape(*silent.shape, *[1] * (answers.ndim - 2)), 0, answers)
        absent = Abstentions(silent, self.default, detected=True, units=silent)
        scores = scores.astype(answers.dtype)
        return Ballots(scores, self.rule, abstentions=absent, reach=_reach(identities))

    # ---- certificates ----

    def certify(
        self,
        answers: Array,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Certificates:
        """Decide and certify; the radius counts parties, ``silence`` says what silence cost."""
        ballots = self.ballots(answers, identities)
        bounds = self._bounds(ballots, tolerance, relative)
        proof = self._certify(ballots, bounds)
        proof = with_silence(
            self.names,
            ballots,
            proof,
            proof.prediction,
            lambda filled, rows: self._certify(
                filled, {name: bound[rows] for name, bound in bounds.items()}
            ),
        )
        if self.classes is None:
            return proof
        runner_up = None if proof.runner_up is None else self._labels[proof.runner_up]
        return replace(proof, prediction=self._labels[proof.prediction], runner_up=runner_up)

    def _certify(self, ballots: Ballots, bounds: Mapping[str, Array]) -> Certificates:
        """Certify ballots; predictions are class indexes or values."""
        proof: Certificates = self.rule.certify(ballots, **bounds)
        counts = Counts("parties", proof.counts.total)  # a submodel each, or several
        return recounted(proof, proof.radius, counts, proof.frontier)

    def _bounds(
        self, ballots: Ballots, tolerance: float | None, relative: float | None
    ) -> Mapping[str, Array]:
        """Return where the value of each row must stay; nothing for labels."""
        if self.classes is not None:
            return {}
        middle = np.asarray(self.rule.decide(ballots))
        low, high, _ = bounds_around(middle, tolerance=tolerance, relative=relative)
        return {"lower": low, "upper": high}

    def predict(self, answers: Array) -> Array:
        """Predict labels or values, without certificates."""
        decided = np.asarray(self.rule.decide(self.ballots(answers)))
        return decided if self.classes is None else self._labels[decided]

    def intervals(
        self, answers: Array, identities: Sequence[int] = ()
    ) -> dict[int, tuple[Array, Array]]:
        """Return the lowest and highest value that r parties can cause, by r; none for labels."""
        found: dict[int, tuple[Array, Array]] = {}
        if self.classes is not None:
            return found
        ballots = self.ballots(answers, identities)
        for radius in range(1, len(self.names) + 1):
            low, high = self.rule.interval(ballots, radius)
            if np.isinf(low).all() and np.isinf(high).all():
                break
            found[radius] = (low, high)
        return found

    def label_sets(
        self, answers: Array, largest: int, identities: Sequence[int] = ()
    ) -> dict[int, Array]:
        """Return the labels that r parties can bring about, bool (rows, labels), by r."""
        ballots = self.ballots(answers, identities)
        return {r: self.rule.prediction_set(ballots, r) for r in range(1, largest + 1)}

    def critical(
        self,
        answers: Array,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Array:
        """Return which parties could, each alone, break a row's statement: bool (parties, rows)."""
        own = np.asarray(identities or range(len(self.names)))
        ballots = self.ballots(answers)
        bounds = self._bounds(ballots, tolerance, relative)
        return criticality(ballots, None, own[:, None] == own, **bounds)

    def contradictions(
        self,
        answers: Array,
        proof: Certificates,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> tuple[Array, Array]:
        """Count how often each party votes, and how often against what is certified.

        Only rows with a radius of at least 1 count: there no single party decides what it is
        compared with.
        """
        ballots = self.ballots(answers)
        counted = ~silent_parties(answers) & (np.asarray(proof.radius) >= 1)[:, None]
        votes = np.asarray(self.rule.votes(ballots))
        if bounds := self._bounds(ballots, tolerance, relative):
            agrees = (votes >= bounds["lower"][:, None]) & (votes <= bounds["upper"][:, None])
        else:
            agrees = self._labels[votes] == proof.prediction[:, None]
        return counted.sum(axis=0), (counted & ~agrees).sum(axis=0)


def silent_parties(answers: Array) -> Array:
    """Return who has no ballot: bool (rows, parties)."""
    return np.asarray(np.isnan(answers).reshape(*answers.shape[:2], -1).any(axis=2))


def _reach(identities: Sequence[int]) -> Array | None:
    """Return which party owns which ballots: bool (parties that differ, ballots), or None."""
    own = np.asarray(identities, dtype=np.int64)
    parties = np.unique(own)
    return None if len(parties) == len(own) else parties[:, None] == own


def check_classes(classes: Sequence[Label] | Array) -> list[Label]:
    """Return the labels as JSON holds them, if they are such and differ."""
    listed = np.asarray(classes).tolist() if isinstance(classes, np.ndarray) else list(classes)
    if not listed or not all(type(label) in (str, bool, int, float) for label in listed):
        raise InputError(
            f"classes is {listed!r}: give the labels, as texts, numbers or truth values"
        )
    if len({str(label) for label in listed}) < len(listed):
        raise InputError(f"classes is {listed!r}, in which a label stands twice: give each once")
    return listed


# ---- parties.toml ----

TEXT, NUMBER = (str, "a text"), ((int, float), "a number")
# the entries of the file and of a party: what they must be, where their use does not check it
ENTRIES = {
    "classes": (list, "a list of labels"),
    "timeout": (object, ""),
    "default": (object, ""),
    "tolerance": NUMBER,
    "relative": NUMBER,
    "label_sets": (object, ""),
    "rule": (object, ""),
    "parties": (object, ""),
}
PARTY_ENTRIES = {"name": TEXT, "address": TEXT, "key_file": TEXT, "ca": TEXT}


class PartiesFile(NamedTuple):
    """A federation, and what its answers hold.

    For values: how far a prediction may move and still count as unchanged. For labels: up to how
    many bad parties label sets are listed for.
    """

    federation: Federation
    tolerance: float | None = None
    relative: float | None = None
    label_sets: int = 0


def read_parties(path: PathLike) -> PartiesFile:
    """Read a parties.toml: whom a coordinator asks, and how their ballots decide.

    ::

        classes = ["benign", "malignant"]   # in the order of the parties' scores; none for values
        timeout = 2.0                       # seconds
        default = "benign"                  # where all are silent
        # tolerance = 3.0 or relative = 0.15, for values
        # label_sets = 2, for labels: which of them one and two parties could bring about

        [rule]
        name = "tournament"
        shares = [0.63, 0.37]               # and margin, prior, offset: the rule's own settings

        [[parties]]
        name = "clinic A"
        address = "https://clinic-a.example.org:8001"
        key_file = "clinic-a.key"           # paths begin at this file's folder
        ca = "ca.pem"

    Every entry is checked: a name that is misspelt is an error, not a default.
    """
    place = Path(path)
    where = f"parties {str(place)!r}"
    content = read_toml(place, where)
    _check_entries(content, ENTRIES, where)
    listed = content.get("parties")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{where} names no party: add [[parties]] with a name and an address")
    classes, tolerance, relative = map(content.get, ("classes", "tolerance", "relative"))
    try:
        task = TASKS["regression" if classes is None else "classification"]
        task.check_tolerance(tolerance, relative)
        federation = Federation(
            [_party(entry, place.parent, k) for k, entry in enumerate(listed)],
            classes=classes,
            rule=_rule(content.get("rule")),
            timeout=content.get("timeout", 2.0),
            default=content.get("default"),
        )
        label_sets = content.get("label_sets", 0)
        check_label_sets(label_sets, classes is not None, Counts("parties", len(listed)))
    except InputError as exc:
        raise InputError(f"{where}: {exc}") from exc
    return PartiesFile(federation, tolerance, relative, label_sets)


def _party(entry: object, folder: Path, k: int) -> Party:
    if not isinstance(entry, dict):
        raise InputError("parties must be written as [[parties]], each with a name and an address")
    _check_entries(entry, PARTY_ENTRIES, f"party {k}")
    files = {name: folder / entry[name] for name in ("key_file", "ca") if name in entry}
    return Party(entry.get("name", ""), entry.get("address", ""), **files)


def _rule(entry: object) -> Rule | None:
    """Make a rule from its name, or from a table of its name and settings."""
    if entry is None:
        return None
    given = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(given, dict) or given.get("name") not in RULES:
        raise InputError(f"rule must have a name: one of {', '.join(map(repr, RULES))}")
    settings = {name: value for name, value in given.items() if name != "name"}
    return RULES[given["name"]]().set_params(**settings)


def _check_entries(content: JsonObject, known: Mapping[str, Any], where: str) -> None:
    for name, value in content.items():
        if name not in known:
            raise InputError(
                f"{where} has the entry {name!r}, which is not known: it may have "
                f"{', '.join(known)}"
            )
        kind, meaning = known[name]
        if not isinstance(value, kind) or (known[name] == NUMBER and isinstance(value, bool)):
            raise InputError(f"{where}: {name} is {value!r}: it must be {meaning}")
