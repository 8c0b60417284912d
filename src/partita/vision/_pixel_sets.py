"""The networks of several sets of pixels, and their scores for images.

A network is given its own pixels only; which pixels those are is decided here and nowhere else.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._support import Array
from ..ensemble import FLOOR
from ._config import VIEW_SHIFTS, PixelSetConfig
from ._images import as_images, normalise
from ._runtime import torch_seeds
from ._transformers import PixelSetTransformers

IMAGES_PER_BATCH = 256


class PixelSets:
    """One or more networks for each of several sets of pixels.

    Parameters
    ----------
    sets : list of lists of int
        The pixels of each submodel, as positions in a flattened (height, width) image.
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    n_classes : int
        How many labels the networks score.
    config : PixelSetConfig
        Architecture and training.
    seeds : list of int
        One per submodel; each of its members has a seed derived from it.
    """

    def __init__(
        self,
        sets: Sequence[Sequence[int]],
        image_shape: Sequence[int],
        n_classes: int,
        config: PixelSetConfig,
        seeds: Sequence[int],
    ) -> None:
        config.check()
        self.image_shape = tuple(int(side) for side in image_shape)
        self.sets = [list(map(int, pixels)) for pixels in sets]
        self.config, self.n_classes = config, n_classes
        self.seeds = [int(seed) for seed in seeds]
        height, width, channels = self.image_shape
        self.networks = PixelSetTransformers(
            [member for seed in self.seeds for member in torch_seeds(seed, config.members)],
            channels,
            n_classes,
            config.width,
            config.blocks,
            config.heads,
            config.expand,
        )
        n_tokens = max(map(len, self.sets))
        pixels = torch.zeros(len(self.sets), n_tokens, dtype=torch.long)
        present = torch.zeros(len(self.sets), n_tokens, dtype=torch.bool)
        for t, own in enumerate(self.sets):
            pixels[t] = own[0]  # padding: a pixel of the set's own, marked as not present
            pixels[t, : len(own)] = torch.tensor(own)
            present[t, : len(own)] = True
        self.pixels = pixels.repeat_interleave(config.members, dim=0)  # (networks, tokens)
        self.present = present.repeat_interleave(config.members, dim=0)
        rows, columns = self.pixels // width, self.pixels % width
        self.positions = torch.stack(
            [(2 * rows + 1) / height - 1, (2 * columns + 1) / width - 1], dim=-1
        ).float()  # (networks, tokens, 2)
        self.pixel_size = torch.tensor([2 / height, 2 / width])

    def __len__(self) -> int:
        return len(self.sets)

    def to(self, device: torch.device) -> "PixelSets":
        """Move the networks and their pixel indices to a device."""
        self.networks.to(device)
        for name in ("pixels", "present", "positions", "pixel_size"):
            setattr(self, name, getattr(self, name).to(device))
        return self

    @property
    def device(self) -> torch.device:
        return self.pixels.device

    def values(self, images: Tensor) -> Tensor:
        """Each network's own pixels of (images, pixels, channels).

        The shape is (networks, images, tokens, channels).
        """
        own = images[:, self.pixels].transpose(0, 1)
        number = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        return normalise(own).to(number)

    def _views(self) -> Iterator[Tensor]:
        """Positions of the tokens at prediction: shifted, and mirrored if trained with flips."""
        mirrors = [(1.0, 1.0), (1.0, -1.0)] if self.config.flip else [(1.0, 1.0)]
        for shift in VIEW_SHIFTS[: self.config.views]:
            for mirror in mirrors:
                yield (
                    self.positions * torch.tensor(mirror, device=self.device)
                    + torch.tensor(shift, device=self.device) * self.pixel_size
                )

    def scores(self, X: Any, batch_size: int = IMAGES_PER_BATCH) -> Array:
        """Log-probabilities averaged over members and views.

        The result is float32 of shape (images, submodels, classes).
        """
        images = as_images(X, self.image_shape)
        out = np.empty((len(images), len(self), self.n_classes), dtype=np.float32)
        views = list(self._views())
        self.networks.eval()
        with torch.no_grad():
            for start in range(0, len(images), batch_size):
                batch = torch.from_numpy(images[start : start + batch_size]).to(self.device)
                values = self.values(batch)
                shape = values.shape[:3]
                present = self.present[:, None, :].expand(shape)
                total = torch.zeros(
                    len(self.pixels), len(batch), self.n_classes, device=self.device
                )
                for positions in views:
                    total += self.networks(
                        values, positions[:, None].expand(*shape, 2), present
                    ).log_softmax(dim=-1)
                mean = (total / len(views)).unflatten(0, (len(self), -1)).mean(dim=1)
                out[start : start + len(batch)] = mean.transpose(0, 1).cpu().numpy()
        out[~np.isfinite(out)] = FLOOR  # a network that diverged scores every label alike
        return out
