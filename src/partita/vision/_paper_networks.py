"""The networks of the feature partition aggregation paper and of ablation, and their recipes.

Architectures are those of the paper's tables 16 and 17, recipes those of its table 18.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from .._support import JsonObject
from ..errors import InputError
from ._images import check_settings, check_sides

GHOST_BATCH = 32  # images that are normalised by common statistics in training
CELU_ALPHA = 0.075
RESNET9_SCALE = 1 / 8  # ResNet9's logits are multiplied by this


def resnet9(channels: int, classes: int, height: int, width: int, *, narrow: int = 1) -> nn.Module:
    """ResNet9 (table 16), with its channels divided by ``narrow``.

    Its last pooling is 4 x 4, which is all that is left of a 32 x 32 image; for images of other
    sizes, too, it pools over everything that is left.
    """
    _check_sides("resnet9", 8, height, width)
    return _ResNet9(channels, classes, (height // 8, width // 8), narrow)


def network_in_network(channels: int, classes: int, height: int, width: int) -> nn.Module:
    """Network-in-Network (table 17), with as many input channels as the images have.

    The table pads its 1 x 1 convolutions by one, which would put a frame of constants around the
    image; here they are not padded. It gives no stride for its pooling; here it is 2, as in the
    paper that introduced the network, with a padding of one.
    """
    _check_sides("network_in_network", 4, height, width)
    return nn.Sequential(
        *_block(channels, 5, 192, 160, 96),
        nn.MaxPool2d(3, stride=2, padding=1),
        *_block(96, 5, 192, 192, 192),
        nn.AvgPool2d(3, stride=2, padding=1),
        *_block(192, 3, 192, 192, 192),
        _GlobalMean(),
        nn.Linear(192, classes),
    )


def strided_cnn(channels: int, classes: int, height: int, width: int) -> nn.Module:
    """The network of randomized ablation for MNIST in the paper that introduced it.

    Its layers see where in the image something is, which a mean over the image does not: few kept
    pixels say little but by their places.
    """
    _check_sides("strided_cnn", 4, height, width)
    return nn.Sequential(
        nn.Conv2d(channels, 64, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(64, 128, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(128 * (height // 4) * (width // 4), 500),
        nn.ReLU(),
        nn.Linear(500, 100),
        nn.ReLU(),
        nn.Linear(100, classes),
    )


class _ResNet9(nn.Module):
    """Convolutions with two residual blocks, then a linear head without bias."""

    def __init__(
        self, channels: int, classes: int, last_pool: tuple[int, int], narrow: int
    ) -> None:
        super().__init__()
        first, second, third, last = (size // narrow for size in (64, 128, 256, 512))
        self.body = nn.Sequential(
            _conv(channels, first),
            _conv(first, second),
            nn.MaxPool2d(2),
            _Residual(second),
            _conv(second, third),
            nn.MaxPool2d(2),
            _conv(third, last),
            nn.MaxPool2d(2),
            _Residual(last),
            nn.MaxPool2d(last_pool),
            nn.Flatten(),
        )
        self.linear = nn.Linear(last, classes, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.body(images)) * RESNET9_SCALE


class _Residual(nn.Module):
    """Two convolutions whose result is added to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(_conv(channels, channels), _conv(channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class GhostBatchNorm(nn.BatchNorm2d):
    """Batch norm with the statistics of 32 images at a time in training.

    A batch whose size is not a multiple of 32 is normalised as a whole.
    """

    def forward(self, x: Tensor) -> Tensor:
        images, _, height, width = x.shape
        ghosts = images // GHOST_BATCH
        if not self.training or ghosts < 2 or images % GHOST_BATCH:
            return super().forward(x)
        # image i belongs to ghost batch i % ghosts; a view, in whatever order the numbers are
        batches = x.unflatten(0, (GHOST_BATCH, ghosts)).float()
        variance, mean = torch.var_mean(batches, dim=(0, 3, 4), correction=0)
        scale = self.weight * (variance + self.eps).rsqrt()
        shift = self.bias - mean * scale
        normed = batches * scale[:, :, None, None] + shift[:, :, None, None]
        with torch.no_grad():
            numbers = GHOST_BATCH * height * width
            for running, value in (
                (self.running_mean, mean),
                (self.running_var, variance * (numbers / (numbers - 1))),
            ):
                cast(Tensor, running).lerp_(value.mean(dim=0), cast(float, self.momentum))
        return normed.flatten(0, 1).to(x.dtype)


class _GlobalMean(nn.Module):
    """The mean over each image."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


def _conv(inputs: int, outputs: int) -> nn.Module:
    """A 3 x 3 convolution with its norm and activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        GhostBatchNorm(outputs),
        nn.CELU(CELU_ALPHA),
    )


def _block(inputs: int, size: int, *outputs: int) -> list[nn.Module]:
    """A convolution of that kernel size, then 1 x 1 convolutions."""
    layers: list[nn.Module] = []
    for before, after in zip((inputs, *outputs), outputs, strict=False):
        layers += [
            nn.Conv2d(before, after, size, padding=size // 2, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
        ]
        size = 1
    return layers


def _check_sides(network: str, least: int, height: int, width: int) -> None:
    if min(height, width) < least:
        raise InputError(
            f"image_shape has {height} x {width} pixels, but {network} needs at least "
            f"{least} x {least}: use larger images"
        )


@dataclass(frozen=True)
class Recipe:
    """How a network is built and trained; MaskedImageClassifier documents the settings."""

    build: Callable[[int, int, int, int], nn.Module]
    # SGD with a learning rate that rises and falls linearly; else AdamW with a cosine
    triangular: bool
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    label_smoothing: float
    flip: bool
    shift: int
    erase: int

    def as_dict(self) -> JsonObject:
        return {name: getattr(self, name) for name in SETTINGS}


SETTINGS = [field.name for field in fields(Recipe) if field.name not in ("build", "triangular")]

# Table 18, except for ResNet9's learning rate and weight decay, which the table prints wrongly, and
# label smoothing, which it leaves out: those are as in the authors' code.
PAPER = {
    "resnet9": Recipe(resnet9, True, 80, 512, 0.4, 5e-4, 0.2, True, 4, 8),
    "network_in_network": Recipe(
        network_in_network, False, 25, 128, 3.16e-4, 1e-3, 0.0, False, 0, 0
    ),
    "narrow_resnet9": Recipe(partial(resnet9, narrow=2), True, 80, 512, 0.4, 5e-4, 0.2, True, 4, 8),
    "strided_cnn": Recipe(strided_cnn, False, 25, 128, 1e-3, 1e-3, 0.0, False, 0, 0),
}


def recipe_for(network: object, image_shape: Sequence[int], **given: Any) -> Recipe:
    """The paper's recipe for a network, with the given settings that are not None."""
    if network not in PAPER:
        raise InputError(f"network is {network!r}: give one of {', '.join(map(repr, PAPER))}")
    recipe = replace(
        PAPER[network], **{name: value for name, value in given.items() if value is not None}
    )
    check_settings(recipe)
    check_sides(recipe, image_shape)
    return recipe


@dataclass(eq=False, repr=False, kw_only=True)
class PaperSettings:
    """The settings of an estimator of the paper's networks: None is as in the paper."""

    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    weight_decay: float | None = None
    label_smoothing: float | None = None
    flip: bool | None = None
    shift: int | None = None
    erase: int | None = None

    def _settings(self) -> JsonObject:
        return {name: getattr(self, name) for name in SETTINGS}
