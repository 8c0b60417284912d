"""Pixel-set networks as bytes: weights in safetensors, everything else as plain facts.

Loading runs no code from the file, and checks the facts against the ensemble that the networks
belong to: a submodel that looked at another's pixels would void the proof.
"""

import math
from itertools import chain
from typing import Any

import numpy as np

from .._support.optional import require
from ..errors import MissingExtraError, StoreError
from ._config import PixelSetConfig
from ._images import pixels_of
from ._pixel_set_submodels import PixelSetSubmodels
from ._pixel_sets import PixelSets
from ._runtime import choose_device
from ._transformers import weights_per_network

FORMAT = 2  # 1 named the weights differently and stored no version


def to_bytes(submodels: Any, classes: Any) -> tuple[bytes, dict[str, Any]]:
    """The weights, and the facts needed to use them; ``classes`` are the ensemble's labels."""
    if not isinstance(submodels, PixelSetSubmodels):
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
        "format": FORMAT,
        "sets": model.sets,
        "image_shape": list(model.image_shape),
        "settings": model.config.as_dict(),
        "seeds": model.seeds,
        "classes": np.searchsorted(classes, submodels.classes_).tolist(),  # positions in classes
    }
    return bytes(_safetensors().save(weights)), facts


def from_bytes(
    content: bytes, facts: dict[str, Any], classes: Any, columns: list[list[int]]
) -> PixelSetSubmodels:
    """The submodels again, on a GPU where there is one.

    ``columns`` are the columns that each submodel may look at.
    """
    _check_format(facts)
    try:
        config = PixelSetConfig(**facts["settings"])
        config.check()
        positions, image_shape = facts["classes"], facts["image_shape"]
        _check_facts(facts, classes, columns)
        weights = _safetensors().load(content)
        size = weights_per_network(
            config.width, config.blocks, config.expand, image_shape[2], len(positions)
        )
        stored = sum(
            value.numel() for name, value in weights.items() if name.startswith("weights.")
        )
        if len(columns) * config.members * size != stored:  # before memory is allocated for them
            raise ValueError("the weights are not of the size that the settings say")
        model = PixelSets(facts["sets"], image_shape, len(positions), config, facts["seeds"])
        model.networks.load_state_dict(weights)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(
            f"the networks cannot be loaded ({type(exc).__name__}: {exc}): the model was changed "
            "or damaged"
        ) from exc
    return PixelSetSubmodels(model.to(choose_device("auto")), np.asarray(classes)[positions])


def _check_format(facts: Any) -> None:
    """Refuse networks whose weights go by other names."""
    found = facts.get("format", 1) if isinstance(facts, dict) else FORMAT  # damaged: seen below
    if found != FORMAT:
        raise StoreError(
            f"the networks are stored in format {found!r}, and this version reads format {FORMAT} "
            "only: fit the model again and store it, or load it with the version of partita that "
            "stored it"
        )


def _check_facts(facts: dict[str, Any], classes: Any, columns: list[list[int]]) -> None:
    """Refuse networks that are not those of the ensemble's partition and labels."""
    positions, image_shape = facts["classes"], facts["image_shape"]
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


def _safetensors() -> Any:
    return require("safetensors.torch", "storing networks", "partita[torch]")
