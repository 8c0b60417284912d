"""FeaturePartitionRegressor: a regressor whose predictions carry a proof."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ..rules import Median, Rule
from ..rules._bounds import bounds_around
from ..tables._table import Table
from ._ballots import values
from ._base import FeaturePartitionEnsemble, target_array
from ._default_estimator import TableBoostingRegressor
from ._label_attacks import numbers_or_gaps


class FeaturePartitionRegressor(RegressorMixin, FeaturePartitionEnsemble):
    """A regressor whose predictions carry a proof: they cannot leave an interval unless an attacker
    owns more than ``radius`` units.

    The columns are dealt out to submodels, each trained on its own columns alone; the prediction is
    the median of their values.

    Parameters
    ----------
    estimator : scikit-learn regressor or Pipeline, default=None
        Cloned for every submodel. Preprocessing belongs inside it. None: gradient boosting for
        tables with texts and gaps.
    n_submodels, partition, image_shape, units, spread, trusted, strict, on_failure, random_state,
    n_jobs, verbose
        As in FeaturePartitionClassifier.
    label_attacks : None or "rows", default=None
        As in FeaturePartitionClassifier.
    rule : "median" or a Median, default="median"
        ``Median(stretch=1.3)`` moves the votes away from their centre, which weak submodels stay
        too close to.

    Attributes
    ----------
    estimators_, partition_, units_, rule_, n_features_in_, feature_names_in_
        As in FeaturePartitionClassifier.

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

    _default_estimator = TableBoostingRegressor

    def __init__(
        self,
        estimator=None,
        n_submodels="auto",
        partition="random",
        image_shape=None,
        units=None,
        spread=1,
        trusted=(),
        rule="median",
        label_attacks=None,
        strict=False,
        on_failure="raise",
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
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
        X : array, pandas or polars frame, sparse matrix, or list of rows
        y : numbers, one a row
        sample_weight : array, default=None
            Passed to every submodel; an error where the estimator cannot take it.
        """
        return self._fit(X, y, sample_weight)

    def _target(self, y: Any) -> Array:
        if self.label_attacks:
            return numbers_or_gaps(column_or_1d(np.asarray(y, dtype=object)))
        target = target_array(self, y)
        try:
            return target.astype(np.float64)
        except (TypeError, ValueError) as exc:
            raise InputError(
                "y holds values that are no numbers: for labels use a FeaturePartitionClassifier"
            ) from exc

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

    def ballots(self, X: Any) -> Array:
        """Every submodel's value: float64 (rows, submodels)."""
        return self._ballots(X)[1]

    def _ballots(self, X: Any) -> tuple[Table, Array]:
        check_is_fitted(self, "estimators_")
        table, votes = self._gather(X, self._score())
        return table, np.stack(list(votes), axis=1)

    def _score(self) -> Callable[..., Array]:
        return partial(values, stand_in=float(self.fixed_ballot_))

    def predict(self, X: Any) -> Array:
        """The median of the submodels' values."""
        votes = self.ballots(X)
        return self.rule_.decide(votes)

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
    ) -> Certificates:
        """Prove how many units an attacker must own to move a prediction out of its bounds. Say
        which, in one of three ways.

        Parameters
        ----------
        lower, upper : number or one a row
            The bounds themselves; -inf and inf leave a side open.
        tolerance : number or one a row
            The bounds lie this far from the middle.
        relative : float
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array, default=None
            The middle: None for the prediction, ``y`` for the truth, which is what certified
            accuracy is about.
        cover, time_limit
            As in FeaturePartitionClassifier.
        """
        table, votes = self._ballots(X)
        low, high, truth = bounds_around(
            self.rule_.decide(votes), lower, upper, tolerance, relative, around
        )
        return self._proof(table, votes, low, high, truth, cover, time_limit)

    def _proof(
        self,
        table: Table,
        votes: Array,
        lower: Any,
        upper: Any,
        truth: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        proof = self.rule_.certify(votes, lower, upper, **self._over(cover, time_limit))
        return self._in_units(replace(proof, truth=truth), table)

    def interval(self, X: Any, radius: int) -> tuple[Array, Array]:
        """The lowest and highest prediction an attacker who owns ``radius`` units can bring about,
        for every row."""
        votes = self.ballots(X)
        return self.rule_.interval(votes, radius, self._over("bound", 1.0).get("reach"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # a submodel that sees one column of ten stays near the mean, and so does their median
        tags.regressor_tags.poor_score = True
        return tags
