"""The networks over cells of several sets of pixels, and their scores for images.

A network is given an image that holds its own pixels and zeros, and a channel that says which
pixels those are; both are decided here and nowhere else.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._support import Array
from ..ensemble import FLOOR
from ._cell_config import CellConfig
from ._cell_networks import CellNetworks, fold
from ._config import VIEW_SHIFTS
from ._images import as_images, normalise
from ._masked_augmentation import moved
from ._runtime import memory_layout, torch_seeds

IMAGES_PER_BATCH = 512


class CellSets:
    """One or more networks over cells for each of several sets of pixels.

    Parameters
    ----------
    sets : list of lists of int
        The pixels of each submodel, as positions in a flattened (height, width) image.
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    n_classes : int
        How many labels the networks score.
    config : CellConfig
        Architecture and training.
    seeds : list of int
        One per submodel; each of its members has a seed derived from it.
    """

    def __init__(
        self,
        sets: Sequence[Sequence[int]],
        image_shape: Sequence[int],
        n_classes: int,
        config: CellConfig,
        seeds: Sequence[int],
    ) -> None:
        config.check(image_shape)
        self.image_shape = tuple(int(side) for side in image_shape)
        self.sets = [list(map(int, pixels)) for pixels in sets]
        self.config, self.n_classes = config, n_classes
        self.seeds = [int(seed) for seed in seeds]
        self.device = torch.device("cpu")
        self._pixels = [torch.tensor(own, dtype=torch.long) for own in self.sets]
        # the members of a submodel follow one another
        self.network_seeds = [
            member for seed in self.seeds for member in torch_seeds(seed, config.members)
        ]
        self.networks = [self.build([seed]) for seed in self.network_seeds]

    def __len__(self) -> int:
        return len(self.sets)

    def build(self, seeds: Sequence[int]) -> CellNetworks:
        """New networks side by side, one for each seed."""
        config, channels = self.config, self.image_shape[2]
        inputs = values_per_cell(config, channels)
        return CellNetworks(seeds, inputs, self.n_classes, config.width, config.blocks)

    def to(self, device: torch.device) -> "CellSets":
        """Move the networks and their pixel indices to a device."""
        self.device = device
        self._pixels = [pixels.to(device) for pixels in self._pixels]
        for network in self.networks:
            self.place(network)
        return self

    def place(self, network: CellNetworks) -> CellNetworks:
        """A network on the device, laid out as its convolutions prefer."""
        layout = memory_layout(self.device)
        return network.to(self.device).to(memory_format=layout)  # type: ignore[call-overload]  # PyTorch leaves it out

    def masked(self, own: Tensor, submodel: int) -> Tensor:
        """Images (images, height, width, channels + 1) from a submodel's own pixels.

        Other pixels are zero; the last channel is one where a pixel is the submodel's.
        """
        height, width, channels = self.image_shape
        images = torch.zeros(len(own), height * width, channels + 1, device=own.device)
        known = torch.ones(*own.shape[:2], 1, device=own.device)
        images[:, self._pixels[submodel]] = torch.cat([normalise(own), known], dim=2)
        return images.unflatten(1, (height, width))

    def cells(self, images: Sequence[Tensor]) -> Tensor:
        """What networks side by side are given: the masked images of each, as cells."""
        folded = torch.cat([fold(one, self.config.cell) for one in images], dim=1)
        return folded.contiguous(memory_format=memory_layout(self.device))

    def _views(self, masked: Tensor) -> Iterator[Tensor]:
        """Masked images at prediction: shifted, and mirrored if trained with flips."""
        for down, right in VIEW_SHIFTS[: self.config.views]:
            for mirror in (False, True) if self.config.flip else (False,):
                yield moved(masked, down, right, mirror)

    def scores(self, X: Any, batch_size: int = IMAGES_PER_BATCH) -> Array:
        """Logarithms of probabilities averaged over members and views.

        The result is float32 of shape (images, submodels, classes).
        """
        images = as_images(X, self.image_shape)
        out = np.empty((len(images), len(self), self.n_classes), dtype=np.float32)
        for t in range(len(self)):
            for start in range(0, len(images), batch_size):
                own = torch.from_numpy(images[start : start + batch_size, self.sets[t]])
                out[start : start + len(own), t] = self._scores(own.to(self.device), t)
        out[~np.isfinite(out)] = FLOOR  # a network that diverged scores every label alike
        return out

    def _scores(self, own: Tensor, submodel: int) -> Array:
        members = self.config.members
        networks = self.networks[submodel * members : (submodel + 1) * members]
        with torch.no_grad(), half_precision(self.device):
            answers = [
                network.eval()(cells)[0].log_softmax(dim=1)
                for view in self._views(self.masked(own, submodel))
                for cells in [self.cells([view])]
                for network in networks
            ]
        mean = torch.stack(answers).logsumexp(dim=0) - float(np.log(len(answers)))
        return np.asarray(mean.cpu().numpy())


def half_precision(device: torch.device) -> torch.autocast:
    """Convolutions in bfloat16 on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def values_per_cell(config: CellConfig, channels: int) -> int:
    """The channels of an image and of its mask, for every pixel of a cell."""
    return (channels + 1) * int(config.cell) ** 2
