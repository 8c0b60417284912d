"""Networks over sets of an image's pixels, and over images without some windows.

Needs PyTorch: ``pip install 'partita[torch]'``. Importing this package does not import it; using
one of its names does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._support.optional import require

if TYPE_CHECKING:
    from ._ablated_classifier import AblatedImageClassifier
    from ._cell_classifier import CellImageClassifier
    from ._leave_out_images import LeaveOutImageClassifier
    from ._masked_classifier import MaskedImageClassifier
    from ._pixel_set_classifier import PixelSetClassifier

__all__ = [
    "AblatedImageClassifier",
    "CellImageClassifier",
    "LeaveOutImageClassifier",
    "MaskedImageClassifier",
    "PixelSetClassifier",
]

_HOMES = {
    "AblatedImageClassifier": "_ablated_classifier",
    "CellImageClassifier": "_cell_classifier",
    "LeaveOutImageClassifier": "_leave_out_images",
    "MaskedImageClassifier": "_masked_classifier",
    "PixelSetClassifier": "_pixel_set_classifier",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, or say how to install PyTorch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita.vision' has no attribute {name!r}")
    require("torch", "partita.vision", "partita[torch]")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """List the public names, which are imported late."""
    return sorted(_HOMES)
