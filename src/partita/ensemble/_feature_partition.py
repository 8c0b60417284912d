"""FeaturePartitionClassifier and FeaturePartitionRegressor: units are split among submodels."""

from collections.abc import Sequence
from numbers import Integral
from typing import ClassVar

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._support import Array, Estimator
from ..partition import Columns, Overlap, Partition, choose_partition
from ..rules import Rule, named_rule
from ._base import Ensemble
from ._table_estimators import TableBlendClassifier, TableBlendRegressor
from ._tasks import CURE, LabelEnsemble, ValueEnsemble


class PartitionEnsemble(Ensemble):
    """What FeaturePartitionClassifier and FeaturePartitionRegressor share."""

    n_submodels: int | str
    rule: str | Rule
    partition_: Partition | Overlap

    constant_cure: ClassVar[str] = CURE
    _parameter_constraints: ClassVar[dict[str, object]] = {
        **Ensemble._parameter_constraints,
        "n_submodels": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "partition": [
            StrOptions({"random", "strided", "spiral", "patch"}),
            Partition,
            HasMethods(["deal"]),
            list,
            tuple,
        ],
        "image_shape": [tuple, list, None],
        "spread": [Interval(Integral, 1, None, closed="left")],
        "rule": [str, Rule],
        "label_attacks": [StrOptions({"rows", "labels"}), None],
    }

    def _choose_rule(self, estimator: Estimator, target: Array, sample_weight: object) -> None:
        self.rule_ = self.resolve_rule(named_rule(self.rule), estimator, target, sample_weight)

    def _choose_sets(self, columns: Columns, seed: int) -> Partition | Overlap:
        how = (self.units_, columns, self.image_shape, seed, self.verbose)
        return choose_partition(self.partition, self.n_submodels, self.spread, *how)


