"""Open a table in a file, by its format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._csv import CsvFile
from ._csv_options import CsvOptions
from ._file import File, Split
from ._parquet import ParquetFile


def open_file(
    path: Any,
    argument: str = "data",
    kinds: Mapping[str, str] | None = None,
    split: Split | None = None,
    csv: CsvOptions | None = None,
) -> File:
    """Open a table in a CSV or Parquet file.

    Parameters
    ----------
    path : str or path
        A .csv, .csv.gz or .parquet file, or a folder of Parquet files.
    argument : str, default="data"
        What messages call the path.
    kinds : mapping of str to str, optional
        What the columns of a CSV file hold: "number", "boolean", "time" or "text". By default it is
        guessed from the cells; give a fitted model's ``kinds_`` to read new rows as the training
        rows were read.
    split : (column, value), optional
        Keep only the rows with this value in this column.
    csv : CsvOptions, optional
        How a CSV file is written. Parquet needs no options.

    Returns
    -------
    File
        The table: ``names``, ``n_rows``, ``kind(name)``, ``target(name)``, and ``table(kinds)``,
        which makes the ``X`` for fit and certify. A CSV file is read once; of a Parquet file, each
        submodel reads its own columns when it needs them.

    Raises
    ------
    InputError
        If there is no such file, it is not a table, or no row is left by ``split``.
    MissingExtraError
        If pandas or pyarrow is not installed.

    See Also
    --------
    partita.tables.open_table : A table from an array or a frame in memory.
    partita.fit_parquet : Fit from a table that is larger than memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita.tables import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("price,colour,y\\n1.5,red,0\\n,blue,1\\n")
    ...     file = open_file(Path(folder, "t.csv"))
    >>> {name: file.kind(name) for name in file.names}
    {'price': 'number', 'colour': 'text', 'y': 'number'}
    >>> X = file.table({"price": "number", "colour": "text"})
    >>> X.take([0])["price"].tolist()
    [1.5, nan]
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{argument} {str(place)!r} does not exist: give a .csv or .parquet file")
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if place.is_dir() or suffixes[-1:] in ([".parquet"], [".pq"]):
        file: File = ParquetFile(place, split)
    elif ".csv" in suffixes[-2:]:
        file = CsvFile(place, kinds, split, csv)
    else:
        raise InputError(
            f"{argument} {str(place)!r} is neither .csv nor .parquet: give a table in one of the "
            "two"
        )
    duplicate = next((name for name in file.names if file.names.count(name) > 1), None)
    if duplicate is not None:
        raise InputError(
            f"{argument} {str(place)!r} has two columns named {duplicate!r}: rename one, so that "
            "each can be told apart"
        )
    if split is not None and not file.n_rows:
        raise InputError(
            f"split asks for {split[1]!r} in the column {split[0]!r}, which no row of "
            f"{str(place)!r} has: ask for another"
        )
    return file
