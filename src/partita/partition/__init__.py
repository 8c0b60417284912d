"""Units, what an attacker owns, and partitions, which deal them out to submodels."""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._informed import Informed
    from ._partition import (
        Overlap,
        Partition,
        patch_partition,
        random_partition,
        spiral_partition,
        strided_partition,
    )
    from ._units import Units, families, pixels
    from ._units_file import read_units

__all__ = [
    "Informed",
    "Overlap",
    "Partition",
    "Units",
    "families",
    "patch_partition",
    "pixels",
    "random_partition",
    "read_units",
    "spiral_partition",
    "strided_partition",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Informed": "_informed",
        "Overlap": "_partition",
        "Partition": "_partition",
        "Units": "_units",
        "families": "_units",
        "pixels": "_units",
        "patch_partition": "_partition",
        "random_partition": "_partition",
        "spiral_partition": "_partition",
        "strided_partition": "_partition",
        "read_units": "_units_file",
    },
)
