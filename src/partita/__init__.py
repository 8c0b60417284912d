"""Models whose predictions carry a proof."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .certificates import Certificates
    from .errors import InputError, MissingExtraError, PartitaError, SubmodelError
    from .estimators import FeaturePartitionClassifier, FeaturePartitionRegressor
    from .partition import Partition
    from .plot import CertifiedAccuracyDisplay
    from .rules import certify

__version__ = "0.1.0"

__all__ = [
    "Certificates",
    "CertifiedAccuracyDisplay",
    "FeaturePartitionClassifier",
    "FeaturePartitionRegressor",
    "InputError",
    "MissingExtraError",
    "PartitaError",
    "Partition",
    "SubmodelError",
    "certify",
]

_HOMES = {
    "Certificates": "certificates",
    "CertifiedAccuracyDisplay": "plot",
    "FeaturePartitionClassifier": "estimators",
    "FeaturePartitionRegressor": "estimators",
    "InputError": "errors",
    "MissingExtraError": "errors",
    "Partition": "partition",
    "PartitaError": "errors",
    "SubmodelError": "errors",
    "certify": "rules",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that rules need numpy alone and importing partita costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
