"""MaskedImageClassifier: the paper's networks on masked images, fitted one after the other.

A submodel's training is given its own pixels and nothing else; it puts them on an empty image, and
only then flips, shifts and erases. What it draws at random comes from its seed, and nothing is
shared between two submodels: no weights, no statistics, no optimizer."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._support.types import Array
from ..errors import InputError
from ._masked_networks import recipe_for
from ._masked_training import MaskedSubmodel, Progress
from ._pixel_sets import as_images
from ._submodels import pixels_of
from ._training import choose_device

Weights = dict[str, Tensor]


class MaskedImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A convolutional network on an image in which all pixels but a submodel's own are zero: what
    the paper trains, for comparison.

    Submodels are fitted one after the other. Images are rows (height x width x channels, flattened)
    of whole numbers from 0 to 255. What is None is as in the paper.

    Parameters
    ----------
    image_shape : (height, width, channels)
    network : "resnet9" (the paper's for CIFAR10) or "network_in_network" (for MNIST),
    default="resnet9" epochs, batch_size, learning_rate, weight_decay, label_smoothing :
    default=None flip : bool, default=None
        Mirror half of the images in training.
    shift : int, default=None
        Shift images by up to so many pixels in training; what comes in at one side is mirrored at
        the edge.
    erase : int, default=None
        The side of a square that is emptied at a random place of every image in training.
    device : "auto", "cpu" or "cuda", default="auto"
    deterministic : bool, default=False
        The same bits every time on the same device and library.
    checkpoint : path, default=None
        A folder with a file for every submodel that is finished: an interrupted fit goes on after
        the last of them. The files stay.
    random_state : int, default=0
        The seed of fit; FeaturePartitionClassifier gives its own.
    verbose : int, default=1
        A line with loss and time left on standard error, at most every two seconds.

    Attributes
    ----------
    classes_ : array of the labels

    Examples
    --------
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import MaskedImageClassifier
    >>> data = load_digits()
    >>> net = MaskedImageClassifier(data.image_shape, network="network_in_network", epochs=1, device="cpu", verbose=0)
    >>> clf = FeaturePartitionClassifier(net, n_submodels=2, partition="strided", image_shape=data.image_shape)
    >>> clf.fit(data.X_train[:32], data.y_train[:32]).ballots(data.X_test[:5]).shape
    (5, 2, 10)
    """

    __module__ = "partita.vision"  # stored models name public paths

    def __init__(
        self,
        image_shape: Any,
        network: str = "resnet9",
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        label_smoothing: float | None = None,
        flip: bool | None = None,
        shift: int | None = None,
        erase: int | None = None,
        device: str = "auto",
        deterministic: bool = False,
        checkpoint: Any = None,
        random_state: int = 0,
        verbose: int = 1,
    ) -> None:
        self.image_shape = image_shape
        self.network = network
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.label_smoothing = label_smoothing
        self.flip = flip
        self.shift = shift
        self.erase = erase
        self.device = device
        self.deterministic = deterministic
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """One network over all pixels."""
        columns = list(range(int(np.prod(self.image_shape))))
        self.submodels_ = self.fit_submodels(X, y, [columns], [int(self.random_state)])
        self.classes_ = self.submodels_.classes_
        self.n_features_in_ = len(columns)
        return self

    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self, "submodels_")
        return self.submodels_[0].predict_proba(X)

    def predict(self, X: Any) -> Array:
        check_is_fitted(self, "submodels_")
        return self.submodels_[0].predict(X)

    def fit_submodels(
        self, X: Any, y: Any, columns: Sequence[Sequence[int]], seeds: Sequence[int]
    ) -> "MaskedSubmodels":
        """One submodel for each set of columns, one after the other."""
        given = (
            "epochs",
            "batch_size",
            "learning_rate",
            "weight_decay",
            "label_smoothing",
            "flip",
            "shift",
            "erase",
        )
        recipe = recipe_for(
            self.network, self.image_shape, **{name: getattr(self, name) for name in given}
        )
        device = choose_device(self.device)
        images, labels = as_images(X, self.image_shape), np.asarray(y)
        if len(labels) != len(images):
            raise InputError(
                f"y has {len(labels)} labels for {len(images)} images: give one an image"
            )
        if len(labels) < 2:
            raise InputError(f"X has {len(images)} images: give two at least")
        classes, codes = np.unique(labels, return_inverse=True)
        submodels = [
            MaskedSubmodel(
                pixels_of(own, self.image_shape),
                self.image_shape,
                classes,
                self.network,
                recipe,
                int(seed),
                device,
            )
            for own, seed in zip(columns, seeds, strict=True)
        ]
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        missing = [
            t
            for t, one in enumerate(submodels)
            if folder is None or not one.resume(folder / f"{t:04d}.pt", images, codes)
        ]
        progress = Progress(
            self.verbose, len(submodels), recipe.epochs, len(missing) * recipe.epochs
        )
        was = torch.are_deterministic_algorithms_enabled()
        try:
            torch.use_deterministic_algorithms(self.deterministic or was)
            for t in missing:
                submodels[t].fit(images[:, submodels[t].pixels], codes, t, progress)
                if folder is not None:
                    submodels[t].save(folder / f"{t:04d}.pt", images, codes)
        except torch.OutOfMemoryError as exc:
            raise InputError(
                f"the GPU's memory is too small for {self.network} with "
                f"batch_size={recipe.batch_size}: lower batch_size"
            ) from exc
        finally:
            torch.use_deterministic_algorithms(was)
        return MaskedSubmodels(submodels, classes)


class MaskedSubmodels:
    """The submodels of masked images, as FeaturePartitionClassifier keeps them in ``estimators_``:
    a sequence, and ``scores`` of all."""

    def __init__(self, submodels: list["MaskedSubmodel"], classes: Array) -> None:
        self._submodels, self.classes_ = submodels, classes

    def __len__(self) -> int:
        return len(self._submodels)

    def __getitem__(self, t: int) -> "MaskedSubmodel":
        return self._submodels[t]

    def __iter__(self) -> Iterator["MaskedSubmodel"]:
        return iter(self._submodels)

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, submodels, classes) from whole images."""
        return np.stack([one.scores(X) for one in self], axis=1)