class FeaturePartitionClassifier(LabelEnsemble, PartitionEnsemble):
    """Classifier whose predictions cannot change unless an attacker owns more than r units.

    The columns are split among submodels, each trained on its own columns alone, and a rule
    decides from their scores. Whatever an attacker writes into one unit (a column, or all columns
    of one source), in the training rows, in the row to predict, or in both, changes one submodel at
    most. The certified radius of a prediction is the number of units that can be corrupted without
    changing it [1]_.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn classifier or Pipeline, cloned for every submodel. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        boosted and randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableBlendClassifier`).
    n_submodels : int or "auto", default="auto"
        How many submodels there are. "auto": 21, or the largest odd number of units below that.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which submodel owns which units: "random", "strided", or for images "spiral" or "patch"; or
        your own. It must not depend on the training features.
    image_shape : tuple of int, optional
        (height, width, channels): the columns are a flattened image, and a pixel with its channels
        is one unit. Needed by "spiral" and "patch".
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    spread : int, default=1
        In how many submodels a unit appears. Above 1 the submodels' sets overlap, and there are
        ``spread * n_submodels`` of them.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every submodel sees them.
    rule : {"plurality", "runoff", "tournament"} or Rule, default="tournament"
        How ballots decide. What a rule leaves open, ``fit`` resolves:
        ``Tournament(margin=0.25, prior=1, offset=0.25)`` where the submodels give probabilities.
    label_attacks : {None, "rows", "labels"}, default=None
        If given, the radius counts flipped training labels too. "rows": every submodel trains on
        its own share of the rows. "labels": on all rows, of which only its share has labels
        (self-training, unless the estimator learns from rows labelled -1 itself).
    classes : list of labels, optional
        All labels; required with ``label_attacks``.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a submodel fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        submodels and is raised in any case.
    fallback : estimator, optional
        A classifier that learns from all columns and answers where the vote proves too little,
        which is more often right there. Nothing is proven where it answers: its radius is 0.
    gate : int, default=1
        With ``fallback``: the least radius at which the vote decides. A prediction of the vote is
        certified up to its own radius less ``gate``. Needs plurality or the tournament; above 1,
        ``spread=1``.
    random_state : int, default=0
        Decides the random partition and the seed of every submodel.
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
        The fitted submodels; a :class:`partita.ensemble.FixedVote` for one that failed
        (``failures_`` says why).
    partition_ : Partition or Overlap
        Which submodel owns which units.
    units_ : Units
        What the radius counts.
    rule_ : Rule
        The rule, with what it needed from the training labels.
    counts_ : Counts
        What a radius counts, for people.
    fallback_model_ : estimator
        The fitted ``fallback``, if there is one.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    FeaturePartitionRegressor : The same for numbers.
    certify : Certificates from ballots of any ensemble.
    partita.metrics.certified_accuracy : How many rows are right and certified.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024. Theory, sections 1 to 4, 6 and 12.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita import FeaturePartitionClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(n_submodels=11).fit(X[::2], y[::2])
    >>> proof = clf.certify(X[1::2])
    >>> proof.counts.what, bool((proof.radius >= 2).mean() > 0.5)
    ('columns', True)
    """

    _default_estimator: ClassVar[Estimator] = TableBlendClassifier
    _other_task: ClassVar[str] = "FeaturePartitionRegressor"
    _parameter_constraints: ClassVar[dict[str, object]] = {
        **PartitionEnsemble._parameter_constraints,
        "fallback": PartitionEnsemble._parameter_constraints["estimator"],
        "gate": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Estimator = None,
        n_submodels: int | str = "auto",
        partition: object = "random",
        image_shape: Sequence[int] | None = None,
        units: object = None,
        spread: int = 1,
        trusted: Sequence[object] = (),
        rule: str | Rule = "tournament",
        label_attacks: str | None = None,
        classes: object = None,
        strict: bool = False,
        on_failure: str = "raise",
        fallback: Estimator = None,
        gate: int = 1,
        random_state: object = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_submodels = n_submodels
        self.partition = partition
        self.image_shape = image_shape
        self.units = units
        self.spread = spread
        self.trusted = trusted
        self.rule = rule
        self.label_attacks = label_attacks
        self.classes = classes
        self.strict = strict
        self.on_failure = on_failure
        self.fallback = fallback
        self.gate = gate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class FeaturePartitionRegressor(ValueEnsemble, PartitionEnsemble):
    """Regressor whose predictions stay within bounds unless an attacker owns more than r units.

    The columns are split among submodels, each trained on its own columns alone; the prediction is
    the median of their values. Whatever an attacker writes into one unit (a column, or all columns
    of one source), in the training rows, in the row to predict, or in both, changes one submodel at
    most [1]_.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn regressor or Pipeline, cloned for every submodel. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        boosted and randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableBlendRegressor`).
    n_submodels : int or "auto", default="auto"
        How many submodels there are. "auto": 21, or the largest odd number of units below that.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which submodel owns which units: "random", "strided", or for images "spiral" or "patch"; or
        your own. It must not depend on the training features.
    image_shape : tuple of int, optional
        (height, width, channels): the columns are a flattened image, and a pixel with its channels
        is one unit. Needed by "spiral" and "patch".
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    spread : int, default=1
        In how many submodels a unit appears. Above 1 the submodels' sets overlap, and there are
        ``spread * n_submodels`` of them.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every submodel sees them.
    rule : {"median"} or Median, default="median"
        ``Median(stretch=1.3)`` moves the votes away from their centre, which weak submodels stay
        too close to.
    label_attacks : {None, "rows"}, default=None
        If "rows", the radius counts changed training targets too, and every submodel trains on its
        own share of the rows.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a submodel fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        submodels and is raised in any case.
    random_state : int, default=0
        Decides the random partition and the seed of every submodel.
    n_jobs : int, optional
        Threads. By default all cores, or what a joblib ``parallel_config`` says. Results do not
        depend on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted submodels; a :class:`partita.ensemble.FixedVote` for one that failed
        (``failures_`` says why).
    partition_ : Partition or Overlap
        Which submodel owns which units.
    units_ : Units
        What the radius counts.
    rule_ : Median
        The rule, with the centre it needed from the training targets.
    counts_ : Counts
        What a radius counts, for people.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    FeaturePartitionClassifier : The same for labels.
    partita.rules.Median : The rule, and certificates from values of any ensemble.
    partita.metrics.certified_accuracy : How many rows are right and certified.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024. Theory, sections 1, 2, 5 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from partita import FeaturePartitionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = FeaturePartitionRegressor(n_submodels=5).fit(X, y)
    >>> proof = reg.certify(X, tolerance=50)
    >>> low, high = reg.interval(X, radius=1)
    >>> bool((low <= proof.prediction).all() and (proof.prediction <= high).all())
    True
    """

    _default_estimator: ClassVar[Estimator] = TableBlendRegressor
    _other_task: ClassVar[str] = "FeaturePartitionClassifier"

    def __init__(
        self,
        estimator: Estimator = None,
        n_submodels: int | str = "auto",
        partition: object = "random",
        image_shape: Sequence[int] | None = None,
        units: object = None,
        spread: int = 1,
        trusted: Sequence[object] = (),
        rule: str | Rule = "median",
        label_attacks: str | None = None,
        strict: bool = False,
        on_failure: str = "raise",
        random_state: object = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_submodels = n_submodels
        self.partition = partition
        self.image_shape = image_shape
        self.units = units
        self.spread = spread
        self.trusted = trusted
        self.rule = rule
        self.label_attacks = label_attacks
        self.strict = strict
        self.on_failure = on_failure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
