"""Tables: these columns of these rows, from memory, from CSV or Parquet files, or from an
address."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._csv import CsvOptions
    from ._kinds import CellError
    from ._open import open_file
    from ._table import Table, open_table

__all__ = ["CellError", "CsvOptions", "Table", "open_file", "open_table"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CellError": "_kinds",
        "CsvOptions": "_csv",
        "Table": "_table",
        "open_file": "_open",
        "open_table": "_table",
    },
)
