"""RowPartitionClassifier: rows are split among submodels, not columns.

It is for attackers who insert and delete training rows. Deep partition aggregation (Levine and
Feizi, 2021) gives every training row to one submodel, finite aggregation (Wang, Levine and Feizi,
2022) to several. A row's own content names its bucket, so an inserted or deleted row changes one
bucket and moves no other row; the submodels that read that bucket may then predict anything. The
rest is the counting that columns get too (theory, section 7).

Nothing about a row may depend on another row: not its cells, not its hash, not its bucket.

An inserted row must not change how another row is read. But a fraction turns a whole column
of integers into floats, a missing value does the same to booleans, and a text turns it into
objects. So every cell becomes one of three things by itself, whatever its column's type is:

* a number, as a float: 1, 1.0 and True are the same, 0.0 and -0.0 too, and integers beyond 2**53
  are rounded as a column of floats would round them. Times are seconds since 1970 (UTC where no
  zone is given), durations are seconds;
* a text;
* missing: None, NaN, NaT and pandas' NA are one.

Anything else counts by its type alone. The hash is made from these, and the submodels are trained
on these, so that two rows with the same hash are the same row everywhere. What a reader has
already turned into texts (a file's whole column of numbers, because of one text in it) cannot be
told from texts: read such files cell by cell, with the types you expect.
"""

import hashlib
import math
import struct
import warnings
from calendar import timegm
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from numbers import Integral, Number
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._support import Array, Estimator, JsonObject, TableLike, one_thread_settings, run_each
from ..ballots import Ballots
from ..certificates import Certificates, Counts, recounted
from ..ensemble import (
    FEW_ROWS,
    FixedVote,
    TableBoostingClassifier,
    class_scores,
    fit_one,
    has_scores,
    score_one,
    seeds,
)
from ..errors import InputError, SubmodelWarning
from ..partition import Overlap, strided_partition
from ..rules import Median, Rule, Tournament, named_rule, vote_shares
from ..tables import Table, is_missing, object_rows, open_table, series_floats

MISSING = math.nan
ROWS_PER_BLOCK = 1024  # whose cells are held as bytes at the same time
NANOSECONDS = {  # of numpy's units of time
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1000,
    "ns": 1,
}


def canonical(value: object) -> float | str:
    """A cell as a float (NaN where missing) or a text, from itself alone.

    Never raises, because a cell may be the attacker's.
    """
    try:
        if is_missing(value):
            return MISSING
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if isinstance(value, Number | np.number | np.bool_) and not isinstance(
            value, np.timedelta64
        ):
            return _number(value)
        if isinstance(value, date | timedelta | np.datetime64 | np.timedelta64):
            return _nanoseconds(value) / 10**9  # of integers: rounded once, to the nearest float
    except MemoryError:
        raise
    except Exception:  # a number that has no value, a time out of range: any other object
        pass
    return f"<{type(value).__name__}>"


def _number(value: Any) -> float:
    """A number as a float; infinite where no float holds it."""
    if isinstance(value, complex | np.complexfloating):
        if value.imag:
            raise ValueError
        value = value.real
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return MISSING if number != number else number + 0.0  # -0.0 + 0.0 is 0.0


def _nanoseconds(value: Any) -> int:
    """Nanoseconds since 1970, or of a duration, whatever class and unit hold them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, steps = np.datetime_data(value.dtype)
        plain: Any = value.item()
        if isinstance(plain, int):  # finer than Python's times are, or beyond them
            return int(plain) * int(steps) * NANOSECONDS[unit]
        value = plain
    if isinstance(value, timedelta):
        return (
            (value.days * 86400 + value.seconds) * 10**9
            + value.microseconds * 1000
            + int(getattr(value, "nanoseconds", 0))
        )
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return int(
        timegm(value.utctimetuple()) * 10**9
        + value.microsecond * 1000
        + getattr(value, "nanosecond", 0)
    )


def canonical_column(values: Any) -> Array:
    """A column's canonical cells: an array of floats if all are numbers, else of objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = MISSING
        return numbers
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = canonical(value)
    return narrow(cells)


