"""A network that accepts images in which windows are masked, for trusted training.

It is trained with windows masked, of some random ones those that it is worst at, and takes the part
of every model that leaves windows out. Its proof rests on one thing: masked pixels never enter it.
Masks are therefore laid on last, after any augmentation, exactly where prediction lays them.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array
from ._images import normalise
from ._masked_augmentation import augment
from ._masked_submodel import MaskedSubmodel, TrainingImages
from ._paper_recipes import Recipe

# the share of training images in which nothing is masked, so that the network is good on whole
# images too: it decides where no models agree
WHOLE_IMAGES = 0.1
# sets of windows drawn for an image in training: that which the network is worst at is masked, as
# an image is certified only if no set misleads the network
CANDIDATES = 4
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
        Whether training and prediction are compiled; by default on a GPU.
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
        super().__init__(every_pixel, image_shape, classes, network, recipe, seed, device, compiled)
        self.n_masked = n_masked
        self._outlines = windows.tolist()
        # the last window, beyond those of the grid, is empty
        masks = torch.zeros(len(windows) + 1, windows.shape[1], dtype=torch.bool)
        masks[:-1] = torch.from_numpy(windows)
        self._masks = masks.to(device)

    def loaded(self) -> nn.Module:
        """The trained network on its device, ready to predict."""
        return self._predictor(self._place(self._load()).eval())

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

    @property
    def _average_decay(self) -> float:
        return EMA_DECAY

    def _training_images(self, network: nn.Module) -> TrainingImages:
        """Augmented images, in most of which windows are masked: those the network is worst at."""
        predict = self._predictor(network)
        n_windows = len(self._masks) - 1

        def shown(own: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
            augmented = augment(self.mask(own), self.recipe, generator)
            drawn = torch.rand(
                CANDIDATES, len(own), n_windows, generator=generator, device=self.device
            )
            windows = drawn.argsort(dim=2)[:, :, : self.n_masked]
            network.eval()
            losses = self._losses(predict, augmented, codes, windows)
            network.train()
            hardest = windows[losses.argmax(dim=0), torch.arange(len(own), device=self.device)]
            whole = torch.rand(len(own), 1, generator=generator, device=self.device) < WHOLE_IMAGES
            return self.hide(augmented, hardest.masked_fill(whole, n_windows))

        return shown

    def _predictor(self, network: nn.Module) -> nn.Module:
        """The network, compiled where that is wanted."""
        return cast(nn.Module, torch.compile(network, dynamic=False)) if self.compiled else network

    def _losses(self, predict: nn.Module, images: Tensor, codes: Tensor, windows: Tensor) -> Tensor:
        """Losses (candidates, images) with windows (candidates, images, n_masked) masked."""
        candidates = len(windows)
        with torch.no_grad():
            masked = self.hide(images.repeat(candidates, 1, 1, 1), windows.flatten(0, 1))
            logits = self._logits(predict, masked)
            losses = F.cross_entropy(logits, codes.repeat(candidates), reduction="none")
        return losses.view(candidates, -1)

    def _facts(self) -> list[Any]:
        return [
            *super()._facts(),
            self._outlines,
            self.n_masked,
            WHOLE_IMAGES,
            CANDIDATES,
            EMA_DECAY,
        ]

    def _build(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels + 1, len(self.classes_), height, width)
