"""Models whose predictions carry a proof.

The names below are imported when they are first used, so that ``import partita`` costs nothing.
"""

from typing import TYPE_CHECKING

from ._support.lazy import lazy_names

if TYPE_CHECKING:
    from .attacks import stress
    from .baselines import compare
    from .certificates import Certificates
    from .collective import certify_collective, criticality
    from .ensemble import (
        FeaturePartitionClassifier,
        FeaturePartitionRegressor,
        LeaveOutClassifier,
        LeaveOutRegressor,
    )
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
    from .partition import Informed, Partition, Units, families, pixels
    from .patches import certify_patches, certify_rectangles
    from .plot import CertifiedAccuracyDisplay
    from .rules import certify
    from .selection import choose, search_offsets, search_rules
    from .workflow import certify_parquet, fit_parquet

__version__ = "0.1.0"

__all__ = [
    "Certificates",
    "CertifiedAccuracyDisplay",
    "EmptyProofWarning",
    "FeaturePartitionClassifier",
    "FeaturePartitionRegressor",
    "Informed",
    "InputError",
    "LeaveOutClassifier",
    "LeaveOutRegressor",
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
    "choose",
    "compare",
    "criticality",
    "families",
    "fit_parquet",
    "pixels",
    "search_offsets",
    "search_rules",
    "stress",
]

__getattr__, __dir__ = lazy_names(__name__)
