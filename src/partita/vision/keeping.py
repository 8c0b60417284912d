"""Networks as bytes: weights in safetensors, everything else as plain facts. Loading runs no code."""

from typing import Any

import numpy as np

from ..errors import MissingExtraError, StoreError
from .pixel_sets import PixelSets
from .settings import Settings
from .submodels import Together, pixels_of


def to_bytes(submodels: Together, classes: Any) -> tuple[bytes, dict[str, Any]]:
    """The weights, and what must be known to use them; ``classes`` are all labels of the ensemble."""
    if not isinstance(submodels, Together):
        raise StoreError(f"{type(submodels).__name__} cannot be stored: use PixelSetClassifier, or keep the folder given as checkpoint=")
    model = submodels.model
    weights = {name: value.detach().cpu().contiguous() for name, value in model.networks.state_dict().items()}
    facts = {
        "sets": model.sets,
        "image_shape": list(model.image_shape),
        "settings": model.settings.as_dict(),
        "seeds": model.seeds,
        "classes": np.searchsorted(classes, submodels.classes_).tolist(),  # positions among all labels
    }
    return bytes(_safetensors().save(weights)), facts


def from_bytes(content: bytes, facts: dict[str, Any], classes: Any, columns: list[list[int]]) -> Together:
    """The submodels again, on the device that is there; ``columns`` are those that each may look at."""
    from .training import choose_device

    try:
        if facts["sets"] != [pixels_of(own, facts["image_shape"]) for own in columns]:
            raise ValueError("their pixels are not those of the partition")
        model = PixelSets(facts["sets"], facts["image_shape"], len(facts["classes"]), Settings(**facts["settings"]), facts["seeds"])
        model.networks.load_state_dict(_safetensors().load(content))
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(f"the networks cannot be loaded ({type(exc).__name__}: {exc}): the model was changed or damaged") from exc
    return Together(model.to(choose_device("auto")), np.asarray(classes)[facts["classes"]])


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError as exc:
        raise MissingExtraError("safetensors", "storing networks", "partita[torch]") from exc
    return safetensors.torch
