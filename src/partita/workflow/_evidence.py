"""What ballots say about the sources themselves: which of them contradict the outcome, row by row.

Evidence comes from ballots alone, so that a service, a file and a table give the same. A row counts
against a submodel only where the outcome does not hang on it: otherwise a source that brings about
a wrong outcome would look innocent, and all others guilty. Nothing here knows what is usual.
"""

from dataclasses import dataclass

import numpy as np

from .._support import Array
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ..partition import Partition
from ..rules import PooledRule, TopK
from ._disagreement import Disagreement
from ._wording import shortened

ALL_SOURCES = "all sources"
SHOWN_UNITS = 3  # of a submodel or group, in its name
LONGEST_NAME = 40


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
    """The units of every source that is watched: of a submodel, of a group, or one each."""
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
    """A short name of every source, told apart by numbers where they must be."""
    names = []
    for own in units:
        shown = ", ".join(shortened(unit, LONGEST_NAME) for unit in own[:SHOWN_UNITS])
        more = f" and {len(own) - SHOWN_UNITS} more" if len(own) > SHOWN_UNITS else ""
        names.append(shown + more)
    if len({*names, ALL_SOURCES}) > len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names)]


def evidence(model: FittedEnsemble, ballots: Ballots) -> Evidence:
    """What ballots say about every source.

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
    found = Disagreement.of(model, ballots)
    of_labels = hasattr(model, "classes_")
    if of_labels:
        proof = model.rule_.certify(ballots)
        together = (proof.radius < 1 + model.gate_).astype(np.float64)
    else:
        low, high = ballots.rule.interval(ballots, 1)
        with np.errstate(over="ignore"):
            together = high - low
    if found is not None:
        score = found.suspect.astype(np.float64)
        counted = np.ones(score.shape, dtype=bool)
    elif of_labels:
        against = model.rule_.votes(ballots) != proof.prediction[:, None]
        score = _by_source(model, against.astype(np.float64))
        # elsewhere the submodel itself may have brought the outcome about
        counted = np.broadcast_to(proof.radius[:, None] >= 1, score.shape)
    else:
        with np.errstate(over="ignore"):
            away = np.abs(model.rule_.votes(ballots) - model.rule_.decide(ballots)[:, None])
        score = _by_source(model, away)
        counted = np.ones(score.shape, dtype=bool)
    measured = np.full(score.shape[1] + 1, not of_labels)
    measured[:-1] &= found is None
    return Evidence(
        np.column_stack([score, together]),
        np.column_stack([counted, np.ones(len(score), dtype=bool)]),
        measured,
    )


def _by_source(model: FittedEnsemble, of_submodels: Array) -> Array:
    """Scores by source: those of submodels, or for overlapping sets a unit's lower median.

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
