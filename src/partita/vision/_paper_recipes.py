"""How the feature partition aggregation paper trains its networks (its table 18)."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral
from typing import Any

from torch import nn

from .._support import check_number, check_whole
from ..errors import InputError
from ._paper_networks import network_in_network, resnet9, strided_cnn


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

    def as_dict(self) -> dict[str, Any]:
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


def recipe_for(network: Any, image_shape: Any, **given: Any) -> Recipe:
    """The paper's recipe for a network, with the given settings that are not None."""
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
        check_whole(name, getattr(recipe, name), least)
    shorter = min(image_shape[:2])
    for name in ("shift", "erase"):
        if getattr(recipe, name) >= shorter:
            raise InputError(
                f"{name} is {getattr(recipe, name)}, but an image's shorter side has {shorter} "
                f"pixels: lower {name}"
            )
    for name, limit in (
        ("learning_rate", None),
        ("weight_decay", None),
        ("label_smoothing", 1.0),
    ):
        check_number(name, getattr(recipe, name), limit)
    return recipe
