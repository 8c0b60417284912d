"""A partition that deals out information evenly, learnt from rows that the user declares trusted."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .boosting import encode_alone, table_columns
from .errors import InputError
from .exchange import exchanged, features_of
from .guard import tell
from .partition import AUTO_SUBMODELS, Partition
from .sources import Table, open_table
from .units import Units

Array = NDArray[Any]


class Informed:
    """Order the units by what they tell about the target and deal them out in a snake: 1..T, T..1, ...

    Certificates are largest when all submodels are about equally good. What a unit tells is the mutual information of its best column with
    the target, on reference rows that no attacker could touch (an audited snapshot, say). So the partition depends on trusted data
    only, and every proof stands. The reference must not be rows of the training table.

    Parameters
    ----------
    X_ref : table with the columns of the training table
    y_ref : its targets
    exchanges : int, default=0
        Then try so many exchanges of units between submodels, and keep those after which linear models on the submodels' units predict
        reference rows that are left out better: units that tell different things come together. 3,000 take seconds for 100 units.
    """

    def __init__(self, X_ref: Any, y_ref: Any, exchanges: int = 0) -> None:
        self.X_ref = X_ref
        self.y_ref = y_ref
        self.exchanges = exchanges

    def __repr__(self) -> str:
        exchanges = f", {self.exchanges} exchanges" if self.exchanges else ""
        return f"Informed({open_table(self.X_ref).n_rows} reference rows{exchanges})"

    def check_apart(self, table: Table, strict: bool) -> None:
        """Warn where reference rows are rows of the training table."""
        reference = open_table(self.X_ref)
        if reference.n_columns != table.n_columns:
            raise InputError(f"X_ref has {reference.n_columns} columns, but X has {table.n_columns}: the reference needs the same columns")
        shared = int(np.isin(_row_hashes(reference), _row_hashes(table)).sum())
        if shared:
            tell(
                f"{shared} of {reference.n_rows} rows of X_ref are rows of the training table, where an attacker could change them and "
                "move the partition: keep the reference rows out of X",
                strict,
            )

    def deal(self, units: Units, names: Any, n_submodels: int | str, spread: int) -> Partition:
        """The partition of these units."""
        count = min(AUTO_SUBMODELS, len(units) // spread) if n_submodels == "auto" else int(n_submodels)
        count = max(1, count - (count + 1) % 2 if n_submodels == "auto" else count) * spread
        if count > len(units):
            raise InputError(f"n_submodels is {count}, but there are only {len(units)} {units.kind}: choose at most {len(units) // spread}")
        if not isinstance(self.exchanges, Integral) or isinstance(self.exchanges, bool) or self.exchanges < 0:
            raise InputError(f"exchanges is {self.exchanges!r}: it must be a whole number, 0 or above")
        information = self.information()
        best = np.array([max(information[column] for column in columns) for columns in units.columns])
        sets: list[list[int]] = [[] for _ in range(count)]
        for place, unit in enumerate(np.argsort(-best, kind="stable").tolist()):
            lap, seat = divmod(place, count)
            sets[seat if lap % 2 == 0 else count - 1 - seat].append(unit)
        return exchanged(Partition(sets), self._features(units), self._target(), int(self.exchanges)) if self.exchanges else Partition(sets)

    def _features(self, units: Units) -> list[Array]:
        """What a linear model sees of every unit on the reference rows."""
        table = open_table(self.X_ref)
        return [np.column_stack([features_of(*encode_alone(_column(table, column))) for column in columns]) for columns in units.columns]

    def _target(self) -> Array:
        """The targets as columns: values, or an indicator of each label."""
        y = column_or_1d(self.y_ref)
        return np.asarray(y[:, None] if _of_values(y) else y[:, None] == np.unique(y), dtype=float)

    def information(self) -> Array:
        """The mutual information of every column with the target, on the reference rows."""
        if self.y_ref is None:
            raise InputError("y_ref is missing: Informed needs the targets of its reference rows")
        y = column_or_1d(self.y_ref)
        assert_all_finite(y, input_name="y_ref")
        table = open_table(self.X_ref)
        check_consistent_length(y, np.empty(table.n_rows))
        measure = mutual_info_regression if _of_values(y) else mutual_info_classif
        scores = np.zeros(table.n_columns)
        for column in range(table.n_columns):
            values, discrete = encode_alone(_column(table, column))
            scores[column] = measure(values[:, None], y, discrete_features=[discrete], random_state=0)[0]
        return scores


def _of_values(y: Array) -> bool:
    return bool(type_of_target(y) == "continuous")


def _column(table: Table, column: int) -> Array:
    part = table.take([column])
    return table_columns(part.toarray() if hasattr(part, "toarray") else part)[0]


def _row_hashes(table: Table) -> Array:
    """A number for every row, equal for equal rows."""
    mixed = np.zeros(table.n_rows, dtype=np.uint64)
    for column in range(table.n_columns):
        values = _column(table, column)
        if values.dtype.kind == "f":
            bits = (values + 0.0).view(np.uint64)
            bits = np.where(np.isnan(values), np.uint64(1), bits)
        else:
            bits = np.array([hash(str(value)) & (2**64 - 1) for value in values], dtype=np.uint64)
        mixed = (mixed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed
