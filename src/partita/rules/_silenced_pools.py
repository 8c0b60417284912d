"""Agreement of models that leave groups out, where groups are silent.

Only the models are asked that leave out every silent group. Beside the members' ballots there is an
entry for each group, NaN where it is silent: which members abstain follows from that, but not the
other way round.

Soundness: with declared silence the models that are left form a smaller design, certified as it
stands. Where an attacker can fake silence or break it, silent groups count as attacked ones: a set
that is unanimous must leave them out too (theory, section 11).
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._support.types import Array
from ..certificates import Certificates, Counts
from ._agreement import SIDES, Agreement
from ._bounds import check_row_bounds
from ._left_out import Design
from ._pooled import PooledLabels, PooledRule, PooledValues


class Heard(NamedTuple):
    """Rows with the same silent groups, and the models that leave these out."""

    rows: Array
    silent: tuple[int, ...]
    design: Design | None  # None: more groups are silent than any model leaves out
    models: Array
    members: Array  # those that leave out all silent groups

    @property
    def spoken(self) -> list[int]:
        """The groups that are not silent, in the order of the design."""
        assert self.design is not None
        n_groups = self.design.n_groups + len(self.silent)
        return [group for group in range(n_groups) if group not in self.silent]


class SilencedPools(PooledRule):
    """What labels and values share."""

    rule: Any
    detected: bool
    default: Array

    def __init__(self, rule: Any, detected: bool, default: Array) -> None:
        self.rule = rule
        self.detected = detected
        self.default = default
        self.radius, self.n_groups = rule.radius, rule.n_groups
        self.pools, self.group_of_unit = rule.pools, rule.group_of_unit

    def __repr__(self) -> str:
        return repr(self.rule)

    def brief(self) -> Any:
        return self.rule.brief()

    def by_silence(self, ballots: Array) -> Iterator[Heard]:
        """Yield the rows of each set of silent groups."""
        n_members = ballots.shape[1] - self.n_groups
        flags = ballots[:, n_members:].reshape(len(ballots), self.n_groups, -1)[:, :, 0]
        patterns, of_row = np.unique(np.isnan(flags), axis=0, return_inverse=True)
        sets = list(combinations(range(self.n_groups), 2 * self.radius))
        for k, pattern in enumerate(patterns):
            rows = np.flatnonzero(of_row.reshape(-1) == k)
            silent = tuple(int(group) for group in np.flatnonzero(pattern))
            first = ballots[rows[0], :n_members].reshape(n_members, -1)
            members = np.flatnonzero(~np.isnan(first).any(axis=1))
            models = np.array(
                [d for d, chosen in enumerate(sets) if set(silent) <= set(chosen)], np.int64
            )
            design = self._design(len(silent), self.radius - (len(silent) + 1) // 2, len(models))
            yield Heard(rows, silent, design, models, members)

    def _design(self, n_silent: int, radius: int, n_models: int) -> Design | None:
        """Return the design of the models that leave out all silent groups."""
        size = 2 * self.radius - n_silent
        if size < 0:
            return None
        order = np.arange(n_models, dtype=np.int32)
        return Design(self.n_groups - n_silent, radius, order, size)

    def proving_design(self, heard: Heard) -> Design | None:
        """Return the design whose unanimous sets carry the proof; None: nothing is proven."""
        if not self.detected or heard.design is None:
            return heard.design
        radius = self.radius - len(heard.silent)  # a set must leave out the silent groups too
        return heard.design._replace(radius=radius) if radius >= 0 else None

    def pools_of(self, models: Array) -> tuple[Array, Array]:
        """Return the pools of some models."""
        starts, members = self.pools
        own = [members[starts[d] : starts[d + 1]] for d in models]
        ends = np.cumsum([0, *(len(one) for one in own)])
        return ends.astype(starts.dtype), np.concatenate([*own, members[:0]])

    def falls(self, ballots: Any, size: int, *bounds: Any) -> Array:
        sets = list(combinations(range(self.n_groups), size))
        falls = np.ones((len(ballots), len(sets)), dtype=bool)
        for heard in self.by_silence(ballots):
            design = self.proving_design(heard)
            found: dict[int, Array] = {}
            for k, groups in enumerate(sets):
                attacked = [group for group in groups if group not in heard.silent]
                if not attacked and not self.detected:
                    falls[heard.rows, k] = False
                elif design is not None and len(attacked) <= design.radius:
                    if len(attacked) not in found:
                        found[len(attacked)] = self._falls(
                            ballots, heard, design, len(attacked), *bounds
                        )
                    position = [heard.spoken.index(group) for group in attacked]
                    column = _rank(design.n_groups, position)
                    falls[heard.rows, k] = found[len(attacked)][:, column]
        return falls

    def _falls(
        self, ballots: Array, heard: Heard, design: Design, size: int, *bounds: Any
    ) -> Array:
        raise NotImplementedError


class SilencedLabels(SilencedPools, PooledLabels):
    """Labels by agreement, where groups are silent."""

    needs_scores = False

    @property
    def fallback(self) -> int | None:  # type: ignore[override]
        """The member on all columns."""
        return self.rule.fallback  # type: ignore[no-any-return]

    @property
    def as_probabilities(self) -> bool:  # type: ignore[override]
        """Whether ballots are log-probabilities."""
        return bool(self.rule.as_probabilities)

    def _scores(self, ballots: Array, heard: Heard) -> Array:
        scores = ballots[heard.rows, : ballots.shape[1] - self.n_groups].astype(np.float64)
        if self.as_probabilities:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = np.exp(scores)
        return np.ascontiguousarray(scores)

    def _votes_of(self, ballots: Array, heard: Heard) -> Array:
        return kernels.pooled_votes(self._scores(ballots, heard), *self.pools_of(heard.models))

    def _pooled(self, ballots: Array, heard: Heard) -> Array:
        """Return what all members say that are not silent, or the fixed label."""
        if not len(heard.members):
            return np.full(len(heard.rows), int(np.argmax(self.default)))
        scores = self._scores(ballots, heard)
        ends = np.array([0, len(heard.members)], self.pools[0].dtype)
        return kernels.pooled_votes(scores, ends, heard.members.astype(self.pools[1].dtype))[:, 0]

    def decision(self, ballots: Array) -> Certificates:
        n_rows, n_members = len(ballots), ballots.shape[1] - self.n_groups
        prediction, radius, runner_up = np.zeros((3, n_rows), np.int64)
        for heard in self.by_silence(ballots):
            rows = heard.rows
            if not heard.silent:
                proof = self.rule.decision(ballots[rows, :n_members])
                radius[rows] = proof.radius
            elif heard.design is None:
                prediction[rows] = self._pooled(ballots, heard)
                continue
            else:
                votes = self._votes_of(ballots, heard)
                proof, radius[rows] = self._certified(ballots, votes, heard)
            prediction[rows] = proof.prediction
            runner_up[rows] = 0 if proof.runner_up is None else proof.runner_up
        counts = Counts("groups", self.n_groups)
        without = ballots.shape[2] == 1
        return Certificates(prediction, radius, None if without else runner_up, counts)

    def _certified(self, ballots: Array, votes: Array, heard: Heard) -> tuple[Certificates, Array]:
        """Return the decision of rows with silent groups, and what is proven of it."""
        fallback = self._pooled(ballots, heard).astype(np.int64)
        assert heard.design is not None
        proof = Agreement(1)._decision_of(votes, heard.design, fallback, ballots.shape[2])
        design = self.proving_design(heard)
        if design is None:
            return proof, np.zeros(len(votes), np.int64)
        proven = Agreement(1)._decision_of(votes, design, fallback, ballots.shape[2])
        return proof, np.minimum(proven.radius, design.radius)

    def frontier(self, ballots: Array, reach: Any, *about: Array) -> Array:
        return np.full((len(ballots), self.n_groups), -1)  # silence costs no more than a lie

    def votes(self, ballots: Any) -> Array:
        """Return each member's own choice; the first label for one that abstains."""
        own = ballots[:, : ballots.shape[1] - self.n_groups]
        return np.asarray(np.where(np.isnan(own), -np.inf, own).argmax(axis=2))

    def _soft_vote(self, ballots: Array) -> Array:
        shares = np.empty((len(ballots), ballots.shape[2]))
        for heard in self.by_silence(ballots):
            own = ballots[heard.rows][:, heard.members]
            if not len(heard.members):
                own = np.broadcast_to(self.default, (len(heard.rows), 1, ballots.shape[2]))
            shares[heard.rows] = super()._soft_vote(own)
        return shares

    def _falls(
        self, ballots: Array, heard: Heard, design: Design, size: int, *bounds: Any
    ) -> Array:
        return Agreement(1)._label_falls(self._votes_of(ballots, heard), design, size)


