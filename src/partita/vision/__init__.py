"""Images: networks over sets of pixels, all submodels trained at once on a GPU. Needs PyTorch: pip
install 'partita[torch]'."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from ._ablated import AblatedImageClassifier
    from ._masked_classifier import MaskedImageClassifier
    from ._pixel_set_classifier import PixelSetClassifier

__all__ = ["AblatedImageClassifier", "MaskedImageClassifier", "PixelSetClassifier"]

_HOMES = {
    "AblatedImageClassifier": "_ablated",
    "MaskedImageClassifier": "_masked_classifier",
    "PixelSetClassifier": "_pixel_set_classifier",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the training itself needs PyTorch and numpy, the
    estimators scikit-learn too."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita.vision' has no attribute {name!r}")
    try:
        import torch  # noqa: F401
    except ImportError as exc:
        raise MissingExtraError("torch", "partita.vision", "partita[torch]") from exc
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
