"""Units, which an attacker owns as a whole, and partitions, which deal them out to submodels.

Knows names, positions and numbers of columns. Values are looked at only in a reference that the
user declares trusted: what an attacker writes must never move a partition.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._informed import SHARED_ROWS, Informed
    from ._leave_out import LeaveOut, choose_members, count_groups, left_out_size
    from ._partition import (
        Columns,
        Overlap,
        Partition,
        Units,
        choose_partition,
        choose_units,
        families,
        patch_partition,
        pixels,
        random_partition,
        spiral_partition,
        strided_partition,
    )
    from ._units_file import (
        UnitsFile,
        as_units_toml,
        one_hot_families,
        read_units,
        shared_prefixes,
    )

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

__getattr__, __dir__ = lazy_names(__name__)
