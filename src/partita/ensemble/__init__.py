"""Estimators whose predictions carry a proof: submodels on sets of columns, and their ballots.

What trains models is here; proofs are made from the ballots alone (:mod:`partita.rules`). Nothing
computed from several units may reach a submodel.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._base import FEW_ROWS, Ensemble, fit_full_model, full_predictions
    from ._batches import check_batches, fit_submodel
    from ._feature_partition import FeaturePartitionClassifier, FeaturePartitionRegressor
    from ._leave_out import LeaveOutClassifier, LeaveOutEnsemble, LeaveOutRegressor
    from ._one_pass import FLAT, scores_rows_apart
    from ._plan import Plan, seeds, trains_jointly
    from ._protocol import FittedEnsemble
    from ._silent_sources import DETECT, columns_that_may_lack
    from ._soundness import CANARY_CURE, canaries, is_balanced
    from ._submodels import (
        FLOOR,
        FixedVote,
        class_scores,
        failure_banner,
        fit_one,
        has_scores,
        score_one,
        warn_of_failures,
        were_trained_jointly,
    )
    from ._table_estimators import (
        TableBlendClassifier,
        TableBlendRegressor,
        TableBoostingClassifier,
        TableBoostingRegressor,
        TableEstimator,
        TableTreesClassifier,
        TableTreesRegressor,
    )
    from ._target import classes_of, numeric_target, target_array
    from ._tasks import CURE, ENOUGH_ROWS, is_nearly_constant

__all__ = [
    "FeaturePartitionClassifier",
    "FeaturePartitionRegressor",
    "FittedEnsemble",
    "FixedVote",
    "LeaveOutClassifier",
    "LeaveOutRegressor",
    "TableBlendClassifier",
    "TableBlendRegressor",
    "TableBoostingClassifier",
    "TableBoostingRegressor",
    "TableTreesClassifier",
    "TableTreesRegressor",
]

__getattr__, __dir__ = lazy_names(__name__)
