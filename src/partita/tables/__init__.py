"""Tables: these columns of these rows, from memory, from CSV or Parquet files, or from a URL.

Knows cells, columns and files; nothing of units, models or proofs. What a cell is read as must
never depend on another cell: :mod:`partita.tables._kinds` and :mod:`partita.tables._missing` decide
it for each cell alone.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._absent import CompletedFile, with_absent_columns
    from ._arrow import column_values, missing_cells
    from ._columns import ColumnsTable
    from ._csv_options import CsvOptions
    from ._encoding import apply_codes, encode_alone, learn_codes, series_floats, table_columns
    from ._file import File, FileTable, Split, pandas_frame
    from ._fingerprint import changes_of, check_unchanged, footers_of, sha256_of
    from ._kinds import BOOLEAN, KINDS, NUMBER, TEXT, TIME, CellError, read_cells
    from ._masking import MaskedColumns, draw_masks, mask_columns, stack_rows
    from ._memory import object_rows, one_row, open_table
    from ._missing import is_missing
    from ._open import open_file
    from ._remote import is_local, local_copy
    from ._table import Table
    from ._write import check_other_file, check_writable, table_writer, write_table

__all__ = ["CellError", "CsvOptions", "Table", "open_file", "open_table"]

__getattr__, __dir__ = lazy_names(__name__)
