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

from .._support.types import Array
from ..certificates import Certificates, Counts, recounted
from ..collective import criticality
from ..ensemble._ballots import FLOOR
from ..errors import InputError
from ..rules import Median, Rule, TopK, named_rule
from ..rules._bounds import bounds_around
from ..rules._silenced import silenced
from ..silence import Silence

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
        self.silenced: Any = silenced(self.rule, True, self._fixed_ballot(default))
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

    # ---- certificates ----

    def certify(
        self,
        ballots: Array,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Certificates:
        """Decide and certify ballots (rows, parties, classes) or (rows, parties) of values.

        NaN where a party is silent. The radius counts parties; ``silence`` says what silence cost.
        Of ``identities``, equal numbers are one party; without any, all differ.
        """
        reach = _reach(identities)
        counts = Counts("parties", len(self.names) if reach is None else len(reach))
        silent = silent_parties(ballots)
        if self.classes is None:
            bounds = self.bounds(ballots, tolerance, relative)
            proof: Certificates = self.silenced.certify(ballots, *bounds, reach=reach)
        else:
            proof = self.silenced.certify(ballots, reach=reach)
        without = np.array(proof.radius)
        rows = np.flatnonzero(silent.any(axis=1))
        if len(rows):
            at_best = self._at_best(
                ballots[rows], silent[rows], proof, rows, tolerance, relative, reach
            )
            without[rows] = np.maximum(without[rows], at_best)
        silence = Silence(
            silent, self.names, silent.sum(axis=1), len(self.names), proof.radius, without, True
        )
        counted = recounted(proof, proof.radius, counts, proof.frontier)  # a submodel each
        labelled = replace(counted, silence=silence)
        if self.classes is None:
            return labelled
        runner_up = None if proof.runner_up is None else self._labels[proof.runner_up]
        return replace(labelled, prediction=self._labels[proof.prediction], runner_up=runner_up)

    def bounds(
        self, ballots: Array, tolerance: float | None, relative: float | None
    ) -> tuple[Array, Array]:
        """Where the value of each row must stay."""
        prediction = np.asarray(self.silenced.decide(ballots))
        low, high, _ = bounds_around(prediction, tolerance=tolerance, relative=relative)
        return low, high

    def _at_best(
        self,
        ballots: Array,
        silent: Array,
        proof: Certificates,
        rows: Array,
        tolerance: float | None,
        relative: float | None,
        reach: Array | None,
    ) -> Array:
        """The radius that rows would have if silent parties sided with the prediction."""
        decided = proof.prediction[rows]
        if self.classes is None:
            centre, stretch = self.rule.centre or 0.0, self.rule.stretch
            value = centre + (decided - centre) / stretch
            filled = np.where(silent, value[:, None], ballots)
            low, high, _ = bounds_around(decided, tolerance=tolerance, relative=relative)
            return np.asarray(self.rule.certify(filled, low, high, reach=reach).radius)
        own = np.where(np.arange(len(self.classes)) == decided[:, None], 0, FLOOR)
        filled = np.where(silent[:, :, None], own[:, None], ballots).astype(np.float32)
        again = self.rule.certify(filled, reach=reach)
        return np.asarray(np.where(again.prediction == decided, again.radius, 0))

    def predict(self, ballots: Array) -> Array:
        """Labels or values, without certificates."""
        decided = np.asarray(self.silenced.decide(ballots))
        return decided if self.classes is None else self._labels[decided]

    def intervals(
        self, ballots: Array, identities: Sequence[int] = ()
    ) -> dict[int, tuple[Array, Array]]:
        """The lowest and highest value that r parties can bring about, by r; none for labels."""
        found: dict[int, tuple[Array, Array]] = {}
        if self.classes is not None:
            return found
        reach = _reach(identities)
        for radius in range(1, len(self.names) + 1):
            low, high = self.silenced.interval(ballots, radius, reach)
            if np.isinf(low).all() and np.isinf(high).all():
                break
            found[radius] = (low, high)
        return found

    def critical(
        self,
        ballots: Array,
        tolerance: float | None = None,
        relative: float | None = None,
        identities: Sequence[int] = (),
    ) -> Array:
        """bool (parties, rows): which parties could, each alone, break a row's statement."""
        own = np.asarray(identities or range(len(self.names)))
        everyone = own[:, None] == own
        if self.classes is not None:
            return criticality(ballots, self.silenced, everyone)
        low, high = self.bounds(ballots, tolerance, relative)
        return criticality(ballots, self.silenced, everyone, lower=low, upper=high)

    def contradictions(
        self,
        ballots: Array,
        proof: Certificates,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> tuple[Array, Array]:
        """How often each party votes, and how often against what is certified.

        Only rows with a radius of at least 1 count: there no single party decides what it is
        compared with.
        """
        silent = silent_parties(ballots)
        counted = ~silent & (np.asarray(proof.radius) >= 1)[:, None]
        votes = np.asarray(self.silenced.votes(ballots))
        if self.classes is None:
            low, high = self.bounds(ballots, tolerance, relative)
            with np.errstate(invalid="ignore"):
                agrees = (votes >= low[:, None]) & (votes <= high[:, None])
        else:
            agrees = self._labels[votes] == proof.prediction[:, None]
        return counted.sum(axis=0), (counted & ~agrees).sum(axis=0)


def silent_parties(ballots: Array) -> Array:
    """bool (rows, parties): who has no ballot."""
    return np.asarray(np.isnan(ballots).reshape(*ballots.shape[:2], -1).any(axis=2))


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
