"""Pixel sets: which pixels each submodel sees, its networks, and their scores for images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._support.types import Array
from ..ensemble._ballots import FLOOR
from ..errors import InputError
from ._config import VIEWS, Settings
from ._networks import PixelSetNetworks

MIDDLE, SPREAD = (
    127.5,
    64.0,
    # fixed numbers, not computed from data: what is computed from all images would tie submodels
    # together
)
IMAGES_AT_ONCE = 256


class PixelSets:
    """One or more networks for each of several sets of pixels.

    Parameters
    ----------
    sets : list of lists of int
        The pixels of each submodel, as positions in a flattened (height, width) image.
    image_shape : (height, width, channels)
    n_classes : int
    settings : Settings
    seeds : list of int
        One a submodel; each of its members has a seed derived from it.
    """

    def __init__(
        self,
        sets: Sequence[Sequence[int]],
        image_shape: Sequence[int],
        n_classes: int,
        settings: Settings,
        seeds: Sequence[int],
    ) -> None:
        settings.check()
        self.image_shape = tuple(int(side) for side in image_shape)
        self.sets = [list(map(int, pixels)) for pixels in sets]
        self.settings, self.n_classes, self.seeds = (
            settings,
            n_classes,
            [int(seed) for seed in seeds],
        )
        drawn = [
            np.random.SeedSequence(seed).generate_state(settings.members, np.uint64) >> np.uint64(1)
            for seed in self.seeds
        ]
        height, width, channels = self.image_shape
        self.networks = PixelSetNetworks(
            [int(one) for own in drawn for one in own],
            channels,
            n_classes,
            settings.width,
            settings.blocks,
            settings.heads,
            settings.expand,
        )
        most = max(map(len, self.sets))
        pixels = torch.zeros(len(self.sets), most, dtype=torch.long)
        there = torch.zeros(len(self.sets), most, dtype=torch.bool)
        for t, own in enumerate(self.sets):
            pixels[t] = own[
                0
            ]  # where a set is smaller than the largest: its own pixel again, marked as absent
            pixels[t, : len(own)] = torch.tensor(own)
            there[t, : len(own)] = True
        self.pixels = pixels.repeat_interleave(settings.members, dim=0)  # (networks, tokens)
        self.there = there.repeat_interleave(settings.members, dim=0)
        rows, columns = self.pixels // width, self.pixels % width
        self.places = torch.stack(
            [(2 * rows + 1) / height - 1, (2 * columns + 1) / width - 1], dim=-1
        ).float()  # (networks, tokens, 2)
        self.pixel_size = torch.tensor([2 / height, 2 / width])

    def __len__(self) -> int:
        return len(self.sets)

    def to(self, device: torch.device) -> "PixelSets":
        self.networks.to(device)
        for name in ("pixels", "there", "places", "pixel_size"):
            setattr(self, name, getattr(self, name).to(device))
        return self

    @property
    def device(self) -> torch.device:
        return self.pixels.device

    def colours(self, images: Tensor) -> Tensor:
        """Each network's own pixels (networks, images, tokens, channels) of images (images, pixels,
        channels)."""
        own = images[:, self.pixels].transpose(0, 1)
        number = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        return ((own.float() - MIDDLE) / SPREAD).to(number)

    def _views(self) -> list[Tensor]:
        """Where the tokens are said to be when predicting: shifted, and mirrored as well if trained
        with flips."""
        turns = [(1.0, 1.0), (1.0, -1.0)] if self.settings.flip else [(1.0, 1.0)]
        return [
            self.places * torch.tensor(turn, device=self.device)
            + torch.tensor(move, device=self.device) * self.pixel_size
            for move in VIEWS[: self.settings.views]
            for turn in turns
        ]

    def scores(self, X: Array, images_at_once: int = IMAGES_AT_ONCE) -> Array:
        """Log-probabilities float32 (images, submodels, classes): the mean over members and
        views."""
        images = as_images(X, self.image_shape)
        out = np.empty((len(images), len(self), self.n_classes), dtype=np.float32)
        views = self._views()
        self.networks.eval()
        with torch.no_grad():
            for start in range(0, len(images), images_at_once):
                part = torch.from_numpy(images[start : start + images_at_once]).to(self.device)
                colours = self.colours(part)
                n, shape = len(part), colours.shape[:3]
                there = self.there[:, None, :].expand(shape)
                total = torch.zeros(len(self.pixels), n, self.n_classes, device=self.device)
                for places in views:
                    total += self.networks(
                        colours, places[:, None].expand(*shape, 2), there
                    ).log_softmax(dim=-1)
                mean = (total / len(views)).unflatten(0, (len(self), -1)).mean(dim=1)
                out[start : start + n] = mean.transpose(0, 1).cpu().numpy()
        out[~np.isfinite(out)] = FLOOR  # a network that diverged says the same of every label
        return out


def as_images(X: Any, image_shape: Sequence[int]) -> Array:
    """Flattened images as bytes (images, pixels, channels)."""
    height, width, channels = image_shape
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != height * width * channels:
        raise InputError(
            f"X has shape {array.shape}, but image_shape={tuple(image_shape)} needs (images, "
            f"{height * width * channels}): flatten each "
            "image in the order rows, columns, channels"
        )
    if array.dtype != np.uint8:
        if array.dtype.kind not in "uif" or not np.all(
            (array >= 0) & (array <= 255) & (array == np.floor(array))
        ):
            raise InputError(
                f"X holds {array.dtype} values that are no whole numbers from 0 to 255: give "
                "images as uint8"
            )
        array = array.astype(np.uint8)
    return np.ascontiguousarray(array).reshape(len(array), height * width, channels)
