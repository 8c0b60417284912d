"""Networks as bytes: weights in safetensors, everything else as plain facts.

Loading runs no code from the file, and checks the facts against the ensemble that the networks
belong to: a submodel that looked at another's pixels would void the proof.
"""

import math
from itertools import chain
from types import ModuleType

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from .._support import Array, JsonObject, require
from ..errors import MissingExtraError, StoreError
from . import _cell_sets, _pixel_sets
from ._cell_sets import CellConfig, CellSets, values_per_cell
from ._images import pixels_of
from ._pixel_sets import PixelSetConfig, PixelSets, PixelSetSubmodels
from ._runtime import choose_device

# 1 named the weights differently and stored no version
SETS_FORMAT, CELLS_FORMAT = 2, 3

Weights = dict[str, Tensor]


def to_bytes(submodels: object, classes: ArrayLike) -> tuple[bytes, JsonObject]:
    """The weights, and the facts needed to use them; ``classes`` are the ensemble's labels."""
    if not isinstance(submodels, PixelSetSubmodels):
        raise StoreError(
            f"{type(submodels).__name__} cannot be stored: use PixelSetClassifier or "
            "CellImageClassifier, or keep the folder given as checkpoint="
        )
    model = submodels.model
    if isinstance(model, CellSets):
        version, state = CELLS_FORMAT, _joined([one.state_dict() for one in model.networks])
    elif isinstance(model, PixelSets):
        version, state = SETS_FORMAT, model.networks.state_dict()
    else:
        raise StoreError(f"networks of type {type(model).__name__} cannot be stored")
    weights = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    facts = {
        "format": version,
        "sets": model.sets,
        "image_shape": list(model.image_shape),
        "settings": model.config.as_dict(),
        "seeds": model.seeds,
        "classes": np.searchsorted(classes, submodels.classes_).tolist(),  # positions in classes
    }
    return bytes(_safetensors().save(weights)), facts


def from_bytes(
    content: bytes, facts: JsonObject, classes: Array, columns: list[list[int]]
) -> PixelSetSubmodels:
    """The submodels again, on a GPU where there is one.

    ``columns`` are the columns that each submodel may look at.
    """
    version = _checked_format(facts)
    try:
        _check_facts(facts, classes, columns)
        weights = _safetensors().load(content)
        read = _cells if version == CELLS_FORMAT else _sets
        model = read(facts, weights)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(
            f"the networks cannot be loaded ({type(exc).__name__}: {exc}): the model was changed "
            "or damaged"
        ) from exc
    return PixelSetSubmodels(model.to(choose_device("auto")), np.asarray(classes)[facts["classes"]])


def _sets(facts: JsonObject, weights: Weights) -> PixelSets:
    """Transformers over pixels, from facts that were checked."""
    config, n_classes = PixelSetConfig(**facts["settings"]), len(facts["classes"])
    config.check()
    channels = facts["image_shape"][2]
    size = _pixel_sets.weights_per_network(
        config.width, config.blocks, config.expand, channels, n_classes
    )
    _check_size(weights, len(facts["sets"]) * config.members * size)
    model = PixelSets(facts["sets"], facts["image_shape"], n_classes, config, facts["seeds"])
    model.networks.load_state_dict(weights)
    return model


def _cells(facts: JsonObject, weights: Weights) -> CellSets:
    """Convolutions over cells, from facts that were checked."""
    config, n_classes = CellConfig(**facts["settings"]), len(facts["classes"])
    config.check(facts["image_shape"])
    inputs = values_per_cell(config, facts["image_shape"][2])
    count = len(facts["sets"]) * config.members
    size = _cell_sets.weights_per_network(inputs, n_classes, config.width, config.blocks)
    _check_size(weights, count * size)
    model = CellSets(facts["sets"], facts["image_shape"], n_classes, config, facts["seeds"])
    for k, network in enumerate(model.networks):
        network.load_state_dict({name: value.chunk(count)[k] for name, value in weights.items()})
    return model


def _joined(states: list[Weights]) -> Weights:
    """The weights of single networks, one after the other in every tensor."""
    return {name: torch.cat([one[name] for one in states]) for name in states[0]}


def _check_size(weights: Weights, expected: int) -> None:
    """Refuse weights of another size before memory is allocated for the networks."""
    stored = sum(value.numel() for name, value in weights.items() if name.startswith("weights."))
    if stored != expected:
        raise ValueError("the weights are not of the size that the settings say")


def _checked_format(facts: object) -> int:
    """The format, which says what kind of networks these are; refuse one that is not known."""
    # damaged facts are seen by the checks that follow
    found = facts.get("format", 1) if isinstance(facts, dict) else SETS_FORMAT
    if found not in (SETS_FORMAT, CELLS_FORMAT):
        raise StoreError(
            f"the networks are stored in format {found!r}, and this version reads formats "
            f"{SETS_FORMAT} and {CELLS_FORMAT} only: fit the model again and store it, or load it "
            "with the version of partita that stored it"
        )
    return found


def _check_facts(facts: JsonObject, classes: Array, columns: list[list[int]]) -> None:
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


def _safetensors() -> ModuleType:
    return require("safetensors.torch", "storing networks", "partita[torch]")
