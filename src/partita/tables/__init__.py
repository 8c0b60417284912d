"""Tables: these columns of these rows, from memory, from CSV or Parquet files, or from a URL.

Knows cells, columns and files; nothing of units, models or proofs. What a cell is read as must
never depend on another cell: :mod:`partita.tables._kinds` and :mod:`partita.tables._missing` decide
it for each cell alone.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._csv_options import CsvOptions
    from ._kinds import CellError
    from ._memory import open_table
    from ._open import open_file
    from ._table import Table

__all__ = ["CellError", "CsvOptions", "Table", "open_file", "open_table"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CellError": "_kinds",
        "CsvOptions": "_csv_options",
        "Table": "_table",
        "open_file": "_open",
        "open_table": "_memory",
    },
)
