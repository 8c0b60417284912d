"""Networks over sets of an image's pixels, and over images without some windows.

Needs PyTorch: ``pip install 'partita[torch]'``. Importing this package does not import it; using
one of its names does.
"""

from typing import TYPE_CHECKING, Any

from .._support import require
from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._ablated_classifier import AblatedImageClassifier
    from ._leave_out_images import LeaveOutImageClassifier
    from ._masked_classifier import MaskedImageClassifier
    from ._pixel_set_classifier import CellImageClassifier, PixelSetClassifier
    from ._serialization import from_bytes, to_bytes

__all__ = [
    "AblatedImageClassifier",
    "CellImageClassifier",
    "LeaveOutImageClassifier",
    "MaskedImageClassifier",
    "PixelSetClassifier",
]

_lazy_getattr, __dir__ = lazy_names(__name__)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, or say how to install PyTorch."""
    if name in __all__:
        require("torch", "partita.vision", "partita[torch]")
    return _lazy_getattr(name)
