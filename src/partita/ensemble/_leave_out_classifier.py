"""LeaveOutClassifier: nearly a full model's accuracy, with a proof against few sources."""

from typing import Any, ClassVar

from sklearn.base import is_regressor

from ..errors import InputError
from ..partition import LeaveOut
from ..rules import PooledLabels
from ._labels import LabelEnsemble
from ._leave_out import LeaveOutEnsemble
from ._table_trees import TableTreesClassifier


class LeaveOutClassifier(LeaveOutEnsemble, LabelEnsemble):
    """Classifier that certifies what models that each leave out some units agree on.

    For every set of ``2 * radius`` groups of units there is a model that never sees them, in
    training or in the row. A label is predicted if, for some set of ``radius`` groups, all models
    that leave out that set predict it: an attacker who owns the set cannot touch these models. If
    there is no such set, a model on all columns decides, and nothing is proven. The radius of a
    prediction is the largest q such that, whichever q units are corrupted, models without them
    agree on it.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn classifier or Pipeline, cloned for every member. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        extremely randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableTreesClassifier`): stable learners agree more often. A model
        that is the mean of several members has at least 100 trees in all.
    radius : int, default=1
        How many units an attacker may own: the largest radius that can be certified. Nearly all of
        a full model's accuracy is kept for 1, less for 2 or 3; beyond,
        :class:`FeaturePartitionClassifier` certifies more.
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
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list of estimators
        The fitted members, and last the model on all columns; with ``training="trusted"``, the one
        model. ``failures_`` says why members failed.
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
    LeaveOutRegressor : The same for numbers.
    FeaturePartitionClassifier : Larger radii, at the price of accuracy.
    partita.rules.Agreement : The rule, for votes of any models.

    References
    ----------
    Theory, section 10.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import LeaveOutClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LeaveOutClassifier(GaussianNB(), radius=1, n_groups=8).fit(X[::2], y[::2])
    >>> proof = clf.certify(X[1::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.9, bool((proof.radius == 1).mean() > 0.8)
    (True, True)
    """

    _default_estimator: ClassVar[Any] = TableTreesClassifier
    _with_fallback: ClassVar[bool] = True
    _model_trees: ClassVar[int] = 100

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
        if is_regressor(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a regressor: give a classifier, or use "
                "a LeaveOutRegressor"
            )

    def _agreement_rule(self, sets: LeaveOut) -> PooledLabels:
        return PooledLabels(
            self.radius,
            len(sets.groups),
            sets.pools(),
            fallback=len(sets) - 1,
            as_probabilities=hasattr(self.unfitted_submodel(), "predict_proba"),
            group_of_unit=self._group_of_unit(sets),
        )
