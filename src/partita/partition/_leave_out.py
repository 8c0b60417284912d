"""Sets of units for leave-out ensembles: which groups each fitted model never sees.

A proof against r sources asks models ``m_D`` that leave out every set ``D`` of 2 r groups. What is
fitted are *members* that leave out larger sets; ``m_D`` is the mean of all members whose left-out
set contains ``D``, so a member serves many models. Nothing here sees feature values.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from .._support import Array
from ..errors import InputError
from ._partition import Partition

MOST_MODELS = 5000  # sets of 2 r groups; more would take too long to enumerate
MOST_RADIUS = 20  # beyond it pairs of sets are too many in any case
MOST_PAIRS = 2**27  # of a set of groups and a larger one, which rules tabulate
CANDIDATES = 64  # sets that are compared before one is taken


@dataclass(frozen=True)
class LeaveOut:
    """Units in groups, and the groups that each member leaves out.

    ``len(leave_out)`` is the number of members and ``leave_out[t]`` the units that member t sees. A
    fitted :class:`partita.LeaveOutClassifier` has one as its ``partition_``.

    Parameters
    ----------
    groups : Partition
        The units of each group.
    radius : int
        Every set of ``2 * radius`` groups is inside the left-out set of some member.
    left_out : tuple of tuples of int
        The groups that each member leaves out, ascending. An empty one is a model on all columns,
        which proves nothing.

    Raises
    ------
    InputError
        If a set of ``2 * radius`` groups is left out by no member.

    See Also
    --------
    partita.partition.Partition : Sets that do not overlap.

    References
    ----------
    Theory, section 10.

    Examples
    --------
    >>> from partita.partition import LeaveOut, Partition
    >>> leave_out = LeaveOut(Partition([[0], [1], [2, 3]]), 1, ((0, 1), (0, 2), (1, 2)))
    >>> [leave_out[t] for t in range(len(leave_out))]
    [(2, 3), (1,), (0,)]
    """

    groups: Partition
    radius: int
    left_out: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n_groups, size = len(self.groups), 2 * self.radius
        if self.radius < 1 or n_groups <= size:
            raise InputError(
                f"radius is {self.radius}: with {n_groups} groups it must be from 1 to "
                f"{(n_groups - 1) // 2}"
            )
        _check_size(n_groups, self.radius, len(self.left_out))
        every_group = set(range(n_groups))
        for groups in self.left_out:
            if list(groups) != sorted(set(groups)) or not set(groups) < every_group:
                raise InputError(
                    f"left_out has the set {groups}: groups must be ascending, from 0 to "
                    f"{n_groups - 1}, and not all of them"
                )
        hidden = self._hidden_groups()
        for chosen in combinations(range(n_groups), size):
            if not hidden[:, chosen].all(axis=1).any():
                raise InputError(f"left_out has no member without the groups {chosen}")

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.groups.n_units

    def __len__(self) -> int:
        return len(self.left_out)

    def __getitem__(self, t: int) -> tuple[int, ...]:
        if not 0 <= t < len(self):
            raise IndexError(t)
        hidden = set(self.left_out[t])
        return tuple(
            sorted(unit for g, units in enumerate(self.groups) if g not in hidden for unit in units)
        )

    def hidden(self, t: int) -> tuple[int, ...]:
        """Return the units that member t leaves out.

        Parameters
        ----------
        t : int
            The member's index.

        Returns
        -------
        tuple of int
            Units, ascending.
        """
        return tuple(sorted(unit for group in self.left_out[t] for unit in self.groups[group]))

    def incidence(self) -> Array:
        """Return which members see each unit.

        Returns
        -------
        bool array of shape (n_units, n_members)
            True where a change of the unit may change the member.
        """
        return ~(self.groups.incidence() @ self._hidden_groups().T)

    def pools(self) -> tuple[Array, Array]:
        """Return the members of every model: those that leave out all its groups.

        Returns
        -------
        starts : array of int, shape (n_models + 1,)
            Where the members of each model begin. Models are in the order of
            ``itertools.combinations`` of the groups they leave out.
        members : array of int
            The members of all models, one model after the other.
        """
        hidden = self._hidden_groups()
        pools = [
            np.flatnonzero(hidden[:, chosen].all(axis=1))
            for chosen in combinations(range(len(self.groups)), 2 * self.radius)
        ]
        return np.cumsum([0, *map(len, pools)]), np.concatenate(pools)

    def _hidden_groups(self) -> Array:
        """Return which groups each member leaves out: bool (n_members, n_groups)."""
        hidden = np.zeros((len(self), len(self.groups)), dtype=bool)
        for t, groups in enumerate(self.left_out):
            hidden[t, list(groups)] = True
        return hidden


def _check_size(n_groups: int, radius: int, n_members: int = 0) -> None:
    """Refuse what takes too long to enumerate; a stored model may claim any numbers."""
    # groups and radius first, so that binomial coefficients stay small
    if (
        n_groups > MOST_MODELS
        or radius > MOST_RADIUS
        or comb(n_groups, 2 * radius) > MOST_MODELS
        or max(comb(n_groups, q) * comb(n_groups - q, radius) for q in range(radius + 1))
        > MOST_PAIRS
    ):
        raise InputError(
            f"{n_groups:,} groups and radius {radius:,} have too many sets of groups: use fewer "
            "groups or a smaller radius"
        )
    if n_members > MOST_MODELS + 1:
        raise InputError(f"left_out has {n_members:,} members: {MOST_MODELS + 1:,} are the most")


def count_groups(n_groups: int | str, radius: int, max_models: int, n_units: int, kind: str) -> int:
    """Return how many groups to make; "auto": the most whose models stay within ``max_models``."""
    least = 2 * radius + 1
    if n_units < least:
        lower = "lower radius, or " if radius > 1 else ""
        cure = "use finer units" if kind == "units" else f"give it more {kind}"
        raise InputError(
            f"radius is {radius}, which needs at least {least} {kind}, but the table has "
            f"{n_units}: {lower}{cure}"
        )
    if isinstance(n_groups, str):  # "auto"
        fitting = [g for g in range(least, n_units + 1) if comb(g, 2 * radius) <= max_models]
        return max(fitting, default=least)
    if not least <= n_groups <= n_units:
        raise InputError(
            f"n_groups is {n_groups}: with radius {radius} and {n_units} {kind} it must be from "
            f"{least} to {n_units}"
        )
    return int(n_groups)


def left_out_size(leave_out: int | str, radius: int, n_groups: int) -> int:
    """Return how many groups a member leaves out; "auto" is about half of them."""
    least = 2 * radius
    if isinstance(leave_out, str):  # "auto"
        return max(least, min(n_groups // 2 + radius - 1, n_groups - 1))
    if not least <= leave_out < n_groups:
        raise InputError(
            f"leave_out is {leave_out}: with radius {radius} and {n_groups} groups it must be from "
            f"{least} to {n_groups - 1}"
        )
    return int(leave_out)


def choose_members(
    n_groups: int, radius: int, size: int, max_models: int, seed: int
) -> list[tuple[int, ...]]:
    """Choose sets of ``size`` groups, so that all sets of ``2 * radius`` are inside some of them.

    As many as there are models, at most ``max_models``, no two alike; every set of ``2 * radius``
    is inside about equally many.
    """
    _check_size(n_groups, radius)
    models = list(combinations(range(n_groups), 2 * radius))
    most = min(len(models), max_models)
    if comb(n_groups, size) <= most:
        return list(combinations(range(n_groups), size))
    if size == 2 * radius:
        share = "" if size == n_groups - 1 else ", or raise leave_out, so that models share members"
        raise InputError(
            f"max_models is {max_models}, but {n_groups} groups and radius {radius} need "
            f"{len(models)} models: raise max_models, or lower radius or n_groups{share}"
        )
    rng = np.random.default_rng([seed, n_groups, radius, size])
    number = {chosen: k for k, chosen in enumerate(models)}
    covered = np.zeros(len(models), dtype=np.int64)
    members: dict[tuple[int, ...], list[int]] = {}  # and the models inside each
    while len(members) < most:
        # extend one of the sets that are inside the fewest members, in the most useful way
        for k in np.lexsort((rng.random(len(models)), covered)):
            larger = {
                groups: [number[chosen] for chosen in combinations(groups, 2 * radius)]
                for groups in _extensions(models[k], n_groups, size, rng)
                if groups not in members
            }
            if larger:
                break
        else:
            break
        best = max(larger, key=lambda groups: np.sum(0.5 ** covered[larger[groups]].clip(max=60)))
        members[best] = larger[best]
        covered[larger[best]] += 1
    if covered.min() == 0:
        raise InputError(
            f"max_models is {max_models}, too few for {n_groups} groups and radius {radius}: "
            "raise max_models, lower n_groups, or raise leave_out"
        )
    return sorted(members)


def _extensions(
    chosen: tuple[int, ...], n_groups: int, size: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return sets of ``size`` groups that contain the chosen ones: all if they are few."""
    rest = [group for group in range(n_groups) if group not in chosen]
    added = size - len(chosen)
    if comb(len(rest), added) <= CANDIDATES:
        drawn = [list(groups) for groups in combinations(rest, added)]
    else:
        drawn = [rng.choice(rest, added, replace=False).tolist() for _ in range(CANDIDATES)]
    return [tuple(sorted((*chosen, *groups))) for groups in drawn]
