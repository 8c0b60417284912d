"""Flattened images: their check, their pixels, their augmentation, and the estimators' base.

Values are normalised by fixed numbers: a mean or a deviation computed from the images would let one
pixel reach every submodel. Images that are augmented are masked already, so that no augmentation
can bring in a foreign pixel. (Where training is trusted they are whole, and masked afterwards.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._support import Array, JsonObject, PathLike, TableLike, check_number, check_whole
from ..errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MIDDLE, SCALE = 127.5, 64.0


LEAST = {"batch_size": 2, "shift": 0, "erase": 0}  # of a network's whole numbers; else 1
BELOW = {"token_drop": 1.0, "label_smoothing": 1.0, "average": 1.0}  # no limit for other numbers


@dataclass(eq=False, kw_only=True)
class NetworkConfig:
    """What the settings of all networks share; a dataclass of them inherits it."""

    members: int = 1

    def as_dict(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    @classmethod
    def of(cls, estimator: object) -> Self:
        """Return the settings that an estimator has."""
        return cls(**{name: getattr(estimator, name) for name in cls.names()})


def check_settings(settings: "DataclassInstance", least: Mapping[str, int] = LEAST) -> None:
    """Refuse whole numbers and shares that no network can be built or trained with."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.type is int and field.name != "views":
            check_whole(field.name, value, least.get(field.name, 1))
        elif field.type is float:
            check_number(field.name, value, BELOW.get(field.name))


def check_sides(settings: object, image_shape: Sequence[int]) -> None:
    """Refuse what is no shape of an image, and settings in pixels that exceed it."""
    if len(image_shape) != 3 or not all(
        isinstance(side, Integral) and int(side) >= 1 for side in image_shape
    ):
        raise InputError(f"image_shape is {image_shape!r}: give (height, width, channels)")
    shorter = min(image_shape[:2])
    for name, limit in (("cell", shorter + 1), ("shift", shorter), ("erase", shorter)):
        if getattr(settings, name, 0) >= limit:
            raise InputError(
                f"{name} is {getattr(settings, name)}, but an image's shorter side has {shorter} "
                f"pixels: lower {name}"
            )


def normalise(values: Tensor) -> Tensor:
    """Byte values as floats near zero."""
    return (values.float() - MIDDLE) / SCALE


def as_images(X: TableLike, image_shape: Sequence[int]) -> Array:
    """Flattened images as bytes of shape (images, pixels, channels)."""
    height, width, channels = image_shape
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != height * width * channels:
        raise InputError(
            f"X has shape {array.shape}, but image_shape={tuple(image_shape)} needs (images, "
            f"{height * width * channels}): flatten each image in the order rows, columns, channels"
        )
    if array.dtype != np.uint8:
        if array.dtype.kind not in "uif" or not np.all(
            (array >= 0) & (array <= 255) & (array == np.floor(array))
        ):
            raise InputError(
                f"X holds {array.dtype} values that are not whole numbers from 0 to 255: give "
                "images as uint8"
            )
        array = array.astype(np.uint8)
    return np.ascontiguousarray(array).reshape(len(array), height * width, channels)


