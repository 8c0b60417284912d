"""A partition that deals out information evenly, learnt from rows that the user declares
trusted."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._support.strictness import warn_or_raise
from .._support.types import Array
from ..errors import InputError
from ..tables._encoding import encode_alone
from ..tables._shared_rows import column_of, overlap
from ..tables._table import Table, open_table
from ._exchange import exchanged, features_of
from ._partition import AUTO_SUBMODELS, Partition
from ._units import Units

MOST_LABELS = 20  # whole numbers that are more different are labels only
ROWS_A_LABEL = 5  # if each stands in so many rows on average


class Informed:
    """Order the units by what they tell about the target and deal them out in a snake: 1..T, T..1,
    ...

    Certificates are largest when all submodels are about equally good. What a unit tells is the
    mutual information of its best column with the target, on reference rows that no attacker could
    touch (an audited snapshot, say). So the partition depends on trusted data only, and every proof
    stands.

    The reference must not be rows of the training table: ``fit`` warns (an error with
    ``strict=True``) of rows that share memory or an index label with an equal row of X, and of more
    equal rows than the duplicates within X and within X_ref explain (probability below 0.1 %).
    Natural duplicates do not count.

    Parameters
    ----------
    X_ref : array-like or DataFrame with the columns of the training table
    y_ref : array-like
        Its targets.
    exchanges : int, default=0
        Then try so many exchanges of units between submodels, and keep those after which linear
        models on the submodels' units predict reference rows that are left out better: units that
        tell different things come together. 3,000 take about 3 seconds for 100 columns and 3,000
        reference rows, and about a minute for 600 columns.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita import FeaturePartitionClassifier, Informed
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> informed = Informed(X[:100], y[:100], exchanges=100)
    >>> clf = FeaturePartitionClassifier(n_submodels=9, partition=informed).fit(X[100:], y[100:])
    >>> len(clf.partition_)
    9
    """

    def __init__(self, X_ref: Any, y_ref: Any, exchanges: int = 0) -> None:
        self.X_ref = X_ref
        self.y_ref = y_ref
        self.exchanges = exchanges

    def __repr__(self) -> str:
        exchanges = f", {self.exchanges} exchanges" if self.exchanges else ""
        return f"Informed({open_table(self.X_ref).n_rows} reference rows{exchanges})"

    def check_apart(self, table: Table, strict: bool) -> None:
        """Refuse other columns than the training table's; warn of rows that are the table's."""
        reference = open_table(self.X_ref)
        if reference.n_columns != table.n_columns:
            raise InputError(
                f"X_ref has {reference.n_columns} columns, but X has {table.n_columns}: the "
                "reference needs the same columns"
            )
        names, expected = _names(reference), _names(table)
        if names is not None and expected is not None and names != expected:
            other = next(
                k
                for k, (name, wanted) in enumerate(zip(names, expected, strict=True))
                if name != wanted
            )
            raise InputError(
                f"X_ref has the column {names[other]!r} where X has {expected[other]!r}: the "
                "reference needs the same columns in the same "
                "order"
            )
        found = overlap(reference, table)
        if found is not None:
            warn_or_raise(
                f"{found}, where an attacker could change them and move the partition: keep the "
                "reference rows out of X",
                strict,
            )

    def deal(
        self, units: Units, names: Any, n_submodels: int | str, spread: int, verbose: int = 0
    ) -> Partition:
        """The partition of these units."""
        count = (
            min(AUTO_SUBMODELS, len(units) // spread) if n_submodels == "auto" else int(n_submodels)
        )
        count = max(1, count - (count + 1) % 2 if n_submodels == "auto" else count) * spread
        if count > len(units):
            raise InputError(
                f"n_submodels is {count}, but there are only {len(units)} {units.kind}: choose at "
                f"most {len(units) // spread}"
            )
        if (
            not isinstance(self.exchanges, Integral)
            or isinstance(self.exchanges, bool)
            or self.exchanges < 0
        ):
            raise InputError(
                f"exchanges is {self.exchanges!r}: it must be a whole number, 0 or above"
            )
        information = self.information()
        best = np.array(
            [max(information[column] for column in columns) for columns in units.columns]
        )
        sets: list[list[int]] = [[] for _ in range(count)]
        for place, unit in enumerate(np.argsort(-best, kind="stable").tolist()):
            lap, seat = divmod(place, count)
            sets[seat if lap % 2 == 0 else count - 1 - seat].append(unit)
        start = Partition(sets)
        return (
            exchanged(start, self._features(units), self._target(), int(self.exchanges), verbose)
            if self.exchanges
            else start
        )

    def _features(self, units: Units) -> list[Array]:
        """What a linear model sees of every unit on the reference rows."""
        table = open_table(self.X_ref)
        return [
            np.column_stack(
                [features_of(*encode_alone(column_of(table, column))) for column in columns]
            )
            for columns in units.columns
        ]

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
            values, discrete = encode_alone(column_of(table, column))
            scores[column] = measure(
                values[:, None], y, discrete_features=[discrete], random_state=0
            )[0]
        return scores


def _of_values(y: Array) -> bool:
    """Whether targets are values: fractions, or whole numbers each of which occurs in few rows."""
    if type_of_target(y) == "continuous":
        return True
    different = len(np.unique(y))
    return bool(
        y.dtype.kind in "iuf" and different > MOST_LABELS and len(y) < ROWS_A_LABEL * different
    )


def _names(table: Table) -> list[Any] | None:
    """What the columns are called, where they have names."""
    return list(table.kinds) if table.kinds is not None else table.labels
