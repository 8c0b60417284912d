"""A table in a file, whatever its format: its columns' names and kinds, and a way to read some."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._support import Array, require
from ..errors import InputError
from ._arrow import (
    arrow_kind,
    arrow_library,
    column_values,
    float_values,
    missing_cells,
    python_values,
)
from ._kinds import TEXT, TIME
from ._table import Table

Split = tuple[str, Any]  # a column, and its value in the rows that count


class File:
    """A table in a file, of which columns are read when they are needed.

    Attributes
    ----------
    path : Path
        Where the file is.
    names : list of str
        Names of the columns.
    n_rows : int
        Number of rows.
    first_row : int
        Where it begins, if it is a batch of a larger table.
    times : collection of str
        Columns of strings that are times.
    advice : str
        What may be wrong with how the file is read; empty if nothing is.
    """

    path: Path
    names: list[str]
    n_rows: int
    first_row: int = 0
    times: Collection[str] = ()
    advice: str = ""

    def kind(self, name: str) -> str:
        """What a column holds: "number", "boolean", "time" or "text"; an error for other types."""
        kind = TIME if name in self.times else arrow_kind(self.arrow_type(name))
        if kind is None:
            raise InputError(
                f"column {name!r} of {str(self.path)!r} holds {self.arrow_type(name)}, which is "
                "not supported: make it numbers, times or text"
            )
        return kind

    def arrow_type(self, name: str) -> Any:
        """The Arrow type of a column."""
        raise NotImplementedError

    def arrow(self, names: Sequence[str]) -> Any:
        """These columns as an Arrow table."""
        raise NotImplementedError

    def batches(
        self, names: Sequence[str], size: int, rows: Array | None = None
    ) -> Iterator["LoadedFile"]:
        """These columns, ``size`` rows at a time (the last batch may be shorter).

        ``rows`` (positions, ascending) restricts it to some rows.
        """
        start = 0
        for table in _regroup(self._arrow_batches(names, size), size, rows):
            yield LoadedFile(self.path, table, start, self.times)
            start += table.num_rows

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """These columns as Arrow batches of at most ``size`` rows, in the order of the rows."""
        raise NotImplementedError

    def check_column(self, name: str, argument: str) -> None:
        """Raise an InputError that names the argument unless the file has this column."""
        if name in self.names:
            return
        hint = _describe_names(self.names)
        hint += f"; {self.advice}" if self.advice else ""
        raise InputError(
            f"{argument} names the column {name!r}, which {str(self.path)!r} does not have: {hint}"
        )

    def target(self, name: str) -> Array:
        """A column of labels or values in its own type; an error where values are missing."""
        arrow = arrow_library()
        kind = self.kind(name)
        column = self.arrow([name]).column(name)
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        missing = missing_cells(column)
        if missing.any():
            raise InputError(
                f"the target {name!r} has {missing.sum()} missing value(s), the first in row "
                f"{int(np.argmax(missing))}: leave out the rows without one"
            )
        if kind == TEXT:
            return np.asarray(python_values(column.cast(arrow.string()), name), dtype=object)
        if kind == TIME:
            return column_values(column, kind, name)
        if arrow.types.is_decimal(column.type):
            return float_values(column, kind, name)
        return np.asarray(column.to_numpy())

    def has_missing(self, name: str) -> bool:
        """Whether a column has missing values."""
        return bool(missing_cells(self.arrow([name]).column(name)).any())

    def table(self, kinds: Mapping[str, str]) -> "FileTable":
        """The columns named in ``kinds``, in their order, each to be read by its kind."""
        return FileTable(self, dict(kinds))


class LoadedFile(File):
    """A table from a file, or a batch of it, in memory."""

    def __init__(
        self, path: Path, table: Any, first_row: int = 0, times: Collection[str] = ()
    ) -> None:
        self.path, self._table, self.first_row, self.times = path, table, first_row, times
        self.names, self.n_rows = list(table.column_names), table.num_rows

    def arrow_type(self, name: str) -> Any:
        return self._table.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        return self._table.select(list(names))

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        return iter(self.arrow(names).to_batches(max_chunksize=size))


class FileTable(Table):
    """Some columns of a file, as a table for fit and certify."""

    kinds: dict[str, str]
    reads_apart = True

    def __init__(self, file: File, kinds: dict[str, str], rows: Array | None = None) -> None:
        self.file, self.kinds, self.rows = file, kinds, rows
        self.names = list(kinds)
        self.n_rows, self.n_columns = file.n_rows if rows is None else len(rows), len(kinds)
        self.header = _pandas().DataFrame(columns=self.names, dtype=object)
        if self.n_rows == 0:
            raise InputError(f"{str(file.path)!r} has no rows: give a table with at least one")
        if self.n_columns == 0:
            raise InputError(
                f"{str(file.path)!r} has no columns to learn from: give a table with at least one "
                "beside the target"
            )

    def with_rows(self, rows: Array) -> "FileTable":
        """The same columns of some of these rows."""
        return FileTable(self.file, self.kinds, self._rows_of_file(rows))

    def numeric(self) -> list[bool]:
        return [kind != TEXT for kind in self.kinds.values()]

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        names = [self.names[column] for column in columns]
        part = self.file.arrow(names)
        chosen = self._rows_of_file(rows)
        if chosen is not None:
            part = part.take(chosen)
        first_row = self.file.first_row
        return pandas_frame(
            {
                name: column_values(part.column(name), self.kinds[name], name, first_row)
                for name in names
            }
        )

    def batches(self, columns: list[int], size: int, rows: Array | None = None) -> Iterator[Any]:
        names = [self.names[column] for column in columns]
        kinds = {name: self.kinds[name] for name in names}
        for batch in self.file.batches(names, size, self._rows_of_file(rows)):
            yield batch.table(kinds).take_all()

    def _rows_of_file(self, rows: Array | None) -> Array | None:
        """Positions in the file of some rows of this table; None stands for all."""
        if self.rows is None or rows is None:
            return self.rows if rows is None else rows
        return self.rows[rows]


def pandas_frame(columns: Mapping[str, Array]) -> Any:
    """A pandas frame of these columns in their own types; pandas must not guess them from cells."""
    pandas = _pandas()
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=values.dtype) for name, values in columns.items()}
    )


def rows_where(file: File, split: Split) -> Any:
    """The rows in which a column has a value, as an Arrow expression."""
    import pyarrow.dataset

    column, value = split
    file.check_column(column, "split")
    stored = file.arrow_type(column)
    try:
        wanted = pyarrow.scalar(value).cast(
            stored.value_type if pyarrow.types.is_dictionary(stored) else stored
        )
    except (ValueError, TypeError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"split asks for {value!r} in the column {column!r}, which holds {stored}: ask for one "
            "of its values"
        ) from exc
    return pyarrow.dataset.field(column) == wanted


def _regroup(batches: Iterator[Any], size: int, rows: Array | None) -> Iterator[Any]:
    """Arrow batches as tables of ``size`` rows, the last one shorter; only ``rows`` if given."""
    arrow = arrow_library()
    start, pending = 0, None
    for batch in batches:
        part = arrow.Table.from_batches([batch])
        if rows is not None:
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            part = part.take(rows[first:last] - start)
        start += batch.num_rows
        pending = part if pending is None else arrow.concat_tables([pending, part])
        while pending.num_rows >= size:
            yield pending.slice(0, size)
            pending = pending.slice(size)
    if pending is not None and pending.num_rows:
        yield pending


def _describe_names(names: list[str]) -> str:
    shown = [repr(name if len(name) <= 60 else f"{name[:57]}...") for name in names[:6]]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"it has {'one column, ' if len(names) == 1 else ''}{', '.join(shown)}{more}"


def _pandas() -> Any:
    return require("pandas", "reading tables from files", "partita[cli]")
