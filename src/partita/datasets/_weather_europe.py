"""Daily weather at 18 European stations: a table from many sources, to try things on that the paper
tries on Weather."""

import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .._support.types import Array
from ..errors import InputError, MissingExtraError
from . import _web as web
from ._cache import placed
from ._obtain import Source, obtain
from ._progress import SourceError, reason
from ._table_set import LIMIT, ExactTable, TableData, csv_columns, csv_of, shortest

EXACT = ExactTable(
    "weather_europe", "aafe86e5793af6d94cdd4c57c26815a46176b2ae6b2b359cc634acb5db5d6c24"
)
PARQUET, CSV = "weather_europe.parquet", "weather_prediction_dataset.csv"
ADDRESSES = (
    f"https://raw.githubusercontent.com/florian-huber/weather_prediction_dataset/main/dataset/{CSV}",
    f"https://zenodo.org/records/7053722/files/{CSV}",
)
STATIONS = (
    "BASEL",
    "BUDAPEST",
    "DE_BILT",
    "DRESDEN",
    "DUSSELDORF",
    "HEATHROW",
    "KASSEL",
    "LJUBLJANA",
    "MAASTRICHT",
    "MALMO",
    "MONTELIMAR",
    "MUENCHEN",
    "OSLO",
    "PERPIGNAN",
    "ROMA",
    "SONNBLICK",
    "STOCKHOLM",
    "TOURS",
)
DATE, MONTH = "DATE", "MONTH"
PLACES = 4  # no value has more decimal places
TOLERANCE = 3.0


def load_weather_europe(
    path: str | os.PathLike[str] | None = None, station: str = "BASEL"
) -> TableData:
    """2,922 and 731 days at 18 weather stations; to predict is the next day's mean temperature at
    one of them, right within 3 degrees.

    The stations are the units, each with all it measures; the month is trusted. The first four
    fifths of the days are to learn from.

    Parameters
    ----------
    path : path, default=None
        The table as a .parquet or .csv file. None: from the folder that PARTITA_CACHE names, or
        ``~/.cache/partita``, or else from the public address.
    station : str, default="BASEL"
        Where the temperature is to be predicted.
    """
    if station not in STATIONS:
        raise InputError(f"station is {station!r}: give one of {', '.join(STATIONS)}")
    content = obtained(None) if path is None else _given(Path(path).expanduser())
    from ..tables._open import frame_of

    columns = {
        name: np.array(texts, dtype=np.float64)
        for name, texts in csv_columns(content).items()
        if name != DATE
    }
    X, y = frame_of(columns)[:-1], columns[f"{station}_temp_mean"][1:]
    split = len(y) * 4 // 5
    return TableData(
        "weather_europe",
        X[:split],
        y[:split],
        X[split:],
        y[split:],
        f"the next day's mean temperature at {station} in degrees Celsius",
        units={
            unit: tuple(name for name in columns if name.startswith(f"{unit}_"))
            for unit in STATIONS
        },
        trusted=(MONTH,),
        tolerance=TOLERANCE,
        sha256={EXACT.kept_as: EXACT.sha256},
    )


def obtained(cache: str | os.PathLike[str] | None) -> bytes:
    """The table as it is kept, as CSV."""
    return obtain(EXACT, cache, _sources, _cure)


def _sources(folder: Path) -> Iterator[Source[bytes]]:
    for name in (PARQUET, CSV):
        if (folder / name).is_file():
            yield Source(str(folder / name), partial(_from_file, folder / name))
    for address in ADDRESSES:
        yield Source(address, partial(_fetched, address))


def _cure(folder: Path) -> str:
    return f"go online, or put {CSV} (from github.com/florian-huber/weather_prediction_dataset) or {PARQUET} into {folder} and call again"


def _given(file: Path) -> bytes:
    if not file.is_file():
        raise InputError(
            f"path {str(file)!r} is no file: give {PARQUET} or {CSV}, or leave path out to look "
            "into the cache"
        )
    try:
        content = _from_file(file)
        EXACT.check(content)
    except (SourceError, OSError) as exc:
        raise InputError(
            f"path {str(file)!r} is not the table of 18 stations ({reason(exc)}): give {PARQUET} "
            f"or {CSV} as they were published"
        ) from exc
    return content


def _fetched(address: str) -> bytes:
    return _written_alike(_numbers(csv_columns(web.download(address, LIMIT))))


def _from_file(file: Path) -> bytes:
    content = placed(file.parent, file.name, LIMIT).read_bytes()
    return _written_alike(
        _parquet(content) if content.startswith(b"PAR1") else _numbers(csv_columns(content))
    )


def _parquet(content: bytes) -> dict[str, Array]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as exc:
        raise MissingExtraError(
            "pyarrow", "reading the stations' weather from Parquet", "partita[cli]"
        ) from exc
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(content))
        return {
            name: table.column(name).cast(pyarrow.float64()).to_numpy()
            for name in table.column_names
        }
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise SourceError(f"it is no Parquet file of numbers: {reason(exc)}") from exc


def _numbers(cells: dict[str, list[str]]) -> dict[str, Array]:
    try:
        return {name: np.array(texts, dtype=np.float64) for name, texts in cells.items()}
    except ValueError as exc:
        raise SourceError(f"it holds something else than numbers: {reason(exc)}") from exc


def _written_alike(columns: dict[str, Array]) -> bytes:
    """One CSV text for all files that hold the same numbers: a reader may be off in a number's last
    bit."""
    rounded = (np.round(values, PLACES) for values in columns.values())
    return csv_of(
        list(columns), ([shortest(value) for value in values.tolist()] for values in rounded)
    )