def narrow(cells: Array) -> Array:
    """An array of floats if all cells are, else the array as it is."""
    return (
        cells.astype(np.float64)
        if cells.dtype == object and all(isinstance(cell, float) for cell in cells)
        else cells
    )


def encode_rows(columns: Sequence[Array]) -> Iterator[bytes]:
    """Every row as bytes.

    Each cell states its kind and length before its content, so different rows never look the same.
    """
    n_rows = len(columns[0])
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        block = [_encode_column(column[start : start + ROWS_PER_BLOCK]) for column in columns]
        for cells in zip(*block, strict=True):
            yield b"".join(cells)


def _encode_column(column: Array) -> list[bytes]:
    """The bytes of every cell of a column."""
    if column.dtype == object:
        return [encode_cell(cell) for cell in column]
    width = 9
    out = np.empty((len(column), width), dtype=np.uint8)
    missing = np.isnan(column)
    out[:, 0] = np.where(missing, ord("-"), ord("n"))
    out[:, 1:] = np.where(missing, 0.0, column).astype(">f8").view(np.uint8).reshape(-1, 8)
    content = out.tobytes()
    return [content[i : i + width] for i in range(0, len(content), width)]


def encode_cell(cell: float | str) -> bytes:
    """The bytes of one cell."""
    if isinstance(cell, str):
        text = cell.encode("utf-8", "surrogatepass")
        return b"t" + struct.pack(">Q", len(text)) + text
    return b"-" + bytes(8) if is_missing(cell) else b"n" + struct.pack(">d", cell)


def series_cells(series: "nw.Series[Any]") -> Any:
    """A column's cells: floats if its type is numeric, else a list of what it holds."""
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return series_floats(series)
    return series.to_list()


class CanonicalRows:
    """A table whose cells have been read one by one, of which a submodel gets some rows."""

    def __init__(self, X: TableLike) -> None:
        self.table = _open(X)
        self.names: Sequence[Any] | None = None  # of the columns, where X was a frame
        first = self.table.take([0])
        if nw.dependencies.is_into_dataframe(first):
            read = [
                nw.from_native(self.table.take([j]), eager_only=True)
                for j in range(self.table.n_columns)
            ]
            self.names = [frame.columns[0] for frame in read]
            self.columns = [canonical_column(series_cells(frame[:, 0])) for frame in read]
        else:
            self.columns = [
                canonical_column(np.asarray(self.table.take([j]))[:, 0])
                for j in range(self.table.n_columns)
            ]

    def __len__(self) -> int:
        return self.table.n_rows

    def take(self, rows: Array | None = None) -> Any:
        """These rows (by default all), in the kind of table that X was.

        A column's type depends on these rows alone.
        """
        columns = [narrow(column if rows is None else column[rows]) for column in self.columns]
        if self.names is None:
            return np.column_stack(columns)  # floats, or objects where a column holds them
        content: dict[Any, Any] = {}
        for name, column in zip(self.names, columns, strict=True):
            if self.table.frame == "pandas" or column.dtype != object:
                content[name] = column.copy()  # estimators may work in place
            else:
                content[name] = _one_type(column)
        return nw.from_dict(content, backend=self.table.frame).to_native()  # type: ignore[arg-type]

    def digests(self, labels: Array, seed: int) -> list[bytes]:
        """A hash of every row with its label; it depends on their content and the seed alone."""
        key = str(seed).encode()
        return [
            hashlib.blake2b(row, digest_size=32, key=key).digest()
            for row in encode_rows([*self.columns, labels])
        ]


def labels_of(y: TableLike) -> Array:
    """Labels as canonical cells, an array of objects."""
    if y is None:
        raise InputError("RowPartitionClassifier requires y to be passed, but the target y is None")
    if nw.dependencies.is_into_series(y):
        cells: Any = series_cells(nw.from_native(y, series_only=True))
    else:
        cells = column_or_1d(y, warn=True) if hasattr(y, "__array__") else list(y)
    return canonical_column(cells).astype(object)


