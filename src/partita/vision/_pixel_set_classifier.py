"""PixelSetClassifier and CellImageClassifier: one network per set of pixels, all trained jointly.

Both are estimators of a FeaturePartitionClassifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from ..errors import InputError
from ._cell_sets import CellConfig, CellSets, CellSettings, train_cells
from ._images import ImageClassifier, JointImageClassifier, Labelled, Submodels
from ._pixel_sets import PixelSetConfig, PixelSets, PixelSetSettings, PixelSetSubmodels, train

ENOUGH_FOR_CELLS = 18  # pixels per submodel: 56 submodels of CIFAR10's images
# settings that networks over cells take over
SHARED = [field.name for field in fields(ImageClassifier)] + [
    *("width", "members", "epochs", "batch_size", "flip", "shift", "views")
]


@dataclass(eq=False, repr=False)
class PixelSetClassifier(JointImageClassifier, PixelSetSettings):
    """A small transformer over a set of an image's pixels.

    As the estimator of a FeaturePartitionClassifier it trains all submodels at once, on a GPU where
    there is one: every weight is held for all submodels together and applied by batched matrix
    products, but no number of one submodel meets a number of another (theory, section 1). Images
    are rows of height x width x channels whole numbers from 0 to 255, flattened in that order.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    network : {"sets", "cells", "auto"}, default="sets"
        "cells" trains a :class:`CellImageClassifier` instead, with the same ``width``, ``members``,
        ``epochs``, ``batch_size``, ``flip``, ``shift``, ``views`` and what follows ``views``; all
        else is as it has it by default. "auto" does so where every submodel sees at least 18
        pixels.
    width : int, default=128
        Numbers per token; a multiple of ``heads``.
    blocks : int, default=3
        Attention and MLP blocks.
    heads : int, default=4
        Attention heads per block.
    expand : int, default=2
        The hidden layer of an MLP is this many times as wide as a token.
    members : int, default=1
        Networks per submodel, on the same pixels, whose log-probabilities are averaged: better
        submodels, tied to no other submodel.
    epochs : int, default=30
        Passes over the images.
    batch_size : int, default=512
        Images per step.
    learning_rate : float, default=2e-3
        Peak of AdamW's learning rate, which rises and falls once.
    weight_decay : float, default=0.05
        Of AdamW; norms and biases are exempt.
    token_drop : float, default=0.05
        The share of pixels left out at random in training.
    label_smoothing : float, default=0.0
        Label smoothing of the cross entropy.
    average : float, default=0.0
        The decay, per step, of the average over the weights that a network ends with, such as
        0.999; 0 for the weights of the last step.
    flip : bool, default=True
        Mirror images at random in training, and average both views at prediction. Switch it off
        for digits and letters.
    shift : int, default=2
        Shift images by up to this many pixels in training. Flips and shifts change the position
        that a pixel is said to have, so that no pixel reaches another submodel.
    views : {1, 5, 9}, default=1
        At prediction, average over the image as it is and shifted by one pixel: better submodels
        at so many times the cost.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    deterministic : bool, default=False
        Give the same bits every time on the same device and library version. The user guide on
        images says what holds without it.
    checkpoint : path, optional
        A file that training is saved to from time to time and resumes from after an interruption;
        with cells, a folder.
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
    CellImageClassifier : Convolutions, more accurate where submodels see many pixels.
    MaskedImageClassifier : The paper's convolutional networks, fitted one after the other.
    partita.FeaturePartitionClassifier : The ensemble that certifies.

    Examples
    --------
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import PixelSetClassifier
    >>> data = load_digits()
    >>> net = PixelSetClassifier(
    ...     data.image_shape, width=16, blocks=1, epochs=1, batch_size=128, flip=False,
    ...     device="cpu", verbose=0,
    ... )
    >>> clf = FeaturePartitionClassifier(
    ...     net, n_submodels=8, partition="strided", image_shape=data.image_shape
    ... )
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test)
    >>> proof.counts.what
    'pixels'
    """

    __module__ = "partita.vision"  # stored models name public paths

    network: str = "sets"

    def _check_settings(self) -> None:
        if self.network not in ("sets", "cells", "auto"):
            raise InputError(f"network is {self.network!r}: give 'sets', 'cells' or 'auto'")

    def _train(self, sets: list[list[int]], images: Labelled, seeds: Sequence[int]) -> Submodels:
        # the images have no say in the kind of networks
        if self.network == "cells" or (
            self.network == "auto" and min(map(len, sets)) >= ENOUGH_FOR_CELLS
        ):
            cells = CellImageClassifier(**{name: getattr(self, name) for name in SHARED})
            cells._check_settings()
            return cells._train(sets, images, seeds)
        own, classes, codes = images
        config = PixelSetConfig.of(self)
        config.check()
        model = PixelSets(sets, self.image_shape, len(classes), config, seeds)
        train(model, own.reshape(len(own), -1), codes, **self._computing())
        return PixelSetSubmodels(model, classes)


@dataclass(eq=False, repr=False)
class CellImageClassifier(JointImageClassifier, CellSettings):
    """A small residual convolutional network over cells of an image's pixels.

    It is for few submodels, which see many pixels each. A submodel is given the image with its own
    pixels and zeros elsewhere, and a further channel that says which pixels are its own. Cells of
    2 x 2 pixels become channels, so that fewer positions are empty. Submodels are fitted one after
    the other, and no number of one meets a number of another (theory, section 1). Images are rows
    of height x width x channels whole numbers from 0 to 255, flattened in that order.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    width : int, default=128
        Channels of the first of three stages; the others have twice and four times as many.
    blocks : int, default=1
        Residual blocks per stage.
    cell : int, default=2
        The side of a cell in pixels.
    members : int, default=1
        Networks per submodel, on the same pixels, whose probabilities are averaged: better
        submodels, tied to no other submodel.
    epochs : int, default=20
        Passes over the images.
    batch_size : int, default=512
        Images per step.
    learning_rate : float, default=0.4
        Peak of the learning rate of SGD with momentum, which rises and falls once.
    weight_decay : float, default=5e-4
        Of SGD; norms are exempt.
    label_smoothing : float, default=0.1
        Label smoothing of the cross entropy.
    average : float, default=0.99
        The decay, per step, of the average over the weights and statistics that the network ends
        with; 0 for those of the last step.
    flip : bool, default=True
        Mirror images at random in training, and average both views at prediction. Switch it off
        for digits and letters.
    shift : int, default=2
        Shift images by up to this many pixels in training; what comes in at an edge is mirrored.
        Images are masked before they are moved, so that no pixel reaches another submodel.
    erase : int, default=0
        The side of a square that is emptied at a random place of every image in training.
    views : {1, 5, 9}, default=1
        At prediction, average over the image as it is and shifted by one pixel: better submodels
        at so many times the cost.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    deterministic : bool, default=False
        Give the same bits every time on the same device and library version.
    checkpoint : path, optional
        A folder with a file for every finished network; an interrupted fit resumes after the last
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
    PixelSetClassifier : For many submodels, which see few pixels each; with ``network="auto"`` it
        chooses between both kinds of networks.
    partita.FeaturePartitionClassifier : The ensemble that certifies.

    Examples
    --------
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import CellImageClassifier
    >>> data = load_digits()
    >>> net = CellImageClassifier(
    ...     data.image_shape, width=8, epochs=1, batch_size=64, flip=False, device="cpu", verbose=0
    ... )
    >>> clf = FeaturePartitionClassifier(
    ...     net, n_submodels=3, partition="strided", image_shape=data.image_shape
    ... )
    >>> clf.fit(data.X_train[:128], data.y_train[:128]).ballots(data.X_test[:5]).shape
    (5, 3, 10)
    """

    __module__ = "partita.vision"  # stored models name public paths

    def _check_settings(self) -> None:
        CellConfig.of(self).check(self.image_shape)

    def _train(self, sets: list[list[int]], images: Labelled, seeds: Sequence[int]) -> Submodels:
        own, classes, codes = images
        model = CellSets(sets, self.image_shape, len(classes), CellConfig.of(self), seeds)
        train_cells(model, own, codes, **self._computing())
        return PixelSetSubmodels(model, classes)
