"""FeaturePartitionRegressor: a regressor whose predictions carry a proof."""

from typing import Any, ClassVar

from ..rules import Rule
from ._base import PartitionEnsemble
from ._default_estimator import TableBoostingRegressor
from ._values import ValueEnsemble


class FeaturePartitionRegressor(ValueEnsemble, PartitionEnsemble):
    """Regressor whose predictions stay within bounds unless an attacker owns more than r units.

    The columns are dealt out to submodels, each trained on its own columns alone; the prediction is
    the median of their values. Whatever an attacker writes into one unit (a column, or all columns
    of one source), in the training rows, in the row to predict, or in both, changes one submodel at
    most [1]_.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn regressor or Pipeline, cloned for every submodel. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        gradient boosting that reads tables with texts and missing values
        (:class:`partita.ensemble.TableBoostingRegressor`).
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

    _default_estimator: ClassVar[Any] = TableBoostingRegressor

    def __init__(
        self,
        estimator: Any = None,
        n_submodels: int | str = "auto",
        partition: Any = "random",
        image_shape: Any = None,
        units: Any = None,
        spread: int = 1,
        trusted: Any = (),
        rule: str | Rule = "median",
        label_attacks: str | None = None,
        strict: bool = False,
        on_failure: str = "raise",
        random_state: Any = 0,
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