def constant_labels(classes: Any) -> tuple[Array, dict[float | str, int]]:
    """The labels that are given, sorted, and the position of each as a canonical cell."""
    if classes is None:
        raise InputError(
            "classes is missing: where rows may be inserted, the list of labels must be a "
            "constant that you give"
        )
    given = list(classes) if isinstance(classes, Iterable) and not isinstance(classes, str) else []
    read = [canonical(label) for label in given]
    order = sorted(range(len(read)), key=lambda k: (str(type(read[k])), read[k]))
    labels = np.asarray(given)[order] if order else np.empty(0)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"classes is {classes!r}: give the list of all labels")
    if (
        len({type(label) for label in read}) > 1
        or any(label != label for label in read)
        or len(set(read)) < len(read)
    ):
        raise InputError(
            f"classes is {given!r}: give all numbers or all texts, each once and without missing "
            "values (1, 1.0 and True are one)"
        )
    return labels, {read[k]: position for position, k in enumerate(order)}


def bucket_of(digest: bytes, n_buckets: int) -> int:
    """The bucket that a hash names."""
    return int.from_bytes(digest, "big") % n_buckets


def _open(X: TableLike) -> Table:
    if scipy.sparse.issparse(X):
        raise InputError("X is a sparse matrix, which is not supported here: give X.toarray()")
    known = (
        isinstance(X, Table)
        or nw.dependencies.is_into_dataframe(X)
        or hasattr(X, "__array__")
        or hasattr(X, "__array_interface__")
    )
    # Lists are read cell by cell: open_table would read a column of texts as numbers if all of them
    # look like numbers.
    return open_table(X if known else object_rows(X))


def _one_type(column: Array) -> list[str | None]:
    """A column of texts and numbers as texts, for frames whose columns have one type."""
    return [None if is_missing(cell) else str(cell) for cell in column]


ROW_TO_PREDICT = "the row being predicted"
UNKNOWN = -1  # the position of a label that is not in classes
SMALLEST_LEAF = 2  # a submodel has a fraction of the rows, often too few for leaves of the usual 20


class RowCounts(Counts):
    """Inserted or deleted training rows.

    There is no end to insertions, so ``total`` is the number of buckets: that many rows reach all.
    """

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.total} of them can reach every submodel, out of reach: "
            f"{', '.join(self.trusted)})"
        )


class SingleLabel:
    """A submodel whose rows have one label: nothing to learn, and many estimators refuse to."""

    def __init__(self, label: object) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: TableLike) -> Array:
        return np.ones((len(X), 1))


