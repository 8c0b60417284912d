"""Weather: temperatures on the ground and what forecasts said, from the Shifts project's files.

Users fetch these CSV files themselves, since their licence is theirs to accept.
"""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support import Array, one_line, require
from ..errors import InputError
from ._contents import TableData
from ._fetch import cache_folder

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
TOLERANCE = 3.0
CURE = (
    "download the Shifts project's weather data yourself (github.com/Shifts-Project/shifts; the "
    f"licence is {LICENCE}) and put {PARTS[0]}.csv, {PARTS[1]}.csv and {PARTS[2]}.csv into it"
)


def load_weather(folder: str | os.PathLike[str] | None = None) -> TableData:
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
        whoever writes one column would decide which rows every submodel learns from.

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
        tolerance=TOLERANCE,
        sha256={file.name: sha256_of(file) for file in files.values()},
    )


def weather_folder(cache: str | os.PathLike[str] | None) -> Path:
    """Return where the files are looked for in a cache folder."""
    return cache_folder(cache) / "weather"


def cached_weather(cache: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder in the cache, if it has all three files."""
    place = weather_folder(cache)
    return place if all(_find_part(place, part) for part in PARTS) else None


def weather_files(folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """Return the three files, if they are there and have the right columns."""
    place = weather_folder(None) if folder is None else Path(folder).expanduser().absolute()
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
    types: Mapping[str, Any] = {
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
