"""A table in a file, whatever its format: the names and kinds of its columns, its rows, and a way
to read some of the columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError, MissingExtraError
from ._arrow import arrow_library, column_values, floats, kind_of, listed
from ._kinds import TEXT, TIME
from ._table import Table

Split = tuple[str, Any]  # a column, and the value it has in the rows that are meant


class File:
    """A table in a file: the names and kinds of its columns, its rows, and a way to read some of
    the columns."""

    path: Path
    names: list[str]
    n_rows: int
    first_row: int = 0  # where it begins, if it is a piece of a larger table
    times: Collection[str] = ()  # columns of texts that are times
    advice: str = ""  # what may be wrong with how the file is read

    def kind(self, name: str) -> str:
        """What the column holds; an error where it holds something that cannot be read."""
        kind = TIME if name in self.times else kind_of(self.arrow_type(name))
        if kind is None:
            found = self.arrow_type(name)
            raise InputError(
                f"column {name!r} of {str(self.path)!r} holds {found}, which is not read: make it "
                "a number, a time or a text"
            )
        return kind

    def arrow_type(self, name: str) -> Any:
        raise NotImplementedError

    def arrow(self, names: Sequence[str]) -> Any:
        """These columns as an Arrow table."""
        raise NotImplementedError

    def pieces(
        self, names: Sequence[str], most: int, rows: Array | None = None
    ) -> Iterator["LoadedFile"]:
        """These columns piece by piece, ``most`` rows each but for the last. ``rows``: these alone,
        ascending."""
        start = 0
        for table in _pieces(self._arrow_batches(names, most), most, rows):
            yield LoadedFile(self.path, table, start, self.times)
            start += table.num_rows

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """These columns as Arrow batches of at most so many rows, in the order of the rows."""
        raise NotImplementedError

    def check_has(self, name: str, argument: str) -> None:
        if name in self.names:
            return
        hint = _some(self.names)
        hint += f"; {self.advice}" if self.advice else ""
        raise InputError(
            f"{argument} names the column {name!r}, which {str(self.path)!r} does not have: {hint}"
        )

    def target(self, name: str) -> Array:
        """A column of labels or values, as it is; an error where it has gaps."""
        arrow = arrow_library()
        kind = self.kind(name)
        column = self.arrow([name]).column(name)
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        gaps = column.is_null(nan_is_null=True).to_numpy()
        if gaps.any():
            raise InputError(
                f"the target {name!r} has {gaps.sum()} gap(s), the first in row "
                f"{int(np.argmax(gaps))}: leave out the rows without one"
            )
        if kind == TEXT:
            return np.asarray(listed(column.cast(arrow.string()), name), dtype=object)
        if kind == TIME:
            return column_values(column, kind, name)
        as_floats = arrow.types.is_decimal(column.type)
        return np.asarray(floats(column, kind, name) if as_floats else column.to_numpy())

    def has_gaps(self, name: str) -> bool:
        return bool(self.arrow([name]).column(name).is_null(nan_is_null=True).to_numpy().any())

    def table(self, kinds: Mapping[str, str]) -> "FileTable":
        """The columns named in ``kinds``, in their order, each to be read by its kind."""
        return FileTable(self, dict(kinds))


class LoadedFile(File):
    """A table from a file, or a piece of it, in memory."""

    def __init__(
        self, path: Path, table: Any, first_row: int = 0, times: Collection[str] = ()
    ) -> None:
        self.path, self._table, self.first_row, self.times = path, table, first_row, times
        self.names, self.n_rows = list(table.column_names), table.num_rows

    def arrow_type(self, name: str) -> Any:
        return self._table.schema.field(name).type

    def arrow(self, names: Sequence[str]) -> Any:
        return self._table.select(list(names))

    def _arrow_batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        return iter(self.arrow(names).to_batches(max_chunksize=most))


class FileTable(Table):
    """Some columns of a file, as a table for fit and certify."""

    kinds: dict[str, str]

    def __init__(self, file: File, kinds: dict[str, str], rows: Array | None = None) -> None:
        self.file, self.kinds, self.rows = file, kinds, rows
        self.names = list(kinds)
        self.n_rows, self.n_columns = file.n_rows if rows is None else len(rows), len(kinds)
        self.header = _pandas().DataFrame(
            columns=self.names, dtype=object
        )  # an empty frame with the columns' names
        if self.n_rows == 0:
            raise InputError(f"{str(file.path)!r} has no rows: give a table with at least one")
        if self.n_columns == 0:
            raise InputError(
                f"{str(file.path)!r} has no columns to learn from: give a table with at least one "
                "beside the target"
            )

    def only(self, rows: Array) -> "FileTable":
        """The same table, of these rows alone."""
        return FileTable(self.file, self.kinds, rows if self.rows is None else self.rows[rows])

    def numeric(self) -> list[bool]:
        return [kind != TEXT for kind in self.kinds.values()]

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        names = [self.names[column] for column in columns]
        part = self.file.arrow(names)
        chosen = rows if self.rows is None else self.rows if rows is None else self.rows[rows]
        if chosen is not None:
            part = part.take(chosen)
        first_row = self.file.first_row
        return frame_of(
            {
                name: column_values(part.column(name), self.kinds[name], name, first_row)
                for name in names
            }
        )

    def batches(self, columns: list[int], most: int, rows: Array | None = None) -> Iterator[Any]:
        names = [self.names[column] for column in columns]
        chosen = rows if self.rows is None else self.rows if rows is None else self.rows[rows]
        for piece in self.file.pieces(names, most, chosen):
            yield piece.table({name: self.kinds[name] for name in names}).take(
                list(range(len(names)))
            )


def frame_of(columns: Mapping[str, Array]) -> Any:
    """A pandas frame of these columns, in their own types: pandas may not guess a type from the
    texts that happen to be there."""
    pandas = _pandas()
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=values.dtype) for name, values in columns.items()}
    )


def rows_where(file: File, split: Split) -> Any:
    """The rows in which a column has a value, as Arrow says it."""
    import pyarrow.dataset

    column, value = split
    file.check_has(column, "split")
    found = file.arrow_type(column)
    try:
        wanted = pyarrow.scalar(value).cast(
            found.value_type if pyarrow.types.is_dictionary(found) else found
        )
    except (ValueError, TypeError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"split asks for {value!r} in the column {column!r}, which holds {found}: ask for one "
            "of its values"
        ) from exc
    return pyarrow.dataset.field(column) == wanted


def _pieces(batches: Iterator[Any], most: int, rows: Array | None) -> Iterator[Any]:
    """Arrow batches as tables of ``most`` rows, the last one shorter; ``rows``: these alone,
    ascending."""
    arrow = arrow_library()
    start, held = 0, None
    for batch in batches:
        part = arrow.Table.from_batches([batch])
        if rows is not None:
            here = rows[
                np.searchsorted(rows, start) : np.searchsorted(rows, start + batch.num_rows)
            ]
            part = part.take(here - start)
        start += batch.num_rows
        held = part if held is None else arrow.concat_tables([held, part])
        while held.num_rows >= most:
            yield held.slice(0, most)
            held = held.slice(most)
    if held is not None and held.num_rows:
        yield held


def _some(names: list[str]) -> str:
    shown = [repr(name if len(name) <= 60 else f"{name[:57]}...") for name in names[:6]]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"it has {'one column, ' if len(names) == 1 else ''}{', '.join(shown)}{more}"


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as exc:
        raise MissingExtraError("pandas", "reading tables from files", "partita[cli]") from exc
    return pandas
