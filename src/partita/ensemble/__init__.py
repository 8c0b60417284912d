"""Estimators whose predictions carry a proof: submodels on sets of columns, and their ballots.

What trains models is here; proofs are made from the ballots alone (:mod:`partita.rules`). Nothing
computed from several units may reach a submodel.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._ballots import FLOOR, class_scores, has_scores
    from ._base import Ensemble
    from ._batches import check_batches, fit_submodel
    from ._canary import CANARY_CURE, canaries
    from ._classifier import FeaturePartitionClassifier
    from ._default_estimator import TableBoostingClassifier, TableBoostingRegressor
    from ._empty_proofs import CURE, ENOUGH_ROWS, is_nearly_constant
    from ._failures import FixedVote, failure_banner, fit_one, score_one, warn_of_failures
    from ._fallback import fallback_scores
    from ._full_model import fit_full_model, full_predictions
    from ._joint_training import trains_jointly, were_trained_jointly
    from ._leave_out import LeaveOutEnsemble
    from ._leave_out_classifier import LeaveOutClassifier
    from ._leave_out_regressor import LeaveOutRegressor
    from ._one_pass import scores_rows_apart
    from ._plan import Plan, seeds
    from ._protocol import FittedEnsemble
    from ._regressor import FeaturePartitionRegressor
    from ._scoring import FEW_ROWS
    from ._silent_sources import DETECT, columns_that_may_lack
    from ._soundness import is_balanced
    from ._table_estimator import TableEstimator
    from ._table_trees import TableTreesClassifier, TableTreesRegressor
    from ._target import classes_of, numeric_target, target_array

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

__getattr__, __dir__ = lazy_names(__name__)
