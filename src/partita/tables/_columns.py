"""A table of columns that were read cell by cell, such as the rows of a request.

Columns stay arrays: a frame is made only for a submodel that asks for one. Nothing here looks at
cells, or guesses a type from them.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .._support import Array
from ._file import pandas_frame
from ._kinds import TEXT
from ._table import Table


class ColumnsTable(Table):
    """Columns by their names, each an array as ``read_cells`` returns it.

    Parameters
    ----------
    columns : mapping of str to array
        All of one length; floats, or objects for text, NaN where a cell is missing.
    kinds : mapping of str to str
        The kind of each column, in the same order.
    """

    kinds: dict[str, str]
    reads_apart = True

    def __init__(self, columns: Mapping[str, Array], kinds: Mapping[str, str]) -> None:
        self.kinds = dict(kinds)
        self.names = list(kinds)
        self._columns = [columns[name] for name in self.names]
        self.n_rows, self.n_columns = len(self._columns[0]), len(self.names)
        self.header = _header(tuple(self.names))

    def numeric(self) -> list[bool]:
        return [kind != TEXT for kind in self.kinds.values()]

    def take(self, columns: list[int], rows: Array | None = None) -> Any:
        return pandas_frame(
            {
                self.names[j]: self._columns[j].copy() if rows is None else self._columns[j][rows]
                for j in columns
            }
        )

    def read(self, columns: list[int]) -> list[Array]:
        chosen = [self._columns[j] for j in columns]
        return [_with_none(column) if column.dtype == object else column for column in chosen]


def _with_none(column: Array) -> Array:
    """Text as ``table_columns`` gives it: None where a cell is missing."""
    cells = np.empty(len(column), dtype=object)
    cells[:] = [cell if isinstance(cell, str) else None for cell in column]
    return cells


@lru_cache(maxsize=16)
def _header(names: tuple[str, ...]) -> Any:
    """An empty frame with these names; making one takes longer than scoring a row."""
    import pandas

    return pandas.DataFrame(columns=pandas.Index(names, dtype=object), dtype=object)
