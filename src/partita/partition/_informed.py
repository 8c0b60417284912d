"""A partition that spreads information evenly, learnt from rows that the user declares trusted.

Nothing here looks at the values of the training table, except to warn of reference rows that are
rows of it; no certificate depends on that. Exchanges run on one thread, so that the result does not
depend on the number of cores.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc
from sklearn import get_config
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from .._support import Array, Progress, TableLike, check_whole, on_one_thread, warn_or_raise
from ..errors import InputError
from ..tables import Table, encode_alone, is_missing, open_table, table_columns
from ._partition import Partition, Units, count_sets

MOST_LABELS = 20  # more distinct whole numbers than this are labels only
ROWS_PER_LABEL = 5  # if each occurs in this many rows on average

# exchanges
ROWS_PER_CATEGORY = 8  # a rarer category is ignored
PENALTY = 1 / 30  # of the linear model, per row
MOVES = 0.25  # the share of trials that move a unit instead of exchanging two
LEAST_GAIN = 1e-9  # a smaller gain may be rounding, which must not decide

# rows of the reference that are rows of the table
CHANCE = 0.001  # shared rows that are less probable than this are no coincidence
MOST_WORK: Any = 1_000_000  # steps for finding out whether two arrays share memory
SHARED_ROWS = ".*rows of X_ref are rows of the training table"  # how the finding reads
ONE_RECORD = 0.9  # where labels stand for records, this share of rows with equal labels are equal
MISSING = np.uint64(1)  # stands for a missing cell in a row's hash


class Informed:
    """Deal units out so that every submodel gets its share of the informative ones.

    Units are ordered by their information about the target and assigned back and forth: to
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

    def __init__(self, X_ref: TableLike, y_ref: ArrayLike | None, exchanges: int = 0) -> None:
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
        self, units: Units, names: object, n_submodels: int | str, spread: int, verbose: int = 0
    ) -> Partition:
        """Deal units out by the reference rows; called by ``fit``.

        Parameters
        ----------
        units : Units
            What is assigned.
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
        """Compute the mutual information of each column with the target, on the reference rows.

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
        """Return what a linear model sees of each unit on the reference rows."""
        table = open_table(self.X_ref)
        return [
            np.column_stack(
                [linear_features(*encode_alone(column_values(table, column))) for column in columns]
            )
            for columns in units.columns
        ]

    def _target(self) -> Array:
        """Return the targets as columns: values, or an indicator of each label."""
        y = column_or_1d(self.y_ref)
        return np.asarray(y[:, None] if _are_values(y) else y[:, None] == np.unique(y), dtype=float)


def _are_values(y: Array) -> bool:
    """Return whether targets are fractions, or whole numbers that each occur in few rows."""
    if type_of_target(y) == "continuous":
        return True
    n_distinct = len(np.unique(y))
    return bool(
        y.dtype.kind in "iuf" and n_distinct > MOST_LABELS and len(y) < ROWS_PER_LABEL * n_distinct
    )


def _names(table: Table) -> list[Any] | None:
    """Return the labels of the columns, where they have any."""
    return list(table.kinds) if table.kinds is not None else table.labels


# ---- exchanges between submodels, as long as these get better on the reference ----


def exchange_units(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int = 0
) -> Partition:
    """Return a partition whose submodels predict the reference rows better than those of ``sets``.

    A linear model on its units' features stands in for a submodel; its score is the share of the
    target's variance that it explains on rows left out, one by one. Pairs of units, chosen by a
    fixed seed, change places (or one moves); what does not help is undone.

    Parameters
    ----------
    sets : Partition
        Where to start.
    features : sequence of arrays of shape (n_rows, k)
        For each unit, its columns as :func:`linear_features` makes them.
    target : array of shape (n_rows, k)
        Values, or an indicator of each label.
    n_exchanges : int
        How many trials.
    verbose : int, default=0
        Above 0: progress on standard error.

    Returns
    -------
    Partition
        The improved sets; each keeps at least one unit.
    """
    if len(sets) < 2:
        return sets
    improved: Partition = on_one_thread(
        get_config(), _exchange_units, sets, features, target, n_exchanges, verbose
    )
    return improved


