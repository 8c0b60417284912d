"""A partition that deals out information evenly, learnt from rows that the user declares trusted.

Nothing here looks at the values of the training table, except to warn of reference rows that are
rows of it.
"""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._support import Array, check_whole, warn_or_raise
from ..errors import InputError
from ..tables import Table, encode_alone, open_table
from ._choose_partition import count_sets
from ._exchange import exchange_units, linear_features
from ._partition import Partition
from ._shared_rows import column_values, describe_shared_rows
from ._units import Units

MOST_LABELS = 20  # more distinct whole numbers than this are labels only
ROWS_PER_LABEL = 5  # if each occurs in this many rows on average


class Informed:
    """Deal units out so that every submodel gets its share of the informative ones.

    Units are ordered by their information about the target and dealt out back and forth: to
    submodels 1..T, then T..1, and so on. Certificates are largest when all submodels are about
    equally good. A unit's information is the mutual information of its best column with the target,
    on reference rows that no attacker could touch (an audited snapshot, say). So the partition
    depends on trusted data only, and every proof stands.

    The reference must not be rows of the training table: ``fit`` warns (an error with
    ``strict=True``) of rows that share memory or an index label with an equal row of X, and of more
    equal rows than the duplicates within X and within X_ref explain (probability below 0.1 %).
    Natural duplicates do not count.

    Parameters
    ----------
    X_ref : array-like or DataFrame of shape (n_reference, n_features)
        Reference rows, with the columns of the training table.
    y_ref : array-like of shape (n_reference,)
        Their targets.
    exchanges : int, default=0
        Then try this many exchanges of units between submodels, and keep those after which linear
        models on the submodels' units predict left-out reference rows better: units that carry
        different information come together. 3,000 take about 3 seconds for 100 columns and 3,000
        reference rows, and about a minute for 600 columns.

    See Also
    --------
    partita.Partition : A partition of your own, for ``partition=``.
    partita.partition.random_partition : The default, which needs no reference.

    References
    ----------
    Theory, section 1, condition 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, Informed
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> informed = Informed(X[:100], y[:100], exchanges=100)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9, partition=informed)
    >>> clf.fit(X[100:], y[100:]).partition_
    <Partition of 30 units in 9 submodels of 2 to 5>
    """

    def __init__(self, X_ref: Any, y_ref: Any, exchanges: int = 0) -> None:
        self.X_ref = X_ref
        self.y_ref = y_ref
        self.exchanges = exchanges

    def __repr__(self) -> str:
        exchanges = f", {self.exchanges} exchanges" if self.exchanges else ""
        return f"Informed({open_table(self.X_ref).n_rows} reference rows{exchanges})"

    def check_disjoint(self, table: Table, strict: bool) -> None:
        """Check the reference against a training table; called by ``fit``.

        Parameters
        ----------
        table : Table
            The training table.
        strict : bool
            Shared rows are an error instead of a warning.

        Raises
        ------
        InputError
            If the reference has other columns.
        SoundnessError
            If ``strict`` and rows of the reference are rows of the table.
        """
        reference = open_table(self.X_ref)
        if reference.n_columns != table.n_columns:
            raise InputError(
                f"X_ref has {reference.n_columns} columns, but X has {table.n_columns}: the "
                "reference needs the same columns"
            )
        names, expected = _names(reference), _names(table)
        if names is not None and expected is not None and names != expected:
            name, wanted = next(
                pair for pair in zip(names, expected, strict=True) if pair[0] != pair[1]
            )
            raise InputError(
                f"X_ref has the column {name!r} where X has {wanted!r}: the reference needs the "
                "same columns in the same order"
            )
        finding = describe_shared_rows(reference, table)
        if finding is not None:
            warn_or_raise(
                f"{finding}, where an attacker could change them and with them what is learnt from "
                "the reference: keep the reference rows out of X",
                strict,
            )

    def deal(
        self, units: Units, names: Any, n_submodels: int | str, spread: int, verbose: int = 0
    ) -> Partition:
        """Deal units out by the reference rows; called by ``fit``.

        Parameters
        ----------
        units : Units
            What is dealt out.
        names : sequence of str
            Names of the table's columns; not used.
        n_submodels : int or "auto"
            Number of submodels.
        spread : int
            In how many submodels each unit will appear; there are ``spread`` times as many sets.
        verbose : int, default=0
            Above 0: progress of the exchanges on standard error.

        Returns
        -------
        Partition
            The units of each set.
        """
        n_sets = count_sets(n_submodels, units, spread)
        check_whole("exchanges", self.exchanges, 0)
        information = self.information()
        best = np.array(
            [max(information[column] for column in columns) for columns in units.columns]
        )
        sets: list[list[int]] = [[] for _ in range(n_sets)]
        for place, unit in enumerate(np.argsort(-best, kind="stable").tolist()):
            lap, seat = divmod(place, n_sets)
            sets[seat if lap % 2 == 0 else n_sets - 1 - seat].append(unit)
        start = Partition(sets)
        if not self.exchanges:
            return start
        return exchange_units(
            start, self._features(units), self._target(), int(self.exchanges), verbose
        )

    def information(self) -> Array:
        """The mutual information of each column with the target, on the reference rows.

        Returns
        -------
        float array of shape (n_features,)
            In nats; 0 for a column that is independent of the target.
        """
        if self.y_ref is None:
            raise InputError("y_ref is None: Informed needs the targets of its reference rows")
        y = column_or_1d(self.y_ref)
        assert_all_finite(y, input_name="y_ref")
        table = open_table(self.X_ref)
        check_consistent_length(y, np.empty(table.n_rows))
        from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

        estimate = mutual_info_regression if _are_values(y) else mutual_info_classif
        information = np.zeros(table.n_columns)
        for column in range(table.n_columns):
            values, are_codes = encode_alone(column_values(table, column))
            information[column] = estimate(
                values[:, None], y, discrete_features=[are_codes], random_state=0
            )[0]
        return information

    def _features(self, units: Units) -> list[Array]:
        """What a linear model sees of each unit on the reference rows."""
        table = open_table(self.X_ref)
        return [
            np.column_stack(
                [linear_features(*encode_alone(column_values(table, column))) for column in columns]
            )
            for columns in units.columns
        ]

    def _target(self) -> Array:
        """The targets as columns: values, or an indicator of each label."""
        y = column_or_1d(self.y_ref)
        return np.asarray(y[:, None] if _are_values(y) else y[:, None] == np.unique(y), dtype=float)


def _are_values(y: Array) -> bool:
    """Whether targets are values: fractions, or whole numbers that each occur in few rows."""
    if type_of_target(y) == "continuous":
        return True
    n_distinct = len(np.unique(y))
    return bool(
        y.dtype.kind in "iuf" and n_distinct > MOST_LABELS and len(y) < ROWS_PER_LABEL * n_distinct
    )


def _names(table: Table) -> list[Any] | None:
    """The labels of the columns, where they have any."""
    return list(table.kinds) if table.kinds is not None else table.labels
