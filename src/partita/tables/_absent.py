"""Columns that a table lacks, filled in as missing values.

Only columns that may be absent are filled in; for any other the usual checks say what is wrong.
Nothing is guessed from the columns that are there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from ._arrow import arrow_library
from ._file import File
from ._kinds import BOOLEAN, NUMBER, TIME


def with_absent_columns(
    X: Any, names: Sequence[str], may_lack: Collection[str], numeric: Sequence[bool]
) -> Any:
    """Return a frame with the columns of training, in their order; X itself if it lacks none.

    Parameters
    ----------
    X : Any
        A frame; anything else is returned as it is.
    names : sequence of str
        The columns of training.
    may_lack : collection of str
        Those that X may lack.
    numeric : sequence of bool
        Which columns of training hold numbers.
    """
    if not nw.dependencies.is_into_dataframe(X):
        return X
    frame = nw.from_native(X, eager_only=True)
    absent = {name for name in names if name not in frame.columns}
    if not absent or not absent <= set(may_lack) or set(frame.columns) - set(names):
        return X
    columns = []
    for name, holds_numbers in zip(names, numeric, strict=True):
        if name not in absent:
            columns.append(frame[name])
            continue
        values: Any = np.full(len(frame), np.nan) if holds_numbers else [None] * len(frame)
        dtype = nw.Float64 if holds_numbers else nw.String
        columns.append(nw.new_series(name, values, dtype, backend=frame.implementation))
    filled = frame.with_columns(*[column for column in columns if column.name in absent])
    return filled.select(*names).to_native()


class CompletedFile(File):
    """A file with columns that it lacks, or that are not to be read, all missing.

    Parameters
    ----------
    file : File
        The file.
    kinds : mapping of str to str
        These columns, and what they would hold.
    """

    def __init__(self, file: File, kinds: Mapping[str, str]) -> None:
        self.file, self.kinds = file, dict(kinds)
        self.path, self.n_rows, self.first_row = file.path, file.n_rows, file.first_row
        self.times, self.advice = file.times, file.advice
        self.names = [*(name for name in file.names if name not in self.kinds), *self.kinds]

    def arrow_type(self, name: str) -> Any:
        return _arrow_type(self.kinds[name]) if name in self.kinds else self.file.arrow_type(name)

    def arrow(self, names: Sequence[str]) -> Any:
        there = [name for name in names if name not in self.kinds]
        table = self.file.arrow(there)
        return self._filled(table, names, self.n_rows)

    def _filled(self, table: Any, names: Sequence[str], n_rows: int) -> Any:
        arrow = arrow_library()
        columns = [
            arrow.nulls(n_rows, self.arrow_type(name)) if name in self.kinds else table.column(name)
            for name in names
        ]
        return arrow.table(columns, names=list(names))

    def _arrow_batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        there = [name for name in names if name not in self.kinds] or self.file.names[:1]
        for batch in self.file._arrow_batches(there, size):
            table = arrow_library().Table.from_batches([batch])
            yield from self._filled(table, names, batch.num_rows).to_batches()


def _arrow_type(kind: str) -> Any:
    arrow = arrow_library()
    types = {NUMBER: arrow.float64(), BOOLEAN: arrow.bool_(), TIME: arrow.timestamp("ms")}
    return types.get(kind, arrow.string())
