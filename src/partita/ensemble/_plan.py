"""The plan of a fit: each submodel's columns, its seed, and the labels it may see.

A submodel must learn nothing but its own columns of the table and the labels it may see: this
module decides both, and hands out copies.
"""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone

from .._support import Array, Estimator, TableLike, one_thread_settings
from ..errors import InputError, SubmodelError
from ..tables import Table
from ._submodels import scores_as_ballots
from ._target import UNLABELLED, assign_rows, class_positions, numbers_or_missing


@dataclass(frozen=True)
class Plan:
    """What is decided before the first submodel is fitted.

    It holds neither table nor labels, so that it can travel to where they are.

    Attributes
    ----------
    estimator : estimator
        What every submodel is a clone of.
    columns : list of list of int
        The columns of each submodel, the trusted ones among them.
    names : list of str
        What each submodel is, for messages.
    seed : int
        All randomness comes from this number and the submodel's index.
    classes : array
        All labels, sorted; empty for regression.
    label_attacks : {None, "rows", "labels"}
        Whether labels may be flipped.
    may_fail : bool
        Whether a submodel that fails casts a fixed vote.
    serial : bool
        Whether submodels are fitted one at a time, because they share a generator.
    as_integers : bool
        Whether submodels learn labels as positions in ``classes``.
    fit_params : dict
        Sample weights, if there are any.
    member_settings : dict
        Parameters of submodels that do not see all columns, beside those of the estimator.
    """

    estimator: Estimator
    columns: list[list[int]]
    names: list[str]
    seed: int
    classes: Array
    label_attacks: str | None = None
    may_fail: bool = False
    serial: bool = False
    as_integers: bool = False
    fit_params: dict[str, Array] = field(default_factory=dict)
    member_settings: dict[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns)

    def encode_target(self, y: Array) -> Array:
        """Return the target as it is, or, under label attacks, encoded without ever raising.

        Labels become positions in ``classes`` (-1: not there), values floats (NaN: not a number).
        """
        if not self.label_attacks:
            return y
        return class_positions(y, self.classes) if len(self.classes) else numbers_or_missing(y)

    def owner(self, n_rows: int) -> Array | None:
        """Return, under label attacks, the submodel that each row belongs to."""
        return assign_rows(n_rows, len(self), self.seed) if self.label_attacks else None

    def submodel(self, t: int) -> Estimator:
        """Return submodel t, not fitted yet: seeded, and held to one thread."""
        submodel = clone(self.estimator)
        if len(self.columns[t]) < len(set().union(*self.columns)):
            submodel.set_params(**self.member_settings)
        submodel.set_params(**one_thread_settings(submodel), **seeds(submodel, self.seed, t))
        return submodel

    def training_rows(
        self, y: Array, owner: Array | None, t: int
    ) -> tuple[Array | None, Array, dict[str, Array]]:
        """Return the rows submodel t learns from, their labels, and its sample weights.

        Rows: None for all. Labels: as far as the submodel may see them. Everything is a copy, since
        an estimator may work in place.
        """
        params = {name: np.array(values) for name, values in self.fit_params.items()}
        if owner is None:
            return None, np.searchsorted(self.classes, y) if self.as_integers else y.copy(), params
        mine = (owner == t) & (y != UNLABELLED if len(self.classes) else np.isfinite(y))
        if self.label_attacks == "labels":
            return None, np.where(mine, y, UNLABELLED) if mine.any() else y[:0], params
        rows = np.flatnonzero(mine)
        labels = self.classes[y[rows]] if len(self.classes) and not self.as_integers else y[rows]
        return rows, labels, {name: values[rows] for name, values in params.items()}

    def fit_arguments(
        self, table: Table, y: Array, owner: Array | None, t: int
    ) -> tuple[Estimator, TableLike, Array, dict[str, Array], str, bool]:
        """Return the arguments of ``fit_one`` for submodel t."""
        rows, labels, params = self.training_rows(y, owner, t)
        X = table.take(self.columns[t], rows)
        return self.submodel(t), X, labels, params, self.names[t], self.may_fail


def seeds(estimator: Estimator, seed: int, t: int) -> dict[str, int]:
    """Return a seed for every random part of submodel t, from the ensemble's seed and t alone."""
    names = [
        name for name in sorted(estimator.get_params()) if name.split("__")[-1] == "random_state"
    ]
    drawn = np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(len(names), dtype=np.uint32)
    return {name: int(number >> 1) for name, number in zip(names, drawn, strict=True)}


# ---- joint training ----
#
# An estimator may have ``fit_submodels(X, y, columns, seeds)``: it is then called once, with the
# whole table, the columns of every submodel and a seed for each, instead of being cloned and fitted
# for every submodel. It returns a sequence with one submodel for each set of columns, whose
# ``scores(X)`` gives log-probabilities (rows, submodels, classes) in the order of its ``classes_``.
#
# Isolating the submodels is then the estimator's part of the proof: a submodel's scores may depend
# on its own columns, the labels and its seed alone, to the last bit.


def trains_jointly(estimator: Estimator) -> bool:
    """Return whether the estimator trains all submodels at once."""
    return hasattr(estimator, "fit_submodels")


def check_joint_settings(plan: Plan, sample_weight: object) -> None:
    """Refuse settings that joint training cannot honour."""
    name = type(plan.estimator).__name__
    if sample_weight is not None:
        raise InputError(
            f"sample_weight cannot reach {name}, which trains all submodels at once: leave it out"
        )
    if plan.label_attacks:
        raise InputError(
            f"label_attacks is not supported with {name}, which trains all submodels on the same "
            "labels: leave it out"
        )
    if plan.may_fail:
        raise InputError(
            f"on_failure='vote' is not supported with {name}, which trains all submodels at once: "
            "use 'raise'"
        )


def fit_jointly(
    estimator: Estimator, table: Table, y: Array, columns: list[list[int]], seed: int
) -> Estimator:
    """Fit one submodel on each set of columns, in one call."""
    seeds = [
        int(np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(1)[0] >> 1)
        for t in range(len(columns))
    ]
    name = type(estimator).__name__
    try:
        fitted = estimator.fit_submodels(table.take_all(), y.copy(), columns, seeds)
    except InputError:
        raise
    except Exception as exc:
        raise SubmodelError(f"{name} could not fit its {len(columns)} submodels: {exc}") from exc
    if len(fitted) != len(columns):
        raise SubmodelError(
            f"{name} gave {len(fitted)} submodels for {len(columns)} sets of columns: one for "
            "each is needed"
        )
    return fitted


def joint_ballots(submodels: Estimator, table: Table, classes: Array) -> Array:
    """Return every submodel's score for every class: float32 (rows, submodels, classes)."""
    scores = np.asarray(submodels.scores(table.take_all()))
    return scores_as_ballots(scores, np.asarray(submodels.classes_), classes)
