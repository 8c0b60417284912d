"""AblatedImageClassifier: an image network that learns from, and votes on, ablated images.

It is the base classifier of randomized ablation and of de-randomized smoothing. Ablations are drawn
and made on the device: on a GPU they are far too many to be sent there. What the network says of an
image must not depend on how many images it is asked about: batches have one size, always.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, PathLike, Progress
from ..errors import InputError
from ._images import augment
from ._paper_networks import Recipe, recipe_for
from ._runtime import (
    Checkpoint,
    Training,
    choose_device,
    compile_if,
    enough_memory,
    fingerprint,
    half_precision,
    memory_layout,
    place,
    seeded_weights,
    torch_seeds,
    training_environment,
)

# decay of the moving average of the weights; it averages out the noise of fresh ablations
AVERAGE_DECAY = 0.999
ABLATIONS_PER_BLOCK = 16_384  # drawn at a time
BYTES_PER_IMAGE = 2**23  # that a prediction takes at most, generously
MOST_IMAGES = 16_384  # per batch of a prediction on a GPU
CHECKPOINT_FORMAT = 1

# so many ablations, as bool (ablations, values): True is kept
Draw = Callable[[int, torch.Generator], Tensor]


@dataclass(eq=False, repr=False)
class AblatedImageClassifier(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One of the paper's networks on ablated images.

    It is the estimator of a RandomizedAblationClassifier or a SmoothingClassifier, which train it.
    A pixel enters as its value in [0, 1] and one minus that; both are 0 where it is ablated. On a
    GPU it computes in bfloat16, and is compiled.

    Parameters
    ----------
    image_shape : tuple of (height, width, channels)
        The shape of the images before ablation.
    network : {"network_in_network", "resnet9", "narrow_resnet9", "strided_cnn"}, \
default="network_in_network"
        The paper's network for MNIST, or that for CIFAR10; the same with half as many channels; or
        the small network on which randomized ablation was introduced for MNIST.
    learning_rate : float, default=1e-3
        Peak of the learning rate of AdamW, which rises linearly and falls with a cosine.
    weight_decay : float, default=1e-3
        Of AdamW.
    batch_size : int, default=128
        Images per training step.
    flip : bool, optional
        Mirror half of the images in training; by default as the paper does for this network.
    shift : int, optional
        Shift images by up to this many pixels in training; by default likewise.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" is a GPU where there is one.
    checkpoint : path, optional
        A file that the training is saved to every two minutes and at its end; an interrupted fit
        resumes from it. The file stays.
    random_state : int, default=0
        The seed of the initial weights.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    network_ : torch.nn.Module
        The trained network, with averaged weights.

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

    image_shape: Sequence[int]
    network: str = "network_in_network"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-3
    batch_size: int = 128
    flip: bool | None = None
    shift: int | None = None
    device: str = "auto"
    checkpoint: PathLike | None = None
    random_state: int = 0

    def fit_ablations(
        self,
        values: Array,
        y: Array,
        *,
        unit_of: Array,
        keep: int,
        epochs: int,
        seed: np.random.SeedSequence,
        verbose: bool = False,
    ) -> Self:
        """Train a new network, every image under a fresh random ablation in each epoch.

        Parameters
        ----------
        values : float array of shape (n_images, n_values)
            Images with values in [0, 1].
        y : array of shape (n_images,)
            Their labels.
        unit_of : int array of shape (n_values,)
            Which unit a value belongs to, from 0; -1 for what every ablation keeps.
        keep : int
            How many units an ablation keeps.
        epochs : int
            Passes over the images.
        seed : SeedSequence
            Of the order of the images, and of their ablations.
        verbose : bool, default=False
            Show progress on standard error.

        Returns
        -------
        self
            The fitted estimator.
        """
        draw, facts = random_units(unit_of, keep), np.append(unit_of, keep)
        return self._fit(values, y, draw, facts, epochs, seed, verbose)

    def fit_masks(
        self,
        values: Array,
        y: Array,
        *,
        masks: Array,
        epochs: int,
        seed: np.random.SeedSequence,
        verbose: bool = False,
    ) -> Self:
        """Train a new network, every image under one of these masks at random in each epoch.

        Parameters
        ----------
        values : float array of shape (n_images, n_values)
            Images with values in [0, 1].
        y : array of shape (n_images,)
            Their labels.
        masks : bool array of shape (n_masks, n_values)
            Which values each mask keeps.
        epochs : int
            Passes over the images.
        seed : SeedSequence
            Of the order of the images, and of their masks.
        verbose : bool, default=False
            Show progress on standard error.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(values, y, _random_masks(masks), masks, epochs, seed, verbose)

    def ablated_votes(
        self,
        values: Array,
        *,
        unit_of: Array,
        keep: int,
        n_draws: int,
        seed: np.random.SeedSequence,
        verbose: bool = False,
    ) -> Array:
        """Count for each image how many of these random ablations are predicted to have a label.

        All images get the same ablations.

        Parameters
        ----------
        values : float array of shape (n_images, n_values)
            Images with values in [0, 1].
        unit_of : int array of shape (n_values,)
            Which unit a value belongs to, as in :meth:`fit_ablations`.
        keep : int
            How many units an ablation keeps.
        n_draws : int
            How many ablations.
        seed : SeedSequence
            Of the ablations.
        verbose : bool, default=False
            Show progress on standard error.

        Returns
        -------
        int array of shape (n_images, n_classes)
            Votes, in the order of ``classes_``.
        """
        draw, generator = random_units(unit_of, keep), self._generator(seed)
        votes = torch.zeros(len(values), len(self.classes_), dtype=torch.long, device=self.device_)
        starts = range(0, n_draws, ABLATIONS_PER_BLOCK)
        what = f"blocks of {ABLATIONS_PER_BLOCK} ablations of {len(values)} images"
        for first in Progress("predicted", len(starts), what, enabled=verbose).over(starts):
            masks = draw(min(ABLATIONS_PER_BLOCK, n_draws - first), generator)
            for pairs, scores in self._scores(values, masks):
                cells = pairs // len(masks) * votes.shape[1] + scores.argmax(dim=1)
                votes.view(-1).index_add_(0, cells, torch.ones_like(cells))
        return np.asarray(votes.cpu().numpy())

    def masked_probabilities(self, values: Array, masks: Array) -> Array:
        """Predict the probability of each class for each image under each mask.

        Parameters
        ----------
        values : float array of shape (n_images, n_values)
            Images with values in [0, 1].
        masks : bool array of shape (n_masks, n_values)
            Which values each mask keeps.

        Returns
        -------
        float32 array of shape (n_images, n_masks, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        shape = len(values), len(masks), len(self.classes_)
        shares = torch.empty(shape, device=self.device_)
        for pairs, scores in self._scores(values, torch.from_numpy(masks).to(self.device_)):
            shares.view(-1, shape[2])[pairs] = scores.softmax(dim=1)
        return np.asarray(shares.cpu().numpy())

    def _fit(
        self,
        values: Array,
        y: Array,
        draw: Draw,
        of_draws: Array,
        epochs: int,
        seed: np.random.SeedSequence,
        verbose: bool,
    ) -> Self:
        recipe = recipe_for(
            self.network,
            self.image_shape,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            flip=self.flip,
            shift=self.shift,
            erase=0,
        )
        self.device_ = choose_device(self.device)
        self.classes_, codes = np.unique(y, return_inverse=True)
        with seeded_weights(int(self.random_state)):
            network = self._build(recipe)
        training = AblationTraining(network, self._place(values), codes, draw, recipe, epochs)
        facts = [self.network, self.image_shape, self.random_state, recipe.as_dict(), epochs]
        facts += [seed.entropy, seed.spawn_key, values.shape, of_draws.shape]
        file = Checkpoint(
            self.checkpoint,
            CHECKPOINT_FORMAT,
            lambda: fingerprint(facts, values, codes, of_draws),
            training_environment(self.device_, False),
        )

        def run_epoch(epoch: int) -> Tensor:
            return training.run_epoch(epoch, self._generator(seed, epoch))

        with enough_memory(f"{self.network} with batch_size={recipe.batch_size}: lower batch_size"):
            training.run(file, run_epoch, verbose, stays=True)
        self.network_ = network.eval()
        return self

    def _build(self, recipe: Recipe) -> nn.Module:
        height, width, channels = map(int, self.image_shape)
        network = recipe.build(2 * channels, len(self.classes_), height, width)
        return place(network, self.device_)

    def _generator(self, seed: np.random.SeedSequence, *key: int) -> torch.Generator:
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))
        return torch.Generator(self.device_).manual_seed(torch_seeds(own, 1)[0])

    def _scores(self, values: Array, masks: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Logits of each image under each mask, as (pairs, logits).

        Pair k is mask ``k % len(masks)`` of image ``k // len(masks)``. The last batch is filled up.
        """
        images, kept = self._place(values), masks.view(len(masks), *map(int, self.image_shape))
        pairs = torch.arange(len(images) * len(kept), device=self.device_)
        size, logits_of = self._images_per_batch(), _compiled(_logits, self.device_.type)
        with torch.no_grad():
            for batch in pairs.split(size):
                full = F.pad(batch, (0, size - len(batch)))  # filled up with the first pair
                shown = images[full // len(kept)], kept[full % len(kept)]
                yield batch, logits_of(self.network_, *shown)[: len(batch)]

    def _images_per_batch(self) -> int:
        """As many as fit, and a power of two."""
        if self.device_.type == "cpu":
            return 64
        memory = torch.cuda.get_device_properties(self.device_).total_memory
        return min(MOST_IMAGES, 2 ** int(math.log2(memory / BYTES_PER_IMAGE)))

    def _place(self, values: Array) -> Tensor:
        """Images (images, height, width, channels) on the device."""
        shape = tuple(map(int, self.image_shape))
        if values.ndim != 2 or values.shape[1] != math.prod(shape):
            raise InputError(
                f"X has shape {values.shape}, but images of image_shape={shape} have "
                f"{math.prod(shape)} columns"
            )
        rows = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
        return rows.to(self.device_).view(len(rows), *shape)


class AblationTraining(Training):
    """A network, its optimizer and its images on one device."""

    def __init__(
        self,
        network: nn.Module,
        images: Tensor,
        codes: Array,
        draw: Draw,
        recipe: Recipe,
        epochs: int,
    ) -> None:
        optimizer = torch.optim.AdamW(
            network.parameters(),
            lr=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            fused=images.is_cuda,
        )
        super().__init__(network, optimizer, AVERAGE_DECAY, len(codes), recipe.batch_size, epochs)
        self.images, self.draw, self.recipe = images, draw, recipe
        self.codes = torch.from_numpy(codes.astype(np.int64)).to(images.device)

    def run_epoch(self, epoch: int, generator: torch.Generator) -> Tensor:
        """Pass over the images once; return the mean loss."""
        return self.take_steps(epoch, self._losses(generator))

    def _losses(self, generator: torch.Generator) -> Iterator[Tensor]:
        loss_of = _compiled(_loss, self.device.type)
        for chosen in self.batches(generator):
            kept = self.draw(len(chosen), generator).view(len(chosen), *self.images.shape[1:])
            images = self.images[chosen]
            if self.recipe.flip or self.recipe.shift:
                images = augment(images, self.recipe, generator)
            yield loss_of(self.network, images, kept, self.codes[chosen])


def _logits(network: nn.Module, images: Tensor, kept: Tensor) -> Tensor:
    """A network's logits of ablated images, computed in bfloat16 on a GPU.

    Images and what is kept of them are (images, height, width, channels).
    """
    doubled = torch.cat([images * kept, (1 - images) * kept], dim=3).permute(0, 3, 1, 2)
    layout = memory_layout(images.device)
    with half_precision(images.device):
        logits: Tensor = network(doubled.contiguous(memory_format=layout))
    return logits.float()


def _loss(network: nn.Module, images: Tensor, kept: Tensor, codes: Tensor) -> Tensor:
    return F.cross_entropy(_logits(network, images, kept), codes)


@cache
def _compiled(function: Callable[..., Tensor], device: str) -> Callable[..., Tensor]:
    """Compile on a GPU, once: networks of one kind share it, since they are its argument."""
    return compile_if(device == "cuda", function)


def random_units(unit_of: Array, keep: int) -> Draw:
    """Draw sets of ``keep`` units, all equally likely, and keep their values.

    The units with the largest of random 63-bit keys. Two of a draw's d keys are alike with a
    probability below d * d / 2**64, which is all that the chances may deviate from equal ones.
    """
    units, on_device = int(unit_of.max()) + 1, _on_device(unit_of.astype(np.int64))

    def draw(count: int, generator: torch.Generator) -> Tensor:
        device = generator.device
        keys = torch.empty(count, units, dtype=torch.long, device=device)
        chosen = keys.random_(generator=generator).topk(keep, dim=1, sorted=False).indices
        kept = torch.zeros(count, units + 1, dtype=torch.bool, device=device)
        kept[:, units] = True  # where -1 looks: what no attacker reaches
        return kept.scatter_(1, chosen, True)[:, on_device(device)]

    return draw


def _random_masks(masks: Array) -> Draw:
    """Draw some of these masks."""
    on_device = _on_device(masks)

    def draw(count: int, generator: torch.Generator) -> Tensor:
        device = generator.device
        chosen = torch.randint(len(masks), (count,), generator=generator, device=device)
        return on_device(device)[chosen]

    return draw


def _on_device(array: Array) -> Callable[[torch.device], Tensor]:
    """An array on a device, sent there once."""
    return cache(torch.from_numpy(np.ascontiguousarray(array)).to)
