"""Submodels that were trained together: a list of them, and their scores in one go."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import InputError
from ._pixel_sets import PixelSets


class Together:
    """The submodels of pixel sets, as FeaturePartitionClassifier keeps them in ``estimators_``.

    It is a sequence with one entry a submodel; ``scores(X)`` asks all of them at once.
    """

    def __init__(self, model: PixelSets, classes: Array) -> None:
        self.model, self.classes_ = model, classes

    def __len__(self) -> int:
        return len(self.model)

    def __getitem__(self, t: int) -> "OneOfMany":
        return OneOfMany(self, range(len(self))[t])

    def __iter__(self) -> Iterator["OneOfMany"]:
        return (OneOfMany(self, t) for t in range(len(self)))

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, submodels, classes) from whole images."""
        return self.model.scores(X)


class OneOfMany:
    """One submodel: what it says of whole images, of which it looks at its own pixels alone."""

    def __init__(self, together: Together, t: int) -> None:
        self._together, self._t = together, t
        self.pixels = tuple(together.model.sets[t])
        self.classes_ = together.classes_

    def __repr__(self) -> str:
        return f"OneOfMany(submodel {self._t} of {len(self._together)}, {len(self.pixels)} pixels)"

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(np.exp(self._together.scores(X)[:, self._t]))

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def pixels_of(columns: Sequence[int], image_shape: Sequence[int]) -> list[int]:
    """The pixels that a set of columns makes up; an error where it has some channels of a pixel and
    not the others."""
    channels = int(image_shape[2])
    pixels = sorted({int(column) // channels for column in columns})
    whole = [pixel * channels + channel for pixel in pixels for channel in range(channels)]
    if sorted(map(int, columns)) != whole:
        raise InputError(
            "a submodel has some channels of a pixel and not the others: use "
            "units=pixels(image_shape), or give image_shape"
        )
    return pixels
