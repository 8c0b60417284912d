"""Tables that are written to .parquet or .csv files, batch by batch, completely or not at all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .._support import one_line, open_atomic
from ..errors import InputError, PartitaError


@contextmanager
def table_writer(out: Any) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that adds rows to a file, which appears when the block ends without an error.

    All batches have the same columns. Lists in cells are joined with "; " in CSV.
    """
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(out)
    check_writable(path)
    in_csv = path.suffix.lower() == ".csv"
    writer: Any = None
    schema: Any = None

    def write(columns: dict[str, Any]) -> None:
        nonlocal writer, schema
        try:
            table = pyarrow.table(columns)
            if in_csv:
                table = _without_lists(table)
            if writer is None:
                schema = table.schema
                kind = pyarrow.csv.CSVWriter if in_csv else pyarrow.parquet.ParquetWriter
                writer = writers.enter_context(kind(file, schema))
            writer.write_table(table.cast(schema))
        except (TypeError, pyarrow.ArrowException) as exc:
            raise InputError(
                f"out {str(path)!r} cannot hold these columns ({one_line(exc)}): write .parquet, "
                "or leave columns out"
            ) from exc

    try:
        with open_atomic(path) as file, ExitStack() as writers:
            yield write
    except OSError as exc:
        if isinstance(exc, PartitaError):
            raise
        raise InputError(
            f"out {str(path)!r} cannot be written ({exc.strerror or exc}): make room, or choose "
            "another place"
        ) from exc


def _without_lists(table: Any) -> Any:
    """The same table with each list joined to one string, since a CSV cell holds no list."""
    import pyarrow.compute

    for position, field in enumerate(table.schema):
        if pyarrow.types.is_list(field.type):
            strings = table.column(position).cast(pyarrow.list_(pyarrow.string()))
            joined = pyarrow.compute.binary_join(strings, "; ")
            table = table.set_column(position, field.name, joined)
    return table


def write_table(columns: dict[str, Any], out: Any) -> Path:
    """Write columns to a .parquet or .csv file in one step."""
    with table_writer(out) as write:
        write(columns)
    return Path(out)


def check_other_file(out: Any, data: Any) -> None:
    """Refuse to write over the table that is read."""
    path = Path(out)
    if path.exists() and Path(data).exists() and path.samefile(data):
        raise InputError(
            f"out {str(path)!r} is the table that is read, which would be lost: give another file"
        )


def check_writable(out: Any, suffixes: tuple[str, ...] = (".parquet", ".csv")) -> None:
    """Refuse, before any work is done, a path that cannot be written to."""
    path = Path(out)
    if path.suffix.lower() not in suffixes:
        raise InputError(f"out {str(path)!r} must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise InputError(f"out {str(path)!r} is a folder: give a file")
    above = next(parent for parent in path.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"out {str(path)!r} cannot be written: {str(above)!r} is not a folder")
