"""The other defences, behind the same fit, predict and certify: what a claim to be better is
compared with."""

from ._ablation import RandomizedAblationClassifier
from ._ablation_bounds import ablation_radius
from ._ablation_regression import RandomizedAblationRegressor
from ._comparison import compare
from ._constant import ConstantClassifier, ConstantRegressor
from ._rows import RowPartitionClassifier
from ._smoothing import SmoothingClassifier

__all__ = [
    "ConstantClassifier",
    "ConstantRegressor",
    "RandomizedAblationClassifier",
    "RandomizedAblationRegressor",
    "RowPartitionClassifier",
    "SmoothingClassifier",
    "ablation_radius",
    "compare",
]
