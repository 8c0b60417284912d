"""Agreement of models that share members: what leave-out ensembles decide by.

Ballots are those of members, each of which leaves out a set of groups; a model ``m_D`` is the mean
of all members whose left-out set contains ``D``, so it never sees ``D``. A pool must hold nothing
else: the proof rests on that.
"""

from math import comb
from typing import Any

import numpy as np

from .. import kernels
from .._support.arrays import array_of
from .._support.numbers import check_whole
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._agreement import Agreement
from ._ballots import as_ballots, check_finite
from ._base import Rule
from ._bounds import check_row_bounds
from ._left_out import Design

Pools = tuple[Array, Array]  # of every model: where its members start, and the members of all


class PooledRule(Rule):
    """What both share: groups of units, and the members of every model."""

    radius: int
    n_groups: int
    pools: Pools
    group_of_unit: Array | None

    def unit_groups(self) -> Array:
        """Return the group of each unit; by default every group is one unit."""
        own = self.group_of_unit
        return np.arange(self.n_groups) if own is None else np.asarray(own)

    def falls(self, ballots: Any, size: int, *bounds: Any) -> Array:
        """Return whether each set of ``size`` groups can break each row's statement.

        bool (rows, sets), sets in the order of ``itertools.combinations``.
        """
        raise NotImplementedError


class PooledLabels(PooledRule):
    """Labels by agreement of models that share members.

    Parameters
    ----------
    radius : int
        The largest radius that can be certified.
    n_groups : int
        Number of groups.
    pools : tuple of arrays
        Members of every model; models are in the order of the sets they leave out.
    fallback : int, optional
        The member, on all columns, that decides where no set is unanimous.
    as_probabilities : bool, default=True
        Whether ballots are log-probabilities, which are averaged as probabilities.
    group_of_unit : array of int, optional
        The group of each unit. By default every group is one unit.
    """

    needs_scores = False

    def __init__(
        self,
        radius: int,
        n_groups: int,
        pools: Pools,
        fallback: int | None = None,
        as_probabilities: bool = True,
        group_of_unit: Array | None = None,
    ) -> None:
        self.radius = radius
        self.n_groups = n_groups
        self.pools = pools
        self.fallback = fallback
        self.as_probabilities = as_probabilities
        self.group_of_unit = group_of_unit

    def __repr__(self) -> str:
        return repr(Agreement(self.radius))

    def model_votes(self, ballots: Any) -> Array:
        """Return every model's label, as an index: (rows, models)."""
        array = as_ballots(ballots)
        starts, members = self.pools
        check_members("ballots", array, members, self.fallback)
        votes = np.empty((len(array), len(starts) - 1), np.int32)

        def work(rows: slice) -> int:
            scores = array[rows].astype(np.float64, order="C")
            finite = np.isfinite(scores).all(axis=(1, 2))
            if not finite.all():
                return int(np.argmin(finite))
            if self.as_probabilities:
                with np.errstate(over="ignore"):  # no infinity becomes a NaN: all are positive
                    scores = np.exp(scores)
            votes[rows] = kernels.pooled_votes(scores, starts, members)
            return -1

        check_finite("ballots", kernels.over_rows(work, len(array), array[:1].size))
        return votes

    def decision(self, ballots: Array) -> Certificates:
        votes = self.model_votes(ballots)
        fallback = np.full(len(votes), -1)
        if self.fallback is not None:
            fallback = ballots[:, self.fallback].argmax(axis=1)
        design = complete_design(self.n_groups, self.radius)
        return Agreement(self.radius)._decision_of(votes, design, fallback, ballots.shape[2])

    def falls(self, ballots: Any, size: int, *bounds: Any) -> Array:
        design = complete_design(self.n_groups, self.radius)
        return Agreement(self.radius)._label_falls(self.model_votes(ballots), design, size)

    def _in_units(self, proof: Certificates, *options: Any) -> Certificates:
        raise InputError("reach does not apply to models that leave groups out: leave it out")


class PooledValues(PooledRule):
    """Values by agreement of models that share members.

    Parameters
    ----------
    radius : int
        The largest radius that can be certified.
    n_groups : int
        Number of groups.
    pools : tuple of arrays
        Members of every model; models are in the order of the sets they leave out.
    side : {"lower", "mean", "upper"}, default="mean"
        As :class:`partita.rules.Agreement` has it.
    group_of_unit : array of int, optional
        The group of each unit. By default every group is one unit.
    """

    def __init__(
        self,
        radius: int,
        n_groups: int,
        pools: Pools,
        side: str = "mean",
        group_of_unit: Array | None = None,
    ) -> None:
        self.radius = radius
        self.n_groups = n_groups
        self.pools = pools
        self.side = side
        self.group_of_unit = group_of_unit

    def __repr__(self) -> str:
        return repr(self._agreement)

    @property
    def _agreement(self) -> Agreement:
        return Agreement(self.radius, self.side)

    def votes(self, ballots: Any) -> Array:
        """Return the value of every member that is given, of all or of some."""
        array = np.ascontiguousarray(array_of("votes", ballots), dtype=np.float64)
        if array.ndim != 2:
            raise InputError(f"votes has shape {array.shape}: it must be (rows, members)")
        finite = np.isfinite(array).all(axis=1)
        check_finite("votes", -1 if finite.all() else int(np.argmin(finite)))
        return array

    def model_values(self, ballots: Any) -> Array:
        """Return every model's value: (rows, models)."""
        votes = self.votes(ballots)
        check_members("votes", votes, self.pools[1])
        return kernels.pooled_means(votes, *self.pools)

    def decide(self, ballots: Any) -> Array:
        """Return each row's value."""
        return self.interval(ballots, 0)[0]

    def certify(  # type: ignore[override]  # a value needs bounds where a label does not
        self, votes: Any, lower: Any = None, upper: Any = None
    ) -> Certificates:
        """Certify that each row's prediction stays in [lower, upper]; the radius counts groups."""
        design = complete_design(self.n_groups, self.radius)
        return self._agreement._values_of(self.model_values(votes), design, lower, upper)

    def falls(self, ballots: Any, size: int, *bounds: Any) -> Array:
        design = complete_design(self.n_groups, self.radius)
        values = self.model_values(ballots)
        lower, upper = check_row_bounds(bounds[0], bounds[1], len(values))
        return self._agreement._value_falls(values, design, size, lower, upper)

    def interval(self, votes: Any, radius: int, reach: None = None) -> tuple[Array, Array]:
        """Bound the prediction under an attack on ``radius`` groups; infinite beyond the rule's."""
        values = self.model_values(votes)
        check_whole("radius", radius, 0)
        if radius > self.radius:
            return np.full(len(values), -np.inf), np.full(len(values), np.inf)
        design = complete_design(self.n_groups, self.radius)
        return self._agreement._bounds_of(values, design, int(radius))


def check_members(name: str, array: Array, members: Array, fallback: int | None = None) -> None:
    """Refuse ballots of fewer members than there are: compiled code would read past their end."""
    expected = 1 + max(int(members.max(initial=-1)), -1 if fallback is None else fallback)
    if array.shape[1] != expected:
        raise InputError(
            f"{name} has {array.shape[1]} members for {expected} in the pools: expected one for "
            "each"
        )


def complete_design(n_groups: int, radius: int) -> Design:
    """Return the design whose models are in the order of ``itertools.combinations``."""
    return Design(n_groups, radius, np.arange(comb(n_groups, 2 * radius), dtype=np.int32))
