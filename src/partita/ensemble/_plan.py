"""How every submodel of an ensemble is to be fitted: its columns, its seed, the labels it may
see."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support.parallel import one_thread_settings
from .._support.types import Array
from ..tables._table import Table
from ._label_attacks import UNLABELLED, assign_rows, class_positions, numbers_or_gaps


@dataclass(frozen=True)
class Plan:
    """What is settled before the first submodel is fitted. It holds neither table nor labels, so
    that it can travel to where they are.

    Attributes
    ----------
    estimator : what every submodel is a clone of
    columns : the columns of each submodel, the trusted ones among them
    names : what each submodel is, for people
    seed : all randomness comes from this number and the submodel's index
    classes : the labels; empty for regression
    label_attacks : None, "rows" or "labels"
    may_fail : whether a submodel that fails casts a fixed vote
    alone : whether submodels are fitted one at a time, since they share a generator
    as_integers : whether submodels are told labels as positions in ``classes``
    fit_params : sample weights, where there are any
    """

    estimator: Any
    columns: list[list[int]]
    names: list[str]
    seed: int
    classes: Array
    label_attacks: str | None = None
    may_fail: bool = False
    alone: bool = False
    as_integers: bool = False
    fit_params: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns)

    def learnt(self, y: Array) -> Array:
        """The target as submodels are told it: as it is; under label attacks positions in
        ``classes`` (-1: none), or NaN for no number."""
        if not self.label_attacks:
            return y
        return class_positions(y, self.classes) if len(self.classes) else numbers_or_gaps(y)

    def owner(self, n_rows: int) -> Array | None:
        """Under label attacks: the submodel that each row belongs to."""
        return assign_rows(n_rows, len(self), self.seed) if self.label_attacks else None

    def submodel(self, t: int) -> Any:
        """Submodel t, to be fitted."""
        submodel = clone(self.estimator)
        submodel.set_params(**one_thread_settings(submodel), **seeds(submodel, self.seed, t))
        return submodel

    def lesson(
        self, y: Array, owner: Array | None, t: int
    ) -> tuple[Array | None, Array, dict[str, Any]]:
        """The rows that submodel t learns from (None: all), their labels as far as it may see them,
        and its sample weights."""
        params = {
            name: np.array(values) for name, values in self.fit_params.items()
        }  # copies: an estimator may work in place
        if owner is None:
            return None, np.searchsorted(self.classes, y) if self.as_integers else y.copy(), params
        mine = (owner == t) & (y != UNLABELLED if len(self.classes) else np.isfinite(y))
        if self.label_attacks == "labels":
            return None, np.where(mine, y, UNLABELLED) if mine.any() else y[:0], params
        rows = np.flatnonzero(mine)
        labels = self.classes[y[rows]] if len(self.classes) and not self.as_integers else y[rows]
        return rows, labels, {name: values[rows] for name, values in params.items()}

    def job(self, table: Table, y: Array, owner: Array | None, t: int) -> tuple[Any, ...]:
        """What ``fit_one`` needs to know to fit submodel t."""
        rows, labels, params = self.lesson(y, owner, t)
        return (
            self.submodel(t),
            table.take(self.columns[t], rows),
            labels,
            params,
            self.names[t],
            self.may_fail,
        )


def seeds(estimator: Any, seed: int, t: int) -> dict[str, int]:
    """A seed for everything random in submodel t, from the ensemble's seed and t alone."""
    names = [
        name for name in sorted(estimator.get_params()) if name.split("__")[-1] == "random_state"
    ]
    drawn = np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(len(names), dtype=np.uint32)
    return {name: int(number >> 1) for name, number in zip(names, drawn, strict=True)}