def labelled_images(X: TableLike, y: ArrayLike, image_shape: Sequence[int]) -> "Labelled":
    """Images, their sorted classes, and the index of each image's class."""
    images, labels = as_images(X, image_shape), np.asarray(y)
    if len(labels) != len(images):
        raise InputError(
            f"y has {len(labels)} labels for {len(images)} images: expected one per image"
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return images, classes, codes


def pixels_of(columns: Sequence[int], image_shape: Sequence[int]) -> list[int]:
    """The pixels that a set of columns makes up; a pixel's channels must stay together."""
    channels = int(image_shape[2])
    pixels = sorted({int(column) // channels for column in columns})
    whole = [pixel * channels + channel for pixel in pixels for channel in range(channels)]
    if sorted(map(int, columns)) != whole:
        raise InputError(
            "a submodel has some channels of a pixel but not the others: use "
            "units=pixels(image_shape), or give image_shape"
        )
    return pixels


class Augmentation(Protocol):
    """How images are augmented; MaskedImageClassifier documents the settings."""

    @property
    def flip(self) -> bool: ...
    @property
    def shift(self) -> int: ...
    @property
    def erase(self) -> int: ...


def augment(masked: Tensor, recipe: Augmentation, generator: torch.Generator) -> Tensor:
    """Images (images, height, width, channels), each augmented by its own random numbers."""
    count, (height, width), device = len(masked), masked.shape[1:3], masked.device

    def draw(low: int, high: int) -> Tensor:
        return torch.randint(low, high + 1, (count, 1), generator=generator, device=device)

    rows = torch.arange(height, device=device).expand(count, height)
    columns = torch.arange(width, device=device).expand(count, width)
    if recipe.erase:
        below = rows - draw(0, height - recipe.erase)
        beyond = columns - draw(0, width - recipe.erase)
        down = (below >= 0) & (below < recipe.erase)
        right = (beyond >= 0) & (beyond < recipe.erase)
    if recipe.flip:
        columns = torch.where(draw(0, 1) == 1, width - 1 - columns, columns)
    if recipe.shift:
        rows = _reflect(rows + draw(-recipe.shift, recipe.shift), height)
        columns = _reflect(columns + draw(-recipe.shift, recipe.shift), width)
    image = torch.arange(count, device=device)[:, None, None]
    moved = masked[image, rows[:, :, None], columns[:, None, :]]
    if not recipe.erase:
        return moved
    return moved.masked_fill((down[:, :, None] & right[:, None, :]).unsqueeze(-1), 0.0)


def moved(masked: Tensor, down: int, right: int, mirror: bool) -> Tensor:
    """All images shifted by the same number of pixels, and mirrored if asked for."""
    height, width = masked.shape[1:3]
    rows = _reflect(torch.arange(height, device=masked.device) - down, height)
    columns = _reflect(torch.arange(width, device=masked.device) - right, width)
    if mirror:
        columns = columns.flip(0)
    return masked[:, rows][:, :, columns]


def _reflect(places: Tensor, side: int) -> Tensor:
    """Places beyond an edge, reflected into the image; the edge itself does not come twice."""
    return side - 1 - (side - 1 - places.abs()).abs()


class Submodels(Protocol):
    """What FeaturePartitionClassifier holds in ``estimators_``: a sequence, and all scores."""

    classes_: Array

    def __len__(self) -> int: ...
    def scores(self, X: TableLike) -> Array: ...


# images (images, pixels, channels), the sorted classes, and the code of each image's class
Labelled = tuple[Array, Array, Array]


@dataclass(eq=False, repr=False)
class ImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of flattened images: where, and from which seed, its networks are trained."""

    image_shape: Sequence[int]
    _: KW_ONLY
    device: str = "auto"
    deterministic: bool = False
    checkpoint: PathLike | None = None
    random_state: int = 0
    verbose: int = 1

    def _computing(self) -> JsonObject:
        """Return where and how networks are trained."""
        names = ("device", "deterministic", "checkpoint", "verbose")
        return {name: getattr(self, name) for name in names}


class JointImageClassifier(ImageClassifier):
    """A classifier whose ``fit_submodels`` trains many submodels at once."""

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train one network over all pixels.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images of whole numbers from 0 to 255.
        y : array-like of shape (n_images,)
            Their labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        columns = list(range(int(np.prod(self.image_shape))))
        self.submodels_ = self.fit_submodels(X, y, [columns], [int(self.random_state)])
        self.classes_ = self.submodels_.classes_
        self.n_features_in_ = len(columns)
        return self

    def predict_proba(self, X: TableLike) -> Array:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "submodels_")
        return np.asarray(np.exp(self.submodels_.scores(X)[:, 0]))

    def predict(self, X: TableLike) -> Array:
        """Predict the most probable label of each image.

        Parameters
        ----------
        X : array-like of shape (n_images, height * width * channels)
            Flattened images.

        Returns
        -------
        array of shape (n_images,)
            Labels, as given to fit.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def fit_submodels(
        self, X: TableLike, y: ArrayLike, columns: Sequence[Sequence[int]], seeds: Sequence[int]
    ) -> Submodels:
        """Train one submodel for each set of columns; FeaturePartitionClassifier calls this.

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
        self._check_settings()
        sets = [pixels_of(own, self.image_shape) for own in columns]
        return self._train(sets, labelled_images(X, y, self.image_shape), seeds)

    def _check_settings(self) -> None:
        raise NotImplementedError

    def _train(self, sets: list[list[int]], images: Labelled, seeds: Sequence[int]) -> Submodels:
        """Train networks for each set of pixels."""
        raise NotImplementedError
