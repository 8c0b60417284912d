"""MaskedImageClassifier: the paper's networks on masked images, fitted one after the other.

Nothing may be shared between two submodels: no weights, no statistics, no optimizer.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._support import Array, Progress
from ..errors import InputError
from ._checkpoints import NetworkFolder
from ._images import labelled_images, pixels_of
from ._joint_classifier import JointImageClassifier
from ._masked_submodel import MaskedSubmodel
from ._paper_recipes import SETTINGS, recipe_for
from ._runtime import choose_device, deterministic_algorithms, training_environment


class MaskedImageClassifier(JointImageClassifier):
    """A convolutional network on images in which all pixels but a submodel's own are zero.

    This is what the paper trains, for comparison. Submodels are fitted one after the other. Images
    are rows of height x width x channels whole numbers from 0 to 255, flattened in that order. What
    is None is as in the paper.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    network : {"resnet9", "network_in_network"}, default="resnet9"
        The paper's network for CIFAR10, or that for MNIST.
    epochs : int, optional
        Passes over the images.
    batch_size : int, optional
        Images per step.
    learning_rate : float, optional
        Peak of the learning rate.
    weight_decay : float, optional
        Of the optimizer; norms and biases are exempt.
    label_smoothing : float, optional
        Label smoothing of the cross entropy.
    flip : bool, optional
        Mirror half of the images in training.
    shift : int, optional
        Shift images by up to this many pixels in training; what comes in at an edge is mirrored.
    erase : int, optional
        The side of a square that is emptied at a random place of every image in training.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    deterministic : bool, default=False
        Give the same bits every time on the same device and library version.
    checkpoint : path, optional
        A folder with a file for every finished submodel; an interrupted fit resumes after the last
        of them. The files stay.
    random_state : int, default=0
        The seed of :meth:`fit`; FeaturePartitionClassifier gives each submodel its own.
    verbose : int, default=1
        1 shows progress, with the loss, on standard error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    submodels_ : sequence
        After :meth:`fit`: the network over all pixels, as a sequence of one submodel.
    n_features_in_ : int
        Values per image.

    See Also
    --------
    PixelSetClassifier : Faster and more accurate where submodels see few pixels.
    partita.FeaturePartitionClassifier : The ensemble that certifies.

    References
    ----------
    Hammoudeh and Lowd, *Provable Robustness Against a Union of L0 Adversarial Attacks*, AAAI 2024,
    tables 16 to 18.

    Examples
    --------
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import MaskedImageClassifier
    >>> data = load_digits()
    >>> net = MaskedImageClassifier(
    ...     data.image_shape, network="network_in_network", epochs=1, device="cpu", verbose=0
    ... )
    >>> clf = FeaturePartitionClassifier(
    ...     net, n_submodels=2, partition="strided", image_shape=data.image_shape
    ... )
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

    def fit_submodels(
        self, X: Any, y: Any, columns: Sequence[Sequence[int]], seeds: Sequence[int]
    ) -> "MaskedSubmodels":
        """Train one submodel for each set of columns, one after the other.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images of whole numbers from 0 to 255.
        y : array-like of shape (n_images,)
            Their labels.
        columns : sequence of sequences of int
            The columns of each submodel; all channels of a pixel must be in the same set.
        seeds : sequence of int
            One per submodel.

        Returns
        -------
        sequence of submodels
            With ``scores(X)``, which gives log-probabilities (images, submodels, classes).
        """
        recipe = recipe_for(
            self.network, self.image_shape, **{name: getattr(self, name) for name in SETTINGS}
        )
        device = choose_device(self.device)
        images, classes, codes = labelled_images(X, y, self.image_shape)
        if len(images) < 2:
            raise InputError(f"X has {len(images)} images: give at least two")
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
        fit_in_turn(
            submodels,
            images,
            codes,
            checkpoint=self.checkpoint,
            deterministic=self.deterministic,
            verbose=self.verbose,
        )
        return MaskedSubmodels(submodels, classes)


def fit_in_turn(
    submodels: Sequence[MaskedSubmodel],
    images: Array,
    codes: Array,
    *,
    checkpoint: Any,
    deterministic: bool,
    verbose: int,
) -> None:
    """Train networks one after the other, all by one recipe, but for those in the checkpoint.

    Each is given its own pixels of the images (images, pixels, channels).
    """
    network, recipe = submodels[0].network, submodels[0].recipe
    folder = NetworkFolder(checkpoint, training_environment(submodels[0].device, deterministic))

    def fingerprint(t: int) -> str:
        return submodels[t].fingerprint(images, codes)

    missing = [
        t
        for t, one in enumerate(submodels)
        if not folder.load(f"{t:04d}", partial(fingerprint, t), one.use)
    ]
    epochs = iter(range(1, len(missing) * recipe.epochs + 1))
    progress = Progress("trained", len(missing) * recipe.epochs, "epochs", enabled=bool(verbose))

    def after_epoch(t: int, loss: Tensor) -> None:
        note = f"submodel {t + 1} of {len(submodels)}, loss {float(loss):.4f}"
        progress.update(next(epochs), note=note)

    try:
        with deterministic_algorithms(deterministic), progress:
            for t in missing:
                own = images[:, submodels[t].pixels]
                submodels[t].fit(own, codes, partial(after_epoch, t))
                folder.save(f"{t:04d}", partial(fingerprint, t), submodels[t].weights)
    except torch.OutOfMemoryError as exc:
        raise InputError(
            f"the GPU's memory is too small for {network} with "
            f"batch_size={recipe.batch_size}: lower batch_size"
        ) from exc


class MaskedSubmodels:
    """What FeaturePartitionClassifier holds in ``estimators_``: a sequence, and all scores."""

    def __init__(self, submodels: list[MaskedSubmodel], classes: Array) -> None:
        self._submodels, self.classes_ = submodels, classes

    def __len__(self) -> int:
        return len(self._submodels)

    def __getitem__(self, t: int) -> MaskedSubmodel:
        return self._submodels[t]

    def __iter__(self) -> Iterator[MaskedSubmodel]:
        return iter(self._submodels)

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, submodels, classes) of whole images."""
        return np.stack([one.scores(X) for one in self], axis=1)
