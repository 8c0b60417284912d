"""Submodels by name, for the command line: hgb, lightgbm, logistic, ridge, or your own as
module:Class.

They take a frame with columns of floats and texts, gaps among them, as it comes from a file. An
estimator's structure is the same whatever the columns hold: what one column holds must not change
how the submodels of others are made."""

import hashlib
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from ..errors import InputError, MissingExtraError

NAMES = ("hgb", "lightgbm", "logistic", "ridge")
RARE = 50  # a text column becomes at most this many columns of zeros and ones


def named_estimator(name: str, of_values: bool) -> Any:
    """The estimator that a name stands for, for a target of numbers or of labels; None is the
    default, hgb."""
    if name == "hgb":
        return None
    if name == "lightgbm":
        return _lightgbm(of_values)
    if name == "logistic":
        if of_values:
            raise InputError(
                "estimator 'logistic' is for labels, and the target holds numbers: use ridge, "
                "hgb, lightgbm or module:Class"
            )
        return make_pipeline(_numbers_and_texts(), LogisticRegression(max_iter=1000))
    if name == "ridge":
        if not of_values:
            raise InputError(
                "estimator 'ridge' is for numbers, and the target holds labels: use logistic, "
                "hgb, lightgbm or module:Class"
            )
        return make_pipeline(_numbers_and_texts(), Ridge())
    return _own(name, of_values)


def code_of(name: str) -> str | None:
    """The sha256 of the file that ``module:Class`` comes from: other code is another estimator."""
    if ":" not in name:
        return None
    _own(name, of_values=None)
    source = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return (
        hashlib.sha256(Path(source).read_bytes()).hexdigest()
        if source and Path(source).is_file()
        else None
    )


def _numbers_and_texts() -> Any:
    """For linear models: numbers without gaps and on one scale, a column of zeros and ones for each
    frequent text."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=RARE)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
    )


def _lightgbm(of_values: bool) -> Any:
    """Texts become codes, then the booster. It gets an array: it refuses column names with signs
    that JSON uses."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError as exc:
        raise MissingExtraError("lightgbm", "estimator 'lightgbm'", "partita[lightgbm]") from exc
    booster = (LGBMRegressor if of_values else LGBMClassifier)(
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


def _own(name: str, of_values: bool | None) -> Any:
    """What ``module:Class`` makes; the module may lie in the current folder."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InputError(
            f"estimator is {name!r}: give one of {', '.join(NAMES)}, or your own as module:Class"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        made = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as exc:
        raise InputError(f"estimator {name!r} cannot be imported: {exc}") from exc
    try:
        estimator = made if hasattr(made, "fit") and not isinstance(made, type) else made()
    except TypeError as exc:
        raise InputError(f"estimator {name!r} cannot be made without arguments: {exc}") from exc
    if of_values is not None and not (is_regressor if of_values else is_classifier)(estimator):
        wanted = (
            "regressor, since the target holds numbers"
            if of_values
            else "classifier, since the target holds labels"
        )
        raise InputError(
            f"estimator {name!r} gives a {type(estimator).__name__}, which is no scikit-learn "
            f"{wanted}"
        )
    return estimator
