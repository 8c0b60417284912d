"""Units, which an attacker owns as a whole, and partitions, which deal them out to submodels.

Knows names, positions and numbers of columns. Values are looked at only in a reference that the
user declares trusted: what an attacker writes must never move a partition.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._informed import Informed
    from ._leave_out import LeaveOut
    from ._partition import Overlap, Partition
    from ._strategies import (
        patch_partition,
        random_partition,
        spiral_partition,
        strided_partition,
    )
    from ._units import Units, families, pixels
    from ._units_file import read_units

__all__ = [
    "Informed",
    "LeaveOut",
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
        "LeaveOut": "_leave_out",
        "Overlap": "_partition",
        "Partition": "_partition",
        "Units": "_units",
        "families": "_units",
        "patch_partition": "_strategies",
        "pixels": "_units",
        "random_partition": "_strategies",
        "read_units": "_units_file",
        "spiral_partition": "_strategies",
        "strided_partition": "_strategies",
    },
)
