"""Estimators whose predictions carry a proof: submodels on sets of columns, and their ballots.

What trains models is here; proofs are made from the ballots alone (:mod:`partita.rules`). Nothing
computed from several units may reach a submodel.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._classifier import FeaturePartitionClassifier
    from ._default_estimator import TableBoostingClassifier, TableBoostingRegressor
    from ._failures import FixedVote
    from ._leave_out_classifier import LeaveOutClassifier
    from ._leave_out_regressor import LeaveOutRegressor
    from ._protocol import FittedEnsemble
    from ._regressor import FeaturePartitionRegressor
    from ._table_trees import TableTreesClassifier, TableTreesRegressor

__all__ = [
    "FeaturePartitionClassifier",
    "FeaturePartitionRegressor",
    "FittedEnsemble",
    "FixedVote",
    "LeaveOutClassifier",
    "LeaveOutRegressor",
    "TableBoostingClassifier",
    "TableBoostingRegressor",
    "TableTreesClassifier",
    "TableTreesRegressor",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FeaturePartitionClassifier": "_classifier",
        "FeaturePartitionRegressor": "_regressor",
        "FittedEnsemble": "_protocol",
        "FixedVote": "_failures",
        "LeaveOutClassifier": "_leave_out_classifier",
        "LeaveOutRegressor": "_leave_out_regressor",
        "TableBoostingClassifier": "_default_estimator",
        "TableBoostingRegressor": "_default_estimator",
        "TableTreesClassifier": "_table_trees",
        "TableTreesRegressor": "_table_trees",
    },
)
