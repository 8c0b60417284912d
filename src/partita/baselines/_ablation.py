"""Randomized ablation, the defence the paper compares with: a vote over many random ablations of
the row.

It withstands changes of the row being predicted alone (the training data is trusted), and its proof
holds with a probability below 1.

Levine and Feizi, *Robustness Certificates for Sparse Adversarial Attacks by Randomized Ablation*,
AAAI 2020; Jia, Wang, Cao, Liu and Gong, *Almost Tight L0-norm Certified Robustness of Top-k
Predictions against Adversarial Perturbations*, ICLR 2022."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.utils.multiclass import check_classification_targets

from .._support.types import Array
from ..certificates import Certificates
from ..ensemble._base import target_array
from ..errors import InputError
from ._ablated_model import CERTIFYING, CHOOSING, AblatedModel
from ._ablation_bounds import certify_votes, check_method


def abstained(proof: Certificates) -> Array:
    """The rows about which randomized ablation must say nothing: too few draws, or too close a
    vote, to be sure of the prediction itself.

    ``prediction`` holds the label that would have been said, the radius is -1, and no metric counts
    the row as certified."""
    return np.asarray(proof.radius < 0)


def _linear_classifier() -> Any:
    # every epoch brings fresh ablations, so the steps must not shrink away; averaging takes their
    # noise out
    return SGDClassifier(
        loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.1, average=True
    )


class RandomizedAblationClassifier(ClassifierMixin, AblatedModel):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose predictions very probably cannot change unless an attacker rewrites more
    than ``radius`` columns of the row.

    One model is trained on rows of which a few random columns are kept. The *smoothed* classifier
    predicts what most ablations of a row are taken for, over all sets of ``keep`` columns. That
    many cannot be asked, so draws stand for them. Each row's radius is right with probability ``1 -
    alpha``; it is about the smoothed classifier, and about this row: one in ``1 / alpha`` rows may
    be wrong. The label is chosen on ``n_select`` draws, and the proof made on ``n_certify`` others.

    The proof is void if whoever chose the row knew the draws (so the seed), or if the model does
    not always answer the same about a row.

    Parameters
    ----------
    estimator : classifier with ``partial_fit``, default=None
        Trained on ablated rows of twice as many columns (float32, in [0, 1]) and labels 0, 1, 2,
        ...; None: a linear model. See Notes.
    keep : int or "auto", default="auto"
        How many units an ablation keeps. Fewer: larger radii, lower accuracy. "auto": a tenth of
        them, for radii up to about 6. With e of d kept, no radius is above ``0.7 d / e``.
    units : default=None
        What is kept or ablated as a whole, and what the radius counts, as in
        FeaturePartitionClassifier: None for each column, ``pixels(image_shape)`` for images, a
        mapping for sources.
    low, high : number or one a column, default=None
        The least and the greatest value. Constants, whatever the data holds; values beyond count as
        these. None: 0 and 255 if X is uint8.
    method : "jia" or "levine-feizi", default="jia"
        "levine-feizi": the label keeps more than half of the ablations. "jia": it keeps more than
        any other label.
    epochs : int, default=20
        How often training goes over the rows, with fresh ablations every time.
    n_select, n_certify : int, default=1000, 100_000
        How many draws choose the label, and how many prove it.
    alpha : float, default=1e-4
        How likely a row's proof may be wrong.
    batch_size : int, default=4096
        How many ablated rows the model gets at once, in training and after. Predictions do not
        depend on it beyond what training does.
    random_state : int, default=0
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    classes_ : array of the labels
    estimator_ : the fitted model
    keep_ : how many units are kept
    units_ : the units
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    For images, ``partita.vision.AblatedImageClassifier`` is a ready network, on a GPU where there
    is one. Of your own, ``partial_fit(rows, labels, classes=...)`` and ``predict(rows)`` are all
    that an estimator needs. A PyTorch network::

        class Network(BaseEstimator):
            def partial_fit(self, rows, labels, classes=None):
                if not hasattr(self, "net_"):
                    self.net_ = nn.Sequential(nn.Linear(rows.shape[1], 256), nn.ReLU(),
                    nn.Linear(256, len(classes))) self.adam_ =
                    torch.optim.Adam(self.net_.parameters())
                for some in torch.randperm(len(rows)).split(128):
                    self.adam_.zero_grad()
                    F.cross_entropy(self.net_(torch.from_numpy(rows[some])),
                    torch.from_numpy(labels[some])).backward() self.adam_.step()
                return self

            @torch.no_grad()
            def predict(self, rows):
                return self.net_(torch.from_numpy(rows)).argmax(dim=1).numpy()

    Examples
    --------
    >>> from partita.baselines import RandomizedAblationClassifier
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> clf = RandomizedAblationClassifier(keep=16, n_select=100, n_certify=1000, alpha=0.01)  # X is uint8
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test[:100])
    >>> proof.counts.what, proof.counts.total, bool((proof.radius >= 1).mean() > 0.4)
    ('columns', 64, True)
    """

    _default_estimator: ClassVar[Any] = staticmethod(_linear_classifier)

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
        """Train on random ablations of the rows of numbers X with labels y of any type."""
        scaled = self._read(X)
        labels = target_array(self, y)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"y holds one class, {classes.tolist()[0]!r}: give rows of two classes at least"
            )
        self.classes_ = classes
        return self._train(scaled, codes, classes=np.arange(len(self.classes_)))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_method(self.method)

    def predict(self, X: Any) -> Array:
        """The labels, as they were given to fit: what most of ``n_select`` ablations are taken for.
        certify() may abstain from some."""
        votes = self._votes(self._asked(X)[0], self.n_select, CHOOSING)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def votes(self, X: Any) -> Array:
        """For how many of the ``n_certify`` ablations each label was said: int (rows, labels)."""
        return self._votes(self._asked(X)[0], self.n_certify, CERTIFYING)

    def certify(self, X: Any) -> Certificates:
        """Predict every row, and prove how many of its units must be rewritten to change it; -1:
        ``abstained``."""
        self._check_settings()
        scaled, table = self._asked(X)
        label = self._votes(scaled, self.n_select, CHOOSING).argmax(axis=1)
        votes = self._votes(scaled, self.n_certify, CERTIFYING)
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
        votes = np.zeros((len(scaled), len(self.classes_)), dtype=np.int64)
        for rows, _, said in self._answers(scaled, n_draws, purpose):
            for label in range(len(self.classes_)):
                votes[rows, label] += np.count_nonzero(said == label, axis=1)
        if np.any(votes.sum(axis=1) != n_draws):  # shares of what is left would be too large
            raise InputError(
                f"estimator says something else than the labels 0 to {len(self.classes_) - 1} it "
                "was given: mend its predict"
            )
        return votes
