"""What ballots say about the sources themselves: which of them contradict the outcome, row by row.

Evidence comes from ballots alone, so that a service, a file and a table give the same. A row counts
against a submodel only where the outcome does not hang on it: otherwise a source that brings about
a wrong outcome would look innocent, and all others guilty. Where submodels leave units out, a group
of units is suspect in a row if models agree once it is left out, but never when it is included.
All of this is a hint for people, and no certificate: nothing that is proven depends on it.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from .._support import Array, shortened
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..partition import Partition
from ..rules import Median, PooledLabels, PooledRule, PooledValues, TopK, blocks, supersets

ALL_SOURCES = "all sources"
SHOWN_UNITS = 3  # of a submodel or group, in its name
LONGEST_NAME = 40
# Values agree without a set if they span at most this share of what all models' values span.
NARROWER = 0.5


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Which sets of groups make the models agree if they are left out.

    Attributes
    ----------
    groups : list of lists of str
        The units of each group.
    members_of_sets : bool array of shape (n_sets, n_groups)
        The groups in each set of ``radius`` groups.
    agree : bool array of shape (n_rows, n_sets)
        Whether all models without a set agree on a row.
    contested : bool array of shape (n_rows,)
        Rows on which not all models agree.
    votes : array of shape (n_rows, n_models)
        Every model's label, as an index, or value.
    """

    groups: list[list[str]]
    members_of_sets: Array
    agree: Array
    contested: Array
    votes: Array

    @classmethod
    def of(cls, model: FittedEnsemble, ballots: Ballots) -> "Self | None":
        """Compare the models of an ensemble; None where its submodels do not leave units out."""
        rule = model.rule_
        if not isinstance(rule, PooledRule) or ballots.abstentions is not None:
            return None  # with silent groups, models differ in what they may still see
        if isinstance(rule, PooledLabels):
            votes = rule.model_votes(ballots)
            agree = ~rule.breakable(ballots, rule.radius)
            contested = np.asarray(~agree.all(axis=1))
        else:
            votes = rule.model_values(ballots)  # type: ignore[attr-defined]
            contested = np.asarray(votes.max(axis=1) > votes.min(axis=1))
            agree = _narrower(votes, supersets(rule.n_groups, rule.radius, 2 * rule.radius))
        sets = list(combinations(range(rule.n_groups), rule.radius))
        inside = np.array([[g in chosen for g in range(rule.n_groups)] for chosen in sets])
        return cls(source_units(model), inside, agree, contested, votes)

    @property
    def unsettled(self) -> Array:
        """Rows on which models disagree, whatever is left out."""
        return np.asarray(~self.agree.any(axis=1))

    @cached_property
    def agree_without(self) -> Array:
        """bool (rows, groups): contested rows on which models agree without a set with a group."""
        return self._some_set(self.members_of_sets) & self.contested[:, None]

    @cached_property
    def suspect(self) -> Array:
        """bool (rows, groups): contested rows on which models agree only without a group."""
        return self.agree_without & ~self._some_set(~self.members_of_sets)

    def _some_set(self, chosen: Array) -> Array:
        """bool (rows, groups): whether models agree without some set that is chosen for a group."""
        return np.asarray(self.agree.astype(np.float32) @ chosen.astype(np.float32) > 0)


def _narrower(values: Array, models_of: Array) -> Array:
    """Return whether the values of the models without each set span less than all: (rows, sets)."""
    found = np.empty((len(values), len(models_of)), dtype=bool)
    with np.errstate(over="ignore"):
        spans = values.max(axis=1) - values.min(axis=1)
        for rows in blocks(len(values), models_of.size):
            own = values[rows][:, models_of]
            found[rows] = own.max(axis=2) - own.min(axis=2) <= NARROWER * spans[rows, None]
    return found