def _exchange_units(
    sets: Partition, features: Sequence[Array], target: Array, n_exchanges: int, verbose: int
) -> Partition:
    rng = np.random.default_rng(0)
    features = [np.asfortranarray(own) for own in features]  # a unit's columns lie in one piece
    scores: dict[tuple[int, ...], float] = {}  # with few units, the same sets are tried often

    def score(units: list[int]) -> float:
        key = tuple(sorted(units))
        if key not in scores:
            scores[key] = explained_variance(features, key, target)
        return scores[key]

    chosen = [list(units) for units in sets]
    with Progress("tried", n_exchanges, "exchanges", enabled=bool(verbose)) as progress:
        for trial in range(n_exchanges):
            a, b = rng.choice(len(chosen), size=2, replace=False).tolist()
            one, other = list(chosen[a]), list(chosen[b])
            i, j = int(rng.integers(len(one))), int(rng.integers(len(other)))
            if rng.random() >= MOVES:
                one[i], other[j] = other[j], one[i]
            elif len(one) > 1:
                other.append(one.pop(i))
            if score(one) + score(other) > score(chosen[a]) + score(chosen[b]) + LEAST_GAIN:
                chosen[a], chosen[b] = one, other
            progress.update(trial + 1)
    return Partition(chosen)


def explained_variance(features: Sequence[Array], units: Sequence[int], target: Array) -> float:
    """Return the share of the target's variance that a linear model on these units explains.

    Each row is predicted by a model that did not see it.
    """
    X = np.concatenate([features[unit].T for unit in units])
    y = target - target.mean(axis=0)
    residual, leverage = _ridge(X, y, PENALTY * len(y))
    residual /= (1 - np.minimum(leverage + 1 / len(y), 0.9))[:, None]
    return float(1 - (residual**2).sum() / max((y**2).sum(), np.finfo(float).tiny))


def _ridge(X: Array, y: Array, penalty: float) -> tuple[Array, Array]:
    """Return the residuals of a ridge regression, and the leverage of each row.

    ``X`` has the shape (n_columns, n_rows).
    """
    n_columns, n_rows = X.shape
    if n_columns > n_rows:  # the same from the products of rows, of which there are fewer
        inverse = np.linalg.inv(X.T @ X + penalty * np.eye(n_rows))
        return penalty * (inverse @ y), 1 - penalty * np.diag(inverse)
    root = np.linalg.cholesky(X @ X.T + penalty * np.eye(n_columns))
    Z = np.linalg.inv(root) @ X  # the predictions are Z.T @ Z @ y
    return y - Z.T @ (Z @ y), np.einsum("ij,ij->j", Z, Z)


def linear_features(values: Array, are_codes: bool) -> Array:
    """Return a column for a linear model, standardised.

    A column of numbers becomes the number, its rank and the rank's square; a column of codes an
    indicator of each category that is not rare.
    """
    if are_codes:
        categories, counts = np.unique(values, return_counts=True)
        frequent = categories[counts >= ROWS_PER_CATEGORY]
        columns = [(values == category).astype(float) for category in frequent]
        columns = columns or [np.zeros(len(values))]
    else:
        rank = np.searchsorted(np.sort(values), values, side="left") / len(values)
        with np.errstate(over="ignore", invalid="ignore"):
            standardised = np.nan_to_num((values - values.mean()) / (values.std() or 1.0))
        columns = [np.clip(standardised, -4, 4), rank, (rank - 0.5) ** 2]
    X = np.column_stack(columns)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return np.asarray(X / np.where(deviation > 1e-9, deviation, 1.0))


# ---- whether reference rows are rows of the table, or merely look like some of them ----


