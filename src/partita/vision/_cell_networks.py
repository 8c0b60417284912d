"""Small residual convolutional networks over cells of pixels, one or several side by side.

An image is cut into square cells whose pixels become channels, so the convolutions work on fewer
and fuller positions. Several networks run as the groups of one convolution. The first axis of every
weight and statistic is (networks x ...): no number of one network may ever meet a number of
another, so every norm is over one channel, which is one network's.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

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