class SilencedValues(SilencedPools, PooledValues):
    """Values by agreement, where groups are silent."""

    @property
    def side(self) -> str:  # type: ignore[override]
        """As the rule has it."""
        return str(self.rule.side)

    def votes(self, ballots: Any) -> Array:
        """Return the value of every member; NaN for one that abstains."""
        array = np.asarray(ballots, dtype=np.float64)
        return array[:, : array.shape[1] - self.n_groups]

    def _values_of(self, ballots: Array, heard: Heard) -> Array:
        own = np.ascontiguousarray(self.votes(ballots)[heard.rows])
        return kernels.pooled_means(own, *self.pools_of(heard.models))

    def _pooled(self, ballots: Array, heard: Heard) -> Array:
        if not len(heard.members):
            return np.full(len(heard.rows), float(self.default))
        return np.asarray(self.votes(ballots)[heard.rows][:, heard.members].mean(axis=1))

    def interval(self, votes: Any, radius: int, reach: None = None) -> tuple[Array, Array]:
        low, high = np.empty((2, len(votes)))
        for heard in self.by_silence(votes):
            low[heard.rows], high[heard.rows] = self._bounds(votes, heard, int(radius))
        return low, high

    def _bounds(self, ballots: Array, heard: Heard, radius: int) -> tuple[Array, Array]:
        """Return the least and the largest value of rows with the same silent groups."""
        if radius == 0:
            if heard.design is None:
                pooled = self._pooled(ballots, heard)
                return pooled, pooled
            values, tables = self._values_of(ballots, heard), heard.design.bounds(0)
            return kernels.agreement_bounds(values, tables, SIDES[self.side])
        design = self.proving_design(heard)
        if design is None or radius > design.radius:
            endless = np.full(len(heard.rows), np.inf)
            return -endless, endless
        values = self._values_of(ballots, heard)
        return kernels.agreement_bounds(values, self._tables(design, radius), SIDES[self.side])

    def _tables(self, design: Design, radius: int) -> tuple[Array, ...]:
        """Return the sets that bound an attack on ``radius`` groups.

        An attacker who may break the silence brings back sets of up to ``self.radius`` groups.
        """
        beyond = self.radius if self.detected else design.radius
        return design.bounds_by(design.radius, radius, radius + beyond)

    def certify(  # type: ignore[override]  # as PooledValues'
        self, votes: Any, lower: Any = None, upper: Any = None
    ) -> Certificates:
        low, high = check_row_bounds(lower, upper, len(votes))
        prediction = self.decide(votes)
        inside = (prediction >= low) & (prediction <= high)
        radius = np.where(inside, 0, -1)
        for q in range(1, self.radius + 1):
            least, most = self.interval(votes, q)
            radius[(radius == q - 1) & (least >= low) & (most <= high)] = q
        counts = Counts("groups", self.n_groups)
        frontier = _NoSharperFrontier(len(votes), self.n_groups)
        return Certificates(prediction, radius, None, counts, of_values=True, frontier=frontier)

    def _falls(
        self, ballots: Array, heard: Heard, design: Design, size: int, *bounds: Any
    ) -> Array:
        lower, upper = check_row_bounds(bounds[0], bounds[1], len(ballots))
        rows = heard.rows
        tables = self._tables(design, size) if size or self.detected else design.bounds(0)
        agreement: Agreement = self.rule._agreement
        values = self._values_of(ballots, heard)
        return agreement._value_falls_by(values, tables, lower[rows], upper[rows])


class _NoSharperFrontier(NamedTuple):
    """Nothing beyond what certificates know: silence costs no more than a lie."""

    n_rows: int
    n_groups: int

    def radii(self) -> Array:
        """Return -1 everywhere."""
        return np.full((self.n_rows, self.n_groups), -1)


def _rank(n_groups: int, chosen: list[int]) -> int:
    """Return the position of a set among the combinations of its size."""
    return list(combinations(range(n_groups), len(chosen))).index(tuple(chosen))
