"""Models whose predictions carry a proof."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .certificates import Certificates
    from .collective import certify_collective, criticality
    from .comparison import compare
    from .errors import (
        EmptyProofWarning,
        InputError,
        MissingExtraError,
        PartitaError,
        SoundnessError,
        SoundnessWarning,
        StoreError,
        SubmodelError,
        SubmodelWarning,
    )
    from .estimators import FeaturePartitionClassifier, FeaturePartitionRegressor
    from .informed import Informed
    from .parquet import certify_parquet, fit_parquet
    from .partition import Partition
    from .patches import certify_patches, certify_rectangles
    from .plot import CertifiedAccuracyDisplay
    from .rules import certify
    from .units import Units, families, pixels

__version__ = "0.1.0"

__all__ = [
    "Certificates",
    "CertifiedAccuracyDisplay",
    "EmptyProofWarning",
    "FeaturePartitionClassifier",
    "FeaturePartitionRegressor",
    "Informed",
    "InputError",
    "MissingExtraError",
    "PartitaError",
    "Partition",
    "SoundnessError",
    "SoundnessWarning",
    "StoreError",
    "SubmodelError",
    "SubmodelWarning",
    "Units",
    "certify",
    "certify_collective",
    "certify_parquet",
    "certify_patches",
    "certify_rectangles",
    "compare",
    "criticality",
    "families",
    "fit_parquet",
    "pixels",
]

_HOMES = {
    "Certificates": "certificates",
    "CertifiedAccuracyDisplay": "plot",
    "EmptyProofWarning": "errors",
    "FeaturePartitionClassifier": "estimators",
    "FeaturePartitionRegressor": "estimators",
    "Informed": "informed",
    "InputError": "errors",
    "MissingExtraError": "errors",
    "PartitaError": "errors",
    "Partition": "partition",
    "SoundnessError": "errors",
    "SoundnessWarning": "errors",
    "StoreError": "errors",
    "SubmodelError": "errors",
    "SubmodelWarning": "errors",
    "Units": "units",
    "certify": "rules",
    "certify_collective": "collective",
    "certify_parquet": "parquet",
    "certify_patches": "patches",
    "certify_rectangles": "patches",
    "compare": "comparison",
    "criticality": "collective",
    "families": "units",
    "fit_parquet": "parquet",
    "pixels": "units",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that rules need numpy alone and importing partita costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