def describe_shared_rows(reference: Table, table: Table) -> str | None:
    """Say how many rows of the reference are rows of the table; None where that is natural.

    Rows that share memory or an index label with an equal row of the table are the same rows.
    Otherwise equal rows count only beyond chance: a table of the same origin shares about as many
    rows with X as X has rows with a twin in X (plus two standard deviations).
    """
    here, there = row_hashes(reference), row_hashes(table)
    n_shared = int(np.isin(here, there).sum())
    if not n_shared:
        return None
    finding = f"{n_shared} of {len(here)} rows of X_ref are rows of the training table"
    if _share_memory(reference, table):
        return f"{finding} (the two share memory)"
    places = _same_labels(reference.index, table.index)
    if places is not None and (places >= 0).any():
        equal = here[places >= 0] == there[places[places >= 0]]
        if (
            equal.mean() >= ONE_RECORD
            and bdtrc(equal.sum() - 1, len(equal), _chance_of_equal(here, there)) < CHANCE
        ):
            example = reference.index[int(np.flatnonzero(places >= 0)[np.argmax(equal)])]
            return f"{finding} (both have the index label {example!r}, for example)"
    elif (places is not None or _slices_of_one(reference, table)) and n_shared < len(here):
        return None  # different rows of one origin: natural duplicates
    if np.array_equal(np.sort(here), np.sort(there)):
        return finding
    return None if _by_chance(n_shared, here, there) else finding


def _by_chance(n_shared: int, here: Array, there: Array) -> bool:
    """Return whether another table of the same origin would share as many rows."""
    if n_shared == 1 < len(here):
        return True  # one pair of twins, of which each table has one
    rate = min(1.0, max(_n_twins(there, 2.0) / len(there), _n_twins(here) / len(here)))
    return bool(bdtrc(n_shared - 1, len(here), rate) >= CHANCE)


def _n_twins(rows: Array, deviations: float = 0.0) -> float:
    """Count the rows that occur more than once, plus this many standard deviations."""
    counts = np.unique(rows, return_counts=True)[1]
    twins = float(counts[counts > 1].sum())
    return float(twins + deviations * np.sqrt(twins))


def _chance_of_equal(here: Array, there: Array) -> float:
    """Return the probability that a row of each table, both drawn at random, are equal."""
    (rows, one), (other_rows, other) = (
        np.unique(values, return_counts=True) for values in (here, there)
    )
    _, i, j = np.intersect1d(rows, other_rows, assume_unique=True, return_indices=True)
    return float(one[i] @ other[j] / (len(here) * len(there)))


def _same_labels(one: Any, other: Any) -> Array | None:
    """Find each label of one index in the other (-1: nowhere); None if labels are no names."""
    if (
        one is None
        or other is None
        or one.dtype != other.dtype
        or not (one.is_unique and other.is_unique)
    ):
        return None
    return np.asarray(other.get_indexer(one))


def _share_memory(reference: Table, table: Table) -> bool:
    one, other = reference.memory(), table.memory()
    if one is None or other is None:
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=MOST_WORK))
    except np.exceptions.TooHardError:
        return False


def _slices_of_one(reference: Table, table: Table) -> bool:
    """Return whether both are slices of one array."""
    one, other = reference.memory(), table.memory()
    return one is not None and other is not None and one.base is not None and one.base is other.base


def column_values(table: Table, column: int) -> Array:
    """Return one column of a table, as ``table_columns`` returns it."""
    part = table.take([column])
    return table_columns(part.toarray() if hasattr(part, "toarray") else part)[0]


def row_hashes(table: Table) -> Array:
    """Return a number for each row, equal for equal rows."""
    mixed = np.zeros(table.n_rows, dtype=np.uint64)
    for column in range(table.n_columns):
        values = column_values(table, column)
        if values.dtype.kind == "f":
            bits = np.where(np.isnan(values), MISSING, (values + 0.0).view(np.uint64))
        else:
            bits = np.array([_cell_hash(value) for value in values], dtype=np.uint64)
        mixed = (mixed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _cell_hash(value: object) -> int:
    return int(MISSING) if is_missing(value) else hash(str(value)) & (2**64 - 1)
