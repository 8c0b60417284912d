"""Networks over cells of pixels: their settings, the networks side by side, and their scores.

An image is cut into square cells whose pixels become channels, so the convolutions work on fewer
and fuller positions. Several networks run as the groups of one convolution. The first axis of every
weight and statistic is (networks x ...): no number of one network may ever meet a number of
another, so every norm is over one channel, which is one network's. A network is given an image that
holds its own pixels and zeros, and a channel that says which pixels those are; both are decided
here and nowhere else.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, TableLike
from ..ensemble import FLOOR
from ._images import NetworkConfig, as_images, check_settings, check_sides, moved, normalise
from ._pixel_sets import VIEW_SHIFTS, check_views
from ._runtime import memory_layout, torch_seeds


@dataclass(eq=False, repr=False, kw_only=True)
class CellSettings:
    """The settings of networks over cells; CellImageClassifier documents them."""

    width: int = 128
    blocks: int = 1
    cell: int = 2
    members: int = 1
    epochs: int = 20
    batch_size: int = 512
    learning_rate: float = 0.4
    weight_decay: float = 5e-4
    label_smoothing: float = 0.1
    average: float = 0.99
    flip: bool = True
    shift: int = 2
    erase: int = 0
    views: int = 1


class CellConfig(CellSettings, NetworkConfig):
    """The architecture and the training of networks over cells."""

    def check(self, image_shape: Sequence[int]) -> None:
        """Refuse values that no network can be built or trained with for such images."""
        check_settings(self)
        check_sides(self, image_shape)
        check_views(self.views, self.shift)


STAGES = 3  # each twice as wide as the one before, at half its height and width
CELU_ALPHA = 0.075
HEAD_SCALE = 1 / 8  # of the scores
MOMENTUM = 0.1  # of the running statistics

Shapes = dict[str, tuple[int, ...]]


class CellNetworks(nn.Module):
    """Residual networks of the same size side by side.

    Parameters
    ----------
    seeds : sequence of int
        One per network; each network's initial weights come from its own seed.
    inputs, classes : int
        Values per cell and labels to score.
    width, blocks : int
        The size of a network; see CellImageClassifier.
    """

    def __init__(
        self, seeds: Sequence[int], inputs: int, classes: int, width: int, blocks: int
    ) -> None:
        super().__init__()
        self.count, self.blocks = len(seeds), blocks
        generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
        weights, scales, shifts = {}, {}, {}
        for name, shape in weight_shapes(inputs, classes, width, blocks).items():
            drawn = torch.cat([torch.randn(shape, generator=generator) for generator in generators])
            # the head has its inputs first, a convolution its outputs
            fan_in = shape[0] if name == "head" else math.prod(shape[1:])
            gain = 1.0 if name == "head" else math.sqrt(2)
            weights[name] = nn.Parameter(drawn * (gain / math.sqrt(fan_in)))
            if name != "head":
                channels = self.count * shape[0]
                scales[name] = nn.Parameter(torch.ones(channels))
                shifts[name] = nn.Parameter(torch.zeros(channels))
                self.register_buffer(f"mean_{name}", torch.zeros(channels))
                self.register_buffer(f"variance_{name}", torch.ones(channels))
        self.weights = nn.ParameterDict(weights)
        self.scales, self.shifts = nn.ParameterDict(scales), nn.ParameterDict(shifts)

    def forward(self, cells: Tensor) -> Tensor:
        """Scores (networks, images, classes).

        ``cells`` is (images, networks x inputs, height, width).
        """
        x = self._layer("stem", cells)
        for stage in range(STAGES):
            if stage:
                x = F.max_pool2d(self._layer(f"widen_{stage}", x), 2, ceil_mode=True)
            for block in range(self.blocks):
                inner = self._layer(f"first_{stage}_{block}", x)
                x = x + self._layer(f"second_{stage}_{block}", inner)
        # not amax: it looks for its value again in the backward pass, which a compiled graph may
        # miss
        pooled = x.flatten(2).max(dim=2).values.unflatten(1, (self.count, -1)).transpose(0, 1)
        head = self.weights["head"].unflatten(0, (self.count, -1))
        return torch.bmm(pooled, head.to(pooled.dtype)).float() * HEAD_SCALE

    def _layer(self, name: str, x: Tensor) -> Tensor:
        """A 3 x 3 convolution, its norm and its activation."""
        x = F.conv2d(x, self.weights[name], padding=1, groups=self.count)
        normed = F.batch_norm(
            x,
            getattr(self, f"mean_{name}"),
            getattr(self, f"variance_{name}"),
            self.scales[name],
            self.shifts[name],
            training=self.training,
            momentum=MOMENTUM,
        )
        return F.celu(normed, CELU_ALPHA)


def weight_shapes(inputs: int, classes: int, width: int, blocks: int) -> Shapes:
    """The shape of every weight of one network."""
    shapes: Shapes = {"stem": (width, inputs, 3, 3)}
    for stage in range(STAGES):
        wide = width * 2**stage
        if stage:
            shapes[f"widen_{stage}"] = (wide, wide // 2, 3, 3)
        for block in range(blocks):
            shapes[f"first_{stage}_{block}"] = (wide, wide, 3, 3)
            shapes[f"second_{stage}_{block}"] = (wide, wide, 3, 3)
    return shapes | {"head": (width * 2 ** (STAGES - 1), classes)}


def weights_per_network(inputs: int, classes: int, width: int, blocks: int) -> int:
    """How many numbers the weights of one network hold, without listing them."""
    kernels = width * inputs
    for stage in range(STAGES):
        wide = width * 2**stage
        kernels += wide * (wide // 2 if stage else 0) + 2 * blocks * wide**2
    return 9 * kernels + width * 2 ** (STAGES - 1) * classes


def fold(images: Tensor, cell: int) -> Tensor:
    """Cut images (images, height, width, channels) into cells.

    The result is (images, channels x cell x cell, rows of cells, columns of cells); the last row
    and column are filled up with zeros.
    """
    height, width = images.shape[1:3]
    filled = F.pad(images, (0, 0, 0, -width % cell, 0, -height % cell))
    return F.pixel_unshuffle(filled.permute(0, 3, 1, 2), cell)


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

    def scores(self, X: TableLike, batch_size: int = IMAGES_PER_BATCH) -> Array:
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
