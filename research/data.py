"""The rows of a run: to learn from, to certify, and, for an informed partition, a reference.

They depend on the data, the size and the seed alone; no row is in two of the parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from partita._support import Array, require
from partita.datasets import (
    ImageData,
    TableData,
    load_ames,
    load_cifar10,
    load_digits,
    load_mnist,
    load_weather,
    weather_files,
)

from .runs import Run

HELD_OUT = 0.05  # of a table's training rows; the paper holds them out and does not use them
REFERENCE_ROWS = 300  # in their place, the rows that inform a partition
AMES_TEST_ROWS = 293
TRANSPOSED = (25, 45)  # numbers of submodels for which the paper's authors transpose MNIST's images
DIABETES_TOLERANCE = 5.0


@dataclass(frozen=True, eq=False)
class RunData:
    """Training and test rows.

    ``bounds(y)`` gives the values between which a prediction is right; None where y are labels.
    ``reference`` is (X, y), or None.
    """

    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array
    image_shape: tuple[int, int, int] | None = None
    bounds: Callable[[Any], tuple[Array, Array]] | None = None
    reference: tuple[Any, Array] | None = None


def load_run_data(run: Run, cache: Path | None) -> RunData:
    """The rows of a run."""
    data = _load(run.details["stand_in"] or run.setting.data, cache)
    train, test = run.details["train_rows"], run.details["test_rows"]
    return (
        _image_rows(data, run, train, test)
        if isinstance(data, ImageData)
        else _table_rows(data, run, train, test)
    )


def check_own_files(run: Run, cache: Path | None) -> None:
    """Raise InputError where files are missing that users must download themselves."""
    if run.setting.data == "weather" and run.details["stand_in"] is None:
        weather_files(_weather_folder(cache))


@lru_cache(maxsize=1)
def _load(name: str, cache: Path | None) -> ImageData | TableData:
    if name == "weather":
        return load_weather(_weather_folder(cache))
    loaders: dict[str, Callable[[], ImageData | TableData]] = {
        "cifar10": lambda: load_cifar10(cache),
        "mnist": lambda: load_mnist(cache),
        "digits": load_digits,
        "ames": lambda: load_ames(cache, one_hot=True),
        "ames_raw": lambda: load_ames(cache),
        "diabetes": _diabetes,
    }
    return loaders[name]()


def _weather_folder(cache: Path | None) -> Path | None:
    return None if cache is None else cache / "weather"


def _diabetes() -> TableData:
    from sklearn.datasets import load_diabetes

    X, target = load_diabetes(return_X_y=True, as_frame=True)
    y = target.to_numpy() / 10  # whole numbers would be taken for labels
    return TableData(
        "diabetes", X, y, X[:0], y[:0], "disease progression", tolerance=DIABETES_TOLERANCE
    )


def _image_rows(data: ImageData, run: Run, train: int | None, test: int | None) -> RunData:
    learn = _some(len(data.y_train), train)
    X_train, X_test = data.X_train[learn], data.X_test[:test]
    if (
        run.setting.data == "mnist"
        and run.setting.partition == "strided"
        and run.setting.count in TRANSPOSED
    ):
        X_train, X_test = (
            _transpose(X_train, data.image_shape),
            _transpose(X_test, data.image_shape),
        )
    return RunData(X_train, data.y_train[learn], X_test, data.y_test[:test], data.image_shape)


def _table_rows(data: TableData, run: Run, train: int | None, test: int | None) -> RunData:
    X, y, rng = data.X_train, data.y_train, np.random.RandomState(run.seed)
    # which rows of Ames the paper certifies is not known, so every seed draws its own
    if run.setting.data.startswith("ames") or not len(data.y_test):
        X, y = _all_rows(data)
        certify, learn = np.split(rng.permutation(len(y)), [test or AMES_TEST_ROWS])
        learn = learn[:train]
        X_test, y_test = X.iloc[certify], y[certify]
    else:
        learn = rng.permutation(_some(len(y), train, run.seed))
        X_test, y_test = data.X_test[:test], data.y_test[:test]
    informed = run.setting.partition in ("informed", "exchanged")
    n_aside = min(REFERENCE_ROWS, len(learn) // 2) if informed else int(HELD_OUT * len(learn))
    aside, learn = np.split(learn, [n_aside])
    reference = (X.iloc[aside], y[aside]) if informed else None
    if informed:  # two houses may be alike in every column
        learn = learn[~_among(X.iloc[learn], X.iloc[aside])]
    return RunData(X.iloc[learn], y[learn], X_test, y_test, bounds=data.bounds, reference=reference)


def _all_rows(data: TableData) -> tuple[Any, Array]:
    pandas = require("pandas", "reproducing tables", "partita[cli]")
    X = pandas.concat([data.X_train, data.X_test], ignore_index=True)
    return X, np.concatenate([data.y_train, data.y_test])


def _among(rows: Any, reference: Any) -> Array:
    """Which rows are equal to a row of the reference."""
    from pandas.util import hash_pandas_object

    hashes = (hash_pandas_object(frame, index=False) for frame in (rows, reference))
    return np.isin(*hashes)


def _some(total: int, wanted: int | None, seed: int = 0) -> Array:
    """The positions of all rows, or of some of them, always the same."""
    return (
        np.arange(total)
        if wanted is None or wanted >= total
        else np.sort(np.random.RandomState(seed).permutation(total)[:wanted])
    )


def _transpose(X: Array, image_shape: tuple[int, int, int]) -> Array:
    return np.ascontiguousarray(X.reshape(-1, *image_shape).swapaxes(1, 2).reshape(len(X), -1))
