"""De-randomized smoothing: one classifier that is asked about every band of an image alone, proven
against patches."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import check_is_fitted

from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._ablated_model import ablate
from ._bands import band_pixels, certify_bands, check_bands

BRIGHTEST = 255.0
CELLS_AT_ONCE = 2**24  # numbers in one batch of encoded images


class SmoothingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of images whose predictions carry a proof against patches, by de-randomized
    smoothing (Levine and Feizi, 2020).

    One classifier is trained on images of which a single band is left, at a random place; all else
    is blank, a value of its own (a number x enters as x and 1 - x, a blank as 0 and 0). It is then
    asked about every band of an image, and the label that most bands vote for wins. The proof is
    deterministic and about the image that is predicted: the training data must be clean.

    Parameters
    ----------
    image_shape : (height, width, channels)
        Images are rows of bytes, flattened by row, column and channel.
    kind : "column", "row" or "block", default="column"
    size : int, default=4
        How many pixels wide a band is.
    threshold : float, default=0.3
        A band votes for every label whose probability is at least this.
    estimator : classifier with partial_fit and predict_proba, default=None
        None: a small neural network of scikit-learn; ``partita.vision.AblatedImageClassifier`` is
        one for a GPU.
    epochs : int, default=20
        Passes over the images, each with new bands.
    batch_size : int, default=256
    random_state : int, default=0

    Examples
    --------
    >>> from partita.baselines import SmoothingClassifier
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> clf = SmoothingClassifier(data.image_shape, size=3, epochs=2).fit(data.X_train, data.y_train)
    >>> proof = clf.certify(data.X_test, patch=(2, 2))
    >>> proof.counts.what
    'patches of 2 x 2 pixels'
    """

    def __init__(
        self,
        image_shape: Any,
        kind: str = "column",
        size: int = 4,
        threshold: float = 0.3,
        estimator: Any = None,
        epochs: int = 20,
        batch_size: int = 256,
        random_state: int = 0,
    ) -> None:
        self.image_shape = image_shape
        self.kind = kind
        self.size = size
        self.threshold = threshold
        self.estimator = estimator
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train on images with one band left."""
        images, labels = self._images(X), np.asarray(y)
        check_bands(self.kind, self.size, self._shape)
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold is {self.threshold!r}: it must be above 0 and at most 1")
        if labels.shape != (len(images),):
            raise InputError(
                f"y has shape {labels.shape} for {len(images)} images: give one label an image"
            )
        self.classes_ = np.unique(labels)
        bands = band_pixels(self.kind, self.size, self._shape)
        draw = np.random.default_rng(self.random_state)
        estimator = (
            MLPClassifier((128,), random_state=0) if self.estimator is None else self.estimator
        )
        model = clone(estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=int(draw.integers(2**31)))
        for _ in range(self.epochs):
            order = draw.permutation(len(images))
            for start in range(0, len(order), self.batch_size):
                chosen = order[start : start + self.batch_size]
                left = bands[draw.integers(len(bands), size=len(chosen))]
                model.partial_fit(
                    self._encoded(images[chosen], left), labels[chosen], classes=self.classes_
                )
        self.model_ = model
        return self

    def votes(self, X: Any) -> Array:
        """bool (images, bands, labels): which labels each band votes for."""
        check_is_fitted(self, "model_")
        images = self._images(X)
        bands = band_pixels(self.kind, self.size, self._shape)
        votes = np.empty((len(images), len(bands), len(self.classes_)), dtype=bool)
        at_once = max(1, CELLS_AT_ONCE // (2 * images[:1].size))
        for k, band in enumerate(bands):
            for start in range(0, len(images), at_once):
                part = images[start : start + at_once]
                scores = self.model_.predict_proba(
                    self._encoded(part, np.broadcast_to(band, (len(part), *band.shape)))
                )
                votes[start : start + at_once, k] = scores >= self.threshold
        return votes

    def predict(self, X: Any) -> Array:
        """The label that most bands vote for, the smallest of equals."""
        return np.asarray(self.classes_[self.votes(X).sum(axis=1).argmax(axis=1)])

    def certify(self, X: Any, patch: tuple[int, int]) -> Certificates:
        """Predict every image, and prove it against a patch of (height, width) at every position:
        radius 1 where it holds, else 0."""
        proof = certify_bands(self.votes(X), self.kind, self.size, self._shape, patch)
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        return Certificates(self.classes_[proof.prediction], proof.radius, runner_up, proof.counts)

    @property
    def _shape(self) -> tuple[int, int]:
        return int(self.image_shape[0]), int(self.image_shape[1])

    def _images(self, X: Any) -> Array:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] != int(np.prod(self.image_shape)):
            raise InputError(
                f"X has shape {array.shape}, but image_shape={tuple(self.image_shape)} needs "
                f"{int(np.prod(self.image_shape))} columns"
            )
        if array.dtype != np.uint8:
            raise InputError(f"X holds {array.dtype}: give images as uint8, 0 to 255")
        return array.reshape(len(array), *self.image_shape)

    def _encoded(self, images: Array, left: Array) -> Array:
        """Images of which only some pixels are left: all x, then all 1 - x; 0 in both elsewhere."""
        kept = np.broadcast_to(left[..., None], images.shape).reshape(len(images), -1)
        return ablate(
            images.reshape(len(images), -1).astype(np.float32) / np.float32(BRIGHTEST), kept
        )
