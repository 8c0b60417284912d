"""Randomized ablation for numbers: the median over random ablations of the row stays in bounds.

Training data is trusted, and certificates hold with a probability below 1.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import SGDRegressor

from .._support import Array, clopper_pearson
from ..certificates import Certificates
from ..ensemble import numeric_target
from ..errors import InputError
from ..rules import bounds_around
from ._ablated_model import CERTIFICATION, SELECTION, AblatedModel
from ._ablation_bounds import ablation_radius


def _linear_regressor() -> Any:
    # huber: a step is bounded however many columns are kept; otherwise as in the classifier
    return SGDRegressor(
        loss="huber", epsilon=1.0, alpha=1e-5, learning_rate="constant", eta0=0.03, average=True
    )


class RandomizedAblationRegressor(RegressorMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor with a probabilistic certificate against rewritten columns of the row.

    The smoothed prediction is the median of the model's values over all ablations of the row. It
    reduces to votes: every ablation votes on "my value is at most upper". If more than half of all
    ablations say yes, so does the middle one: the median is at most upper, whichever of two middle
    values is taken. Rewriting rho columns changes only the ablations that keep one of them, a share
    Delta, so the share of yes falls by at most Delta: the median stays at most upper while that
    share less Delta is above a half, which is Levine and Feizi's condition for a label. The same
    holds for "my value is at least lower". Both shares are bounded from draws, each at level
    ``alpha / 2``, so that both bounds are right with probability ``1 - alpha``, and the radius is
    the smaller of the two. An infinite bound always holds.

    ``predict`` returns the median over ``n_select`` draws, so bounds around the prediction are
    fixed before the ``n_certify`` draws of the certificate are made.

    Parameters
    ----------
    estimator : regressor with ``partial_fit``, optional
        Trained on ablated rows of twice as many columns (float32, in [0, 1]) and on targets shifted
        and scaled to mean 0 and deviation 1; by default a linear model.
    keep : int or "auto", default="auto"
        How many units an ablation keeps. Fewer units give larger radii and a lower accuracy. "auto"
        keeps a tenth.
    units : optional
        What is kept or ablated as a whole, and what the radius counts: None for each column, or a
        mapping from names to columns.
    low : float or array-like of shape (n_features,), optional
        The least value of each column: a constant, whatever the data holds; lower values count as
        this. By default 0 if X is uint8.
    high : float or array-like of shape (n_features,), optional
        The greatest value of each column, likewise. By default 255 if X is uint8.
    epochs : int, default=20
        Passes over the training rows, each with fresh ablations.
    n_select : int, default=1000
        How many draws make the prediction.
    n_certify : int, default=100_000
        How many draws certify it.
    alpha : float, default=1e-4
        The probability with which a row's certificate may be wrong.
    batch_size : int, default=4096
        How many ablated rows the model gets at once, in training and prediction. Predictions do not
        depend on it except through training.
    random_state : int, RandomState or None, default=0
        The seed of training and of all draws.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    estimator_ : regressor
        The fitted model.
    keep_ : int
        How many units are kept.
    units_ : Units
        The units.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    RandomizedAblationClassifier : The same for labels.
    partita.FeaturePartitionRegressor : Deterministic, and covers training data too.

    References
    ----------
    Theory, section 8. Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by
    Randomized Ablation*, AAAI 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from partita.baselines import RandomizedAblationRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = RandomizedAblationRegressor(
    ...     keep=3, low=-0.2, high=0.2, n_select=100, n_certify=1000, alpha=0.01
    ... )
    >>> proof = reg.fit(X, y).certify(X[:20], tolerance=100)
    >>> proof.of_values, proof.counts.total
    (True, 10)
    """

    _default_estimator: ClassVar[Any] = staticmethod(_linear_regressor)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on random ablations of the rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, without missing values.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
            The fitted regressor.
        """
        scaled = self._training_rows(X)
        target = numeric_target(self, y, "RandomizedAblationClassifier")
        self.centre_, self.scale_ = float(target.mean()), float(target.std()) or 1.0
        return self._train(scaled, (target - self.centre_) / self.scale_)

    def predict(self, X: Any) -> Array:
        """Predict the lower median of the model's values over ``n_select`` ablations.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Predicted values.
        """
        return self._medians(self._rows_to_predict(X)[0])

    def _medians(self, scaled: Array) -> Array:
        values = np.empty((len(scaled), int(self.n_select)))
        for rows, draws, own in self._values(scaled, int(self.n_select), SELECTION):
            values[rows, draws] = own
        middle = (values.shape[1] + 1) // 2 - 1
        return np.asarray(np.partition(values, middle, axis=1)[:, middle])

    def _values(
        self, scaled: Array, n_draws: int, purpose: int
    ) -> Iterator[tuple[slice, slice, Array]]:
        """Predictions under random ablations on the target's own scale."""
        for rows, draws, predictions in self._predict_draws(scaled, n_draws, purpose):
            values = self.centre_ + self.scale_ * predictions.astype(np.float64)
            if not np.all(np.isfinite(values)):
                raise InputError(
                    "estimator predicts a NaN or an infinity: lower its learning rate, or give "
                    "another one"
                )
            yield rows, draws, values

    def certify(
        self,
        X: Any,
        *,
        lower: Any = None,
        upper: Any = None,
        tolerance: Any = None,
        relative: Any = None,
        around: Any = None,
    ) -> Certificates:
        """Bound how many units must be rewritten to move a prediction out of its bounds.

        Give the bounds in one of three ways: ``lower`` and ``upper``, ``tolerance``, or
        ``relative``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        lower : float or array-like of shape (n_samples,), optional
            The lower bound itself; -inf leaves this side open.
        upper : float or array-like of shape (n_samples,), optional
            The upper bound itself; inf leaves this side open.
        tolerance : float or array-like of shape (n_samples,), optional
            The bounds lie this far from the middle.
        relative : float or array-like of shape (n_samples,), optional
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array-like of shape (n_samples,), optional
            The middle, with ``tolerance`` or ``relative``: by default the prediction; ``y`` for the
            truth, which certified accuracy is about.

        Returns
        -------
        Certificates
            Prediction and radius for each row; a radius of -1 is an abstention. Each radius is
            right with probability ``1 - alpha``.
        """
        self._check_settings()
        scaled, table = self._rows_to_predict(X)
        prediction = self._medians(scaled)
        low, high, truth = bounds_around(prediction, lower, upper, tolerance, relative, around)
        inside = np.zeros((2, len(scaled)), dtype=np.int64)
        for rows, _, values in self._values(scaled, int(self.n_certify), CERTIFICATION):
            inside[0, rows] += np.count_nonzero(values >= low[rows, None], axis=1)
            inside[1, rows] += np.count_nonzero(values <= high[rows, None], axis=1)
        d = len(self.units_)
        shares, _ = clopper_pearson(inside, int(self.n_certify), self.alpha / 2)
        radii = ablation_radius(shares, None, d, self.keep_, "levine-feizi")
        sides = np.where(np.isinf([low, high]), d, radii)
        return Certificates(
            prediction,
            sides.min(axis=0),
            None,
            self._counts(),
            truth,
            of_values=True,
            frame=table.frame,
            index=table.index,
        )
