"""The networks of the feature partition aggregation paper (its Tables 16 and 17), and how it trains
them (its Table 18)."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import InputError

GHOST = 32  # images whose statistics normalise one another in training
ALPHA = 0.075  # of CELU
LOGITS = 1 / 8  # what the scores of ResNet9 are multiplied by


def resnet9(channels: int, classes: int, height: int, width: int) -> nn.Module:
    """ResNet9 (Table 16). Its last pooling is 4 x 4, which is all that is left of a 32 x 32 image;
    of other images, too, it takes all."""
    _check_sides("resnet9", 8, height, width)
    return _ResNet9(channels, classes, (height // 8, width // 8))


def network_in_network(channels: int, classes: int, height: int, width: int) -> nn.Module:
    """Network-in-Network (Table 17), with as many input channels as the images have.

    The table pads its 1 x 1 convolutions by one, which would put a frame of constants around the
    image: here they are not padded. It gives no stride for its pooling: here it is 2, as where the
    network comes from, padded by one."""
    _check_sides("network_in_network", 4, height, width)
    return nn.Sequential(
        *_block(channels, 5, 192, 160, 96),
        nn.MaxPool2d(3, stride=2, padding=1),
        *_block(96, 5, 192, 192, 192),
        nn.AvgPool2d(3, stride=2, padding=1),
        *_block(192, 3, 192, 192, 192),
        _Mean(),
        nn.Linear(192, classes),
    )


class _ResNet9(nn.Module):
    def __init__(self, channels: int, classes: int, left: tuple[int, int]) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _conv(channels, 64),
            _conv(64, 128),
            nn.MaxPool2d(2),
            _Residual(128),
            _conv(128, 256),
            nn.MaxPool2d(2),
            _conv(256, 512),
            nn.MaxPool2d(2),
            _Residual(512),
            nn.MaxPool2d(left),
            nn.Flatten(),
        )
        self.linear = nn.Linear(512, classes, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.body(images)) * LOGITS


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(_conv(channels, channels), _conv(channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class _GhostBatchNorm(nn.BatchNorm2d):
    """Batch norm whose statistics are, in training, those of 32 images each; a batch that is no
    multiple of 32 is normalised as one."""

    def forward(self, x: Tensor) -> Tensor:
        images, channels, height, width = x.shape
        ghosts = images // GHOST
        if not self.training or ghosts < 2 or images % GHOST:
            return super().forward(x)
        # every ghosts-th image is put beside the others of its ghost as further channels, so that
        # one call normalises all of them
        apart = x.contiguous().view(GHOST, ghosts * channels, height, width)
        mean, variance = torch.zeros(2, ghosts * channels, device=x.device)
        normed = F.batch_norm(
            apart,
            mean,
            variance,
            self.weight.repeat(ghosts),
            self.bias.repeat(ghosts),
            training=True,
            momentum=1.0,
            eps=self.eps,
        )
        with torch.no_grad():
            for running, seen in ((self.running_mean, mean), (self.running_var, variance)):
                cast(Tensor, running).lerp_(
                    seen.view(ghosts, channels).mean(dim=0), cast(float, self.momentum)
                )
        return normed.view(x.shape)


class _Mean(nn.Module):
    """The mean over an image."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


def _conv(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        _GhostBatchNorm(outputs),
        nn.CELU(ALPHA),
    )


def _block(inputs: int, size: int, *outputs: int) -> list[nn.Module]:
    """A convolution of that size, then 1 x 1 convolutions."""
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
            f"image_shape is of {height} x {width} pixels, but {network} needs {least} x {least} "
            "at least: use larger images"
        )


@dataclass(frozen=True)
class Recipe:
    """How a network is built and trained. See MaskedImageClassifier for what each means."""

    build: Callable[[int, int, int, int], nn.Module]
    # SGD with a learning rate that rises and falls in straight lines; else AdamW along a cosine
    triangle: bool
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    label_smoothing: float
    flip: bool
    shift: int
    erase: int

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS}


SETTINGS = [field.name for field in fields(Recipe) if field.name not in ("build", "triangle")]

# Table 18; but learning rate and weight decay of ResNet9, which it prints wrongly, and label
# smoothing, which it leaves out, are as its authors' code has them.
PAPER = {
    "resnet9": Recipe(resnet9, True, 80, 512, 0.4, 5e-4, 0.2, True, 4, 8),
    "network_in_network": Recipe(
        network_in_network, False, 25, 128, 3.16e-4, 1e-3, 0.0, False, 0, 0
    ),
}


def recipe_for(network: Any, image_shape: Any, **given: Any) -> Recipe:
    """The paper's recipe for a network, with the settings given that are not None."""
    if network not in PAPER:
        raise InputError(f"network is {network!r}: give one of {', '.join(map(repr, PAPER))}")
    if len(image_shape) != 3 or not all(
        isinstance(side, Integral) and int(side) >= 1 for side in image_shape
    ):
        raise InputError(f"image_shape is {image_shape!r}: give (height, width, channels)")
    recipe = replace(
        PAPER[network], **{name: value for name, value in given.items() if value is not None}
    )
    for name, least in (("epochs", 1), ("batch_size", 2), ("shift", 0), ("erase", 0)):
        value = getattr(recipe, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} is {value!r}: it must be a whole number, {least} or above")
    for name in ("shift", "erase"):
        if getattr(recipe, name) >= min(image_shape[:2]):
            raise InputError(
                f"{name} is {getattr(recipe, name)}, but an image's shorter side has "
                f"{min(image_shape[:2])} pixels: lower {name}"
            )
    for name, most in (
        ("learning_rate", float("inf")),
        ("weight_decay", float("inf")),
        ("label_smoothing", 1.0),
    ):
        number = getattr(recipe, name)
        if not isinstance(number, Real) or not 0 <= float(number) < most:
            raise InputError(
                f"{name} is {number!r}: it must be a number, at least 0"
                + (f" and below {most:g}" if most < 2 else "")
            )
    return recipe
