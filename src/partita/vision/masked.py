"""MaskedImageClassifier: the paper's networks on masked images, fitted one after the other.

A submodel's training is given its own pixels and nothing else; it puts them on an empty image, and only then flips, shifts and erases. What
it draws at random comes from its seed, and nothing is shared between two submodels: no weights, no statistics, no optimizer.
"""

import hashlib
import io
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn import functional as F

from ..atomic import write_whole
from ..errors import InputError
from ..scores import FLOOR
from .masked_networks import Recipe, recipe_for
from .pixel_sets import MIDDLE, SPREAD, as_images
from .submodels import pixels_of
from .training import choose_device

Array = NDArray[Any]
Weights = dict[str, Tensor]

PEAK = 0.2  # the share of steps in which the learning rate of a triangle rises
IMAGES_AT_ONCE = 512


class MaskedImageClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A convolutional network on an image in which all pixels but a submodel's own are zero: what the paper trains, for comparison.

    Submodels are fitted one after the other. Images are rows (height x width x channels, flattened) of whole numbers from 0 to 255.
    What is None is as in the paper.

    Parameters
    ----------
    image_shape : (height, width, channels)
    network : "resnet9" (the paper's for CIFAR10) or "network_in_network" (for MNIST), default="resnet9"
    epochs, batch_size, learning_rate, weight_decay, label_smoothing : default=None
    flip : bool, default=None
        Mirror half of the images in training.
    shift : int, default=None
        Shift images by up to so many pixels in training; what comes in at one side is mirrored at the edge.
    erase : int, default=None
        The side of a square that is emptied at a random place of every image in training.
    device : "auto", "cpu" or "cuda", default="auto"
    deterministic : bool, default=False
        The same bits every time on the same device and library.
    checkpoint : path, default=None
        A folder with a file for every submodel that is finished: an interrupted fit goes on after the last of them. The files stay.
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

    def fit_submodels(self, X: Any, y: Any, columns: Sequence[Sequence[int]], seeds: Sequence[int]) -> "MaskedSubmodels":
        """One submodel for each set of columns, one after the other."""
        given = ("epochs", "batch_size", "learning_rate", "weight_decay", "label_smoothing", "flip", "shift", "erase")
        recipe = recipe_for(self.network, self.image_shape, **{name: getattr(self, name) for name in given})
        device = choose_device(self.device)
        images, labels = as_images(X, self.image_shape), np.asarray(y)
        if len(labels) != len(images):
            raise InputError(f"y has {len(labels)} labels for {len(images)} images: give one an image")
        if len(labels) < 2:
            raise InputError(f"X has {len(images)} images: give two at least")
        classes, codes = np.unique(labels, return_inverse=True)
        submodels = [
            _Submodel(pixels_of(own, self.image_shape), self.image_shape, classes, self.network, recipe, int(seed), device)
            for own, seed in zip(columns, seeds, strict=True)
        ]
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        missing = [t for t, one in enumerate(submodels) if folder is None or not one.resume(folder / f"{t:04d}.pt", images, codes)]
        progress = _Progress(self.verbose, len(submodels), recipe.epochs, len(missing) * recipe.epochs)
        was = torch.are_deterministic_algorithms_enabled()
        try:
            torch.use_deterministic_algorithms(self.deterministic or was)
            for t in missing:
                submodels[t].fit(images[:, submodels[t].pixels], codes, t, progress)
                if folder is not None:
                    submodels[t].save(folder / f"{t:04d}.pt", images, codes)
        except torch.OutOfMemoryError as exc:
            raise InputError(
                f"the GPU's memory is too small for {self.network} with batch_size={recipe.batch_size}: lower batch_size"
            ) from exc
        finally:
            torch.use_deterministic_algorithms(was)
        return MaskedSubmodels(submodels, classes)


class MaskedSubmodels:
    """The submodels of masked images, as FeaturePartitionClassifier keeps them in ``estimators_``: a sequence, and ``scores`` of all."""

    def __init__(self, submodels: list["_Submodel"], classes: Array) -> None:
        self._submodels, self.classes_ = submodels, classes

    def __len__(self) -> int:
        return len(self._submodels)

    def __getitem__(self, t: int) -> "_Submodel":
        return self._submodels[t]

    def __iter__(self) -> Iterator["_Submodel"]:
        return iter(self._submodels)

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, submodels, classes) from whole images."""
        return np.stack([one.scores(X) for one in self], axis=1)


class _Submodel:
    """One network, its pixels and its seed."""

    def __init__(
        self, pixels: list[int], image_shape: Sequence[int], classes: Array, network: str, recipe: Recipe, seed: int, device: torch.device
    ) -> None:
        self.pixels, self.image_shape, self.classes_ = tuple(pixels), tuple(map(int, image_shape)), classes
        self.network, self.recipe, self.seed, self.device = network, recipe, seed, device
        self._pixels = torch.tensor(pixels, dtype=torch.long, device=device)
        self.weights: Weights = {}

    def __repr__(self) -> str:
        return f"{self.network} on {len(self.pixels)} pixels"

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(np.exp(self.scores(X)))

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.scores(X).argmax(axis=1)])

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, classes) from whole images, of which it looks at its own pixels alone."""
        own = as_images(X, self.image_shape)[:, self.pixels]
        network = self._placed(self._with_weights()).eval()
        out = np.empty((len(own), len(self.classes_)), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(own), IMAGES_AT_ONCE):
                part = torch.from_numpy(own[start : start + IMAGES_AT_ONCE]).to(self.device)
                out[start : start + len(part)] = self._asked(network, self._masked(part)).log_softmax(dim=1).cpu().numpy()
        out[~np.isfinite(out)] = FLOOR  # a network that diverged says the same of every label
        return out

    def fit(self, own: Array, labels: Array, t: int, progress: "_Progress") -> None:
        """Train on this submodel's own pixels (images, pixels, channels) and the labels."""
        recipe = self.recipe
        start, order = np.random.SeedSequence(self.seed).generate_state(2, np.uint64) >> np.uint64(1)
        with torch.random.fork_rng(devices=[]):  # whoever draws from PyTorch's own generator draws as before
            torch.default_generator.manual_seed(int(start))
            network = self._placed(self._built())
        network.train()
        draw = torch.Generator(self.device).manual_seed(int(order))
        images, codes = torch.from_numpy(own).to(self.device), torch.from_numpy(labels.astype(np.int64)).to(self.device)
        optimizer = _optimizer(network, recipe, self.device.type == "cuda")
        batch = min(recipe.batch_size, len(codes))
        steps = len(codes) // batch
        for epoch in range(recipe.epochs):
            shuffled = torch.randperm(len(codes), generator=draw, device=self.device)
            total = torch.zeros((), device=self.device)
            for step in range(steps):
                rate = recipe.learning_rate * _share(recipe, (epoch * steps + step + 0.5) / (recipe.epochs * steps))
                for group in optimizer.param_groups:
                    group["lr"] = rate
                chosen = shuffled[step * batch : (step + 1) * batch]
                scores = self._asked(network, self._augmented(self._masked(images[chosen]), draw))
                loss = F.cross_entropy(scores, codes[chosen], label_smoothing=recipe.label_smoothing)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total += loss.detach()
            progress.tell(t, epoch, total / steps)
        self.weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}

    def save(self, file: Path, images: Array, labels: Array) -> None:
        buffer = io.BytesIO()
        torch.save({"fingerprint": self._fingerprint(images, labels), "weights": self.weights}, buffer)
        write_whole(file, buffer.getvalue())

    def resume(self, file: Path, images: Array, labels: Array) -> bool:
        """Take the weights from a file, if it is there: whether it was."""
        if not file.exists():
            return False
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            same, self.weights = state["fingerprint"] == self._fingerprint(images, labels), dict(state["weights"])
            if same:
                self._with_weights()
        except Exception as exc:
            why = f"cannot be read ({type(exc).__name__}): remove it to train this submodel anew"
            raise InputError(f"checkpoint {str(file)!r} {why}") from exc
        if not same:
            why = "is of other images, labels, columns, seeds or settings: remove the folder, or choose another"
            raise InputError(f"checkpoint {str(file)!r} {why}")
        return True

    def _fingerprint(self, images: Array, labels: Array) -> str:
        """Of all that the weights follow from."""
        facts = [self.network, self.recipe.as_dict(), self.image_shape, self.pixels, self.seed, len(self.classes_)]
        digest = hashlib.sha256(json.dumps(facts, default=float).encode())
        digest.update(images[:, self.pixels].tobytes())
        digest.update(labels.astype(np.int64).tobytes())
        return digest.hexdigest()

    @property
    def _layout(self) -> torch.memory_format:
        return torch.channels_last if self.device.type == "cuda" else torch.contiguous_format

    def _built(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels, len(self.classes_), height, width)

    def _with_weights(self) -> nn.Module:
        """The network with its weights, which must be all it has."""
        with torch.device("meta"):
            network = self._built()
        network.load_state_dict(self.weights, assign=True)
        return network

    def _placed(self, network: nn.Module) -> nn.Module:
        return network.to(self.device).to(memory_format=self._layout)  # type: ignore[call-overload]  # PyTorch leaves it out

    def _masked(self, own: Tensor) -> Tensor:
        """Images (images, height, width, channels) with this submodel's pixels on them; all others are zero."""
        height, width, channels = self.image_shape
        empty = torch.zeros(len(own), height * width, channels, device=self.device)
        empty[:, self._pixels] = (own.float() - MIDDLE) / SPREAD  # by fixed numbers, not by what is computed from images
        return empty.unflatten(1, (height, width))

    def _augmented(self, masked: Tensor, draw: torch.Generator) -> Tensor:
        """Shifted, mirrored and erased at random. What it is given is masked already."""
        count, (height, width), recipe = len(masked), masked.shape[1:3], self.recipe

        def drawn(low: int, high: int) -> Tensor:
            return torch.randint(low, high + 1, (count, 1), generator=draw, device=self.device)

        rows, columns = (torch.arange(side, device=self.device).expand(count, side) for side in (height, width))
        if recipe.erase:
            far_down, far_right = rows - drawn(0, height - recipe.erase), columns - drawn(0, width - recipe.erase)
            down, right = ((far >= 0) & (far < recipe.erase) for far in (far_down, far_right))
        if recipe.flip:
            columns = torch.where(drawn(0, 1) == 1, width - 1 - columns, columns)
        if recipe.shift:
            rows, columns = (
                _mirrored(rows + drawn(-recipe.shift, recipe.shift), height),
                _mirrored(columns + drawn(-recipe.shift, recipe.shift), width),
            )
        moved = masked[torch.arange(count, device=self.device)[:, None, None], rows[:, :, None], columns[:, None, :]]
        return moved.masked_fill((down[:, :, None] & right[:, None, :]).unsqueeze(-1), 0.0) if recipe.erase else moved

    def _asked(self, network: nn.Module, images: Tensor) -> Tensor:
        """A network's scores, in the short numbers that GPUs are fast with."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores: Tensor = network(images.permute(0, 3, 1, 2).contiguous(memory_format=self._layout))
        return scores.float()


class _Progress:
    """A line on standard error, at most every two seconds."""

    def __init__(self, verbose: int, submodels: int, epochs: int, to_do: int) -> None:
        self.verbose, self.submodels, self.epochs, self.to_do, self.done = verbose, submodels, epochs, to_do, 0
        self.started = self.told = time.monotonic()

    def tell(self, t: int, epoch: int, loss: Tensor) -> None:
        self.done += 1
        now, last = time.monotonic(), self.done == self.to_do
        if self.verbose and (now - self.told >= 2 or last):
            self.told = now
            left = (now - self.started) / self.done * (self.to_do - self.done)
            print(
                f"partita: submodel {t + 1} of {self.submodels}, epoch {epoch + 1} of {self.epochs}, loss {float(loss):.4f}, "
                f"{now - self.started:.0f} s so far, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )


def _optimizer(network: nn.Module, recipe: Recipe, fused: bool) -> torch.optim.Optimizer:
    """The paper's; only matrices and kernels shrink towards zero."""
    groups = [
        {"params": [value for value in network.parameters() if value.dim() > 1], "weight_decay": recipe.weight_decay},
        {"params": [value for value in network.parameters() if value.dim() <= 1], "weight_decay": 0.0},
    ]
    if recipe.triangle:
        return torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=0.9, nesterov=True, fused=fused)
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=fused)


def _share(recipe: Recipe, done: float) -> float:
    """The learning rate's share of its peak."""
    if recipe.triangle:
        return done / PEAK if done < PEAK else (1 - done) / (1 - PEAK)
    return 0.5 * (1 + math.cos(math.pi * done))


def _mirrored(places: Tensor, side: int) -> Tensor:
    """Places beyond an edge as the places that are as far inside of it; the edge itself does not come twice."""
    return side - 1 - (side - 1 - places.abs()).abs()
