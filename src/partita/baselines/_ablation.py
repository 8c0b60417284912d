"""Randomized ablation: a vote over many random ablations of the row that is predicted.

This is the defence the paper compares with. It withstands changes of that row alone (the training
data is trusted), and its certificates hold with a probability below 1.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.linear_model import SGDClassifier

from .._support import Array
from ..certificates import Certificates
from ..ensemble import classes_of, target_array
from ..errors import InputError
from ._ablated_model import CERTIFICATION, SELECTION, AblatedModel
from ._ablation_bounds import certify_votes, check_method


def abstentions(proof: Certificates) -> Array:
    """The rows on which randomized ablation abstains.

    Too few draws, or too close a vote, to be sure of the prediction itself: ``prediction`` holds
    the label that would have been predicted, the radius is -1, and no metric counts the row as
    certified.
    """
    return np.asarray(proof.radius < 0)


def _linear_classifier() -> Any:
    # every epoch brings fresh ablations, so the steps must not shrink; averaging removes their
    # noise
    return SGDClassifier(
        loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.1, average=True
    )


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

    def __init__(
        self,
        estimator: Any = None,
        keep: Any = "auto",
        units: Any = None,
        low: Any = None,
        high: Any = None,
        method: str = "jia",
        epochs: int = 20,
        n_select: int = 1000,
        n_certify: int = 100_000,
        alpha: float = 1e-4,
        batch_size: int = 4096,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            keep,
            units,
            low,
            high,
            epochs,
            n_select,
            n_certify,
            alpha,
            batch_size,
            random_state,
            verbose,
        )
        self.method = method

    def fit(self, X: Any, y: Any) -> Self:
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

    def predict(self, X: Any) -> Array:
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

    def votes(self, X: Any) -> Array:
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

    def certify(self, X: Any) -> Certificates:
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
