"""Weather: temperatures on the ground and what forecasts said, from the CSV files of the Shifts
project, which users fetch themselves."""

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError, MissingExtraError
from ._cache import cache_folder
from ._table_set import TableData

PARTS = ("train", "dev_in", "eval_in")
PREFIX = "shifts_canonical_"  # the files' names have it in some archives
LICENCE = "CC BY-NC-SA 4.0"
TARGET, TIME, CLIMATE = "fact_temperature", "fact_time", "climate"
SCHEMA = """
fact_time fact_latitude fact_longitude fact_temperature fact_cwsm_class climate
topography_bathymetry sun_elevation climate_temperature climate_pressure
cmc_0_0_0_1000 cmc_0_0_0_2_grad cmc_0_0_0_2_interpolated cmc_0_0_0_2_next cmc_0_0_0_2 cmc_0_0_0_500 cmc_0_0_0_700 cmc_0_0_0_850
cmc_0_0_0_925 cmc_0_0_6_2 cmc_0_0_7_1000 cmc_0_0_7_2 cmc_0_0_7_500 cmc_0_0_7_700 cmc_0_0_7_850 cmc_0_0_7_925 cmc_0_1_0_0 cmc_0_1_11_0
cmc_0_1_65_0 cmc_0_1_66_0 cmc_0_1_67_0 cmc_0_1_68_0 cmc_0_1_7_0 cmc_0_2_2_10 cmc_0_2_2_1000 cmc_0_2_2_500 cmc_0_2_2_700 cmc_0_2_2_850
cmc_0_2_2_925 cmc_0_2_3_10 cmc_0_2_3_1000 cmc_0_2_3_500 cmc_0_2_3_700 cmc_0_2_3_850 cmc_0_2_3_925 cmc_0_3_0_0 cmc_0_3_0_0_next
cmc_0_3_1_0 cmc_0_3_5_1000 cmc_0_3_5_500 cmc_0_3_5_700 cmc_0_3_5_850 cmc_0_3_5_925 cmc_0_6_1_0 cmc_available cmc_horizon_h
cmc_precipitations cmc_timedelta_s
gfs_2m_dewpoint gfs_a_vorticity gfs_available gfs_cloudness gfs_clouds_sea gfs_horizon_h gfs_humidity gfs_precipitable_water
gfs_precipitations gfs_pressure gfs_r_velocity gfs_soil_temperature gfs_soil_temperature_available gfs_temperature_10000
gfs_temperature_15000 gfs_temperature_20000 gfs_temperature_25000 gfs_temperature_30000 gfs_temperature_35000 gfs_temperature_40000
gfs_temperature_45000 gfs_temperature_5000 gfs_temperature_50000 gfs_temperature_55000 gfs_temperature_60000 gfs_temperature_65000
gfs_temperature_7000 gfs_temperature_70000 gfs_temperature_75000 gfs_temperature_80000 gfs_temperature_85000 gfs_temperature_90000
gfs_temperature_92500 gfs_temperature_95000 gfs_temperature_97500 gfs_temperature_sea gfs_temperature_sea_grad
gfs_temperature_sea_interpolated gfs_temperature_sea_next gfs_timedelta_s gfs_total_clouds_cover_high gfs_total_clouds_cover_low
gfs_total_clouds_cover_middle gfs_u_wind gfs_v_wind gfs_wind_speed
wrf_available wrf_t2 wrf_t2_next wrf_psfc wrf_rh2 wrf_wind_u wrf_wind_v wrf_rain wrf_snow wrf_graupel wrf_hail wrf_t2_interpolated
wrf_t2_grad
cmc_0_1_65_0_grad cmc_0_1_65_0_next cmc_0_1_66_0_grad cmc_0_1_66_0_next cmc_0_1_67_0_grad cmc_0_1_67_0_next cmc_0_1_68_0_grad
cmc_0_1_68_0_next gfs_2m_dewpoint_grad gfs_2m_dewpoint_next gfs_total_clouds_cover_low_grad gfs_total_clouds_cover_low_next
"""
COLUMNS = tuple(SCHEMA.split())
TOLERANCE = 3.0
CURE = (
    "fetch the Shifts project's weather data yourself (github.com/Shifts-Project/shifts; the "
    f"licence is {LICENCE}) and put "
    f"{PARTS[0]}.csv, {PARTS[1]}.csv and {PARTS[2]}.csv into it"
)


