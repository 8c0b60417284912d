"""What users would do instead: defences around one learner, and partita's own two methods.

Every model here has fit and predict on frames. What each of them claims is in its own class;
nothing here says that a defence works.
"""

from typing import Any

from ..ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
    TableBoostingClassifier,
    TableBoostingRegressor,
)
from ._ablated_tables import AblatedSources
from ._column_treatments import MedianForOutliers, RobustColumns
from ._deployment import Deployment
from ._more_rows import AttackedRows, SourceDropout

PLAIN = "one model"
MOST_MODELS = 30  # of a leave-out ensemble, which is fitted many times here


def alternatives(
    deployment: Deployment, estimator: Any = None, random_state: int = 0
) -> dict[str, Any]:
    """Models to compare on a deployment, by name and not fitted; the plain one first.

    Parameters
    ----------
    deployment : Deployment
        The table and its sources.
    estimator : estimator, optional
        The learner inside all of them; by default gradient-boosted trees, and for leaving sources
        out partita's own default.
    random_state : int, default=0
        Of everything random.

    Returns
    -------
    dict
        Estimators by name.
    """
    of_values = deployment.tolerance is not None
    units, trusted, seed = dict(deployment.units), tuple(deployment.trusted), random_state
    base = estimator
    if base is None:
        base = TableBoostingRegressor() if of_values else TableBoostingClassifier()
    partition = FeaturePartitionRegressor if of_values else FeaturePartitionClassifier
    leave_out = LeaveOutRegressor if of_values else LeaveOutClassifier
    ours: dict[str, Any] = {"units": units, "trusted": trusted, "n_jobs": 1, "random_state": seed}
    return {
        PLAIN: base,
        "outliers to median": MedianForOutliers(base),
        "robust columns": RobustColumns(base),
        "source dropout": SourceDropout(base, units, random_state=seed),
        "trained on attacked rows": AttackedRows(
            base, units, tolerance=deployment.tolerance, random_state=seed
        ),
        "randomized ablation": AblatedSources(base, units, trusted, of_values, random_state=seed),
        "partita, partition": partition(estimator, **ours),
        "partita, leave-out": leave_out(
            estimator, radius=deployment.radius, max_models=MOST_MODELS, **ours
        ),
    }
