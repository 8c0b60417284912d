"""LeaveOutRegressor: numbers with a proof against few sources, at nearly full accuracy."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from .._support import Array
from ..errors import InputError
from ..partition import LeaveOut
from ..rules import PooledValues
from ._leave_out import LeaveOutEnsemble
from ._table_trees import TableTreesRegressor
from ._target import numeric_target
from ._values import ValueEnsemble


class LeaveOutRegressor(LeaveOutEnsemble, ValueEnsemble):
    """Regressor that bounds its predictions by models that each leave out some units.

    For every set of ``2 * radius`` groups of units there is a model that never sees them, in
    training or in the row. For a set of ``radius`` groups, take the smallest and the largest value
    of the models that leave it out. The prediction is halfway between the largest such minimum and
    the smallest such maximum, over all sets.
    :meth:`interval` bounds it under every attack on q units by values of models that leave those
    units out.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn regressor or Pipeline, cloned for every member. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        extremely randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableTreesRegressor`): stable learners agree more often. A model
        that is the mean of several members has at least 300 trees in all.
    radius : int, default=1
        How many units an attacker may own: the largest radius that can be certified. Nearly all of
        a full model's accuracy is kept for 1, less for 2 or 3; beyond,
        :class:`FeaturePartitionRegressor` certifies more.
    n_groups : int or "auto", default="auto"
        Units are put into this many groups, at least ``2 * radius + 1``. "auto": the most whose
        ``comb(n_groups, 2 * radius)`` models stay within ``max_models``, at most one per unit.
    max_models : int, default=150
        Bounds the number of groups where that is "auto", and the number of fits.
    leave_out : int or "auto", default="auto"
        How many groups a fitted member leaves out, at least ``2 * radius``. A model that leaves out
        2 * radius groups is the mean of all members that leave out these and more, so members are
        shared and agree more often. "auto": about half of the groups. ``2 * radius``: one member
        for each model.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every member sees them.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which group each unit belongs to: "random", "strided", or your own. It must not depend on
        the training features.
    training : {"attackable", "trusted"}, default="attackable"
        "trusted": only the rows to predict can be attacked. One model is fitted, on rows with
        random groups masked as missing values, and evaluated with each member's groups masked.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a member fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        members and is raised in any case.
    random_state : int, default=0
        Decides the groups, the members and the seed of every member.
    n_jobs : int, optional
        Threads. By default all cores, or what a joblib ``parallel_config`` says. Results do not
        depend on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members; with ``training="trusted"``, the one model. ``failures_`` says why
        members failed.
    partition_ : LeaveOut
        The groups of units, and the groups that each member leaves out.
    units_ : Units
        What the radius counts.
    rule_ : Rule
        Agreement of pooled members.
    counts_ : Counts
        What a radius counts, for people.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    LeaveOutClassifier : The same for labels.
    FeaturePartitionRegressor : Larger radii, at the price of accuracy.
    partita.rules.Agreement : The rule, for values of any models.

    References
    ----------
    Theory, section 10.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from partita import LeaveOutRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = LeaveOutRegressor(Ridge(), radius=1).fit(X[::2], y[::2])
    >>> low, high = reg.interval(X[1:3], radius=1)
    >>> predicted = reg.predict(X[1:3])
    >>> bool(((low <= predicted) & (predicted <= high)).all())
    True
    """

    _default_estimator: ClassVar[Any] = TableTreesRegressor
    _with_fallback: ClassVar[bool] = False
    _model_trees: ClassVar[int] = 300

    def __init__(
        self,
        estimator: Any = None,
        radius: int = 1,
        n_groups: int | str = "auto",
        max_models: int = 150,
        leave_out: int | str = "auto",
        units: Any = None,
        trusted: Any = (),
        partition: Any = "random",
        training: str = "attackable",
        strict: bool = False,
        on_failure: str = "raise",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.radius = radius
        self.n_groups = n_groups
        self.max_models = max_models
        self.leave_out = leave_out
        self.units = units
        self.trusted = trusted
        self.partition = partition
        self.training = training
        self.strict = strict
        self.on_failure = on_failure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_estimator(self, estimator: Any) -> None:
        if is_classifier(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a classifier: give a regressor, or use "
                "a LeaveOutClassifier"
            )

    def _agreement_rule(self, sets: LeaveOut) -> PooledValues:
        group_of_unit = self._group_of_unit(sets)
        return PooledValues(
            self.radius, len(sets.groups), sets.pools(), group_of_unit=group_of_unit
        )

    def _read_target(self, y: Any) -> Array:
        return numeric_target(self, y, "LeaveOutClassifier")

    @property
    def usual_value(self) -> float | None:
        return float(self.fixed_ballot_)

    def _fixed_ballot(self, y: Array) -> Array:
        return np.array(float(np.median(y)))