@dataclass(eq=False, repr=False)
class RowPartitionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier certified against inserted and deleted training rows.

    Every training row, features and label, goes to the submodel that a hash of its own content
    names; a rule decides from the submodels' scores. The row being predicted must be clean. A
    changed row is one deleted and one inserted: it counts 2.

    Every cell is read by itself, as a number, a text or a missing value, and rows are sorted before
    training, so neither a column's type nor the order of rows matters. Names and order of columns,
    the settings and ``classes`` are trusted. The estimator must be deterministic given its seed.

    Parameters
    ----------
    estimator : scikit-learn classifier or Pipeline, optional
        Cloned for every submodel. By default gradient boosting for tables with texts and missing
        values.
    n_submodels : int, default=50
        Each submodel trains on about this fraction of the rows. It is never chosen from the rows:
        how many there are is up to the attacker.
    spread : int, default=1
        1 is deep partition aggregation. Above 1 it is finite aggregation: ``spread`` times
        ``n_submodels`` buckets and as many submodels, each of which trains on ``spread`` buckets.
    rule : {"plurality", "runoff", "tournament"} or rule object, default="tournament"
        How the submodels' scores decide.
    classes : list of labels
        All labels there are: a constant that you give, all numbers or all texts. Rows with another
        label are not trained on.
    random_state : int, default=0
        Decides the hash, the spread and the seed of every submodel.
    n_jobs : int, optional
        Threads; by default all cores. Results do not depend on it.
    verbose : int, default=0
        1 shows progress of fitting on standard error, 2 of predicting too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list
        The fitted submodels; a fixed vote for one that has no rows or could not be fitted.
    incidence_ : bool array of shape (n_buckets, n_submodels)
        Which submodels train on which buckets.
    rule_ : rule object
        The rule.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    partita.FeaturePartitionClassifier : Columns are split among submodels, not rows.

    References
    ----------
    Theory, section 7. Levine and Feizi, *Deep Partition Aggregation: Provable Defenses against
    General Poisoning Attacks*, ICLR 2021; Wang, Levine and Feizi, *Improved Certified Defenses
    against Data Poisoning with (Deterministic) Finite Aggregation*, ICML 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from partita.baselines import RowPartitionClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RowPartitionClassifier(KNeighborsClassifier(1), n_submodels=20, classes=range(10))
    >>> proof = clf.fit(X[::2], y[::2]).certify(X[1::2])
    >>> proof.counts.what, bool((proof.radius >= 4).mean() > 0.5)
    ('training rows inserted or deleted', True)
    """

    _parameter_constraints: ClassVar[JsonObject] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "n_submodels": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Integral, 1, None, closed="left")],
        "rule": [str, Rule],
        "classes": "no_validation",  # constant_labels checks them
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    estimator: Estimator = None
    n_submodels: int = 50
    spread: int = 1
    rule: str | Rule = "tournament"
    classes: Iterable[object] | None = None
    random_state: int = 0
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Fit every submodel on the rows of its buckets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, texts and missing values; not sparse.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        self.__dict__.pop("estimators_", None)  # a fit that fails leaves an unfitted ensemble
        estimator = _default_estimator() if self.estimator is None else self.estimator
        rule = named_rule(self.rule)
        _check_rule(rule, estimator)
        self.classes_, places = constant_labels(self.classes)
        rows = self._read(X, reset=True)
        labels = labels_of(y)
        check_consistent_length(labels, np.empty(len(rows)))
        positions = np.array([places.get(label, UNKNOWN) for label in labels])
        known = positions != UNKNOWN
        if not known.any():
            raise InputError(
                "y holds no label that is in classes: give classes of the same type as the labels"
            )
        seed = int(self.random_state)
        self.incidence_ = _incidence(int(self.n_submodels), int(self.spread), seed)
        digests = rows.digests(labels, seed)
        members: list[list[int]] = [[] for _ in range(len(self.incidence_))]
        # sorted, because the order of rows is the attacker's; rows of one digest are the same row
        for i in sorted(np.flatnonzero(known).tolist(), key=digests.__getitem__):
            members[bucket_of(digests[i], len(members))].append(i)

        def jobs() -> Iterator[tuple[object, ...]]:
            for t in range(self.incidence_.shape[1]):
                submodel = clone(estimator)
                submodel.set_params(**one_thread_settings(submodel), **seeds(submodel, seed, t))
                mine = [
                    i for bucket in np.flatnonzero(self.incidence_[:, t]) for i in members[bucket]
                ]
                yield submodel, rows, np.array(mine, dtype=np.int64), positions, self.classes_, t

        fitted = list(
            run_each(
                _fit_one, jobs(), self.n_jobs, self.incidence_.shape[1], "fitted", self.verbose
            )
        )
        causes = [model.cause for model in fitted if isinstance(model, FixedVote)]
        if causes:
            warnings.warn(
                f"{len(causes)} of {len(fitted)} submodels cast a fixed vote; the first: "
                f"{causes[0]}",
                SubmodelWarning,
                stacklevel=2,
            )
        self.rule_ = type(rule)(**rule.get_params())
        self.n_labelled_ = int(np.count_nonzero(known))
        self.estimators_ = fitted
        return self

    def ballots(self, X: TableLike) -> Ballots:
        """Compute every submodel's score for every class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        Ballots of float32, shape (n_samples, n_submodels, n_classes)
            They bring the rule.
        """
        return Ballots(self._ballots(X)[1], self.rule_)

    def predict(self, X: TableLike) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Labels, as given in ``classes``.
        """
        return np.asarray(self.classes_[self.rule_.decide(self.ballots(X))])

    def predict_proba(self, X: TableLike) -> Array:
        """Compute the share of the submodels' votes for each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Shares, in the order of ``classes_``.
        """
        return vote_shares(self._ballots(X)[1])

    def certify(self, X: TableLike, cover: str = "bound", time_limit: float = 10.0) -> Certificates:
        """Predict each row and compute how many training rows must change to change it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        cover : {"bound", "exact"}, default="bound"
            With ``spread > 1``: the fast bound, or an integer program for each row that the bound
            leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.

        Returns
        -------
        Certificates
            Prediction, radius and runner-up for each row. A radius as large as ``counts.total``,
            the number of buckets, means that no number of rows can change the prediction. A radius
            is always below the number of training rows, since fit refuses a table without any.
        """
        table, ballots = self._ballots(X)
        overlapping = self.incidence_.sum(axis=1).max() > 1
        reach: JsonObject = (
            {"reach": self.incidence_, "cover": cover, "time_limit": time_limit}
            if overlapping
            else {}
        )
        proof = self.rule_.certify(ballots, **reach)
        # Without any row of a known label nothing is left that fit accepts, so a radius ends before
        # all are deleted.
        radius = np.minimum(proof.radius, self.n_labelled_ - 1)
        counts = RowCounts(
            "training rows inserted or deleted", len(self.incidence_), (ROW_TO_PREDICT,)
        )
        return replace(
            recounted(proof, radius, counts, None),
            prediction=self.classes_[proof.prediction],
            runner_up=None if proof.runner_up is None else self.classes_[proof.runner_up],
            frame=table.frame,
            index=table.index,
        )

    def _read(self, X: TableLike, reset: bool) -> CanonicalRows:
        rows = CanonicalRows(X)
        validate_data(self, rows.table.header, reset=reset, skip_check_array=True)
        return rows

    def _ballots(self, X: TableLike) -> tuple[Table, Array]:
        check_is_fitted(self, "estimators_")
        rows = self._read(X, reset=False)
        ballots = np.empty((len(rows), len(self.estimators_), len(self.classes_)), dtype=np.float32)
        fixed = np.zeros(len(self.classes_), dtype=np.float32)  # no opinion: a constant
        score = partial(class_scores, classes=self.classes_)
        jobs = (
            (score, model, rows.take(), fixed, f"submodel {t}", True)
            for t, model in enumerate(self.estimators_)
        )
        n_jobs = self.n_jobs if len(rows) >= FEW_ROWS else 1
        failures = []
        for t, (own, failure) in enumerate(
            run_each(
                score_one, jobs, n_jobs, len(self.estimators_), "scored", max(0, self.verbose - 1)
            )
        ):
            ballots[:, t] = own
            failures += [failure] if failure else []
        if failures:
            warnings.warn(
                f"{len(failures)} submodels get a fixed vote, the first: {failures[0]}",
                SubmodelWarning,
                stacklevel=3,
            )
        return rows.table, ballots


