"""Randomized ablation for numbers: the median over many random ablations of the row stays between
bounds."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import SGDRegressor

from .._support.types import Array
from ..certificates import Certificates
from ..ensemble._base import target_array
from ..errors import InputError
from ..rules._bounds import bounds_around
from ._ablated_model import CERTIFYING, CHOOSING, AblatedModel
from ._ablation_bounds import ablation_radius, clopper_pearson


def _linear_regressor() -> Any:
    # huber: a step is bounded however many columns are kept; otherwise as in the classifier
    return SGDRegressor(
        loss="huber", epsilon=1.0, alpha=1e-5, learning_rate="constant", eta0=0.03, average=True
    )


class RandomizedAblationRegressor(RegressorMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor whose predictions very probably stay in an interval unless more than ``radius``
    columns of the row are rewritten.

    The smoothed prediction is the median of the model's values over all ablations of the row. The
    reduction to votes: every ablation votes on "my value is at most upper". If more than half of
    all ablations say yes, so does the middle one: the median is at most upper, whichever of two
    middle values is taken. Rewriting rho columns changes only the ablations that keep one of them,
    a share Delta, so the share of yes falls by Delta at most: the median stays at most upper while
    that share less Delta is above a half, which is Levine and Feizi's condition for a label. The
    same holds for "my value is at least lower". Both shares are bounded from draws, each at level
    ``alpha / 2``, so that both bounds are right with probability ``1 - alpha``, and the radius is
    the smaller of the two. An infinite bound always holds.

    ``predict`` says the median over ``n_select`` draws; bounds around the prediction are therefore
    fixed before the ``n_certify`` draws of the proof are looked at.

    Parameters
    ----------
    estimator : regressor with ``partial_fit``, default=None
        Trained on ablated rows and on targets shifted and scaled to mean 0 and deviation 1. None: a
        linear model.
    keep, units, low, high, epochs, n_select, n_certify, alpha, batch_size, random_state, verbose
        As in RandomizedAblationClassifier.

    Attributes
    ----------
    estimator_, keep_, units_, n_features_in_, feature_names_in_
        As in RandomizedAblationClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from partita.baselines import RandomizedAblationRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = RandomizedAblationRegressor(keep=3, low=-0.2, high=0.2, n_select=100, n_certify=1000, alpha=0.01)
    >>> proof = reg.fit(X, y).certify(X[:20], tolerance=100)
    >>> proof.of_values, proof.counts.total
    (True, 10)
    """

    _default_estimator: ClassVar[Any] = staticmethod(_linear_regressor)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on random ablations of the rows of numbers X with numbers y."""
        scaled = self._read(X)
        target = target_array(self, y)
        try:
            target = target.astype(np.float64)
        except (TypeError, ValueError) as exc:
            raise InputError(
                "y holds values that are no numbers: for labels use a RandomizedAblationClassifier"
            ) from exc
        self.centre_, self.scale_ = float(target.mean()), float(target.std()) or 1.0
        return self._train(scaled, (target - self.centre_) / self.scale_)

    def predict(self, X: Any) -> Array:
        """The (lower) median of the model's values over ``n_select`` ablations."""
        return self._medians(self._asked(X)[0])

    def _medians(self, scaled: Array) -> Array:
        values = np.empty((len(scaled), int(self.n_select)))
        for rows, draws, said in self._values(scaled, int(self.n_select), CHOOSING):
            values[rows, draws] = said
        middle = (values.shape[1] + 1) // 2 - 1
        return np.asarray(np.partition(values, middle, axis=1)[:, middle])

    def _values(
        self, scaled: Array, n_draws: int, purpose: int
    ) -> Iterator[tuple[slice, slice, Array]]:
        for rows, draws, said in self._answers(scaled, n_draws, purpose):
            values = self.centre_ + self.scale_ * said.astype(np.float64)
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
        """Prove how many units must be rewritten to move a prediction out of its bounds (-1:
        abstained). Say which, in one of three ways.

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
        """
        self._check_settings()
        scaled, table = self._asked(X)
        prediction = self._medians(scaled)
        low, high, truth = bounds_around(prediction, lower, upper, tolerance, relative, around)
        inside = np.zeros((2, len(scaled)), dtype=np.int64)
        for rows, _, values in self._values(scaled, int(self.n_certify), CERTIFYING):
            inside[0, rows] += np.count_nonzero(values >= low[rows, None], axis=1)
            inside[1, rows] += np.count_nonzero(values <= high[rows, None], axis=1)
        d = len(self.units_)
        shares, _ = clopper_pearson(inside, int(self.n_certify), self.alpha / 2)
        sides = np.where(
            np.isinf([low, high]), d, ablation_radius(shares, None, d, self.keep_, "levine-feizi")
        )
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
