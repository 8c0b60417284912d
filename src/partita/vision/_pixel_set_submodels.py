"""The submodels of pixel sets as a sequence: one by one, or scored all at once.

Knows no networks: transformers over pixels and convolutions over cells are used alike.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from .._support import Array


class Networks(Protocol):
    """The networks of several sets of pixels."""

    sets: list[list[int]]

    def __len__(self) -> int: ...
    def scores(self, X: Any) -> Array: ...


class PixelSetSubmodels:
    """What FeaturePartitionClassifier holds in ``estimators_`` after a joint training.

    It is a sequence with one entry per submodel; ``scores(X)`` scores all of them at once.
    """

    def __init__(self, model: Networks, classes: Array) -> None:
        self.model, self.classes_ = model, classes

    def __len__(self) -> int:
        return len(self.model)

    def __getitem__(self, t: int) -> "PixelSetSubmodel":
        return PixelSetSubmodel(self, range(len(self))[t])

    def __iter__(self) -> Iterator["PixelSetSubmodel"]:
        return (PixelSetSubmodel(self, t) for t in range(len(self)))

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, submodels, classes) of whole images."""
        return self.model.scores(X)


class PixelSetSubmodel:
    """One submodel: it is given whole images and looks at its own pixels alone."""

    def __init__(self, submodels: PixelSetSubmodels, t: int) -> None:
        self._submodels, self._t = submodels, t
        self.pixels = tuple(submodels.model.sets[t])
        self.classes_ = submodels.classes_

    def __repr__(self) -> str:
        return f"PixelSetSubmodel({self._t} of {len(self._submodels)}, {len(self.pixels)} pixels)"

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of shape (images, classes)."""
        return np.asarray(np.exp(self._submodels.scores(X)[:, self._t]))

    def predict(self, X: Any) -> Array:
        """The most probable label of each image."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