def load_weather(folder: str | os.PathLike[str] | None = None) -> TableData:
    """Some three million temperatures at places all over the world, in 128 columns; right within 3
    degrees.

    These are the Shifts project's files. Their licence, CC BY-NC-SA 4.0, is yours to accept, so
    partita does not fetch them. Rows to learn from: ``train.csv`` and ``dev_in.csv``; rows to
    certify: ``eval_in.csv`` (the same climates and months); in both, those with a temperature.
    Columns: all but the temperature measured, as many as in the paper: the 123 of forecasts and
    terrain, time, latitude, longitude, the class of precipitation measured, and the climate's name,
    a text. Numbers are float32, the time float64. Missing values are NaN: were rows left out for
    them, whoever writes one column would decide which rows every submodel learns from.

    Parameters
    ----------
    folder : path, default=None
        Where the three files are; default: ``weather`` in the folder that PARTITA_CACHE names, or
        in ``~/.cache/partita``.
    """
    from ..tables._open import frame_of, sha256_of

    files = weather_files(folder)
    train, more, test = (_rows(file) for file in files.values())
    together = {name: np.concatenate([train.pop(name), more.pop(name)]) for name in COLUMNS}
    y_train, y_test = (columns.pop(TARGET).astype(np.float64) for columns in (together, test))
    return TableData(
        "weather",
        frame_of(together),
        y_train,
        frame_of(test),
        y_test,
        "temperature in degrees Celsius",
        tolerance=TOLERANCE,
        sha256={file.name: sha256_of(file) for file in files.values()},
    )


def weather_folder(cache: str | os.PathLike[str] | None) -> Path:
    return cache_folder(cache) / "weather"


def weather_kept(cache: str | os.PathLike[str] | None) -> Path | None:
    """The folder in the cache, if it has all three files."""
    place = weather_folder(cache)
    return place if all(_found(place, part) for part in PARTS) else None


def weather_files(folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """The three files, if they are there and have the right columns."""
    place = weather_folder(None) if folder is None else Path(folder).expanduser().absolute()
    if not place.is_dir():
        raise InputError(f"folder {str(place)!r} does not exist: {CURE}")
    files = {part: _file(place, part) for part in PARTS}
    for file in files.values():
        _check_columns(file)
    return files


def _file(place: Path, part: str) -> Path:
    found = _found(place, part)
    if found is None:
        raise InputError(f"folder {str(place)!r} has no {part}.csv: {CURE}")
    return found


def _found(place: Path, part: str) -> Path | None:
    files = (place / f"{part}.csv", place / f"{PREFIX}{part}.csv")
    return next((file for file in files if file.is_file()), None)


def _check_columns(file: Path) -> None:
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        try:
            header = next(csv.reader([lines.readline(2**16)]), [])
        except csv.Error:
            header = []
    missing = [name for name in COLUMNS if name not in header]
    others = [name for name in header if name not in COLUMNS]
    cure = f"give a file with the {len(COLUMNS)} columns of the Shifts project's weather data"
    if missing:
        rest = f" and {len(missing) - 1} more of its columns" if len(missing) > 1 else ""
        why = (
            "; it has features alone, as for a challenge, and nothing to predict"
            if missing == list(COLUMNS[:6])
            else ""
        )
        raise InputError(f"{str(file)!r} lacks the column {missing[0]!r}{rest}{why}: {cure}")
    if others:
        raise InputError(f"{str(file)!r} has the column {others[0]!r}, which is not known: {cure}")
    if len(header) > len(COLUMNS):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{str(file)!r} has two columns named {twice!r}: {cure}")


def _rows(file: Path) -> dict[str, Array]:
    """The columns of a file, of the rows with a temperature; NaN for a missing value."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError as exc:
        raise MissingExtraError("pyarrow", "reading the weather data", "partita[cli]") from exc
    types: Mapping[str, Any] = {
        **dict.fromkeys(COLUMNS, pyarrow.float32()),
        TIME: pyarrow.float64(),  # float32 would round it to minutes
        CLIMATE: pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    }
    try:
        table = pyarrow.csv.read_csv(
            file,
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=COLUMNS, strings_can_be_null=True
            ),
        ).unify_dictionaries()
    except (OSError, ValueError, pyarrow.ArrowException) as exc:
        raise InputError(
            f"{str(file)!r} cannot be read: {str(exc).strip().splitlines()[0][:200]}: fetch it "
            "again"
        ) from exc
    table = table.filter(table.column(TARGET).is_valid())
    if not table.num_rows:
        raise InputError(f"{str(file)!r} has no row with a {TARGET}: fetch it again")
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
