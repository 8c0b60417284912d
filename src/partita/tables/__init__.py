"""Tables: these columns of these rows, from memory, from CSV or Parquet files, or from a URL.

What a cell is read as must never depend on another cell: :mod:`partita.tables._table` decides it
for each cell alone.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._arrow import CsvOptions, File, FileTable, Split, column_values, missing_cells
    from ._files import (
        changes_of,
        check_other_file,
        check_unchanged,
        check_writable,
        footers_of,
        is_local,
        local_copy,
        open_file,
        sha256_of,
        table_writer,
        write_table,
    )
    from ._masking import (
        CompletedFile,
        MaskedColumns,
        draw_masks,
        mask_columns,
        stack_rows,
        with_absent_columns,
    )
    from ._table import (
        BOOLEAN,
        KINDS,
        NUMBER,
        TEXT,
        TIME,
        CellError,
        ColumnsTable,
        Table,
        apply_codes,
        encode_alone,
        is_missing,
        learn_codes,
        object_rows,
        one_row,
        open_table,
        pandas_frame,
        read_cells,
        series_floats,
        table_columns,
    )

__all__ = ["CellError", "CsvOptions", "Table", "open_file", "open_table"]

__getattr__, __dir__ = lazy_names(__name__)
