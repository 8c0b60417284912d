"""Tables of numbers from UCI's repository: gas sensors that drift, and the air of Beijing.

Each has one content, in a Parquet file or as it was published. What is known bit for bit are the
numbers, as float32.
"""

import csv
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from .._support import Array, one_line, require
from ..errors import InputError
from ._contents import ARRAYS_MOST_BYTES, Arrays, KnownArrays, TableData, canonical
from ._download import download
from ._fetch import FetchError, Source, fetch, read_local, shared_file
from ._formats import zip_files

SITES = ("https://archive.ics.uci.edu/static/public",)


@dataclass(frozen=True)
class UciTable:
    """A table, its files, and how each of them is read.

    Attributes
    ----------
    known : KnownArrays
        Its content.
    what : str
        What it is called in errors.
    number : int
        Of the data set in the repository.
    parquet, archive : str
        The names of its files.
    from_parquet, from_archive : callable
        Make arrays of a file's bytes, or raise FetchError.
    """

    known: KnownArrays
    what: str
    number: int
    parquet: str
    archive: str
    from_parquet: Callable[[bytes], Arrays]
    from_archive: Callable[[bytes], Arrays]

    def load(self, path: str | os.PathLike[str] | None) -> Arrays:
        """Return the content of a user's file; without one, from wherever it is found."""
        return self.fetch(None) if path is None else self._user_file(Path(path).expanduser())

    def fetch(self, cache: str | os.PathLike[str] | None) -> Arrays:
        """Return the content as it is cached, fetched first if need be."""
        return fetch(self.known, cache, self._sources, self._cure)

    def _sources(self, folder: Path) -> Iterator[Source[Arrays]]:
        for file in (folder / self.parquet, folder / self.archive, shared_file(self.parquet)):
            if file is not None and file.is_file():
                yield Source(str(file), partial(self._from_file, file))
        for site in SITES:
            url = f"{site}/{self.number}/{self.archive}"
            yield Source(url, partial(self._download, url))

    def _cure(self, folder: Path) -> str:
        return (
            f"go online, or put {self.archive} (from UCI's data set {self.number}) or "
            f"{self.parquet} into {folder}"
        )

    def _user_file(self, file: Path) -> Arrays:
        if not file.is_file():
            raise InputError(
                f"path {str(file)!r} is not a file: give {self.parquet} or {self.archive}, or "
                "leave path out to look into the cache"
            )
        try:
            arrays = self._from_file(file)
            self.known.check(arrays)
        except (FetchError, OSError) as exc:
            raise InputError(
                f"path {str(file)!r} is not {self.what} ({one_line(exc)}): give {self.parquet} or "
                f"{self.archive} as it was published"
            ) from exc
        return arrays

    def _download(self, url: str) -> Arrays:
        return self.from_archive(download(url, ARRAYS_MOST_BYTES))

    def _from_file(self, file: Path) -> Arrays:
        content = read_local(file, ARRAYS_MOST_BYTES)
        return (self.from_parquet if content.startswith(b"PAR1") else self.from_archive)(content)


# ---- gas sensors: sixteen sensors, six gases, three years in batches ----

GASES = ("Ethanol", "Ethylene", "Ammonia", "Acetaldehyde", "Acetone", "Toluene")  # codes 1 to 6
# without 7 and 10, so that files with and without them are the same table
GAS_BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)
LAST_BATCH_TO_LEARN = 3
GAS_SENSORS = tuple(f"sensor{k}" for k in range(1, 17))
GAS_MEASURES = (
    "DR",
    "|DR|",
    "EMAi0.001",
    "EMAi0.01",
    "EMAi0.1",
    "EMAd0.001",
    "EMAd0.01",
    "EMAd0.1",
)
GAS_COLUMNS = tuple(f"{sensor} {measure}" for sensor in GAS_SENSORS for measure in GAS_MEASURES)


