"""What the regressors share: reading values, and from ballots to values and their bounds."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, is_classifier

from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ..rules import BoundStatement, Median, Rule, Statement, bounds_around, with_silence
from ..tables import Table
from ._ballots import tree_values, values
from ._base import Ensemble
from ._target import read_values


class ValueEnsemble(RegressorMixin, Ensemble):
    """Base class of the regressors."""

    task: ClassVar[str] = "regression"

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
        return self.decide(self.ballots(X, silent))

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
        table = self.read(X, silent)
        ballots = self.ballots(table, silent)
        now = self.decide(ballots)
        holds = BoundStatement(*bounds_around(now, lower, upper, tolerance, relative, around))
        return self.certificates(ballots, holds, table, cover, time_limit)

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

    def decide(self, ballots: Ballots) -> Array:
        return np.asarray(ballots.rule.decide(ballots))

    def votes(self, ballots: Ballots) -> Array:
        return np.asarray(ballots.rule.votes(ballots))

    def statement(
        self, prediction: Array, tolerance: Any = None, relative: Any = None, around: Any = None
    ) -> Statement | None:
        if tolerance is None and relative is None:
            return None
        return BoundStatement(
            *bounds_around(prediction, tolerance=tolerance, relative=relative, around=around)
        )

    def certificates(
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
            return self.certificates(filled, holds.take(rows))

        bounds = holds.lower, holds.upper
        proof = self._certified(ballots, *bounds, cover=cover, time_limit=time_limit)
        proof = self._in_units(replace(proof, truth=holds.truth), table)
        return with_silence(self.units_.names, ballots, proof, proof.prediction, certify)

    def correct(
        self, prediction: Array, truth: Array, tolerance: Any = None, relative: Any = None
    ) -> Array:
        low, high, _ = bounds_around(
            prediction, tolerance=tolerance, relative=relative, around=truth
        )
        return BoundStatement(low, high).holds(prediction)

    def intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
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
