"""The interface of a table: these columns of these rows, wherever they come from.

A table is never turned into one array: that would let a value in one column change another (a
fraction turns large integers into floats, a string turns numbers into objects), and the proof with
it. Each submodel gets its own columns as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .._support import Array
from ._encoding import table_columns


class Table:
    """Rows and columns, of which a submodel may ask for some columns.

    This is the base class: :func:`open_table` makes one from an array or a frame, and
    ``open_file(path).table(kinds)`` one from a file. Subclass it, with ``take`` and ``numeric``, to
    fit and certify from anywhere else; every method that takes ``X`` takes a Table too.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_columns : int
        Number of columns.
    frame : str, default="pandas"
        The library whose frames :meth:`partita.Certificates.to_frame` returns.
    index : Any, default=None
        The index of a pandas frame, which certificates carry over.
    header : array or DataFrame
        Something with the columns' number and names, for scikit-learn's checks; by default an empty
        array.
    kinds : mapping of str to (str or None), or None, default=None
        What each column holds ("number", "boolean", "time" or "text"), where columns have names.
    labels : list or None, default=None
        A frame's column labels, where not all of them are strings.
    reads_apart : bool, default=False
        Whether :meth:`take` returns a column as it is whatever columns it is taken with, as frames
        do. Columns are then read once for all submodels, where that is possible.

    See Also
    --------
    partita.tables.open_table : A table from an array, a frame, a sparse matrix or rows as lists.
    partita.tables.open_file : A table from a CSV or Parquet file.

    Examples
    --------
    A table whose columns are computed when a submodel asks for them:

    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.tables import Table
    >>> class Waves(Table):
    ...     n_rows, n_columns = 100, 5
    ...     def take(self, columns, rows=None):
    ...         rows = np.arange(self.n_rows) if rows is None else rows
    ...         return np.sin(np.outer(rows, np.array(columns) + 1))
    ...     def numeric(self):
    ...         return [True] * self.n_columns
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    >>> len(clf.fit(Waves(), np.arange(100) % 2).certify(Waves()).radius)
    100
    """

    n_rows: int
    n_columns: int
    frame: str = "pandas"
    index: Any = None
    kinds: Mapping[str, str | None] | None = None
    labels: list[Any] | None = None
    reads_apart: bool = False

    @cached_property
    def header(self) -> Any:
        """Something with the columns' number and names, for scikit-learn's checks."""
        return np.empty((0, self.n_columns))

    def numeric(self) -> list[bool]:
        """Which columns hold numbers, each judged by itself.

        Returns
        -------
        list of bool
            One per column. The answer of the training table holds for good: see
            :meth:`set_numeric`.
        """
        raise NotImplementedError

    def set_numeric(self, numeric: Sequence[bool]) -> None:
        """Read columns as the training table's were, whatever these cells look like.

        Only tables that guess from their cells (rows as lists) need this; others ignore it.

        Parameters
        ----------
        numeric : sequence of bool
            What :meth:`numeric` returned for the training table.
        """

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        """Some columns of some rows, in the table's own type.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.
        rows : array of int, optional
            Positions of the rows; all of them by default.

        Returns
        -------
        array, sparse matrix or DataFrame
            A copy, laid out in memory in one way whatever the other columns hold, since rounding
            depends on the layout.
        """
        raise NotImplementedError

    def take_all(self, rows: Array | None = None) -> Any:
        """All columns of some rows, in the table's own type.

        Parameters
        ----------
        rows : array of int, optional
            Positions of the rows; all of them by default.

        Returns
        -------
        array, sparse matrix or DataFrame
            As :meth:`take` returns it.
        """
        return self.take(list(range(self.n_columns)), rows)

    def read(self, columns: list[int]) -> list[Array]:
        """Some columns, each as an array: floats, or objects if it does not hold numbers.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.

        Returns
        -------
        list of arrays
            Not to be written to: they may be the table's own.
        """
        return table_columns(self.take(columns))

    def batches(self, columns: list[int], size: int, rows: Array | None = None) -> Iterator[Any]:
        """Some columns of some rows, batch by batch.

        Parameters
        ----------
        columns : list of int
            Positions of the columns.
        size : int
            Rows per batch; the last batch may be shorter.
        rows : array of int, optional
            Positions of the rows, ascending; all of them by default.

        Yields
        ------
        array, sparse matrix or DataFrame
            As :meth:`take` returns them.
        """
        chosen = np.arange(self.n_rows) if rows is None else rows
        for start in range(0, len(chosen), size):
            yield self.take(columns, chosen[start : start + size])
