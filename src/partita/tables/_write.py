"""Tables that are written to .parquet or .csv files, piece by piece, and are there whole or not at
all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .._support.atomic import opened_whole
from ..errors import InputError, PartitaError


@contextmanager
def table_writer(out: Any) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A way to add rows to a file; all pieces have the same columns. The file is there when the
    block ends without an error."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(out)
    check_writable(path)
    in_csv = path.suffix.lower() == ".csv"
    writers: list[Any] = []

    def write(columns: dict[str, Any]) -> None:
        try:
            table = pyarrow.table(columns)
            if in_csv and "hangs_on" in table.column_names:  # a CSV cell holds no list
                joined = pyarrow.compute.binary_join(table.column("hangs_on"), "; ")
                table = table.set_column(table.column_names.index("hangs_on"), "hangs_on", joined)
            if not writers:
                kind = pyarrow.csv.CSVWriter if in_csv else pyarrow.parquet.ParquetWriter
                writers.append(closed_after.enter_context(kind(file, table.schema)))
                writers.append(table.schema)
            writers[0].write_table(table.cast(writers[1]))
        except (TypeError, pyarrow.ArrowException) as exc:
            raise InputError(
                f"out {str(path)!r} cannot hold these columns ({str(exc).splitlines()[0]}): write "
                ".parquet, or leave columns out"
            ) from exc

    try:
        with opened_whole(path) as file, ExitStack() as closed_after:
            yield write
    except OSError as exc:
        if isinstance(exc, PartitaError):
            raise
        raise InputError(
            f"out {str(path)!r} cannot be written ({exc.strerror or exc}): make room, or choose "
            "another place"
        ) from exc


def write_table(columns: dict[str, Any], out: Any) -> Path:
    """Write columns to a .parquet or .csv file, whole or not at all."""
    with table_writer(out) as write:
        write(columns)
    return Path(out)


def check_writable(out: Any, suffixes: tuple[str, ...] = (".parquet", ".csv")) -> None:
    """Refuse, before any work is done, a place that cannot be written to."""
    path = Path(out)
    if path.suffix.lower() not in suffixes:
        raise InputError(f"out {str(path)!r} must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"out {str(path)!r} is a folder: give a file")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"out {str(path)!r} cannot be written: {str(above)!r} is no folder")
