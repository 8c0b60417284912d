"""AblatedImageClassifier: an image network that learns from batches of ablated images.

It is the base classifier of randomized ablation and of de-randomized smoothing. What it says of an
image must not depend on how many images it is asked about: batches have one size, always.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.nn import functional as F

from .._support import Array
from ..errors import InputError
from ._paper_recipes import recipe_for
from ._runtime import choose_device, memory_layout, seeded_weights

# decay of the exponential moving average of the weights, after a start; it averages out the noise
# of fresh ablations
EMA_DECAY = 0.999
IMAGES_PER_BATCH = {"cpu": 64, "cuda": 1024}


class AblatedImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One of the paper's networks on ablated images.

    It is the estimator of a RandomizedAblationClassifier or a SmoothingClassifier. Rows are ablated
    images as those make them: all values in [0, 1], then one minus each; an ablated value is 0 in
    both halves. They become images with twice the channels.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of the images before ablation.
    network : {"network_in_network", "resnet9"}, default="network_in_network"
        The paper's network for MNIST, or that for CIFAR10.
    learning_rate : float, default=1e-3
        Of AdamW, constant.
    weight_decay : float, default=1e-3
        Of AdamW.
    batch_size : int, default=128
        Images per training step, however many arrive at once.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    random_state : int, default=0
        The seed of the initial weights.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    network_ : torch.nn.Module
        The network in training.
    ema_network_ : torch.nn.Module
        The same network with averaged weights, which predicts.

    See Also
    --------
    partita.baselines.RandomizedAblationClassifier : A vote over random ablations.
    partita.baselines.SmoothingClassifier : A vote over bands of an image.

    Examples
    --------
    >>> from partita import pixels
    >>> from partita.baselines import RandomizedAblationClassifier
    >>> from partita.datasets import load_digits
    >>> from partita.vision import AblatedImageClassifier
    >>> data = load_digits()
    >>> net = AblatedImageClassifier(data.image_shape, device="cpu")
    >>> clf = RandomizedAblationClassifier(
    ...     net, keep=16, units=pixels(data.image_shape), epochs=1, n_select=10, n_certify=20,
    ...     alpha=0.01,
    ... )
    >>> clf.fit(data.X_train[:128], data.y_train[:128]).certify(data.X_test[:5]).counts.what
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
        """Train a new network on one pass over the rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, 2 * height * width * channels)
            Ablated images.
        y : array-like of shape (n_rows,)
            Their labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.__dict__.pop("network_", None)
        return self.partial_fit(X, y, classes=np.unique(np.asarray(y)))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Train on one more pass over these rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, 2 * height * width * channels)
            Ablated images.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like, optional
            All labels there are; needed in the first call.

        Returns
        -------
        self
            The estimator.
        """
        rows, labels = self._check_rows(X), np.asarray(y)
        if len(labels) != len(rows):
            raise InputError(f"y has {len(labels)} labels for {len(rows)} rows: expected one each")
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
            batch = slice(start, start + int(self.batch_size))
            # a single image at the end is skipped: batch norm has no statistics for it
            if len(rows[batch]) > 1 or start == 0:
                self._step(rows[batch], torch.from_numpy(codes[batch]))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_rows, 2 * height * width * channels)
            Ablated images.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "network_")
        rows = self._check_rows(X)
        out = np.empty((len(rows), len(self.classes_)), dtype=np.float32)
        self.ema_network_.eval()
        with torch.no_grad():
            for start, images in self._full_batches(rows):
                scores = self._logits(self.ema_network_, images).softmax(dim=1).cpu().numpy()
                out[start : start + len(scores)] = scores[: len(rows) - start]
        return out

    def predict(self, X: Any) -> Array:
        """Predict the most probable label of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, 2 * height * width * channels)
            Ablated images.

        Returns
        -------
        array of shape (n_rows,)
            Labels.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_ablated(self, values: Any, masks: Any) -> Array:
        """Predict images under several ablations each.

        It gives what :meth:`predict` gives for the ablated rows, which are made on the device: on a
        GPU they would be too many to be sent there.

        Parameters
        ----------
        values : array of shape (n_images, n_values)
            Images with values in [0, 1].
        masks : bool array of shape (n_ablations, n_values)
            Which values each ablation keeps.

        Returns
        -------
        array of shape (n_images, n_ablations)
            Labels.
        """
        check_is_fitted(self, "network_")
        images = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).to(self.device_)
        kept = torch.from_numpy(np.ascontiguousarray(masks, dtype=bool)).to(self.device_)
        size = self._images_per_batch()
        pairs = torch.arange(len(images) * len(kept), device=self.device_)
        codes = torch.empty(len(pairs), dtype=torch.long, device=self.device_)
        self.ema_network_.eval()
        with torch.no_grad():
            for batch in pairs.split(size):
                full = F.pad(batch, (0, size - len(batch)))  # filled up with the first pair
                image, mask = images[full // len(kept)], kept[full % len(kept)]
                rows = torch.cat([image * mask, (1 - image) * mask], dim=1)
                scores = self._logits(self.ema_network_, self._as_images(rows)).softmax(dim=1)
                codes[batch] = scores[: len(batch)].argmax(dim=1)
        return np.asarray(self.classes_[codes.cpu().numpy()]).reshape(len(images), len(kept))

    def _build(self, classes: Array) -> None:
        """A new network, its average and its optimizer."""
        recipe = recipe_for(
            self.network,
            self.image_shape,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
        )
        height, width, channels = map(int, self.image_shape)
        self.device_ = choose_device(self.device)
        with seeded_weights(int(self.random_state)):
            network = recipe.build(2 * channels, len(classes), height, width)
        layout = memory_layout(self.device_)
        self.network_ = network.to(self.device_).to(memory_format=layout)  # type: ignore[call-overload]  # PyTorch leaves it out
        self.ema_network_, self.steps_ = deepcopy(self.network_), 0
        self.optimizer_ = torch.optim.AdamW(
            self.network_.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        self.classes_ = classes

    def _step(self, rows: Array, codes: Tensor) -> None:
        """One step of the optimizer, and of the moving average."""
        logits = self._logits(self.network_, self._to_device(rows))
        loss = F.cross_entropy(logits, codes.to(self.device_))
        self.optimizer_.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer_.step()
        self.steps_ += 1
        share = 1 - min(EMA_DECAY, (1 + self.steps_) / (10 + self.steps_))
        for average, current in zip(
            self.ema_network_.state_dict().values(),
            self.network_.state_dict().values(),
            strict=True,
        ):
            if average.is_floating_point():
                average.lerp_(current, share)
            else:
                average.copy_(current)

    def _logits(self, network: Any, images: Tensor) -> Tensor:
        """A network's logits, computed in bfloat16 on a GPU."""
        with torch.autocast(
            self.device_.type, dtype=torch.bfloat16, enabled=self.device_.type == "cuda"
        ):
            return network(images).float()

    def _full_batches(self, rows: Array) -> Iterator[tuple[int, Tensor]]:
        """Batches that all have one size, the last one filled up with zeros."""
        size = self._images_per_batch()
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            padding = np.zeros((size - len(part), part.shape[1]), dtype=np.float32)
            yield start, self._to_device(np.concatenate([part, padding]))

    def _images_per_batch(self) -> int:
        return IMAGES_PER_BATCH.get(self.device_.type, 64)

    def _to_device(self, rows: Array) -> Tensor:
        """Rows as images (rows, channels, height, width) on the device."""
        return self._as_images(torch.from_numpy(np.ascontiguousarray(rows)).to(self.device_))

    def _as_images(self, rows: Tensor) -> Tensor:
        height, width, channels = map(int, self.image_shape)
        halves = rows.view(len(rows), 2, height, width, channels)
        return halves.permute(0, 1, 4, 2, 3).reshape(len(rows), 2 * channels, height, width)

    def _check_rows(self, X: Any) -> Array:
        array = np.asarray(X, dtype=np.float32)
        needed = 2 * int(np.prod(self.image_shape))
        if array.ndim != 2 or array.shape[1] != needed:
            raise InputError(
                f"X has shape {array.shape}, but ablated images of "
                f"image_shape={tuple(self.image_shape)} have {needed} columns: use this as the "
                "estimator of a RandomizedAblationClassifier or a SmoothingClassifier"
            )
        return array