def load_gas_drift(path: str | os.PathLike[str] | None = None) -> TableData:
    """Load 3,275 and 3,422 measurements by 16 ageing gas sensors; the target is one of six gases.

    Rows to learn from are batches 1 to 3, rows to certify batches 4, 5, 6, 8 and 9, months later:
    the sensors have drifted. The sensors are the units, each with eight columns.

    Parameters
    ----------
    path : path, optional
        The table as a .parquet file, or the .zip archive that UCI publishes. By default it comes
        from the folder that the environment's PARTITA_CACHE names, from the user's cache folder
        (``~/.cache/partita`` on Linux), or from ``shared/data`` beside the working directory or a
        folder above it, and is downloaded if it is in none of them.

    Returns
    -------
    TableData
        The table, with ``units``; ``y_train`` and ``y_test`` hold strings. The index of ``X_train``
        and ``X_test`` is the batch, which is not among the columns.

    Raises
    ------
    InputError
        If the file is not the table, or no source answers; the message says which file to put
        where by hand.
    MissingExtraError
        If pandas is not installed, or pyarrow for a .parquet file.

    See Also
    --------
    load_beijing_air : Stations that measure the air of a city.

    References
    ----------
    A. Vergara et al., "Chemical gas sensor drift compensation using classifier ensembles", Sensors
    and Actuators B 166, 2012. UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from partita.datasets import load_gas_drift
    >>> data = load_gas_drift()  # doctest: +SKIP
    >>> data.X_train.shape, len(data.units), sorted(set(data.X_test.index))  # doctest: +SKIP
    ((3275, 128), 16, [4, 5, 6, 8, 9])
    """
    arrays = GAS_DRIFT.load(path)
    pandas = require("pandas", "tables", "partita[cli]")
    index = pandas.Index(arrays["batch"].astype(np.int64), name="batch")
    X = pandas.DataFrame(arrays["X"], columns=list(GAS_COLUMNS), index=index)
    y = np.array(GASES, dtype=object)[arrays["gas"] - 1]
    learn = arrays["batch"] <= LAST_BATCH_TO_LEARN
    return TableData(
        "gas_drift",
        X[learn],
        y[learn],
        X[~learn],
        y[~learn],
        "the gas",
        units={
            sensor: tuple(f"{sensor} {measure}" for measure in GAS_MEASURES)
            for sensor in GAS_SENSORS
        },
        sha256=dict(GAS_DRIFT.known.sha256),
    )


def _gas_from_parquet(content: bytes) -> Arrays:
    purpose = "reading the gas sensors' table from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(io.BytesIO(content))
        code_of = {gas: code for code, gas in enumerate(GASES, start=1)}
        codes = [code_of[gas] for gas in table.column("gas").to_pylist()]
        values = np.column_stack([table.column(name).to_numpy() for name in GAS_COLUMNS])
        return _gas_arrays(values, np.array(codes), table.column("batch").to_numpy())
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of the gas sensors: {one_line(exc)}") from exc


def _gas_from_zip(content: bytes) -> Arrays:
    """Read UCI's archive: a text file per batch, with ``code 1:value 2:value`` in a line."""
    files = zip_files(content, [f"batch{number}.dat" for number in GAS_BATCHES], ARRAYS_MOST_BYTES)
    parts = [_read_gas_batch(files[f"batch{number}.dat"]) for number in GAS_BATCHES]
    sizes = [len(codes) for _, codes in parts]
    values, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _gas_arrays(values, codes, np.repeat(GAS_BATCHES, sizes))


def _read_gas_batch(content: bytes) -> tuple[Array, Array]:
    try:
        lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
        # in some versions the concentration follows the code, after a semicolon
        codes = [int(line[0].partition(";")[0]) for line in lines]
        values = [[float(cell.partition(":")[2]) for cell in line[1:]] for line in lines]
        return np.array(values, dtype=np.float64).reshape(len(lines), len(GAS_COLUMNS)), np.array(
            codes
        )
    except (ValueError, IndexError) as exc:
        raise FetchError(f"not a batch of measurements: {one_line(exc)}") from exc


def _gas_arrays(values: Array, codes: Array, batch: Array) -> Arrays:
    return {"X": canonical(values), "gas": codes.astype(np.uint8), "batch": batch.astype(np.uint8)}


GAS_DRIFT = UciTable(
    KnownArrays(
        "gas_drift",
        {
            "X": "7c93201c5c360a204bc9ca5d419046b1504fbd7ec22c3b0730a8933860bd434c",
            "gas": "2badfdf3b36d93ffdfe5b98339b2971decf678579351b95dd41200ca8a31ec27",
            "batch": "4aee44022683f8e22755913a05724126ae05bacc115b1eedb26fe8a9f9f3f716",
        },
        {
            "X": ("float32", (6_697, len(GAS_COLUMNS))),
            "gas": ("uint8", (6_697,)),
            "batch": ("uint8", (6_697,)),
        },
    ),
    "the table of 16 gas sensors",
    224,
    "gas_drift.parquet",
    "gas+sensor+array+drift+dataset.zip",
    _gas_from_parquet,
    _gas_from_zip,
)


# ---- the air of Beijing: twelve stations, four years by the hour ----

