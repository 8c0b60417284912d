"""The other defences, behind the same fit, predict and certify: what a claim to be better is compared with."""

from .ablation import RandomizedAblationClassifier
from .ablation_bounds import ablation_radius
from .ablation_regression import RandomizedAblationRegressor
from .constant import ConstantClassifier, ConstantRegressor
from .rows import RowPartitionClassifier
from .smoothing import SmoothingClassifier

__all__ = [
    "ConstantClassifier",
    "ConstantRegressor",
    "RandomizedAblationClassifier",
    "RandomizedAblationRegressor",
    "RowPartitionClassifier",
    "SmoothingClassifier",
    "ablation_radius",
]