def _fit_one(
    submodel: Estimator, rows: CanonicalRows, mine: Array, positions: Array, classes: Array, t: int
) -> Estimator:
    """The submodel fitted on its own rows; a stand-in depends on these rows and constants alone."""
    present = np.unique(positions[mine])
    if len(present) == 0:
        return FixedVote(f"submodel {t} has no training rows")
    if len(present) == 1:
        return SingleLabel(classes[present[0]])
    return fit_one(submodel, rows.take(mine), classes[positions[mine]], {}, f"submodel {t}", True)


def _default_estimator() -> Estimator:
    return TableBoostingClassifier(min_samples_leaf=SMALLEST_LEAF)


def _incidence(n_submodels: int, spread: int, seed: int) -> NDArray[np.bool_]:
    """Which submodels train on which buckets."""
    buckets = strided_partition(n_submodels * spread, n_submodels * spread)
    return (
        buckets.incidence() if spread == 1 else Overlap.from_seed(buckets, spread, seed).incidence()
    )


def _check_rule(rule: Rule, estimator: Estimator) -> None:
    rule.check()
    if isinstance(rule, Median):
        raise InputError("rule is a Median, which is for regression: use another rule")
    if is_regressor(estimator):
        raise InputError(f"estimator {type(estimator).__name__} is a regressor: give a classifier")
    if rule.needs_scores and not has_scores(estimator):
        raise InputError(
            f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
            "predict_proba nor decision_function: use rule='plurality'"
        )
    if isinstance(rule, Tournament) and rule.needs_shares and rule.shares is None:
        raise InputError(
            "shares is missing: where rows may be inserted, the labels' shares for prior and "
            "offset must be constants that you give"
        )