@dataclass(frozen=True, eq=False)
class Evidence:
    """How far each source is from the outcome of each row; the last column is all sources together.

    Attributes
    ----------
    score : float array of shape (n_rows, n_sources + 1)
        A source contradicts a row if its score is above the source's threshold. For labels: 1 where
        it contradicts, else 0. For values: the distance from the prediction. For all sources
        together: 1 where nothing is certified, or the width that one source can bring about.
    counted : bool array of the same shape
        Rows in which the score says something about the source.
    measured : bool array of shape (n_sources + 1,)
        Which scores are distances, whose threshold must be learnt; the threshold of others is 0.
    """

    score: Array
    counted: Array
    measured: Array

    def contradicts(self, thresholds: Array) -> Array:
        """bool (rows, sources + 1): counted rows in which a source is above its threshold."""
        return np.asarray((self.score > thresholds) & self.counted)


def source_units(model: FittedEnsemble) -> list[list[str]]:
    """Return the units of every source: of a group, of a submodel, or one each."""
    names = model.units_.names
    if isinstance(model.rule_, PooledRule):
        owner = model.rule_.unit_groups()
        return [
            [names[unit] for unit in np.flatnonzero(owner == group)]
            for group in range(model.rule_.n_groups)
        ]
    if isinstance(model.partition_, Partition):
        return [[names[unit] for unit in units] for units in model.partition_]
    return [[name] for name in names]


def source_names(units: list[list[str]]) -> list[str]:
    """Return a short name of every source, with its number where names repeat."""
    names = []
    for own in units:
        shown = ", ".join(shortened(unit, LONGEST_NAME) for unit in own[:SHOWN_UNITS])
        more = f" and {len(own) - SHOWN_UNITS} more" if len(own) > SHOWN_UNITS else ""
        names.append(shown + more)
    if len({*names, ALL_SOURCES}) > len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names)]


def evidence(model: FittedEnsemble, ballots: Ballots) -> Evidence:
    """Return how far every source is from the outcome of each row.

    Parameters
    ----------
    model : ensemble
        Fitted.
    ballots : Ballots
        Of its submodels, for any rows.
    """
    if isinstance(model.rule_, TopK):
        raise InputError(
            "the model's rule is TopK, which has no single outcome that a source could "
            "contradict: use another rule"
        )
    disagreement = Disagreement.of(model, ballots)
    of_labels = model.task == "classification"
    if of_labels:
        proof = model.rule_.certify(ballots)
        together = (proof.radius < 1 + model.gate_).astype(np.float64)
    else:
        assert isinstance(model.rule_, Median | PooledValues)
        low, high = model.rule_.interval(ballots, 1)
        with np.errstate(over="ignore"):
            together = high - low
    always = np.ones((len(ballots), 1), dtype=bool)
    counts = always
    if disagreement is not None:
        score = disagreement.suspect.astype(np.float64)
    elif of_labels:
        against = model.rule_.votes(ballots) != proof.prediction[:, None]
        score = _by_source(model, against.astype(np.float64))
        # elsewhere the submodel itself may have brought the outcome about
        counts = proof.radius[:, None] >= 1
    else:
        with np.errstate(over="ignore"):
            away = np.abs(model.rule_.votes(ballots) - model.rule_.decide(ballots)[:, None])
        score = _by_source(model, away)
    measured = np.full(score.shape[1] + 1, not of_labels)
    measured[:-1] &= disagreement is None
    counted = np.hstack([np.broadcast_to(counts, score.shape), always])
    return Evidence(np.column_stack([score, together]), counted, measured)


def _by_source(model: FittedEnsemble, of_submodels: Array) -> Array:
    """Return scores by source: of submodels, or for overlapping sets a unit's lower median.

    A unit contradicts the outcome if more than half of its submodels do.
    """
    if isinstance(model.partition_, Partition):
        return of_submodels
    reach = np.asarray(model.partition_.incidence())
    found = np.empty((len(of_submodels), len(reach)))
    for unit, own in enumerate(reach):
        scores = np.sort(of_submodels[:, own], axis=1)
        # above any threshold exactly if more than half of the unit's submodels are
        found[:, unit] = scores[:, (scores.shape[1] - 1) // 2]
    return found
