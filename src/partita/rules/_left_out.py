"""Which groups each model leaves out: a complete family of sets, and tables of sets in sets.

The kernels of :class:`partita.rules.Agreement` walk these tables; sets are enumerated here once per
design, never per row. Nothing here knows votes.
"""

from functools import cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from .._support import Array, array_of
from ..errors import InputError

MOST_ENTRIES = 2**27  # of a table of sets: 512 MiB


class Design(NamedTuple):
    """A complete family: every set of ``2 * radius`` groups is left out by exactly one model.

    Models of silent groups leave out sets of another ``size``, at least ``2 * radius``.
    """

    n_groups: int
    radius: int
    order: Array  # the model that leaves out each set, in the order of itertools.combinations
    size: int | None = None

    @property
    def n_left_out(self) -> int:
        """How many groups each model leaves out."""
        return 2 * self.radius if self.size is None else self.size

    def labels(self) -> tuple[Array, Array, Array, Array]:
        """Return ``models_of``, ``covers``, ``starts`` and ``widths`` of ``kernels.agreement``."""
        r = self.radius
        tables = [supersets(self.n_groups, q, r) for q in range(1, r)]
        covers = np.concatenate([table.ravel() for table in tables] or [np.empty(0, np.int32)])
        starts = np.cumsum([0, *(table.size for table in tables)])
        widths = np.array([table.shape[1] for table in tables], np.int64)
        return self.models(r), covers, starts, widths

    def bounds(self, q: int) -> tuple[Array, Array, Array, Array]:
        """Return the tables of ``kernels.agreement_bounds`` for an attack on ``q`` groups."""
        return self.bounds_by(self.radius, q, self.radius + q)

    def bounds_by(
        self, agreed: int, attacked: int, beyond: int
    ) -> tuple[Array, Array, Array, Array]:
        """Return the same tables for sets of any size: those that agree, and those beyond them."""
        n = self.n_groups
        return (
            self.models(agreed),
            supersets(n, attacked, agreed),
            self.models(beyond),
            supersets(n, attacked, beyond),
        )

    def models(self, size: int) -> Array:
        """Return, for each set of ``size`` groups, the models that leave it out."""
        return np.asarray(self.order[supersets(self.n_groups, size, self.n_left_out)])


def read_design(left_out: Any, radius: int) -> Design:
    """Check that every set of ``2 * radius`` groups is left out by exactly one model."""
    matrix = array_of("left_out", left_out)
    if matrix.ndim != 2 or matrix.dtype != bool:
        raise InputError(
            f"left_out has shape {matrix.shape} and holds {matrix.dtype}: it must be bool of "
            "shape (models, groups)"
        )
    n_groups, size = matrix.shape[1], 2 * radius
    if n_groups <= size:
        raise InputError(
            f"left_out has {n_groups} groups: a radius of {radius} needs more than {size}"
        )
    sizes = matrix.sum(axis=1)
    if (sizes != size).any():
        model = int(np.argmax(sizes != size))
        raise InputError(
            f"model {model} in left_out leaves out {sizes[model]} groups: with radius {radius} "
            f"each model must leave out {size}"
        )
    if len(matrix) != comb(n_groups, size) or len(np.unique(matrix, axis=0)) != len(matrix):
        raise InputError(
            f"left_out has {len(matrix)} models: every set of {size} of the {n_groups} groups "
            f"must be left out by exactly one, {comb(n_groups, size)} in all"
        )
    members = np.nonzero(matrix)[1].reshape(len(matrix), size)
    return Design(n_groups, radius, np.lexsort(members.T[::-1]).astype(np.int32))


@cache
def supersets(n_groups: int, size: int, larger: int) -> Array:
    """List, for each set of ``size`` groups, the sets of ``larger`` groups that contain it.

    Sets are numbered in the order of ``itertools.combinations``.
    """
    n_sets, per_set = comb(n_groups, size), comb(n_groups - size, larger - size)
    if n_sets * per_set > MOST_ENTRIES:
        raise InputError(
            f"{n_groups} groups and sets of {larger} give {n_sets * per_set:,} pairs of sets: use "
            "fewer groups or a smaller radius"
        )
    number = {chosen: k for k, chosen in enumerate(combinations(range(n_groups), larger))}
    table = np.empty((n_sets, per_set), np.int32)
    for k, chosen in enumerate(combinations(range(n_groups), size)):
        rest = [group for group in range(n_groups) if group not in chosen]
        table[k] = [
            number[tuple(sorted((*chosen, *added)))] for added in combinations(rest, larger - size)
        ]
    table.flags.writeable = False
    return table
