"""Networks as bytes: weights in safetensors, everything else as plain facts. Loading runs no
code."""

import math
from itertools import chain
from typing import Any

import numpy as np

from ..errors import MissingExtraError, StoreError
from ._config import Settings
from ._networks import WAVES
from ._pixel_sets import PixelSets
from ._submodels import Together, pixels_of


def to_bytes(submodels: Together, classes: Any) -> tuple[bytes, dict[str, Any]]:
    """The weights, and what must be known to use them; ``classes`` are all labels of the
    ensemble."""
    if not isinstance(submodels, Together):
        raise StoreError(
            f"{type(submodels).__name__} cannot be stored: use PixelSetClassifier, or keep the "
            "folder given as checkpoint="
        )
    model = submodels.model
    weights = {
        name: value.detach().cpu().contiguous()
        for name, value in model.networks.state_dict().items()
    }
    facts = {
        "sets": model.sets,
        "image_shape": list(model.image_shape),
        "settings": model.settings.as_dict(),
        "seeds": model.seeds,
        "classes": np.searchsorted(
            classes, submodels.classes_
        ).tolist(),  # positions among all labels
    }
    return bytes(_safetensors().save(weights)), facts


def from_bytes(
    content: bytes, facts: dict[str, Any], classes: Any, columns: list[list[int]]
) -> Together:
    """The submodels again, on the device that is there; ``columns`` are those that each may look
    at."""
    from ._training import choose_device

    try:
        positions, image_shape, settings = (
            facts["classes"],
            facts["image_shape"],
            Settings(**facts["settings"]),
        )
        settings.check()
        if (
            len(image_shape) != 3
            or math.prod(image_shape) != len({*chain.from_iterable(columns)})
            or min(image_shape) < 1
        ):
            raise ValueError(f"image_shape is {image_shape}, which is not that of the table")
        if facts["sets"] != [pixels_of(own, image_shape) for own in columns] or len(
            facts["seeds"]
        ) != len(columns):
            raise ValueError("their pixels are not those of the partition")
        if (
            not all(type(label) is int for label in positions)
            or sorted({*positions} & {*range(len(classes))}) != positions
        ):
            raise ValueError("their labels are not those of the model")
        weights = _safetensors().load(content)
        expected = (
            len(columns) * settings.members * n_weights(settings, image_shape[2], len(positions))
        )
        if expected != sum(
            value.numel() for name, value in weights.items() if name.startswith("weights.")
        ):
            # before any room is made for them
            raise ValueError("their weights are not of the size that their settings say")
        model = PixelSets(facts["sets"], image_shape, len(positions), settings, facts["seeds"])
        model.networks.load_state_dict(weights)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(
            f"the networks cannot be loaded ({type(exc).__name__}: {exc}): the model was changed "
            "or damaged"
        ) from exc
    return Together(model.to(choose_device("auto")), np.asarray(classes)[positions])


def n_weights(settings: Settings, channels: int, n_classes: int) -> int:
    """How many numbers the matrices of one network hold."""
    width, inside = settings.width, settings.blocks * (4 + 2 * settings.expand)
    return width * (channels + 4 * WAVES + inside * width + 2 * n_classes)


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError as exc:
        raise MissingExtraError("safetensors", "storing networks", "partita[torch]") from exc
    return safetensors.torch
