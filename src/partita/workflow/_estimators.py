"""Estimators by name, for the command line: blend, hgb, trees, lightgbm, ..., module:Class.

They take a frame of floats and texts with missing values, as it comes from a file. An estimator's
structure is the same whatever the columns hold: what one column holds must not change how the
submodels of others are made.
"""

import hashlib
import inspect
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from .._support import Array, Estimator, TableLike, require
from ..ensemble import (
    TableBlendClassifier,
    TableBlendRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from ..errors import InputError
from ..tables import apply_codes, learn_codes, sha256_of, table_columns
from ._schema import TASKS, Task

AUTO = "auto"  # the ensemble's own default
DEFAULTS = {"partition": "blend", "leave-out": "trees"}  # what that is, by method
FOR_TABLES = {  # for labels, and for numbers
    "blend": (TableBlendClassifier, TableBlendRegressor),
    "hgb": (TableBoostingClassifier, TableBoostingRegressor),
    "trees": (TableTreesClassifier, TableTreesRegressor),
}
NAMES = (*FOR_TABLES, "lightgbm", "logistic", "ridge")
LEAVES = ("1", "2", "4")  # rows of a leaf at least, as in trees-2
LINEAR = {"logistic": "classification", "ridge": "regression"}  # the task of each
MOST_CATEGORIES = 50  # a text column becomes at most this many columns of zeros and ones


def chosen_name(name: str, method: str) -> str:
    """Return the name itself, or for "auto" what a method takes by default."""
    return DEFAULTS[method] if name == AUTO else name


def named_estimator(name: str, task: Task, of_frames: bool = True) -> Estimator:
    """Return the estimator that a name stands for; None for "auto".

    ``of_frames``: it reads frames; otherwise a linear model reads arrays of numbers.
    """
    if name == AUTO:
        return None
    family, _, rows = name.partition("-")
    if family == "trees" and rows in LEAVES:
        return named_estimator(family, task).set_params(min_samples_leaf=int(rows))
    if name in FOR_TABLES:
        for_labels, for_numbers = FOR_TABLES[name]
        return for_numbers() if task.name == "regression" else for_labels()
    if name == "lightgbm":
        return _lightgbm(task)
    if name in LINEAR:
        if LINEAR[name] != task.name:
            other = next(linear for linear, its_task in LINEAR.items() if its_task == task.name)
            raise InputError(
                f"estimator {name!r} is for {TASKS[LINEAR[name]].holds}, and the target holds "
                f"{task.holds}: use {other}, blend, hgb, trees, lightgbm or module:Class"
            )
        linear = LogisticRegression(max_iter=1000) if name == "logistic" else Ridge()
        return make_pipeline(_numbers_and_texts() if of_frames else _numbers(), linear)
    estimator = _own_estimator(name)
    if not task.is_estimator(estimator):
        wanted = "regressor" if task.name == "regression" else "classifier"
        raise InputError(
            f"estimator {name!r} gives a {type(estimator).__name__}, which is not a scikit-learn "
            f"{wanted}, and the target holds {task.holds}"
        )
    return estimator


def named_fallback(name: str, task: Task) -> Estimator:
    """Return the estimator behind a partition's vote that a name stands for."""
    if task.name != "classification":
        raise InputError(
            "fallback answers with a label, and the target holds numbers: leave it out"
        )
    return named_estimator(chosen_name(name, "partition"), task)


def ordinary_estimators(task: Task, y: Array) -> dict[str, Estimator]:
    """Return ordinary models of any table by name: what a proof costs is measured against them.

    Boosting stops early where the target y has enough rows of every label to judge by.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    numbers = task.name == "regression"
    boosting = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    trees = TableTreesRegressor if numbers else TableTreesClassifier
    counts = task.label_counts(y).values()
    stops = min(counts, default=2) >= 2 and len(y) >= 10 * max(2, len(counts))
    linear = Ridge() if numbers else LogisticRegression(max_iter=1000)
    return {
        "HistGradientBoosting": make_pipeline(
            _Encoded(), boosting(max_iter=300 if stops else 100, early_stopping=stops)
        ),
        "ExtraTrees": trees(n_estimators=200),
        type(linear).__name__: make_pipeline(_Encoded(True), _numbers(), linear),
    }


class _Encoded(TransformerMixin, BaseEstimator):
    """Encode any table as floats: a text as its code, or as one column for each frequent text."""

    def __init__(self, one_hot: bool = False) -> None:
        self.one_hot = one_hot

    def fit(self, X: TableLike, y: object = None) -> Self:
        self.codes_ = [learn_codes(column) for column in table_columns(X)]
        return self

    def transform(self, X: TableLike) -> Array:
        parts = []
        for column, codes in zip(table_columns(X), self.codes_, strict=True):
            coded = apply_codes(column, codes)[:, None]
            texts = np.arange(min(len(codes), MOST_CATEGORIES)) if codes and self.one_hot else None
            parts.append(coded if texts is None else (coded == texts).astype(np.float64))
        return np.hstack(parts)


def code_hash(name: str) -> str | None:
    """Hash the file that ``module:Class`` comes from: other code, other estimator."""
    if ":" not in name:
        return None
    _own_estimator(name)
    source = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    if not source or not Path(source).is_file():
        return None
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


def code_of(estimator: Estimator) -> dict[str, str]:
    """Hash the code that an estimator's classes and functions come from, by module.

    Of a package without a version all files count, of any other its version and those modules.
    """
    found: dict[str, str] = {}
    pending, seen = [estimator], set()
    while pending:
        part = pending.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | np.ndarray | None):
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            pending += part.values()
        elif isinstance(part, list | tuple | set):
            pending += part
        elif isinstance(part, partial):
            pending += [part.func, part.args, part.keywords]
        elif isinstance(part, type) or hasattr(part, "get_params"):
            kind = part if isinstance(part, type) else type(part)
            for base in kind.__mro__:
                found |= _code_of_module(base)
            pending += [] if isinstance(part, type) else part.get_params(deep=False).values()
        else:
            found |= _code_of_module(part if hasattr(part, "__qualname__") else type(part))
    return found


def _code_of_module(part: Estimator) -> dict[str, str]:
    """Hash the code that a class or function comes from; nothing of Python's own."""
    module = str(getattr(part, "__module__", None) or "builtins")
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names and package != "__main__":
        return {}
    top, own = sys.modules.get(package), sys.modules.get(module)
    file = Path(getattr(own, "__file__", None) or "")
    version, folders = getattr(top, "__version__", None), getattr(top, "__path__", ())
    found = {} if version is None else {package: str(version)}
    if not found and folders:
        files = sorted(file for folder in folders for file in Path(folder).rglob("*.py"))
        content = "".join(sha256_of(file) for file in files)
        return {package: hashlib.sha256(content.encode()).hexdigest()}
    if file.is_file():
        return found | {module: sha256_of(file)}
    try:  # typed into a notebook
        source = inspect.getsource(part)
    except (OSError, TypeError):
        return found
    return found | {f"{module}.{part.__qualname__}": hashlib.sha256(source.encode()).hexdigest()}


def _numbers() -> Estimator:
    """Impute and scale numbers."""
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(impute, StandardScaler())


def _numbers_and_texts() -> Estimator:
    """Impute and scale numbers, and make one column per frequent text, for linear models."""
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES)
    return make_column_transformer(
        (_numbers(), make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
    )


def _lightgbm(task: Task) -> Estimator:
    """Make codes of texts, then boost.

    It gets an array, since it refuses column names with characters that JSON uses.
    """
    lightgbm = require("lightgbm", "estimator 'lightgbm'", "partita[lightgbm]")
    cls = lightgbm.LGBMRegressor if task.name == "regression" else lightgbm.LGBMClassifier
    booster = cls(
        n_estimators=50, num_leaves=8, deterministic=True, force_col_wise=True, verbose=-1
    )
    texts = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-2,
        max_categories=254,
    )
    columns = make_column_transformer(
        (texts, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns.set_output(transform="default"), booster)


def _own_estimator(name: str) -> Estimator:
    """Make what ``module:Class`` names; the module may lie in the current folder."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InputError(
            f"estimator is {name!r}: give one of {', '.join(NAMES)}, auto, or your own as "
            "module:Class"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        imported = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as exc:
        raise InputError(f"estimator {name!r} cannot be imported: {exc}") from exc
    try:
        is_instance = hasattr(imported, "fit") and not isinstance(imported, type)
        return imported if is_instance else imported()
    except TypeError as exc:
        raise InputError(f"estimator {name!r} cannot be made without arguments: {exc}") from exc
