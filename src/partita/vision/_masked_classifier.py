"""MaskedImageClassifier: the paper's networks on masked images, fitted one after the other.

Training is given the submodel's own pixels and nothing else. It puts them on an empty image, and
only then augments; every random number comes from the submodel's seed. Nothing may be shared
between two submodels: no weights, no statistics, no optimizer.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, TableLike
from ..ensemble import FLOOR
from ..errors import InputError
from ._images import (
    ImageClassifier,
    JointImageClassifier,
    Labelled,
    as_images,
    augment,
    normalise,
)
from ._paper_networks import PaperSettings, Recipe, recipe_for
from ._runtime import (
    Trainee,
    Training,
    choose_device,
    compile_if,
    decayed_groups,
    fingerprint,
    half_precision,
    memory_layout,
    on_gpu,
    place,
    seeded_weights,
    sgd,
    torch_seeds,
    train_in_turn,
)

PEAK = 0.2  # the share of steps in which a triangular learning rate rises
IMAGES_PER_BATCH = 512
# own pixels, labels and a generator; returns images (images, height, width, channels)
TrainingImages = Callable[[Tensor, Tensor, torch.Generator], Tensor]


class MaskedSubmodel:
    """One network, its pixels and its seed.

    Parameters
    ----------
    pixels : list of int
        The submodel's pixels, as positions in a flattened (height, width) image.
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    classes : array
        The labels, sorted.
    network : str
        The network's name, for people and for the checkpoint.
    recipe : Recipe
        How it is built and trained.
    seed : int
        Everything random comes from it.
    device : torch.device
        Where it is trained and predicts.
    compiled : bool, optional
        Whether training is compiled; by default on a GPU. Networks of one kind share what is
        compiled, since their weights are its arguments.
    """

    def __init__(
        self,
        pixels: list[int],
        image_shape: Sequence[int],
        classes: Array,
        network: str,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        compiled: bool | None = None,
    ) -> None:
        self.pixels, self.image_shape = tuple(pixels), tuple(map(int, image_shape))
        self.classes_ = classes
        self.network, self.recipe, self.seed, self.device = network, recipe, seed, device
        self.compiled = device.type == "cuda" if compiled is None else compiled
        self._pixels = torch.tensor(pixels, dtype=torch.long, device=device)
        self.weights: dict[str, Tensor] = {}

    def __repr__(self) -> str:
        return f"{self.network} on {len(self.pixels)} pixels"

    def predict_proba(self, X: TableLike) -> Array:
        """Probabilities of shape (images, classes)."""
        return np.asarray(np.exp(self.scores(X)))

    def predict(self, X: TableLike) -> Array:
        """The most probable label of each image."""
        return np.asarray(self.classes_[self.scores(X).argmax(axis=1)])

    def scores(self, X: TableLike, batch_size: int = IMAGES_PER_BATCH) -> Array:
        """Log-probabilities float32 (images, classes) of whole images; it sees its own pixels."""
        own = as_images(X, self.image_shape)[:, self.pixels]
        network = place(self._load(), self.device).eval()
        out = np.empty((len(own), len(self.classes_)), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(own), batch_size):
                batch = torch.from_numpy(own[start : start + batch_size]).to(self.device)
                logits = self._logits(network, self.mask(batch))
                out[start : start + len(batch)] = logits.log_softmax(dim=1).cpu().numpy()
        out[~np.isfinite(out)] = FLOOR  # a network that diverged scores every label alike
        return out

    def fit(self, own: Array, labels: Array) -> Iterator[Tensor]:
        """Train on the submodel's own pixels (images, pixels, channels) and the labels.

        Yield the mean loss after each epoch.
        """
        recipe = self.recipe
        initial, order = torch_seeds(self.seed, 2)
        with seeded_weights(initial):
            network = place(self._build(), self.device)
        generator = torch.Generator(self.device).manual_seed(order)
        images = torch.from_numpy(own).to(self.device)
        codes = torch.from_numpy(labels.astype(np.int64)).to(self.device)
        training = Training(
            network,
            _optimizer(network, recipe),
            self._average_decay,
            len(codes),
            recipe.batch_size,
            recipe.epochs,
            partial(learning_rate_share, recipe),
            middle=0.5,
        )
        loss_of, training_images = self._loss_of(network), self._training_images(network)
        for epoch in range(recipe.epochs):
            losses = (
                loss_of(training_images(images[chosen], codes[chosen], generator), codes[chosen])
                for chosen in training.batches(generator)
            )
            yield training.take_steps(epoch, losses)
        training.averages.apply()
        self.weights = {
            name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
        }

    @property
    def _average_decay(self) -> float:
        """The decay of an exponential average of the weights; 0: the last weights are kept."""
        return 0.0

    def _training_images(self, network: nn.Module) -> TrainingImages:
        """What the network is shown in training, as a function of a batch."""

        def shown(own: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
            return augment(self.mask(own), self.recipe, generator)

        return shown

    def _loss_of(self, network: nn.Module) -> Callable[..., Tensor]:
        """The loss as a function of images and labels."""

        def loss(images: Tensor, codes: Tensor) -> Tensor:
            logits = self._logits(network, images)
            return F.cross_entropy(logits, codes, label_smoothing=self.recipe.label_smoothing)

        return compile_if(self.compiled, loss)

    def use(self, weights: dict[str, Tensor]) -> None:
        """Take these weights, which must be complete, instead of training."""
        self.weights = weights
        self._load()

    def fingerprint(self, images: Array, labels: Array) -> str:
        """A hash of everything that the weights follow from."""
        return fingerprint(self._facts(), images[:, self.pixels], labels.astype(np.int64))

    def _facts(self) -> list[object]:
        """Everything that the weights follow from, besides images and labels."""
        return [
            self.network,
            self.recipe.as_dict(),
            self.image_shape,
            self.pixels,
            self.seed,
            len(self.classes_),
        ]

    def _build(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels, len(self.classes_), height, width)

    def _load(self) -> nn.Module:
        """The network with its weights, which must be complete."""
        with torch.device("meta"):
            network = self._build()
        network.load_state_dict(self.weights, assign=True)
        return network

    def mask(self, own: Tensor) -> Tensor:
        """Images (images, height, width, channels): this submodel's pixels, zero elsewhere."""
        height, width, channels = self.image_shape
        empty = torch.zeros(len(own), height * width, channels, device=self.device)
        empty[:, self._pixels] = normalise(own)
        return empty.unflatten(1, (height, width))

    def _logits(self, network: nn.Module, images: Tensor) -> Tensor:
        """A network's logits, computed in bfloat16 on a GPU."""
        with half_precision(self.device):
            logits: Tensor = network(
                images.permute(0, 3, 1, 2).contiguous(memory_format=memory_layout(self.device))
            )
        return logits.float()


