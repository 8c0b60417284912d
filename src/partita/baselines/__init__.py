"""Other certified defences behind the same fit, predict and certify, and a table to compare them.

They are what a claim to be better is measured against.
"""

from ._ablation import RandomizedAblationClassifier, RandomizedAblationRegressor
from ._ablation_bounds import ablation_radius
from ._comparison import Comparison, compare
from ._constant import ConstantClassifier, ConstantRegressor
from ._row_partition import RowPartitionClassifier
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
