"""FeaturePartitionRegressor: a regressor whose predictions carry a proof."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier

from .._support.types import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ..rules import Median, Rule
from ..rules._bounds import bounds_around
from ..rules._silence_cost import with_silence
from ..rules._statements import BoundStatement, Statement
from ..tables._table import Table
from ._ballots import tree_values, values
from ._base import FeaturePartitionEnsemble
from ._default_estimator import TableBoostingRegressor
from ._target import read_values


class FeaturePartitionRegressor(RegressorMixin, FeaturePartitionEnsemble):
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

    _task: ClassVar[str] = "regression"
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one submodel on each set of columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Training rows: a numpy array, a pandas or polars frame, a sparse matrix, or a list of
            rows.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to every submodel; an error if the estimator does not take it.

        Returns
        -------
        FeaturePartitionRegressor
            The fitted estimator.

        Raises
        ------
        InputError
            If a parameter or the table is not valid.
        SubmodelError
            If a submodel cannot be fitted and ``on_failure="raise"``.
        SoundnessError
            If a submodel is another when it is fitted again, so that no radius would hold.
        """
        return self._fit(X, y, sample_weight)

    def ballots(self, X: Any, silent: Any = None) -> Ballots:
        """Return every submodel's value.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        Ballots of float64, shape (n_samples, n_submodels)
            All that the rule ever sees; they bring the rule, and who abstains.
        """
        return self._ballots(X, silent)[1]

    def predict(self, X: Any, silent: Any = None) -> Array:
        """Predict values: the median of the submodels' values.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        array of float64, shape (n_samples,)
            Predicted values.
        """
        return self._decide(self.ballots(X, silent))

    def certify(
        self,
        X: Any,
        *,
        lower: Any = None,
        upper: Any = None,
        tolerance: Any = None,
        relative: Any = None,
        around: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
        silent: Any = None,
    ) -> Certificates:
        """Predict each row and compute how many units must be corrupted to move it out of bounds.

        Give the bounds in one of three ways: ``lower`` and ``upper``, ``tolerance``, or
        ``relative``.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows to certify, with the columns seen in :meth:`fit`.
        lower, upper : float or array-like of shape (n_samples,), optional
            The bounds themselves; one that is left out, or infinite, leaves its side open.
        tolerance : float or array-like of shape (n_samples,), optional
            The bounds lie this far from the middle.
        relative : float or array-like of shape (n_samples,), optional
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array-like of shape (n_samples,), optional
            The middle. By default the prediction; ``y`` for the truth, which is what certified
            accuracy needs.
        cover : {"bound", "exact"}, default="bound"
            With ``spread > 1``: a fast sound bound, or an integer program for each row that the
            bound leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent: names or positions of units (in all rows), a mask of shape
            (n_samples, n_units), or "detect" for units whose columns are all missing in a row.
            Submodels that own such a unit are left out of the median; ``silence`` of the result
            says what that cost. A frame may lack the columns of silent units.

        Returns
        -------
        Certificates
            Prediction and certified radius for each row; a radius of -1 means that the prediction
            itself is out of bounds. There is no runner-up.

        See Also
        --------
        interval : The values that an attack of a given size can bring about.
        partita.rules.Median.certify : The same from values of any ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import LinearRegression
        >>> from partita import FeaturePartitionRegressor
        >>> from partita.metrics import certified_accuracy
        >>> X, y = load_diabetes(return_X_y=True)
        >>> reg = FeaturePartitionRegressor(LinearRegression(), n_submodels=5).fit(X[::2], y[::2])
        >>> proof = reg.certify(X[1::2], around=y[1::2], relative=0.3)
        >>> certified_accuracy(y[1::2], proof) > certified_accuracy(y[1::2], proof, radius=1) > 0.2
        True
        """
        table, ballots = self._ballots(X, silent)
        now = self._decide(ballots)
        holds = BoundStatement(*bounds_around(now, lower, upper, tolerance, relative, around))
        return self._certificates(ballots, holds, table, cover, time_limit)

    def interval(self, X: Any, radius: int, silent: Any = None) -> tuple[Array, Array]:
        """Compute the predictions that an attack of a given size can bring about.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        radius : int
            How many units the attacker owns.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        low : array of shape (n_samples,)
            The prediction stays at or above this; -inf where nothing holds it.
        high : array of shape (n_samples,)
            The prediction stays at or below this; inf where nothing holds it.
        """
        return self._interval(self.ballots(X, silent), radius)

    # ---- hooks ----

    def _read_target(self, y: Any) -> Array:
        return read_values(self, y)

    def _fixed_ballot(self, y: Array) -> Array:
        return np.array(0.0 if self.rule_.centre is None else self.rule_.centre)

    def _check_rule(self, rule: Rule, estimator: Any) -> None:
        if self.label_attacks == "labels":
            raise InputError("label_attacks='labels' is for classification: use 'rows'")
        if not isinstance(rule, Median):
            raise InputError(
                f"rule is {rule!r}, which is for classification: use Median() or a "
                "FeaturePartitionClassifier"
            )
        if is_classifier(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a classifier: give a regressor, or use "
                "a FeaturePartitionClassifier"
            )

    def _score(self) -> Callable[..., Array]:
        return partial(values, stand_in=float(self.fixed_ballot_))

    def _tree_score(self) -> Callable[..., Array]:
        return partial(tree_values, stand_in=float(self.fixed_ballot_))

    def _decide(self, ballots: Ballots) -> Array:
        return np.asarray(ballots.rule.decide(ballots))

    def _votes(self, ballots: Ballots) -> Array:
        return np.asarray(ballots.rule.votes(ballots))

    def _statement(
        self, prediction: Array, tolerance: Any = None, relative: Any = None, around: Any = None
    ) -> Statement | None:
        if tolerance is None and relative is None:
            return None
        return BoundStatement(
            *bounds_around(prediction, tolerance=tolerance, relative=relative, around=around)
        )

    def _certificates(
        self,
        ballots: Ballots,
        statement: Statement,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        assert isinstance(statement, BoundStatement)
        holds = statement

        def certify(filled: Ballots, rows: Array) -> Certificates:
            return self._certificates(filled, holds.take(rows))

        bounds = holds.lower, holds.upper
        proof = self._certified(ballots, *bounds, cover=cover, time_limit=time_limit)
        proof = self._in_units(replace(proof, truth=holds.truth), table)
        return with_silence(self.units_.names, ballots, proof, proof.prediction, certify)

    def _correct(
        self, prediction: Array, truth: Array, tolerance: Any = None, relative: Any = None
    ) -> Array:
        low, high, _ = bounds_around(
            prediction, tolerance=tolerance, relative=relative, around=truth
        )
        return BoundStatement(low, high).holds(prediction)

    def _intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        found: dict[int, tuple[Array, Array]] = {}
        for radius in range(1, ballots.shape[1] + 1):
            low, high = self._interval(ballots, radius)
            if np.isinf(low).all() and np.isinf(high).all():
                break
            found[radius] = (low, high)
        return found

    def _interval(self, ballots: Ballots, radius: int) -> tuple[Array, Array]:
        self._check_decision(ballots)
        low, high = ballots.rule.interval(ballots, radius)
        return low, high

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a submodel that sees one column of ten stays near the mean, and so does their median
        tags.regressor_tags.poor_score = True
        return tags