def _optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The paper's optimizer."""
    if recipe.triangular:
        return sgd(network, recipe.learning_rate, recipe.weight_decay)
    groups = decayed_groups(network, recipe.weight_decay)
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=on_gpu(network))


def learning_rate_share(recipe: Recipe, done: float) -> float:
    """The learning rate's share of its peak when this share of the training is done."""
    if recipe.triangular:
        return done / PEAK if done < PEAK else (1 - done) / (1 - PEAK)
    return 0.5 * (1 + math.cos(math.pi * done))


@dataclass(eq=False, repr=False)
class MaskedImageClassifier(JointImageClassifier, PaperSettings):
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

    network: str = "resnet9"

    def _check_settings(self) -> None:
        recipe_for(self.network, self.image_shape, **self._settings())
        choose_device(self.device)

    def _train(
        self, sets: list[list[int]], images: Labelled, seeds: Sequence[int]
    ) -> "MaskedSubmodels":
        recipe = recipe_for(self.network, self.image_shape, **self._settings())
        own, classes, codes = images
        about = self.image_shape, classes, self.network, recipe
        submodels = [
            MaskedSubmodel(pixels, *about, int(seed), choose_device(self.device))
            for pixels, seed in zip(sets, seeds, strict=True)
        ]
        fit_in_turn(submodels, own, codes, self)
        return MaskedSubmodels(submodels, classes)


def fit_in_turn(
    submodels: Sequence[MaskedSubmodel], images: Array, codes: Array, settings: ImageClassifier
) -> None:
    """Train networks one after the other, all by one recipe, but for those in the checkpoint.

    Each is given its own pixels of the images (images, pixels, channels).
    """
    if len(images) < 2:
        raise InputError(f"X has {len(images)} images: give at least two")
    network, recipe = submodels[0].network, submodels[0].recipe
    trainees = [
        Trainee(
            f"{t:04d}",
            partial(one.fingerprint, images, codes),
            one.use,
            partial(getattr, one, "weights"),
        )
        for t, one in enumerate(submodels)
    ]

    def fit(group: list[int]) -> Iterator[Tensor]:
        (one,) = (submodels[t] for t in group)
        return one.fit(images[:, one.pixels], codes)

    computing = settings._computing() | {"device": submodels[0].device}
    advice = f"{network} with batch_size={recipe.batch_size}: lower batch_size"
    train_in_turn(trainees, fit, "submodel", advice, epochs=recipe.epochs, **computing)


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

    def scores(self, X: TableLike) -> Array:
        """Log-probabilities float32 (images, submodels, classes) of whole images."""
        return np.stack([one.scores(X) for one in self], axis=1)
