"""Randomized ablation: a vote, or a median, over many random ablations of the row to predict.

This is the defence the paper compares with. It withstands changes of that row alone (the training
data is trusted), and its certificates hold with a probability below 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import SGDClassifier, SGDRegressor

from .._support import Array, Estimator, TableLike, clopper_pearson
from ..certificates import Certificates
from ..ensemble import classes_of, numeric_target, target_array
from ..errors import InputError
from ..rules import bounds_around
from ._ablated_model import CERTIFICATION, SELECTION, AblatedModel
from ._ablation_bounds import ablation_radius, certify_votes, check_method


def abstentions(proof: Certificates) -> Array:
    """The rows on which randomized ablation abstains.

    Too few draws, or too close a vote, to be sure of the prediction itself: ``prediction`` holds
    the label that would have been predicted, the radius is -1, and no metric counts the row as
    certified.
    """
    return np.asarray(proof.radius < 0)


def _linear_classifier() -> Estimator:
    # every epoch brings fresh ablations, so the steps must not shrink; averaging removes their
    # noise
    return SGDClassifier(
        loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.1, average=True
    )


@dataclass(eq=False, repr=False)
class RandomizedAblationClassifier(ClassifierMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier with a probabilistic certificate against rewritten columns of the row.

    One model is trained on rows of which a few random columns are kept. The *smoothed* classifier
    predicts the label that most ablations of a row get, over all sets of ``keep`` columns. These
    are too many, so draws stand for them. Each row's radius is right with probability
    ``1 - alpha``; it is about the smoothed classifier, and about this row: one in ``1 / alpha``
    rows may be wrong. The label is chosen on ``n_select`` draws, and certified on ``n_certify``
    others.

    The certificate is void if whoever chose the row knew the draws (that is, the seed), or if the
    model does not always predict the same for a row. Training data is trusted.

    Parameters
    ----------
    estimator : classifier with ``partial_fit``, optional
        Trained on ablated rows of twice as many columns (float32, in [0, 1]) and labels 0, 1, 2,
        ...; by default a linear model. See Notes.
    keep : int or "auto", default="auto"
        How many units an ablation keeps. Fewer units give larger radii and a lower accuracy. "auto"
        keeps a tenth, for radii up to about 6. With e of d kept, no radius is above ``0.7 d / e``.
    units : optional
        What is kept or ablated as a whole, and what the radius counts: None for each column,
        ``pixels(image_shape)`` for images, or a mapping from names to columns.
    low : float or array-like of shape (n_features,), optional
        The least value of each column: a constant, whatever the data holds; lower values count as
        this. By default 0 if X is uint8.
    high : float or array-like of shape (n_features,), optional
        The greatest value of each column, likewise. By default 255 if X is uint8.
    method : {"jia", "levine-feizi"}, default="jia"
        "levine-feizi" certifies that the label keeps more than half of the ablations, "jia" that it
        keeps more than any other label.
    epochs : int, default=20
        Passes over the training rows, each with fresh ablations.
    n_select : int, default=1000
        How many draws choose the label.
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
    classes_ : array of shape (n_classes,)
        The labels.
    estimator_ : classifier
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
    RandomizedAblationRegressor : The same for numbers.
    ablation_radius : The certificate from shares of the vote.
    partita.FeaturePartitionClassifier : Deterministic, and covers training data too.

    Notes
    -----
    For images, ``partita.vision.AblatedImageClassifier`` is a ready network, on a GPU where there
    is one. An estimator of your own needs ``partial_fit(rows, labels, classes=...)`` and
    ``predict(rows)`` only. A PyTorch network::

        class Network(BaseEstimator):
            def partial_fit(self, rows, labels, classes=None):
                if not hasattr(self, "net_"):
                    self.net_ = nn.Sequential(
                        nn.Linear(rows.shape[1], 256), nn.ReLU(), nn.Linear(256, len(classes))
                    )
                    self.adam_ = torch.optim.Adam(self.net_.parameters())
                for some in torch.randperm(len(rows)).split(128):
                    self.adam_.zero_grad()
                    scores = self.net_(torch.from_numpy(rows[some]))
                    F.cross_entropy(scores, torch.from_numpy(labels[some])).backward()
                    self.adam_.step()
                return self

            @torch.no_grad()
            def predict(self, rows):
                return self.net_(torch.from_numpy(rows)).argmax(dim=1).numpy()

    References
    ----------
    Theory, section 8. Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by
    Randomized Ablation*, AAAI 2020; Jia, Wang, Cao, Liu and Gong, *Almost Tight L0-norm Certified
    Robustness of Top-k Predictions against Adversarial Perturbations*, ICLR 2022.

    Examples
    --------
    >>> from partita.baselines import RandomizedAblationClassifier
    >>> from partita.datasets import load_digits
    >>> data = load_digits()  # bytes, so low and high are known
    >>> clf = RandomizedAblationClassifier(keep=16, n_select=100, n_certify=1000, alpha=0.01)
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test[:100])
    >>> proof.counts.what, proof.counts.total, bool((proof.radius >= 1).mean() > 0.4)
    ('columns', 64, True)
    """

    _default_estimator: ClassVar[Any] = staticmethod(_linear_classifier)
    _takes_votes = True

    method: str = "jia"

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train on random ablations of the rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, without missing values.
        y : array-like of shape (n_samples,)
            Labels of any type.

        Returns
        -------
        self
            The fitted classifier.
        """
        scaled = self._training_rows(X)
        labels = target_array(self, y)
        classes = classes_of(labels)
        codes = np.searchsorted(classes, labels)
        if len(classes) < 2:
            raise InputError(
                f"y holds one class, {classes.tolist()[0]!r}: give rows of at least two classes"
            )
        self.classes_ = classes
        return self._train(scaled, codes, classes=np.arange(len(self.classes_)))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_method(self.method)

    def predict(self, X: TableLike) -> Array:
        """Predict the label that most of ``n_select`` ablations get.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Labels, as given to fit. :meth:`certify` may abstain on some of them.
        """
        votes = self._votes(self._rows_to_predict(X)[0], self.n_select, SELECTION)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def votes(self, X: TableLike) -> Array:
        """Count the votes of the ``n_certify`` ablations for each label.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        int array of shape (n_samples, n_classes)
            How many ablations of a row are predicted to have each label.
        """
        return self._votes(self._rows_to_predict(X)[0], self.n_certify, CERTIFICATION)

    def certify(self, X: TableLike) -> Certificates:
        """Predict each row and bound how many of its units must be rewritten to change it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.

        Returns
        -------
        Certificates
            Prediction, radius and runner-up for each row; a radius of -1 is an abstention: the
            draws do not even establish the prediction. Each radius is right with probability
            ``1 - alpha``.
        """
        self._check_settings()
        scaled, table = self._rows_to_predict(X)
        label = self._votes(scaled, self.n_select, SELECTION).argmax(axis=1)
        votes = self._votes(scaled, self.n_certify, CERTIFICATION)
        radius, runner_up = certify_votes(
            votes, label, len(self.units_), self.keep_, self.alpha, self.method
        )
        return Certificates(
            self.classes_[label],
            radius,
            self.classes_[runner_up],
            self._counts(),
            frame=table.frame,
            index=table.index,
        )

    def _votes(self, scaled: Array, n_draws: int, purpose: int) -> Array:
        if self._draws_itself(self.estimator_):
            drawn = self._ablations(purpose)
            return np.asarray(self.estimator_.ablated_votes(scaled, n_draws=n_draws, **drawn))
        votes = np.zeros((len(scaled), len(self.classes_)), dtype=np.int64)
        for rows, _, predictions in self._predict_draws(scaled, n_draws, purpose):
            for label in range(len(self.classes_)):
                votes[rows, label] += np.count_nonzero(predictions == label, axis=1)
        if np.any(votes.sum(axis=1) != n_draws):  # shares of the rest would be too large
            raise InputError(
                f"estimator predicts something other than the labels 0 to {len(self.classes_) - 1} "
                "that it was given: correct its predict"
            )
        return votes


def _linear_regressor() -> Estimator:
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

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
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

    def predict(self, X: TableLike) -> Array:
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
        X: TableLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        tolerance: ArrayLike | None = None,
        relative: ArrayLike | None = None,
        around: ArrayLike | None = None,
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
