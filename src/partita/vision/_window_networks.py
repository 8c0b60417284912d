"""A network that accepts images in which windows are masked, for trusted training.

It is trained with windows masked at random, and takes the part of every model that leaves windows
out. Its proof rests on one thing: masked pixels never enter it. Masks are therefore laid on last,
after any augmentation, exactly where prediction lays them.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from .._support.types import Array
from ._images import normalise
from ._masked_augmentation import augment
from ._masked_submodel import MaskedSubmodel
from ._paper_recipes import Recipe

# the share of training images in which nothing is masked, so that the network is good on whole
# images too: it decides where no models agree
WHOLE_IMAGES = 0.1
# decay of the exponential moving average of the weights, after a start, batch norm's statistics
# included; it averages out the noise of fresh masks
EMA_DECAY = 0.999


class WindowNetwork(MaskedSubmodel):
    """One network over all pixels and a channel that says which of them are masked.

    Parameters
    ----------
    windows : array of bool, shape (windows, height * width)
        Which pixels each window covers.
    n_masked : int
        How many windows are masked at a time.
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
        Whether training is compiled; by default on a GPU.
    """

    def __init__(
        self,
        windows: Array,
        n_masked: int,
        image_shape: Sequence[int],
        classes: Array,
        network: str,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        compiled: bool | None = None,
    ) -> None:
        every_pixel = list(range(windows.shape[1]))
        super().__init__(every_pixel, image_shape, classes, network, recipe, seed, device)
        self.n_masked = n_masked
        self.compiled = device.type == "cuda" if compiled is None else compiled
        self._outlines = windows.tolist()
        # the last window, beyond those of the grid, is empty
        masks = torch.zeros(len(windows) + 1, windows.shape[1], dtype=torch.bool)
        masks[:-1] = torch.from_numpy(windows)
        self._masks = masks.to(device)
        self._average: nn.Module | None = None
        self._steps = 0

    def loaded(self) -> nn.Module:
        """The trained network on its device, ready to predict."""
        return self._place(self._load()).eval()

    def probabilities(self, loaded: nn.Module, images: Tensor, windows: Tensor) -> Tensor:
        """Probabilities (images, classes) of bytes (images, pixels, channels).

        ``windows`` (images, n_masked) are masked; the number beyond those of the grid is of an
        empty window. A network that diverged gives every label the same.
        """
        logits = self._logits(loaded, self.hide(self.mask(images), windows))
        return logits.softmax(dim=1).nan_to_num()

    def mask(self, own: Tensor) -> Tensor:
        """Images (images, height, width, channels) with all their pixels."""
        height, width, _ = self.image_shape
        return normalise(own).unflatten(1, (height, width))

    def hide(self, images: Tensor, windows: Tensor) -> Tensor:
        """The same images with these windows zero, and one more channel: 1 where they are."""
        height, width, _ = self.image_shape
        hidden = self._masks[windows].any(dim=1).view(-1, height, width, 1)
        return torch.cat([images.masked_fill(hidden, 0.0), hidden.to(images.dtype)], dim=3)

    def fit(self, own: Array, labels: Array, after_epoch: Callable[[Tensor], None]) -> None:
        """Train on all pixels (images, pixels, channels) and the labels."""
        self._average, self._steps = None, 0
        super().fit(own, labels, after_epoch)
        self._average = None

    def _training_images(self, own: Tensor, generator: torch.Generator) -> Tensor:
        """Augmented images, in most of which windows are masked."""
        augmented = augment(self.mask(own), self.recipe, generator)
        return self.hide(augmented, self._draw_windows(len(own), generator))

    def _draw_windows(self, n_images: int, generator: torch.Generator) -> Tensor:
        """Windows to mask in each image, all different; in some images the empty window."""
        n_windows = len(self._masks) - 1
        drawn = torch.rand(n_images, n_windows + 1, generator=generator, device=self.device)
        windows = drawn[:, :n_windows].argsort(dim=1)[:, : self.n_masked]
        whole = drawn[:, n_windows:] < WHOLE_IMAGES
        return windows.masked_fill(whole, n_windows)

    def _loss_of(self, network: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
        loss = super()._loss_of(network)
        return torch.compile(loss, dynamic=False) if self.compiled else loss

    def _after_step(self, network: nn.Module) -> None:
        """Move the average of the weights."""
        self._steps += 1
        if self._average is None:
            self._average = deepcopy(network)
            return
        share = 1 - min(EMA_DECAY, (1 + self._steps) / (10 + self._steps))
        averages = list(self._average.state_dict().values())
        values = list(network.state_dict().values())
        numbers = [k for k, value in enumerate(averages) if value.is_floating_point()]
        with torch.no_grad():
            torch._foreach_lerp_(
                [averages[k] for k in numbers], [values[k] for k in numbers], share
            )
            for k in set(range(len(values))) - set(numbers):
                averages[k].copy_(values[k])

    def _trained(self, network: nn.Module) -> nn.Module:
        return network if self._average is None else self._average

    def _facts(self) -> list[Any]:
        return [*super()._facts(), self._outlines, self.n_masked, WHOLE_IMAGES, EMA_DECAY]

    def _build(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels + 1, len(self.classes_), height, width)
