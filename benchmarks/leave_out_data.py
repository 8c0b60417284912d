"""The tables on which benchmarks/leave_out.py compares both methods.

Digits, breast cancer and diabetes come with scikit-learn, Ames with ``partita.datasets``. Gas
sensors, Beijing's air and the weather of Europe are read from a folder of Parquet files:
``gas_drift.parquet`` (UCI, "Gas Sensor Array Drift Dataset", A. Vergara et al. 2012, CC BY 4.0),
``beijing_air.parquet`` (UCI, "Beijing Multi-Site Air-Quality Data", S. Chen 2017, CC BY 4.0) and
``weather_europe.parquet`` (F. Huber, "Weather prediction dataset", MIT).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

MOST_ROWS = 1500  # to learn from, where a table does not say otherwise


@dataclass
class Table:
    """Columns, a target, and what an attacker could own."""

    X: pd.DataFrame
    y: np.ndarray
    units: Any = None  # an id per column; None: every column
    trusted: tuple[str, ...] = ()
    order: np.ndarray | None = None  # parts: 0 to learn from, 1 to test on; None: at random
    right: dict[str, float] | None = None  # numbers: tolerance or relative
    most_rows: int = MOST_ROWS  # to learn from

    @property
    def is_regression(self):
        return self.right is not None


def digits(folder):
    X, y = load_digits(return_X_y=True, as_frame=True)
    return Table(X, y.to_numpy())


def breast_cancer(folder):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    # mean, error and worst value of each of ten measurements
    return Table(X, y.to_numpy(), [j % 10 for j in range(X.shape[1])])


def diabetes(folder):
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return Table(X, y.to_numpy(float), right={"relative": 0.4})


def ames(folder):
    """House prices, right within 15 %."""
    from partita.datasets import load_ames

    data = load_ames()
    X = pd.concat([data.X_train, data.X_test], ignore_index=True)
    y = np.expm1(np.concatenate([data.y_train, data.y_test]))
    return Table(X, y, right={"relative": 0.15})


def gas(folder, drift=False):
    table = pd.read_parquet(Path(folder) / "gas_drift.parquet")
    X = table[[name for name in table.columns if name.startswith("sensor")]]
    order = None
    if drift:
        batch = table["batch"].to_numpy()
        keep = batch <= 5
        X, table, order = X[keep], table[keep], (batch[keep] > 3).astype(int)
    return Table(
        X.reset_index(drop=True),
        table["gas"].astype(str).to_numpy(),
        [name.split()[0] for name in X.columns],
        order=order,
        most_rows=5000,
    )


def gas_drift(folder):
    return gas(folder, drift=True)


def beijing(folder):
    """PM2.5 at Aotizhongxin in six hours, in four classes; the last year is to test on."""
    table = pd.read_parquet(Path(folder) / "beijing_air.parquet")
    time = pd.to_datetime(table[["year", "month", "day", "hour"]])
    values = ["PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM"]
    wide = table.assign(time=time).pivot(index="time", columns="station", values=values)
    stations = sorted(table["station"].unique())
    target = wide["PM2.5"][stations[0]].shift(-6)
    X = pd.concat({s: wide.xs(s, axis=1, level=1)[values] for s in stations}, axis=1)
    known = target.notna().to_numpy()
    order = (X.index >= "2016-03-01").astype(int)[known]
    X.columns = [f"{station} {value}" for station, value in X.columns]
    X = X.assign(hour=X.index.hour.astype(float), month=X.index.month.astype(float))
    y = np.digitize(target[known], [35, 75, 150])
    ids = [name.rsplit(" ", 1)[0] for name in X.columns]
    return Table(X[known].reset_index(drop=True), y, ids, ("hour", "month"), order)


def weather(folder):
    """The next day's mean temperature at Basel, within 3 degrees; the last fifth is to test on."""
    from partita.datasets import load_weather_europe

    data = load_weather_europe(Path(folder) / "weather_europe.parquet")
    X = pd.concat([data.X_train, data.X_test], ignore_index=True)
    order = np.repeat([0, 1], [len(data.X_train), len(data.X_test)])
    unit_of = {column: name for name, columns in data.units.items() for column in columns}
    ids = [unit_of.get(column, column) for column in X.columns]
    y = np.concatenate([data.y_train, data.y_test])
    return Table(X, y, ids, tuple(data.trusted), order, {"tolerance": 3.0})


TABLES = {
    "digits": digits,
    "breast cancer": breast_cancer,
    "gas": gas,
    "gas drift": gas_drift,
    "beijing": beijing,
    "weather": weather,
    "diabetes": diabetes,
    "ames": ames,
}


def split(table, seed):
    """Rows to fit on, to choose settings on, and to test on, at most MOST_ROWS to learn from.

    The test rows are the same for every seed: no choice may depend on them.
    """
    if table.order is None:
        rows = np.random.default_rng(0).permutation(len(table.y))
        n_test = len(rows) * 3 // 10
        test, train = rows[:n_test], rows[n_test:]
    else:
        train, test = (np.flatnonzero(table.order == part) for part in (0, 1))
    train = np.random.default_rng([seed, 1]).permutation(train)[: table.most_rows]
    n_valid = len(train) // 5
    return train[n_valid:], train[:n_valid], test
