"""The rows of a run: to learn from, to certify, and, for an informed partition, to look at
beforehand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._support.types import Array
from ..datasets import (
    ImageData,
    TableData,
    load_ames,
    load_cifar10,
    load_digits,
    load_mnist,
    load_weather,
)
from ..datasets._weather import weather_files
from ..errors import InputError
from ._runs import Run

HELD_OUT = 0.05  # of the training rows of tables; the paper holds them out and does not use them
REFERENCE_ROWS = 300  # instead of these: what an informed partition looks at
AMES_TEST_ROWS = 293
TRANSPOSED = (25, 45)  # numbers of submodels for which the paper's authors transpose MNIST's images
TOLERANCE_OF_DIABETES = 5.0


@dataclass(frozen=True, eq=False)
class Rows:
    """``bounds(y)`` says between what values a prediction is right; None: y are labels.
    ``reference`` is (X, y), or None."""

    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array
    image_shape: tuple[int, int, int] | None = None
    bounds: Callable[[Any], tuple[Array, Array]] | None = None
    reference: tuple[Any, Array] | None = None


def rows_of(run: Run, cache: Path | None) -> Rows:
    """The rows of a run; they depend on its data, its size and its seed."""
    data = _loaded(run.details["stand_in"] or run.setting.data, cache)
    train, test = run.details["train_rows"], run.details["test_rows"]
    return (
        _image_rows(data, run, train, test)
        if isinstance(data, ImageData)
        else _table_rows(data, run, train, test)
    )


def check_own_files(run: Run, cache: Path | None) -> None:
    """Stop at once where files are missing that users must fetch themselves."""
    if run.setting.data == "weather" and run.details["stand_in"] is None:
        weather_files(_weather_folder(cache))


@lru_cache(maxsize=1)
def _loaded(name: str, cache: Path | None) -> ImageData | TableData:
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

    X, whole = load_diabetes(return_X_y=True, as_frame=True)
    y = whole.to_numpy() / 10  # whole numbers would be taken for labels
    return TableData(
        "diabetes", X, y, X[:0], y[:0], "disease progression", tolerance=TOLERANCE_OF_DIABETES
    )


def _image_rows(data: ImageData, run: Run, train: int | None, test: int | None) -> Rows:
    learn = _some(len(data.y_train), train)
    X_train, X_test = data.X_train[learn], data.X_test[:test]
    if (
        run.setting.data == "mnist"
        and run.setting.partition == "strided"
        and run.setting.count in TRANSPOSED
    ):
        X_train, X_test = (
            _transposed(X_train, data.image_shape),
            _transposed(X_test, data.image_shape),
        )
    return Rows(X_train, data.y_train[learn], X_test, data.y_test[:test], data.image_shape)


def _table_rows(data: TableData, run: Run, train: int | None, test: int | None) -> Rows:
    X, y, learn, certify = (
        data.X_train,
        data.y_train,
        _some(len(data.y_train), train, run.seed),
        None,
    )
    if run.setting.data.startswith("ames") or not len(
        data.y_test
    ):  # which rows the paper certifies is not known: every seed has its own
        X, y = _both(data)
        order = np.random.RandomState(run.seed).permutation(len(y))
        certify, learn = np.split(order, [test or AMES_TEST_ROWS])
        learn = learn[:train]
    else:
        learn = np.random.RandomState(run.seed).permutation(learn)
    informed = run.setting.partition in ("informed", "exchanged")
    aside = min(REFERENCE_ROWS, len(learn) // 2) if informed else int(HELD_OUT * len(learn))
    out, learn = np.split(learn, [aside])
    X_test, y_test = (
        (data.X_test[:test], data.y_test[:test])
        if certify is None
        else (X.iloc[certify], y[certify])
    )
    reference = (X.iloc[out], y[out]) if informed else None
    if informed:  # two houses may be alike in every column
        learn = learn[~_among(X.iloc[learn], X.iloc[out])]
    return Rows(X.iloc[learn], y[learn], X_test, y_test, bounds=data.bounds, reference=reference)


def _both(data: TableData) -> tuple[Any, Array]:
    """All rows of a table."""
    try:
        import pandas
    except ImportError as exc:  # pragma: no cover: the loaders need it before
        raise InputError("tables need pandas: pip install 'partita[cli]'") from exc
    return pandas.concat([data.X_train, data.X_test], ignore_index=True), np.concatenate(
        [data.y_train, data.y_test]
    )


def _among(rows: Any, others: Any) -> Array:
    """Which rows stand among the others, too."""
    from pandas.util import hash_pandas_object

    return np.isin(hash_pandas_object(rows, index=False), hash_pandas_object(others, index=False))


def _some(total: int, wanted: int | None, seed: int = 0) -> Array:
    """All rows, or some of them, always the same."""
    return (
        np.arange(total)
        if wanted is None or wanted >= total
        else np.sort(np.random.RandomState(seed).permutation(total)[:wanted])
    )


def _transposed(X: Array, image_shape: tuple[int, int, int]) -> Array:
    return np.ascontiguousarray(X.reshape(-1, *image_shape).swapaxes(1, 2).reshape(len(X), -1))
