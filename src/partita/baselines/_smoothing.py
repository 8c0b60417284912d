"""De-randomized smoothing: one classifier that votes on every band of an image alone.

De-randomized smoothing (Levine and Feizi, 2020) asks a classifier about each band of an image
alone: each column (or row) of some width, or each square block, wrapping around at the edges. Each
band may vote for any number of labels. A patch changes what the bands see that it touches, and no
others: the touched bands may then vote as the attacker likes. So the label y survives a patch if,
with the touched bands' votes for y taken away and each touched band's vote given to z, y is still
ahead of every z. Here that is counted for every position of the patch, which is exact for votes
that an attacker may set freely, and never worse than the usual bound of twice the number of touched
bands.
The certificate is deterministic and about the predicted image; training data must be clean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import check_is_fitted

from .._support import Array, Estimator, TableLike, check_whole
from ..certificates import TRAINING_IMAGES, Certificates, Counts
from ..ensemble import classes_of, target_array
from ..errors import InputError
from ._ablation import ablate

KINDS = ("column", "row", "block")


def band_pixels(kind: str, size: int, shape: tuple[int, int]) -> Array:
    """What each band sees: bool (bands, height, width)."""
    check_bands(kind, size, shape)
    height, width = shape
    down = (np.arange(height) - np.arange(height)[:, None]) % height < size  # (start, row)
    across = (np.arange(width) - np.arange(width)[:, None]) % width < size
    if kind == "column":
        return np.broadcast_to(across[:, None, :], (width, height, width))
    if kind == "row":
        return np.broadcast_to(down[:, :, None], (height, height, width))
    return (down[:, None, :, None] & across[None, :, None, :]).reshape(
        height * width, height, width
    )


def certify_bands(
    votes: ArrayLike, kind: str, size: int, shape: tuple[int, int], patch: tuple[int, int]
) -> Certificates:
    """Predict by the votes of the bands, and certify against a patch at every position.

    Parameters
    ----------
    votes : bool array of shape (images, bands, labels)
        In the order of ``band_pixels``; a band may vote for several labels or for none.
    kind : {"column", "row", "block"}
        What a band is.
    size : int
        How many pixels wide (and high) a band is.
    shape : tuple of (height, width)
        Of the images.
    patch : tuple of (height, width)
        The rectangle that an attacker lays over the image, wherever they like, not rotated.

    Returns
    -------
    Certificates
        ``radius`` is 1 where the prediction survives every position of the patch, else 0.
    """
    check_bands(kind, size, shape)
    check_patch(patch, shape)
    array = np.asarray(votes)
    bands = {"column": shape[1], "row": shape[0], "block": shape[0] * shape[1]}[kind]
    if array.ndim != 3 or array.dtype != bool or array.shape[1] != bands or not array.shape[2]:
        raise InputError(
            f"votes is {array.dtype} of shape {array.shape}: give booleans of shape (images, "
            f"{bands} bands, labels)"
        )
    counts = array.sum(axis=1, dtype=np.int64)
    prediction = counts.argmax(axis=1)  # the smallest label among equals
    touched = touched_bands(kind, size, shape, patch)
    reachable = _reachable_votes(array, touched)  # (images, positions, labels)
    rows = np.arange(len(array))
    # (images, positions): the votes that y keeps, and the most that each z can get
    own = counts[rows, prediction][:, None] - reachable[rows, :, prediction]
    most = counts[:, None, :] - reachable + touched.sum(axis=1)[None, :, None]
    tie = np.arange(array.shape[2]) < prediction[:, None]  # a smaller label wins a tie
    lead = own[:, :, None] - most - tie[:, None, :]
    lead[rows, :, prediction] = np.iinfo(np.int64).max
    worst = lead.min(axis=1)
    radius = (worst.min(axis=1) >= 0).astype(np.int64)
    runner_up = None if array.shape[2] == 1 else worst.argmin(axis=1)
    counts = Counts(f"patches of {patch[0]} x {patch[1]} pixels", 1, (TRAINING_IMAGES,))
    return Certificates(prediction, radius, runner_up, counts)


def touched_bands(kind: str, size: int, shape: tuple[int, int], patch: tuple[int, int]) -> Array:
    """Which bands each position of the patch touches: bool (positions, bands).

    Positions that touch the same bands are listed once.
    """
    seen = band_pixels(kind, size, shape)
    height, width = shape
    corners = [
        (row, column)
        for row in range(height - patch[0] + 1)
        for column in range(width - patch[1] + 1)
    ]
    touched = [
        seen[:, row : row + patch[0], column : column + patch[1]].any(axis=(1, 2))
        for row, column in corners
    ]
    return np.unique(np.stack(touched), axis=0)


def _reachable_votes(votes: Array, touched: Array) -> Array:
    """How many touched bands vote for each label: int (images, positions, labels)."""
    counts = np.empty((len(votes), len(touched), votes.shape[2]), dtype=np.int64)
    reach = touched.astype(np.float32)
    for label in range(votes.shape[2]):  # sums of ones: exact in floats
        counts[:, :, label] = np.rint(votes[:, :, label].astype(np.float32) @ reach.T)
    return counts


def check_bands(kind: str, size: int, shape: tuple[int, int]) -> None:
    """Refuse bands that such images do not have."""
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}: give one of {', '.join(map(repr, KINDS))}")
    if len(shape) != 2 or not all(
        isinstance(side, int | np.integer) and side > 0 for side in shape
    ):
        raise InputError(f"shape is {shape!r}: give (height, width)")
    most = min(shape) if kind == "block" else shape[kind == "column"]
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or not 1 <= size <= most:
        raise InputError(f"size is {size!r}: a {kind} of these images has 1 to {most} pixels")


def check_patch(patch: tuple[int, int], shape: tuple[int, int]) -> None:
    """Refuse a patch that does not fit into the image."""
    whole = (
        isinstance(patch, tuple | list)
        and len(patch) == 2
        and all(isinstance(side, int | np.integer) for side in patch)
    )
    if not whole or not all(1 <= side <= most for side, most in zip(patch, shape, strict=True)):
        raise InputError(
            f"patch is {patch!r}: give (height, width), each at least 1 and no larger than the "
            f"image, {tuple(shape)}"
        )


BRIGHTEST = 255.0
NUMBERS_PER_BATCH = 2**24  # of encoded images


@dataclass(eq=False, repr=False)
class SmoothingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of images certified against patches, by de-randomized smoothing.

    One classifier is trained on images of which a single band is left, at a random place; all else
    is blank, a value of its own (a number x enters as x and 1 - x, a blank as 0 and 0). It is then
    asked about every band of an image, and the label that most bands vote for wins. The certificate
    is deterministic and about the image that is predicted: the training data must be clean.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        Images are rows of bytes, flattened by row, column and channel.
    kind : {"column", "row", "block"}, default="column"
        What a band is.
    size : int, default=4
        How many pixels wide a band is.
    threshold : float, default=0.3
        A band votes for every label whose probability is at least this.
    estimator : classifier with partial_fit and predict_proba, optional
        By default a small neural network of scikit-learn;
        ``partita.vision.AblatedImageClassifier`` is one for a GPU.
    epochs : int, default=20
        Passes over the images, each with new bands.
    batch_size : int, default=256
        Images per training step.
    random_state : int, default=0
        The seed of training.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    model_ : classifier
        The fitted classifier of bands.
    n_features_in_ : int
        Values per image.

    See Also
    --------
    partita.certify_patches : Certificates of a partition ensemble against patches.

    References
    ----------
    Levine and Feizi, *(De)Randomized Smoothing for Certifiable Defense against Patch Attacks*,
    NeurIPS 2020.

    Examples
    --------
    >>> from partita.baselines import SmoothingClassifier
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> clf = SmoothingClassifier(data.image_shape, size=3, epochs=2)
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test, patch=(2, 2))
    >>> proof.counts.what
    'patches of 2 x 2 pixels'
    """

    image_shape: Sequence[int]
    kind: str = "column"
    size: int = 4
    threshold: float = 0.3
    estimator: Estimator = None
    epochs: int = 20
    batch_size: int = 256
    random_state: int = 0

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train on images with one band left.

        Parameters
        ----------
        X : uint8 array of shape (n_images, height * width * channels)
            Flattened images.
        y : array-like of shape (n_images,)
            Their labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        images, labels = self._images(X), target_array(self, y)
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 1)
        check_bands(self.kind, self.size, self._shape)
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold is {self.threshold!r}: it must be above 0 and at most 1")
        if labels.shape != (len(images),):
            raise InputError(
                f"y has shape {labels.shape} for {len(images)} images: expected one label per image"
            )
        self.classes_ = classes_of(labels)
        bands = band_pixels(self.kind, self.size, self._shape)
        rng = np.random.default_rng(self.random_state)
        model = clone(
            MLPClassifier((128,), random_state=0) if self.estimator is None else self.estimator
        )
        if "random_state" in model.get_params():
            model.set_params(random_state=int(rng.integers(2**31)))
        if hasattr(model, "fit_masks"):
            seed = np.random.SeedSequence(int(rng.integers(2**63)))
            kept = self._values_of(bands)
            model.fit_masks(scaled(images), labels, masks=kept, epochs=self.epochs, seed=seed)
        for _ in range(0 if hasattr(model, "fit_masks") else self.epochs):
            order = rng.permutation(len(images))
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                masks = bands[rng.integers(len(bands), size=len(batch))]
                rows = self._encode(images[batch], masks)
                model.partial_fit(rows, labels[batch], classes=self.classes_)
        self.model_, self.n_features_in_ = model, int(np.prod(self.image_shape))
        return self

    def votes(self, X: TableLike) -> Array:
        """Ask about every band of every image.

        Parameters
        ----------
        X : uint8 array of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        bool array of shape (n_images, n_bands, n_classes)
            Which labels each band votes for.
        """
        check_is_fitted(self, "model_")
        images = self._images(X)
        bands = band_pixels(self.kind, self.size, self._shape)
        if hasattr(self.model_, "masked_probabilities"):
            scores = self.model_.masked_probabilities(scaled(images), self._values_of(bands))
            return np.asarray(scores >= self.threshold)
        votes = np.empty((len(images), len(bands), len(self.classes_)), dtype=bool)
        batch_size = max(1, NUMBERS_PER_BATCH // (2 * images[:1].size))
        for k, band in enumerate(bands):
            for start in range(0, len(images), batch_size):
                batch = images[start : start + batch_size]
                masks = np.broadcast_to(band, (len(batch), *band.shape))
                scores = self.model_.predict_proba(self._encode(batch, masks))
                votes[start : start + batch_size, k] = scores >= self.threshold
        return votes

    def predict(self, X: TableLike) -> Array:
        """Predict the label that most bands vote for; ties go to the smallest label.

        Parameters
        ----------
        X : uint8 array of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images,)
            Labels.
        """
        votes = self.votes(X)
        return np.asarray(self.classes_[votes.sum(axis=1).argmax(axis=1)])

    def certify(self, X: TableLike, patch: tuple[int, int]) -> Certificates:
        """Predict every image and certify it against a patch at every position.

        Parameters
        ----------
        X : uint8 array of shape (n_images, height * width * channels)
            Flattened images.
        patch : tuple of (height, width)
            The rectangle that an attacker lays over the image.

        Returns
        -------
        Certificates
            ``radius`` is 1 where the prediction survives every position of the patch, else 0.
        """
        proof = certify_bands(self.votes(X), self.kind, self.size, self._shape, patch)
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        return Certificates(self.classes_[proof.prediction], proof.radius, runner_up, proof.counts)

    @property
    def _shape(self) -> tuple[int, int]:
        return int(self.image_shape[0]), int(self.image_shape[1])

    def _images(self, X: TableLike) -> Array:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] != int(np.prod(self.image_shape)):
            raise InputError(
                f"X has shape {array.shape}, but image_shape={tuple(self.image_shape)} needs "
                f"{int(np.prod(self.image_shape))} columns"
            )
        if array.dtype != np.uint8:
            raise InputError(f"X holds {array.dtype}: give images as uint8, 0 to 255")
        return array.reshape(len(array), *self.image_shape)

    def _encode(self, images: Array, masks: Array) -> Array:
        """Images of which only the masked pixels are left, in the doubled encoding."""
        return ablate(scaled(images), self._values_of(masks))

    def _values_of(self, masks: Array) -> Array:
        """Which values each of the masks of pixels keeps."""
        channels = int(self.image_shape[2])
        return np.repeat(masks.reshape(len(masks), -1), channels, axis=1)


def scaled(images: Array) -> Array:
    """Bytes as rows of values in [0, 1]."""
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(BRIGHTEST)
