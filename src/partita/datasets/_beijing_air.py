"""The air of Beijing: twelve stations, four years by the hour.

What is known bit for bit is one array of numbers, as float32: stations by name, hours in order, and
eleven measurements. The wind's direction, a text, is not used.
"""

import csv
import io
import os
from collections.abc import Mapping

import numpy as np

from .._support.optional import require
from .._support.types import Array
from ..errors import InputError
from ._fetch_limits import FetchError, reason
from ._known_arrays import MOST_BYTES, Arrays, KnownArrays, canonical
from ._table_data import TableData
from ._uci import UciTable
from ._unpack import zip_files

STATIONS = (
    "Aotizhongxin",
    "Changping",
    "Dingling",
    "Dongsi",
    "Guanyuan",
    "Gucheng",
    "Huairou",
    "Nongzhanguan",
    "Shunyi",
    "Tiantan",
    "Wanliu",
    "Wanshouxigong",
)
MEASURES = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM")
CALENDAR = ("year", "month", "day", "hour")
START, HOURS, TEST_START = "2013-03-01", 35_064, "2016-03-01"
FILE = "PRSA_Data_{}_20130301-20170228.csv"
TOLERANCE = 25.0


def load_beijing_air(
    path: str | os.PathLike[str] | None = None, station: str = "Aotizhongxin", hours: int = 6
) -> TableData:
    """Load three years and one year of hours at 12 stations; the target is PM2.5 some hours ahead.

    A prediction is right within 25 micrograms per cubic metre. The stations are the units, each
    with eleven measurements; hour and month are trusted. The rows to certify are the last year.
    Missing values are the real ones.

    Parameters
    ----------
    path : path, optional
        The table as a .parquet file, or the .zip archive that UCI publishes. By default it comes
        from the folder that the environment's PARTITA_CACHE names, from the user's cache folder
        (``~/.cache/partita`` on Linux), or from ``shared/data`` beside the working directory or a
        folder above it, and is downloaded if it is in none of them.
    station : str, default="Aotizhongxin"
        Where PM2.5 is to be predicted.
    hours : int, default=6
        How many hours ahead.

    Returns
    -------
    TableData
        The table, with ``units`` and ``trusted``; rows whose target is missing are left out. The
        index of ``X_train`` and ``X_test`` is the time.

    Raises
    ------
    InputError
        If there is no such station, the file is not the table, or no source answers; the message
        says which file to put where by hand.
    MissingExtraError
        If pandas is not installed, or pyarrow for a .parquet file.

    See Also
    --------
    load_weather_europe : Stations of many countries, by the day.

    References
    ----------
    S. Zhang et al., "Cautionary tales on air-quality improvement in Beijing", Proceedings of the
    Royal Society A 473, 2017. UCI Machine Learning Repository (S. Chen), CC BY 4.0.

    Examples
    --------
    >>> from partita.datasets import load_beijing_air
    >>> data = load_beijing_air(station="Dongsi")  # doctest: +SKIP
    >>> data.X_train.shape[1], len(data.units), data.trusted  # doctest: +SKIP
    (134, 12, ('hour', 'month'))
    """
    if station not in STATIONS:
        raise InputError(f"station is {station!r}: give one of {', '.join(STATIONS)}")
    if isinstance(hours, bool) or not isinstance(hours, int) or not 1 <= hours <= 168:
        raise InputError(f"hours is {hours!r}: give a whole number from 1 to 168")
    arrays = BEIJING_AIR.load(path)
    pandas = require("pandas", "tables", "partita[cli]")
    air = arrays["air"]
    times = pandas.date_range(START, periods=air.shape[1], freq="h", name="time")
    units = {name: tuple(f"{name} {measure}" for measure in MEASURES) for name in STATIONS}
    X = pandas.DataFrame(
        np.concatenate(list(air), axis=1),
        columns=[column for columns in units.values() for column in columns],
        index=times,
    ).assign(hour=times.hour.astype(np.float32), month=times.month.astype(np.float32))
    y = air[STATIONS.index(station), hours:, MEASURES.index("PM2.5")].astype(np.float64)
    known = np.flatnonzero(~np.isnan(y))
    X, y = X.iloc[known], y[known]
    learn = np.asarray(X.index < TEST_START)
    return TableData(
        "beijing_air",
        X[learn],
        y[learn],
        X[~learn],
        y[~learn],
        f"PM2.5 at {station} in {hours} hours, micrograms per cubic metre",
        units=units,
        trusted=("hour", "month"),
        tolerance=TOLERANCE,
        sha256=dict(BEIJING_AIR.known.sha256),
    )


def _from_parquet(content: bytes) -> Arrays:
    purpose = "reading the stations' air from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(io.BytesIO(content), columns=[*CALENDAR, *MEASURES, "station"])
        station = np.array(table.column("station").to_pylist())
        columns = {name: table.column(name).to_numpy() for name in (*CALENDAR, *MEASURES)}
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of the stations' air: {reason(exc)}") from exc
    rows_of = [np.flatnonzero(station == name) for name in STATIONS]
    return _arrays([{name: values[rows] for name, values in columns.items()} for rows in rows_of])


def _from_zip(content: bytes) -> Arrays:
    """UCI's archive: a CSV file per station, with NA where a value is missing."""
    files = zip_files(content, [FILE.format(name) for name in STATIONS], MOST_BYTES)
    return _arrays([_read_station(files[FILE.format(name)]) for name in STATIONS])


def _read_station(content: bytes) -> dict[str, Array]:
    try:
        header, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        places = {name: header.index(name) for name in (*CALENDAR, *MEASURES)}
        return {
            name: np.array(
                ["nan" if row[place] == "NA" else row[place] for row in rows], dtype=np.float64
            )
            for name, place in places.items()
        }
    except (ValueError, IndexError, csv.Error) as exc:
        raise FetchError(f"not a station's table: {reason(exc)}") from exc


def _arrays(stations: list[dict[str, Array]]) -> Mapping[str, Array]:
    """All stations as one array, if their hours are those of the data set, in order."""
    times = np.datetime64(START, "h") + np.arange(HOURS)
    days = times.astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    expected = {
        "year": months.astype("datetime64[Y]").astype(int) + 1970,
        "month": months.astype(int) % 12 + 1,
        "day": (days - months).astype(int) + 1,
        "hour": (times - days).astype(int),
    }
    for columns in stations:
        if any(not np.array_equal(columns[name], values) for name, values in expected.items()):
            raise FetchError(f"its rows are not the {HOURS:,} hours from {START} on")
    return {
        "air": np.stack(
            [
                np.column_stack([canonical(columns[name]) for name in MEASURES])
                for columns in stations
            ]
        )
    }


BEIJING_AIR = UciTable(
    KnownArrays(
        "beijing_air",
        {"air": "24b6da6e2e67dc4299c6f952a921e5ee0f1f4beade888cf16ddb05bfe6377a71"},
    ),
    "the table of 12 stations",
    501,
    "beijing_air.parquet",
    "beijing+multi+site+air+quality+data.zip",
    _from_parquet,
    _from_zip,
)
