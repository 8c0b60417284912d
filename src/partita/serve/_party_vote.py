"""The vote of the parties: ballots in, certificates that count parties out.

Silence is read from what parties do, so whoever owns a party can fake it, and can break it: the
rules for detected silence apply (theory, section 11). Nothing here knows networks, and no constant
of the vote comes from a party: rule, classes and the ballot of a row in which everybody is silent
are the coordinator's.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._support import Array
from ..ballots import Abstentions, Ballots
from ..certificates import Certificates, Counts, recounted
from ..collective import criticality
from ..ensemble import FLOOR
from ..errors import InputError
from ..rules import Median, Rule, TopK, bounds_around, named_rule, with_silence

LABEL_TYPES = (str, bool, int, float)


class PartyVote:
    """How the ballots of parties decide, and what is proven of it.

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
        self, names: Sequence[str], classes: Any = None, rule: Any = None, default: Any = None
    ) -> None:
        self.names = tuple(names)
        self.classes = None if classes is None else check_classes(classes)
        chosen = named_rule(rule or ("median" if classes is None else "tournament"))
        _check_rule(chosen, self.classes)
        labels = np.empty(0) if self.classes is None else self._labels
        # None: parties took part in no training table that constants could come from
        self.rule: Any = chosen.resolve(None, labels)
        self.default = self._fixed_ballot(default)
        self._check_settings()

    @property
    def _labels(self) -> Array:
        assert self.classes is not None
        labels = np.empty(len(self.classes), dtype=object)
        labels[:] = self.classes
        return labels

    def _fixed_ballot(self, default: Any) -> Array:
        """The ballot of a row in which everybody is silent."""
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

    def _check_settings(self) -> None:
        """Find settings of the rule that do not go with the classes before anybody asks."""
        if self.classes is None:
            self.rule.certify(np.zeros((1, len(self.names))), -1.0, 1.0)
        else:
            self.rule.certify(np.zeros((1, len(self.names), len(self.classes)), np.float32))

    def ballots(self, answers: Array, identities: Sequence[int] = ()) -> Ballots:
        """Return answers (rows, parties, ...) as ballots; NaN where a party is silent.

        Of ``identities``, equal numbers are one party; without any, all differ.
        """
        answers = np.asarray(answers)
        silent = silent_parties(answers)
        scores = np.where(silent.reshape(*silent.shape, *[1] * (answers.ndim - 2)), 0, answers)
        absent = Abstentions(silent, self.default, detected=True, units=silent)
        scores = scores.astype(answers.dtype)
        return Ballots(scores, self.rule, abstentions=absent, reach=_reach(identities))

    # ---- certificates ----

    def certify(
        self,
        answers: Any,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Certificates:
        """Decide and certify answers (rows, parties, classes) or (rows, parties) of values.

        NaN where a party is silent. The radius counts parties; ``silence`` says what silence cost.
        """
        ballots = self.ballots(answers, identities)
        proof = self._certify(ballots, tolerance, relative)
        decided = proof.prediction
        proof = with_silence(
            self.names,
            ballots,
            proof,
            decided,
            lambda filled, rows: self._certify(filled, tolerance, relative, decided[rows]),
        )
        if self.classes is None:
            return proof
        runner_up = None if proof.runner_up is None else self._labels[proof.runner_up]
        return replace(proof, prediction=self._labels[proof.prediction], runner_up=runner_up)

    def _certify(
        self,
        ballots: Ballots,
        tolerance: float | None,
        relative: float | None,
        around: Array | None = None,
    ) -> Certificates:
        """Certify ballots; predictions are class indexes or values."""
        if self.classes is None:
            bounds = self._bounds(ballots, tolerance, relative, around)
            proof: Certificates = self.rule.certify(ballots, *bounds)
        else:
            proof = self.rule.certify(ballots)
        counts = Counts("parties", proof.counts.total)  # a submodel each, or several
        return recounted(proof, proof.radius, counts, proof.frontier)

    def bounds(
        self, answers: Array, tolerance: float | None, relative: float | None
    ) -> tuple[Array, Array]:
        """Where the value of each row must stay."""
        return self._bounds(self.ballots(answers), tolerance, relative)

    def _bounds(
        self,
        ballots: Ballots,
        tolerance: float | None,
        relative: float | None,
        around: Array | None = None,
    ) -> tuple[Array, Array]:
        middle = np.asarray(self.rule.decide(ballots)) if around is None else around
        low, high, _ = bounds_around(middle, tolerance=tolerance, relative=relative)
        return low, high

    def predict(self, answers: Array) -> Array:
        """Labels or values, without certificates."""
        decided = np.asarray(self.rule.decide(self.ballots(answers)))
        return decided if self.classes is None else self._labels[decided]

    def intervals(
        self, answers: Array, identities: Sequence[int] = ()
    ) -> dict[int, tuple[Array, Array]]:
        """The lowest and highest value that r parties can bring about, by r; none for labels."""
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

    def critical(
        self,
        answers: Array,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Array:
        """bool (parties, rows): which parties could, each alone, break a row's statement."""
        own = np.asarray(identities or range(len(self.names)))
        ballots, reach = self.ballots(answers), own[:, None] == own
        if self.classes is not None:
            return criticality(ballots, None, reach)
        low, high = self._bounds(ballots, tolerance, relative)
        return criticality(ballots, None, reach, lower=low, upper=high)

    def contradictions(
        self,
        answers: Array,
        proof: Certificates,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> tuple[Array, Array]:
        """How often each party votes, and how often against what is certified.

        Only rows with a radius of at least 1 count: there no single party decides what it is
        compared with.
        """
        ballots = self.ballots(answers)
        counted = ~silent_parties(answers) & (np.asarray(proof.radius) >= 1)[:, None]
        votes = np.asarray(self.rule.votes(ballots))
        if self.classes is None:
            low, high = self._bounds(ballots, tolerance, relative)
            agrees = (votes >= low[:, None]) & (votes <= high[:, None])
        else:
            agrees = self._labels[votes] == proof.prediction[:, None]
        return counted.sum(axis=0), (counted & ~agrees).sum(axis=0)


def silent_parties(answers: Array) -> Array:
    """bool (rows, parties): who has no ballot."""
    return np.asarray(np.isnan(answers).reshape(*answers.shape[:2], -1).any(axis=2))


def _reach(identities: Sequence[int]) -> Array | None:
    """bool (parties that differ, ballots): who owns which; None where each has one."""
    own = np.asarray(identities, dtype=np.int64)
    parties = np.unique(own)
    return None if len(parties) == len(own) else parties[:, None] == own


def check_classes(classes: Any) -> list[Any]:
    """The labels as JSON holds them, if they are such and differ."""
    listed = np.asarray(classes).tolist() if isinstance(classes, np.ndarray) else list(classes)
    if not listed or not all(type(label) in LABEL_TYPES for label in listed):
        raise InputError(
            f"classes is {listed!r}: give the labels, as texts, numbers or truth values"
        )
    if len({str(label) for label in listed}) < len(listed):
        raise InputError(f"classes is {listed!r}, in which a label stands twice: give each once")
    return listed


def _check_rule(rule: Rule, classes: list[Any] | None) -> None:
    rule.check()
    if isinstance(rule, TopK):
        raise InputError(
            f"rule is {rule!r}, which cannot decide between parties: use plurality, runoff, "
            "tournament or median"
        )
    if isinstance(rule, Median) != (classes is None):
        raise InputError(
            f"rule is {rule!r} and classes is {classes!r}: parties answer with values for a "
            "median, and with scores for classes for any other rule"
        )
