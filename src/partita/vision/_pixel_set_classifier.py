"""PixelSetClassifier: an estimator whose submodels, one for each set of pixels, are trained all at
once."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._support.types import Array
from ..errors import InputError
from ._config import Settings
from ._pixel_sets import PixelSets, as_images
from ._submodels import Together, pixels_of
from ._training import train


class PixelSetClassifier(ClassifierMixin, BaseEstimator):
    """A small transformer over a set of an image's pixels.

    As the estimator of a FeaturePartitionClassifier it trains all submodels at once, on a GPU where
    there is one: every weight is held for all submodels together and applied by batched matrix
    products, but no number of one submodel meets a number of another. Images are rows (height x
    width x channels, flattened) of whole numbers from 0 to 255.

    Parameters
    ----------
    image_shape : (height, width, channels)
    width, blocks, heads, expand : int
        The transformer: numbers a token, attention blocks, heads, and how much wider a block is
        inside.
    members : int, default=1
        Networks a submodel, on the same pixels, whose log-probabilities are averaged: better
        submodels, tied to no other.
    epochs, batch_size, learning_rate, weight_decay
        Training by AdamW with a learning rate that rises and falls once.
    token_drop : float, default=0.05
        The share of pixels left out at random in training.
    label_smoothing : float, default=0
    flip : bool, default=True
        Mirror images in training, and average both views when predicting. Off for digits and
        letters.
    shift : int, default=2
        Shift images by up to so many pixels in training. Flips and shifts move where a pixel is
        said to be, so that no pixel reaches another submodel.
    views : 1, 5 or 9, default=1
        When predicting, average over the image as it is and shifted by one pixel: better submodels
        for as many times the time.
    device : "auto", "cpu" or "cuda", default="auto"
    deterministic : bool, default=False
        The same bits every time on the same device and library; docs/vision.md says what holds
        without it.
    checkpoint : path, default=None
        A file that training is saved to from time to time, and goes on from if it was interrupted.
    random_state : int, default=0
    verbose : int, default=1
        A line with loss and time left on standard error, at most every two seconds.

    Attributes
    ----------
    classes_ : array of the labels

    Examples
    --------
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import PixelSetClassifier
    >>> data = load_digits()
    >>> net = PixelSetClassifier(data.image_shape, width=16, blocks=1, epochs=2, batch_size=128, flip=False, device="cpu", verbose=0)
    >>> clf = FeaturePartitionClassifier(net, n_submodels=8, partition="strided", image_shape=data.image_shape)
    >>> proof = clf.fit(data.X_train, data.y_train).certify(data.X_test)
    >>> proof.counts.what
    'pixels'
    """

    __module__ = "partita.vision"  # stored models name public paths

    def __init__(
        self,
        image_shape,
        width=128,
        blocks=3,
        heads=4,
        expand=2,
        members=1,
        epochs=30,
        batch_size=512,
        learning_rate=2e-3,
        weight_decay=0.05,
        token_drop=0.05,
        label_smoothing=0.0,
        flip=True,
        shift=2,
        views=1,
        device="auto",
        deterministic=False,
        checkpoint=None,
        random_state=0,
        verbose=1,
    ):
        self.image_shape = image_shape
        self.width = width
        self.blocks = blocks
        self.heads = heads
        self.expand = expand
        self.members = members
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.token_drop = token_drop
        self.label_smoothing = label_smoothing
        self.flip = flip
        self.shift = shift
        self.views = views
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
        return np.asarray(np.exp(self.submodels_.scores(X)[:, 0]))

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def fit_submodels(
        self, X: Any, y: Any, columns: Sequence[Sequence[int]], seeds: Sequence[int]
    ) -> Together:
        """One submodel for each set of columns, all trained at once."""
        settings = Settings(**{name: getattr(self, name) for name in Settings.names()})
        settings.check()
        images, labels = as_images(X, self.image_shape), np.asarray(y)
        if len(labels) != len(images):
            raise InputError(
                f"y has {len(labels)} labels for {len(images)} images: give one an image"
            )
        classes, codes = np.unique(labels, return_inverse=True)
        model = PixelSets(
            [pixels_of(own, self.image_shape) for own in columns],
            self.image_shape,
            len(classes),
            settings,
            seeds,
        )
        train(
            model,
            images.reshape(len(images), -1),
            codes,
            device=self.device,
            deterministic=self.deterministic,
            checkpoint=self.checkpoint,
            verbose=self.verbose,
        )
        return Together(model, classes)