AIR_STATIONS = (
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
# the wind's direction, a text, is not used
AIR_MEASURES = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM")
AIR_CALENDAR = ("year", "month", "day", "hour")
AIR_START, AIR_HOURS, AIR_TEST_START = "2013-03-01", 35_064, "2016-03-01"
AIR_FILE = "PRSA_Data_{}_20130301-20170228.csv"
AIR_TOLERANCE = 25.0


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
    if station not in AIR_STATIONS:
        raise InputError(f"station is {station!r}: give one of {', '.join(AIR_STATIONS)}")
    if isinstance(hours, bool) or not isinstance(hours, int) or not 1 <= hours <= 168:
        raise InputError(f"hours is {hours!r}: give a whole number from 1 to 168")
    arrays = BEIJING_AIR.load(path)
    pandas = require("pandas", "tables", "partita[cli]")
    air = arrays["air"]
    times = pandas.date_range(AIR_START, periods=air.shape[1], freq="h", name="time")
    units = {name: tuple(f"{name} {measure}" for measure in AIR_MEASURES) for name in AIR_STATIONS}
    X = pandas.DataFrame(
        np.concatenate(list(air), axis=1),
        columns=[column for columns in units.values() for column in columns],
        index=times,
    ).assign(hour=times.hour.astype(np.float32), month=times.month.astype(np.float32))
    y = air[AIR_STATIONS.index(station), hours:, AIR_MEASURES.index("PM2.5")].astype(np.float64)
    known = np.flatnonzero(~np.isnan(y))
    X, y = X.iloc[known], y[known]
    learn = np.asarray(X.index < AIR_TEST_START)
    return TableData(
        "beijing_air",
        X[learn],
        y[learn],
        X[~learn],
        y[~learn],
        f"PM2.5 at {station} in {hours} hours, micrograms per cubic metre",
        units=units,
        trusted=("hour", "month"),
        tolerance=AIR_TOLERANCE,
        sha256=dict(BEIJING_AIR.known.sha256),
    )


def _air_from_parquet(content: bytes) -> Arrays:
    purpose = "reading the stations' air from Parquet"
    pyarrow = require("pyarrow", purpose, "partita[cli]")
    parquet = require("pyarrow.parquet", purpose, "partita[cli]")
    try:
        table = parquet.read_table(
            io.BytesIO(content), columns=[*AIR_CALENDAR, *AIR_MEASURES, "station"]
        )
        station = np.array(table.column("station").to_pylist())
        columns = {name: table.column(name).to_numpy() for name in (*AIR_CALENDAR, *AIR_MEASURES)}
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise FetchError(f"not a Parquet file of the stations' air: {one_line(exc)}") from exc
    rows_of = [np.flatnonzero(station == name) for name in AIR_STATIONS]
    return _air_arrays(
        [{name: values[rows] for name, values in columns.items()} for rows in rows_of]
    )


def _air_from_zip(content: bytes) -> Arrays:
    """Read UCI's archive: a CSV file per station, with NA where a value is missing."""
    files = zip_files(content, [AIR_FILE.format(name) for name in AIR_STATIONS], ARRAYS_MOST_BYTES)
    return _air_arrays([_read_station(files[AIR_FILE.format(name)]) for name in AIR_STATIONS])


def _read_station(content: bytes) -> dict[str, Array]:
    try:
        header, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        places = {name: header.index(name) for name in (*AIR_CALENDAR, *AIR_MEASURES)}
        return {
            name: np.array(
                ["nan" if row[place] == "NA" else row[place] for row in rows], dtype=np.float64
            )
            for name, place in places.items()
        }
    except (ValueError, IndexError, csv.Error) as exc:
        raise FetchError(f"not a station's table: {one_line(exc)}") from exc


def _air_arrays(stations: list[dict[str, Array]]) -> Arrays:
    """Return all stations as one array, if their hours are those of the data set, in order."""
    times = np.datetime64(AIR_START, "h") + np.arange(AIR_HOURS)
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
            raise FetchError(f"its rows are not the {AIR_HOURS:,} hours from {AIR_START} on")
    return {
        "air": np.stack(
            [
                np.column_stack([canonical(columns[name]) for name in AIR_MEASURES])
                for columns in stations
            ]
        )
    }


BEIJING_AIR = UciTable(
    KnownArrays(
        "beijing_air",
        {"air": "24b6da6e2e67dc4299c6f952a921e5ee0f1f4beade888cf16ddb05bfe6377a71"},
        {"air": ("float32", (len(AIR_STATIONS), AIR_HOURS, len(AIR_MEASURES)))},
    ),
    "the table of 12 stations",
    501,
    "beijing_air.parquet",
    "beijing+multi+site+air+quality+data.zip",
    _air_from_parquet,
    _air_from_zip,
)
