"""Daily weather at 18 European stations: a table from many sources, the stations."""

import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from .._support import Array, one_line, require
from ..errors import InputError
from ._contents import TABLE_MOST_BYTES, KnownTable, TableData
from ._download import download
from ._fetch import FetchError, Source, fetch, read_local
from ._formats import number_text, read_csv, write_csv

WEATHER_EUROPE = KnownTable(
    "weather_europe", "aafe86e5793af6d94cdd4c57c26815a46176b2ae6b2b359cc634acb5db5d6c24"
)
PARQUET, CSV = "weather_europe.parquet", "weather_prediction_dataset.csv"
REPOSITORY = "florian-huber/weather_prediction_dataset"
URLS = (
    f"https://raw.githubusercontent.com/{REPOSITORY}/main/dataset/{CSV}",
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
DECIMALS = 4  # no value has more
TOLERANCE = 3.0


def load_weather_europe(
    path: str | os.PathLike[str] | None = None, station: str = "BASEL"
) -> TableData:
    """Load 2,922 and 731 days at 18 weather stations.

    The target is the next day's mean temperature at one of them; a prediction is right within 3
    degrees. The stations are the units, each with all it measures; the month is trusted. The first
    four fifths of the days are to learn from. The table is downloaded once (about 3 MB) and
    believed only if its SHA-256 is that of the original.

    Parameters
    ----------
    path : path, optional
        The table as a .parquet or .csv file. By default it comes from the folder that the
        environment's PARTITA_CACHE names, or from the user's cache folder (``~/.cache/partita`` on
        Linux), and is downloaded if it is not there.
    station : str, default="BASEL"
        Where the temperature is to be predicted.

    Returns
    -------
    TableData
        The table, with ``units`` and ``trusted``; its ``bounds`` say which predictions are right.

    Raises
    ------
    InputError
        If there is no such station, the file is not the table, or no source answers; the message
        says which file to put where by hand.
    MissingExtraError
        If pandas is not installed, or pyarrow for a .parquet file.

    See Also
    --------
    load_ames : A table whose columns are the units.

    References
    ----------
    F. Huber, "Weather prediction dataset", 2022, after measurements of ECA&D.

    Examples
    --------
    >>> from partita.datasets import load_weather_europe
    >>> data = load_weather_europe(station="OSLO")  # doctest: +SKIP
    >>> data.X_train.shape, len(data.units), data.trusted  # doctest: +SKIP
    ((2922, 164), 18, ('MONTH',))
    """
    if station not in STATIONS:
        raise InputError(f"station is {station!r}: give one of {', '.join(STATIONS)}")
    content = weather_europe_csv(None) if path is None else _user_file(Path(path).expanduser())
    from ..tables import pandas_frame

    columns = {
        name: np.array(texts, dtype=np.float64)
        for name, texts in read_csv(content).items()
        if name != DATE
    }
    X, y = pandas_frame(columns)[:-1], columns[f"{station}_temp_mean"][1:]
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
        sha256={WEATHER_EUROPE.file_name: WEATHER_EUROPE.sha256},
    )


def weather_europe_csv(cache: str | os.PathLike[str] | None) -> bytes:
    """Return the table as it is cached, as CSV."""
    return fetch(WEATHER_EUROPE, cache, _sources, _cure)


def _sources(folder: Path) -> Iterator[Source[bytes]]:
    for name in (PARQUET, CSV):
        if (folder / name).is_file():
            yield Source(str(folder / name), partial(_from_file, folder / name))
    for url in URLS:
        yield Source(url, partial(_download, url))


def _cure(folder: Path) -> str:
    return (
        f"go online, or put {CSV} (from github.com/{REPOSITORY}) or {PARQUET} into {folder} and "
        "call again"
    )


def _user_file(file: Path) -> bytes:
    if not file.is_file():
        raise InputError(
            f"path {str(file)!r} is not a file: give {PARQUET} or {CSV}, or leave path out to look "
            "into the cache"
        )
    try:
        content = _from_file(file)
        WEATHER_EUROPE.check(content)
    except (FetchError, OSError) as exc:
        raise InputError(
            f"path {str(file)!r} is not the table of 18 stations ({one_line(exc)}): give {PARQUET} "
            f"or {CSV} as they were published"
        ) from exc
    return content


def _download(url: str) -> bytes:
    return _to_csv(_numbers(read_csv(download(url, TABLE_MOST_BYTES))))


def _from_file(file: Path) -> bytes:
    content = read_local(file, TABLE_MOST_BYTES)
    return _to_csv(
        _read_parquet(content) if content.startswith(b"PAR1") else _numbers(read_csv(content))
    )


def _read_parquet(content: bytes) -> dict[str, Array]:
    purpose = "reading the stations' weather from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(io.BytesIO(content))
        return {
            name: table.column(name).cast(pyarrow.float64()).to_numpy()
            for name in table.column_names
        }
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of numbers: {one_line(exc)}") from exc


def _numbers(cells: dict[str, list[str]]) -> dict[str, Array]:
    try:
        return {name: np.array(texts, dtype=np.float64) for name, texts in cells.items()}
    except ValueError as exc:
        raise FetchError(f"not all of its cells are numbers: {one_line(exc)}") from exc


def _to_csv(columns: dict[str, Array]) -> bytes:
    """Write one CSV text for all files with the same numbers: readers differ in the last bit."""
    rounded = (np.round(values, DECIMALS) for values in columns.values())
    return write_csv(
        list(columns), ([number_text(value) for value in values.tolist()] for values in rounded)
    )
