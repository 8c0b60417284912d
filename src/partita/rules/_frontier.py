"""How many units may lie while others fall silent: the frontier of each row.

A submodel that abstains takes back its own vote in every gap, ``s``; one that lies can cost
``s + Q``. So silence costs about half of a lie. Inputs are a rule and checked ballots; nothing here
knows models or tables. Soundness: with nobody left to vote nothing is certified, and where units
overlap liars and abstainers are priced separately, which counts a submodel twice at worst (theory,
section 11).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels
from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ._reach import Reach


@dataclass(frozen=True, eq=False)
class Frontier:
    """A rule and its ballots, from which the frontier is computed when it is asked for.

    ``about``: what is certified of each row (bounds, labels); ``gate``: of a full model behind it.
    """

    rule: Any
    ballots: Ballots
    reach: Reach | None = None
    about: tuple[Array, ...] = ()
    gate: int = 0

    def radii(self) -> Array:
        """Return how many may lie while m others abstain; -1: abstentions alone may break."""
        radii = np.asarray(self.rule.frontier(self.ballots, self.reach, *self.about))
        if not self.gate:
            return radii
        behind = np.where(radii == kernels.FAR, radii, radii - self.gate)
        return np.asarray(np.maximum(behind, -1))


def with_frontier(
    proof: Certificates, rule: Any, ballots: Ballots, reach: Reach | None = None, *about: Array
) -> Certificates:
    """Return certificates that can tell what happens when sources fall silent."""
    if proof.frontier is not None:
        return proof
    return replace(proof, frontier=Frontier(rule, ballots, reach, about))


def gap_frontier(rule: Any, ballots: Ballots, reach: Reach | None, *bounds: Array) -> Array:
    """Compute the frontier of a rule that decides by gaps."""
    n_rows, n_submodels = ballots.shape[:2]
    over = Reach(np.eye(n_submodels, dtype=bool), n_submodels) if reach is None else reach
    apart = bool((over.sizes == 1).all())
    radii = np.empty((n_rows, max(1, len(over))), np.int64)

    def work(rows: slice) -> int:
        radii[rows] = kernels.frontier(
            rule._gaps_of_voters(ballots[rows], *(bound[rows] for bound in bounds)),
            rule.full_vote,
            (over.starts, over.members),
            apart,
            radii.shape[1] - 1,
        )
        return -1

    kernels.over_rows(work, n_rows, ballots.scores[:1].size)
    return void_without_voters(radii, over, ballots.n_voters)


def void_without_voters(radii: Array, reach: Reach, n_voters: Array) -> Array:
    """Take back what is certified of rows in which so many silent groups may leave no voter."""
    reached = np.array([reach.most_reached(m) for m in range(radii.shape[1])])
    nobody = reached[None] >= n_voters[:, None]
    return np.where(nobody & (radii != kernels.FAR), -1, radii)


def in_units(radii: Array, reach: Reach | None) -> Array:
    """Convert a frontier in submodels: as many units as reach no more submodels than that."""
    if reach is None:
        return radii
    silent = [reach.most_reached(m) for m in range(max(1, len(reach)))]
    inside = [m for m in silent if m < radii.shape[1]]
    found = radii[:, inside]
    units = np.where(found == kernels.FAR, found, reach.from_submodels(found))
    rest = np.full((len(radii), len(silent) - len(inside)), -1)
    return np.concatenate([units, rest], axis=1)
