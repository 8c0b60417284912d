"""The submodels, with the settings of the paper; where it leaves them out or prints them wrongly, as its authors' program has them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from ..errors import MissingExtraError

Array = NDArray[Any]

BOOSTING: dict[str, dict[str, Any]] = {
    "ames": {
        "n_estimators": 1000,
        "max_depth": 6,
        "min_child_samples": 5,
        "num_leaves": 127,
        "reg_alpha": 1e-3,
        "reg_lambda": 1e2,
        "objective": "mae",
        "learning_rate": 1e-2,
        "subsample": 0.9,
        "colsample_bytree": 0.8,
    },
    "weather": {
        "n_estimators": 500,
        "max_depth": 10,
        "min_child_samples": 20,
        "num_leaves": 127,
        "objective": "huber",
        "learning_rate": 0.5,
        "subsample": 0.9,
    },
}
LINEAR: dict[str, dict[str, Any]] = {
    "ames": {"alpha": 4.15e-5, "max_iter": 1_000_000, "tol": 1e-8},
    "weather": {"alpha": 3.16e-3, "max_iter": 10_000, "tol": 1e-3},
}
NETWORKS: dict[str, dict[str, Any]] = {  # chosen on held-out training images: docs/vision.md
    "cifar10": {"members": 6, "epochs": 38, "token_drop": 0.12},
    "mnist": {"width": 64, "blocks": 2, "members": 5, "epochs": 20, "flip": False, "shift": 1, "views": 5},
}
PAPERS_NETWORKS = {"cifar10": "resnet9", "mnist": "network_in_network"}
ABLATED_EPOCHS = {"cifar10": 80, "mnist": 25}


def boosting_of_values(data: str, small: bool) -> Any:
    """LightGBM for values; texts become numbers inside each submodel."""
    library = _lightgbm()
    settings = {"n_estimators": 10, "num_leaves": 7} if small else BOOSTING[data.removesuffix("_raw")]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    texts = make_column_transformer((codes, make_column_selector(dtype_include=[object, "string"])), remainder="passthrough")
    return make_pipeline(texts, library.LGBMRegressor(verbose=-1, **settings))


def boosting_of_labels(trees: int) -> Any:
    """LightGBM in place of a network, where there is no GPU."""
    return _lightgbm().LGBMClassifier(n_estimators=trees, num_leaves=15, verbose=-1)


def linear_of_values(data: str) -> Any:
    """A linear model with an L1 penalty; texts become indicators, gaps the column's mean."""
    texts = make_column_selector(dtype_include=[object, "string"])
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts), remainder=numbers)
    return make_pipeline(columns, Lasso(**LINEAR[data.removesuffix("_raw")]))


def network(data: str, image_shape: tuple[int, int, int], count: int, checkpoint: Path) -> Any:
    """One transformer for each set of pixels, all trained at once; for a single model on all pixels the paper's network."""
    from ..vision import MaskedImageClassifier, PixelSetClassifier

    if count == 1:
        return MaskedImageClassifier(image_shape, network=PAPERS_NETWORKS[data], checkpoint=checkpoint)
    return PixelSetClassifier(image_shape, checkpoint=checkpoint.with_suffix(".pt"), **NETWORKS[data])


def ablated_network(data: str, image_shape: tuple[int, int, int]) -> Any:
    """The paper's network, for randomized ablation and smoothing."""
    from ..vision import AblatedImageClassifier

    return AblatedImageClassifier(image_shape, network=PAPERS_NETWORKS[data])


class AblatedLinear(SGDRegressor):  # type: ignore[misc]  # scikit-learn has no types
    """A linear model for randomized ablation that needs no ablated rows: what is kept adds up, so many draws are one matrix product."""

    def predict_ablated(self, scaled: Array, kept: Array) -> Array:
        """The values of rows (rows, columns) under each set of columns kept (sets, columns): (rows, sets)."""
        d = kept.shape[1]
        parts = scaled * self.coef_[:d] + (1 - scaled) * self.coef_[d:]
        return np.asarray(parts.astype(np.float32) @ kept.T.astype(np.float32) + np.float32(self.intercept_[0]))


def ablated_linear() -> Any:
    return AblatedLinear(loss="huber", epsilon=1.0, alpha=1e-5, learning_rate="constant", eta0=0.03, average=True)


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as exc:
        raise MissingExtraError("lightgbm", "reproducing the paper's tables", "partita[lightgbm]") from exc
    return lightgbm
