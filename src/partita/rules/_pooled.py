"""Agreement of models that share members: what leave-out ensembles decide by.

Ballots are those of members, each of which leaves out a set of groups; a model ``m_D`` is the mean
of all members whose left-out set contains ``D``, so it never sees ``D``. A pool must hold nothing
else: the proof rests on that.

Where groups are silent, only the models decide that leave out every silent group. Soundness: with
declared silence these models form a smaller design, certified as it stands. Where an attacker can
fake silence or break it, silent groups count as attacked ones: a set that is unanimous must leave
them out too (theory, section 11).
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._support import Array, check_whole
from ..ballots import Ballots
from ..certificates import Certificates, Counts
from ..errors import InputError
from ._agreement import SIDES, Agreement
from ._ballots import as_ballots, as_values, check_finite
from ._base import Rule, is_detected
from ._bounds import check_row_bounds
from ._left_out import Design

Pools = tuple[Array, Array]  # of every model: where its members start, and the members of all


class SilencePattern(NamedTuple):
    """Rows with the same silent groups, and the models that leave these out."""

    rows: Array
    silent: tuple[int, ...]
    design: Design | None  # None: more groups are silent than any model leaves out
    proving: Design | None  # whose unanimous sets carry the proof; None: nothing is proven
    models: Array
    members: Array  # those that leave out all silent groups
    active_groups: list[int]  # those that are not silent

    @property
    def radius(self) -> int:
        """The largest radius that can be certified of these rows."""
        return 0 if self.proving is None else self.proving.radius


class PooledRule(Rule):
    """What labels and values share: groups of units, and the members of every model."""

    radius: int
    n_groups: int
    pools: Pools
    group_of_unit: Array | None

    def unit_groups(self) -> Array:
        """Return the group of each unit; by default every group is one unit."""
        own = self.group_of_unit
        return np.arange(self.n_groups) if own is None else np.asarray(own)

    def breakable(self, ballots: Any, size: int, *bounds: Any) -> Array:
        """Return whether each set of ``size`` groups can break each row's statement.

        Parameters
        ----------
        ballots : Ballots or array-like
            Of every member.
        size : int
            How many groups are attacked.
        *bounds : float or array-like of shape (n_samples,)
            For values: the lower and the upper bound of each row.

        Returns
        -------
        array of bool, shape (n_samples, n_sets)
            Sets are in the order of ``itertools.combinations``.
        """
        checked = self._read(ballots)
        if checked.abstentions is None:
            return self._breakable(self._models(checked), self._design, size, *bounds)
        sets = list(combinations(range(self.n_groups), size))
        found = np.ones((len(checked), len(sets)), dtype=bool)
        detected = is_detected(checked)
        for pattern in self.patterns(checked):
            by_size: dict[int, Array] = {}
            for k, groups in enumerate(sets):
                attacked = [group for group in groups if group not in pattern.silent]
                if not attacked and not detected:
                    found[pattern.rows, k] = False
                elif pattern.proving is not None and len(attacked) <= pattern.proving.radius:
                    if len(attacked) not in by_size:
                        by_size[len(attacked)] = self._breakable_in(
                            checked, pattern, len(attacked), *bounds
                        )
                    position = [pattern.active_groups.index(group) for group in attacked]
                    column = _rank(pattern.proving.n_groups, position)
                    found[pattern.rows, k] = by_size[len(attacked)][:, column]
        return found

    def _read(self, ballots: Any) -> Ballots:
        """Return checked ballots."""
        raise NotImplementedError

    def _models(self, ballots: Ballots) -> Array:
        """Return every model's label or value: (rows, models)."""
        raise NotImplementedError

    def _breakable(self, models: Array, design: Design, size: int, *bounds: Any) -> Array:
        """Return :meth:`breakable` of labels or values of the models of a design."""
        raise NotImplementedError

    def _breakable_in(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: Any
    ) -> Array:
        """Return which sets of groups that are not silent can break rows of a pattern."""
        raise NotImplementedError

    @property
    def _design(self) -> Design:
        return complete_design(self.n_groups, self.radius)

    def patterns(self, ballots: Ballots) -> Iterator[SilencePattern]:
        """Yield the rows of each set of silent groups."""
        silence = ballots.abstentions
        assert silence is not None
        assert silence.groups is not None
        distinct, of_row = np.unique(silence.groups, axis=0, return_inverse=True)
        sets = list(combinations(range(self.n_groups), 2 * self.radius))
        for k, quiet in enumerate(distinct):
            rows = np.flatnonzero(of_row.reshape(-1) == k)
            silent = tuple(int(group) for group in np.flatnonzero(quiet))
            members = np.flatnonzero(~silence.submodels[rows[0]])
            models = np.array(
                [d for d, chosen in enumerate(sets) if set(silent) <= set(chosen)], np.int64
            )
            design = self._smaller_design(len(silent), len(models))
            proving = design
            if silence.detected and design is not None:
                radius = self.radius - len(silent)  # a set must leave out the silent groups too
                proving = design._replace(radius=radius) if radius >= 0 else None
            active = np.flatnonzero(~quiet).tolist()
            yield SilencePattern(rows, silent, design, proving, models, members, active)

    def _smaller_design(self, n_silent: int, n_models: int) -> Design | None:
        """Return the design of the models that leave out all silent groups."""
        size = 2 * self.radius - n_silent
        if size < 0:
            return None
        order = np.arange(n_models, dtype=np.int32)
        return Design(self.n_groups - n_silent, self.radius - (n_silent + 1) // 2, order, size)

    def _pools_of(self, models: Array) -> Pools:
        """Return the pools of some models."""
        starts, members = self.pools
        own = [members[starts[d] : starts[d + 1]] for d in models]
        ends = np.cumsum([0, *(len(one) for one in own)])
        return ends.astype(starts.dtype), np.concatenate([*own, members[:0]])


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
        array = self._read(ballots).scores
        votes = np.empty((len(array), len(self.pools[0]) - 1), np.int32)

        def work(rows: slice) -> int:
            scores = array[rows].astype(np.float64, order="C")
            finite = np.isfinite(scores).all(axis=(1, 2))
            if not finite.all():
                return int(np.argmin(finite))
            votes[rows] = kernels.pooled_votes(self._as_shares(scores), *self.pools)
            return -1

        check_finite("ballots", kernels.over_rows(work, len(array), array[:1].size))
        return votes

    def _read(self, ballots: Any) -> Ballots:
        checked = as_ballots(ballots)
        check_members("ballots", checked, self.pools[1], self.fallback)
        return checked

    def _models(self, ballots: Ballots) -> Array:
        return self.model_votes(ballots)

    def _as_shares(self, scores: Array) -> Array:
        if not self.as_probabilities:
            return scores
        with np.errstate(over="ignore"):  # no infinity becomes a NaN: all are positive
            return np.asarray(np.exp(scores))

    def decision(self, ballots: Any) -> Certificates:
        checked = self._read(ballots)
        if checked.abstentions is None:
            votes = self.model_votes(checked)
            fallback = np.full(len(votes), -1)
            if self.fallback is not None:
                fallback = checked.scores[:, self.fallback].argmax(axis=1)
            n_labels = checked.shape[2]
            return Agreement(self.radius)._decision_of(votes, self._design, fallback, n_labels)
        prediction, radius, runner_up = np.zeros((3, len(checked)), np.int64)
        for pattern in self.patterns(checked):
            rows = pattern.rows
            if not pattern.silent:
                proof = self.decision(Ballots(checked.scores[rows]))
                radius[rows] = proof.radius
            elif pattern.design is None:
                prediction[rows] = self._mean_votes(checked, pattern)
                continue
            else:
                proof, radius[rows] = self._certified(checked, pattern)
            prediction[rows] = proof.prediction
            runner_up[rows] = 0 if proof.runner_up is None else proof.runner_up
        counts, frontier = Counts("groups", self.n_groups), NoFrontier(len(checked), self.n_groups)
        other = None if checked.shape[2] == 1 else runner_up
        return Certificates(prediction, radius, other, counts, frontier=frontier)

    def _certified(self, ballots: Ballots, pattern: SilencePattern) -> tuple[Certificates, Array]:
        """Return the decision of rows with silent groups, and what is proven of it."""
        assert pattern.design is not None
        votes, n_labels = self._votes_in(ballots, pattern), ballots.shape[2]
        fallback = self._mean_votes(ballots, pattern).astype(np.int64)
        proof = Agreement(1)._decision_of(votes, pattern.design, fallback, n_labels)
        if pattern.proving is None:
            return proof, np.zeros(len(votes), np.int64)
        proven = Agreement(1)._decision_of(votes, pattern.proving, fallback, n_labels)
        return proof, np.minimum(proven.radius, pattern.radius)

    def _scores_in(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        scores = self._as_shares(ballots.scores[pattern.rows].astype(np.float64))
        return np.ascontiguousarray(scores)

    def _votes_in(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        scores = self._scores_in(ballots, pattern)
        return kernels.pooled_votes(scores, *self._pools_of(pattern.models))

    def _mean_votes(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        """Return the label of all members that are not silent, or the default."""
        assert ballots.abstentions is not None
        if not len(pattern.members):
            return np.full(len(pattern.rows), int(np.argmax(ballots.abstentions.default)))
        ends = np.array([0, len(pattern.members)], self.pools[0].dtype)
        members = pattern.members.astype(self.pools[1].dtype)
        return kernels.pooled_votes(self._scores_in(ballots, pattern), ends, members)[:, 0]

    def _breakable(self, models: Array, design: Design, size: int, *bounds: Any) -> Array:
        return Agreement(1)._label_breakable(models, design, size)

    def _breakable_in(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: Any
    ) -> Array:
        assert pattern.proving is not None
        return self._breakable(self._votes_in(ballots, pattern), pattern.proving, size)

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
        """Return the value of every member, without meaning for one that abstains."""
        return as_values(ballots).scores

    def model_values(self, ballots: Any) -> Array:
        """Return every model's value: (rows, models)."""
        return kernels.pooled_means(self._read(ballots).scores, *self.pools)

    def _read(self, ballots: Any) -> Ballots:
        checked = as_values(ballots)
        check_members("votes", checked, self.pools[1])
        return checked

    def _models(self, ballots: Ballots) -> Array:
        return self.model_values(ballots)

    def decide(self, ballots: Any) -> Array:
        """Return each row's value."""
        return self.interval(ballots, 0)[0]

    def certify(  # type: ignore[override]  # a value needs bounds where a label does not
        self,
        votes: Any,
        lower: Any = None,
        upper: Any = None,
        reach: None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify that each row's prediction stays in [lower, upper]; the radius counts groups."""
        checked = self._read(votes)
        if checked.abstentions is None:
            values = self.model_values(checked)
            return self._agreement._values_of(values, self._design, lower, upper)
        low, high = check_row_bounds(lower, upper, len(checked))
        prediction = self.decide(checked)
        radius = np.where((prediction >= low) & (prediction <= high), 0, -1)
        for q in range(1, self.radius + 1):
            least, most = self.interval(checked, q)
            radius[(radius == q - 1) & (least >= low) & (most <= high)] = q
        counts, frontier = Counts("groups", self.n_groups), NoFrontier(len(checked), self.n_groups)
        return Certificates(prediction, radius, None, counts, of_values=True, frontier=frontier)

    def interval(self, votes: Any, radius: int, reach: None = None) -> tuple[Array, Array]:
        """Bound the prediction under an attack on ``radius`` groups; infinite beyond the rule's."""
        checked = self._read(votes)
        check_whole("radius", radius, 0)
        if checked.abstentions is None:
            if radius > self.radius:
                return np.full(len(checked), -np.inf), np.full(len(checked), np.inf)
            values = self.model_values(checked)
            return self._agreement._bounds_of(values, self._design, int(radius))
        low, high = np.empty((2, len(checked)))
        for pattern in self.patterns(checked):
            low[pattern.rows], high[pattern.rows] = self._bounds_in(checked, pattern, int(radius))
        return low, high

    def _bounds_in(
        self, ballots: Ballots, pattern: SilencePattern, radius: int
    ) -> tuple[Array, Array]:
        """Return the least and the largest value of rows with the same silent groups."""
        if radius == 0 and pattern.design is None:
            mean = self._mean_values(ballots, pattern)
            return mean, mean
        if radius and radius > pattern.radius:
            endless = np.full(len(pattern.rows), np.inf)
            return -endless, endless
        values = self._values_in(ballots, pattern)
        if radius == 0:
            assert pattern.design is not None
            tables: tuple[Array, ...] = pattern.design.bounds(0)
        else:
            tables = self._tables(ballots, pattern, radius)
        return kernels.agreement_bounds(values, tables, SIDES[self.side])

    def _tables(self, ballots: Ballots, pattern: SilencePattern, radius: int) -> tuple[Array, ...]:
        """Return the sets that bound an attack on ``radius`` groups.

        An attacker who may break the silence brings back sets of up to ``self.radius`` groups.
        """
        design = pattern.proving
        assert design is not None
        beyond = self.radius if is_detected(ballots) else design.radius
        return design.bounds_by(design.radius, radius, radius + beyond)

    def _values_in(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        own = np.ascontiguousarray(ballots.scores[pattern.rows])
        return kernels.pooled_means(own, *self._pools_of(pattern.models))

    def _mean_values(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        """Return the mean of all members that are not silent, or the default."""
        assert ballots.abstentions is not None
        if not len(pattern.members):
            return np.full(len(pattern.rows), float(ballots.abstentions.default))
        return np.asarray(ballots.scores[pattern.rows][:, pattern.members].mean(axis=1))

    def _breakable(self, models: Array, design: Design, size: int, *bounds: Any) -> Array:
        lower, upper = check_row_bounds(bounds[0], bounds[1], len(models))
        return self._agreement._value_breakable(models, design.bounds(size), lower, upper)

    def _breakable_in(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: Any
    ) -> Array:
        assert pattern.proving is not None
        lower, upper = check_row_bounds(bounds[0], bounds[1], len(ballots))
        rows, fixed = pattern.rows, size == 0 and not is_detected(ballots)
        tables = pattern.proving.bounds(0) if fixed else self._tables(ballots, pattern, size)
        values = self._values_in(ballots, pattern)
        return self._agreement._value_breakable(values, tables, lower[rows], upper[rows])


class NoFrontier(NamedTuple):
    """Nothing beyond what certificates know: silence costs no more than a lie."""

    n_rows: int
    n_groups: int

    def radii(self) -> Array:
        """Return -1 everywhere."""
        return np.full((self.n_rows, self.n_groups), -1)


def check_members(name: str, ballots: Ballots, members: Array, fallback: int | None = None) -> None:
    """Refuse ballots of fewer members than there are: compiled code would read past their end."""
    expected = 1 + max(int(members.max(initial=-1)), -1 if fallback is None else fallback)
    if ballots.shape[1] != expected:
        raise InputError(
            f"{name} has {ballots.shape[1]} members for {expected} in the pools: expected one for "
            "each"
        )


def complete_design(n_groups: int, radius: int) -> Design:
    """Return the design whose models are in the order of ``itertools.combinations``."""
    return Design(n_groups, radius, np.arange(comb(n_groups, 2 * radius), dtype=np.int32))


def _rank(n_groups: int, chosen: list[int]) -> int:
    """Return the position of a set among the combinations of its size."""
    return list(combinations(range(n_groups), len(chosen))).index(tuple(chosen))
