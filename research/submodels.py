"""The estimators of a run, from the settings that its details hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from partita._support import Array, require

from .sizes import FEW_SUBMODELS

Settings = Mapping[str, Any]


def boosting_regressor(settings: Settings) -> Any:
    """LightGBM for values; texts become numbers inside each submodel."""
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    texts = make_column_transformer(
        (codes, make_column_selector(dtype_include=[object, "string"])), remainder="passthrough"
    )
    return make_pipeline(texts, _lightgbm().LGBMRegressor(verbose=-1, **settings))


def boosting_classifier(settings: Settings) -> Any:
    """LightGBM in place of a network, where there is no GPU."""
    return _lightgbm().LGBMClassifier(verbose=-1, **settings)


def linear_regressor(settings: Settings) -> Any:
    """A lasso; texts become indicators, and missing numbers the column's mean."""
    texts = make_column_selector(dtype_include=[object, "string"])
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts), remainder=numbers
    )
    return make_pipeline(columns, Lasso(**settings))


def network(
    settings: Settings, image_shape: tuple[int, int, int], count: int, checkpoint: Path
) -> Any:
    """One transformer per pixel set, all trained at once; for few sets the paper's networks."""
    from partita.vision import MaskedImageClassifier, PixelSetClassifier

    if count <= FEW_SUBMODELS:
        return MaskedImageClassifier(image_shape, checkpoint=checkpoint, **settings)
    return PixelSetClassifier(image_shape, checkpoint=checkpoint.with_suffix(".pt"), **settings)


def ablated_network(settings: Settings, image_shape: tuple[int, int, int], file: Path) -> Any:
    """A network for randomized ablation and smoothing, which is saved to a file as it trains."""
    from partita.vision import AblatedImageClassifier

    own = {name: value for name, value in settings.items() if name != "epochs"}
    return AblatedImageClassifier(image_shape, checkpoint=file, **own)


class AblatedLinear(SGDRegressor):  # type: ignore[misc]  # scikit-learn has no types
    """A linear model for randomized ablation that needs no ablated rows.

    The columns that are left add up, so many draws are one matrix product.
    """

    def predict_ablated(self, scaled: Array, masks: Array) -> Array:
        """Values (rows, masks) of rows (rows, columns) under each mask (masks, columns)."""
        d = masks.shape[1]
        parts = scaled * self.coef_[:d] + (1 - scaled) * self.coef_[d:]
        products = parts.astype(np.float32) @ masks.T.astype(np.float32)
        return np.asarray(products + np.float32(self.intercept_[0]))


def ablated_linear() -> Any:
    """The linear model of randomized ablation on tables."""
    return AblatedLinear(
        loss="huber", epsilon=1.0, alpha=1e-5, learning_rate="constant", eta0=0.03, average=True
    )


def _lightgbm() -> Any:
    return require("lightgbm", "reproducing the paper's tables", "partita[lightgbm]")
