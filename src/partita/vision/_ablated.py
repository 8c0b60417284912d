"""AblatedImageClassifier: an image network that learns from batches of ablated images, for
randomized ablation and smoothing."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.nn import functional as F

from .._support.types import Array
from ..errors import InputError
from ._masked_networks import recipe_for
from ._training import choose_device

# how slowly the weights that predict follow those that learn, after a start: it takes the noise of
# fresh ablations out
AVERAGE = 0.999
IMAGES_AT_ONCE = {
    "cpu": 64,
    "cuda": 1024,
}  # always as many: what is said of an image must not depend on how many are asked about


class AblatedImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One of the paper's networks on ablated images, as the estimator of a
    RandomizedAblationClassifier or a SmoothingClassifier.

    Rows are ablated images as those give them: all values in [0, 1], then one minus each; an
    ablated value is 0 in both halves. They become images with twice the channels.

    Parameters
    ----------
    image_shape : (height, width, channels)
        Of the images themselves.
    network : "network_in_network" or "resnet9", default="network_in_network"
    learning_rate : float, default=1e-3
        Of AdamW, the same throughout.
    weight_decay : float, default=1e-3
    batch_size : int, default=128
        Images a step, however many arrive at once.
    device : "auto", "cpu" or "cuda", default="auto"
    random_state : int, default=0

    Attributes
    ----------
    classes_ : array of the labels

    Examples
    --------
    >>> from partita.baselines import RandomizedAblationClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.units import pixels
    >>> from partita.vision import AblatedImageClassifier
    >>> data = load_digits()
    >>> net = AblatedImageClassifier(data.image_shape, device="cpu")
    >>> clf = RandomizedAblationClassifier(net, keep=16, units=pixels(data.image_shape), epochs=1, n_select=20, n_certify=100, alpha=0.01)
    >>> clf.fit(data.X_train[:256], data.y_train[:256]).certify(data.X_test[:10]).counts.what
    'pixels'
    """

    __module__ = "partita.vision"  # stored models name public paths

    def __init__(
        self,
        image_shape: Any,
        network: str = "network_in_network",
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-3,
        batch_size: int = 128,
        device: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.image_shape = image_shape
        self.network = network
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Start anew, and go over the rows once."""
        self.__dict__.pop("network_", None)
        return self.partial_fit(X, y, classes=np.unique(np.asarray(y)))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go over these rows once; the first call needs ``classes``, all labels there are."""
        rows, labels = self._rows(X), np.asarray(y)
        if len(labels) != len(rows):
            raise InputError(f"y has {len(labels)} labels for {len(rows)} rows: give one a row")
        if not hasattr(self, "network_"):
            if classes is None:
                raise InputError(
                    "classes is missing: the first partial_fit needs the list of all labels"
                )
            self._build(np.unique(np.asarray(classes)))
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        unknown = labels[self.classes_[codes] != labels]
        if len(unknown):
            raise InputError(
                f"y holds a label that is not in classes, {unknown.tolist()[0]!r}: give all "
                "labels there are"
            )
        self.network_.train()
        for start in range(0, len(rows), int(self.batch_size)):
            chosen = slice(start, start + int(self.batch_size))
            if (
                len(rows[chosen]) > 1 or start == 0
            ):  # one image alone at the end has no statistics to be normalised by
                self._step(rows[chosen], torch.from_numpy(codes[chosen]))
        return self

    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self, "network_")
        rows = self._rows(X)
        out = np.empty((len(rows), len(self.classes_)), dtype=np.float32)
        self.average_.eval()
        with torch.no_grad():
            for start, images in self._images(rows):
                scores = self._asked(self.average_, images).softmax(dim=1).cpu().numpy()
                out[start : start + len(scores)] = scores[: len(rows) - start]
        return out

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_ablated(self, values: Any, kept: Any) -> Array:
        """The labels of images (images, values) in [0, 1] under each of several sets of values kept
        (sets, values): (images, sets).

        The same as ``predict`` for the ablated rows, which are made on the device.
        """
        check_is_fitted(self, "network_")
        images = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(self.device_)
        seen = torch.from_numpy(np.ascontiguousarray(kept, dtype=bool)).to(self.device_)
        size = IMAGES_AT_ONCE.get(self.device_.type, 64)
        pairs = torch.arange(len(images) * len(seen), device=self.device_)
        codes = torch.empty(len(pairs), dtype=torch.long, device=self.device_)
        self.average_.eval()
        with torch.no_grad():
            for some in pairs.split(size):
                full = F.pad(
                    some, (0, size - len(some))
                )  # the first pair again, where there are too few
                x, there = images[full // len(seen)], seen[full % len(seen)]
                scores = self._asked(
                    self.average_, self._as_images(torch.cat([x * there, (1 - x) * there], dim=1))
                )
                codes[some] = scores.softmax(dim=1)[: len(some)].argmax(dim=1)
        return np.asarray(self.classes_[codes.cpu().numpy()]).reshape(len(images), len(seen))

    def _build(self, classes: Array) -> None:
        recipe = recipe_for(
            self.network,
            self.image_shape,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
        )
        height, width, channels = map(int, self.image_shape)
        self.device_ = choose_device(self.device)
        with torch.random.fork_rng(
            devices=[]
        ):  # whoever draws from PyTorch's own generator draws as before
            torch.default_generator.manual_seed(int(self.random_state))
            network = recipe.build(2 * channels, len(classes), height, width)
        layout = torch.channels_last if self.device_.type == "cuda" else torch.contiguous_format
        self.network_ = network.to(self.device_).to(memory_format=layout)  # type: ignore[call-overload]  # PyTorch leaves it out
        self.average_, self.steps_ = deepcopy(self.network_), 0
        self.optimizer_ = torch.optim.AdamW(
            self.network_.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        self.classes_ = classes

    def _step(self, rows: Array, codes: Tensor) -> None:
        loss = F.cross_entropy(
            self._asked(self.network_, self._placed(rows)), codes.to(self.device_)
        )
        self.optimizer_.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer_.step()
        self.steps_ += 1
        new = 1 - min(AVERAGE, (1 + self.steps_) / (10 + self.steps_))
        for kept, learnt in zip(
            self.average_.state_dict().values(), self.network_.state_dict().values(), strict=True
        ):
            kept.lerp_(learnt, new) if kept.is_floating_point() else kept.copy_(learnt)

    def _asked(self, network: Any, images: Tensor) -> Tensor:
        with torch.autocast(
            self.device_.type, dtype=torch.bfloat16, enabled=self.device_.type == "cuda"
        ):
            return network(images).float()

    def _images(self, rows: Array) -> Iterator[tuple[int, Tensor]]:
        """Batches that all have one size, the last one filled up."""
        size = IMAGES_AT_ONCE.get(self.device_.type, 64)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            full = np.concatenate(
                [part, np.zeros((size - len(part), part.shape[1]), dtype=np.float32)]
            )
            yield start, self._placed(full)

    def _placed(self, rows: Array) -> Tensor:
        """Rows as images (rows, channels, height, width) on the device."""
        return self._as_images(torch.from_numpy(np.ascontiguousarray(rows)).to(self.device_))

    def _as_images(self, rows: Tensor) -> Tensor:
        height, width, channels = map(int, self.image_shape)
        halves = rows.view(len(rows), 2, height, width, channels)
        return halves.permute(0, 1, 4, 2, 3).reshape(len(rows), 2 * channels, height, width)

    def _rows(self, X: Any) -> Array:
        array = np.asarray(X, dtype=np.float32)
        needed = 2 * int(np.prod(self.image_shape))
        if array.ndim != 2 or array.shape[1] != needed:
            raise InputError(
                f"X has shape {array.shape}, but ablated images of "
                f"image_shape={tuple(self.image_shape)} have {needed} columns: use this "
                "as the estimator of a RandomizedAblationClassifier or a SmoothingClassifier"
            )
        return array
