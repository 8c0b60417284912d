"""Tables of canonical cells, and the bucket that a row's own content names.

Nothing about a row may depend on another row: not its cells, not its hash, not its bucket.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import column_or_1d

from .._support import Array
from ..errors import InputError
from ..tables import Table, is_missing, object_rows, open_table
from ._canonical_cells import canonical, canonical_column, encode_rows, narrow, series_cells


class CanonicalRows:
    """A table whose cells have been read one by one, of which a submodel gets some rows."""

    def __init__(self, X: Any) -> None:
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


def labels_of(y: Any) -> Array:
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


def _open(X: Any) -> Table:
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
