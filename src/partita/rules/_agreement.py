"""Agreement of models that leave groups of units out.

Every set of ``2 r`` groups is left out by one model: a *design*. :class:`Agreement` decides by the
labels or values of such models. Leave-out ensembles fit *members* that leave out larger sets, and a
model is the mean of all members that leave out its groups (a *pool*): :class:`PooledLabels` and
:class:`PooledValues`. Sets of groups are enumerated once per design, never per row.

Soundness: a model that leaves out every attacked group is untouched, and only such models are used
in a bound. A pool must hold no member that sees a group its model leaves out. Where groups are
silent, only the models decide that leave out every silent group: with declared silence these form
a smaller design, certified as it stands; where an attacker can fake silence or break it, silent
groups count as attacked ones, and a set that is unanimous must leave them out too (theory, sections
10 and 11).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from math import comb
from numbers import Integral
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from .._support import Array, array_of, check_whole
from ..ballots import Ballots
from ..certificates import Certificates, Counts, check_row_bounds
from ..errors import InputError
from ._base import Rule, Settings, as_ballots, as_values, check_finite

SIDES = {"lower": -1, "mean": 0, "upper": 1}
MOST_LABELS = 2**20  # votes are counted in an array with an entry per label
MOST_ENTRIES = 2**27  # of a table of sets: 512 MiB

Pools = tuple[Array, Array]  # of every model: where its members start, and the members of all
Tables = tuple[Array, Array, Array, Array]  # of sets in sets, which the kernels walk


# ---- which groups each model leaves out ----


class Design(NamedTuple):
    """A complete family: every set of ``2 * radius`` groups is left out by exactly one model.

    Models of silent groups leave out sets of another ``size``, at least ``2 * radius``.
    """

    n_groups: int
    radius: int
    order: Array  # the model that leaves out each set, in the order of itertools.combinations
    size: int

    def labels(self) -> Tables:
        """Return ``models_of``, ``covers``, ``starts`` and ``widths`` of ``kernels.agreement``."""
        r = self.radius
        tables = [supersets(self.n_groups, q, r) for q in range(1, r)]
        covers = np.concatenate([table.ravel() for table in tables] or [np.empty(0, np.int32)])
        starts = np.cumsum([0, *(table.size for table in tables)])
        widths = np.array([table.shape[1] for table in tables], np.int64)
        return self.models(r), covers, starts, widths

    def bounds(self, q: int) -> Tables:
        """Return the tables of ``kernels.agreement_bounds`` for an attack on ``q`` groups."""
        return self.bounds_by(self.radius, q, self.radius + q)

    def bounds_by(self, agreed: int, attacked: int, beyond: int) -> Tables:
        """Return the same tables for sets of any size: those that agree, and those beyond them."""
        n = self.n_groups
        inside, outside = supersets(n, attacked, agreed), supersets(n, attacked, beyond)
        return self.models(agreed), inside, self.models(beyond), outside

    def models(self, size: int) -> Array:
        """Return, for each set of ``size`` groups, the models that leave it out."""
        return np.asarray(self.order[supersets(self.n_groups, size, self.size)])


def complete_design(n_groups: int, radius: int) -> Design:
    """Return the design whose models are in the order of ``itertools.combinations``."""
    size = 2 * radius
    return Design(n_groups, radius, np.arange(comb(n_groups, size), dtype=np.int32), size)


def read_design(left_out: ArrayLike, radius: int) -> Design:
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
    return Design(n_groups, radius, np.lexsort(members.T[::-1]).astype(np.int32), size)


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
    number = numbered_sets(n_groups, larger)
    table = np.empty((n_sets, per_set), np.int32)
    for k, chosen in enumerate(combinations(range(n_groups), size)):
        rest = [group for group in range(n_groups) if group not in chosen]
        table[k] = [
            number[tuple(sorted((*chosen, *added)))] for added in combinations(rest, larger - size)
        ]
    table.flags.writeable = False
    return table


def numbered_sets(n_groups: int, size: int) -> dict[tuple[int, ...], int]:
    """Return the position of each set of ``size`` groups in ``itertools.combinations``."""
    return {chosen: k for k, chosen in enumerate(combinations(range(n_groups), size))}


def blocks(n_rows: int, per_row: int) -> Iterator[slice]:
    """Yield slices of rows whose tables fit into a core's cache."""
    step = max(1, kernels.BLOCK // max(1, per_row))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


# ---- labels of the models of a design ----


def decide_labels(votes: Array, design: Design, fallback: Array, n_labels: int) -> Certificates:
    """Decide and certify checked votes; a fallback of -1 is the label with the most votes."""
    prediction, radius, runner_up = kernels.agreement(
        votes, design.labels(), fallback.astype(np.int64), n_labels
    )
    counts, frontier = Counts("groups", design.n_groups), partial(label_frontier, votes, design)
    other = runner_up if n_labels > 1 else None
    return Certificates(prediction, radius, other, counts, frontier=partial(frontier, prediction))


def labels_breakable(votes: Array, design: Design, size: int) -> Array:
    """Return whether each set of ``size`` groups can change each row: bool (rows, sets).

    Exact: a set can, unless models agree that leave out it and more.
    """
    models_of = design.models(design.radius)
    covers = supersets(design.n_groups, size, design.radius)
    breakable = np.empty((len(votes), len(covers)), dtype=bool)
    for rows in blocks(len(votes), models_of.size):
        of_sets = votes[rows][:, models_of]
        unanimous = (of_sets == of_sets[:, :, :1]).all(axis=2)
        breakable[rows] = ~unanimous[:, covers].any(axis=2)
    return breakable


def label_frontier(votes: Array, design: Design, prediction: Array) -> Array:
    """Return how many groups may lie while m others are silent: (rows, m); -1: none proven."""
    r = design.radius

    def holds(q: int, m: int) -> Array:
        models_of = design.models(r + m // 2)
        sets_with = supersets(design.n_groups, q + m, r + m // 2)
        found = np.empty(len(votes), dtype=bool)
        for rows in blocks(len(votes), models_of.size + sets_with.size):
            own = votes[rows] == prediction[rows, None]
            unanimous = own[:, models_of].all(axis=2)
            found[rows] = unanimous[:, sets_with].any(axis=2).all(axis=1)
        return found

    return _frontier(len(votes), r, holds)


def _frontier(n_rows: int, r: int, holds: Callable[[int, int], Array]) -> Array:
    """Return how many groups q may lie while m others are silent, as far as that ``holds``.

    With m silent groups only the models that leave these out are asked: sets of ``2 r - m`` further
    groups. Their agreement needs sets of ``r - ceil(m / 2)``, so that together with the silent
    groups a set of ``r + floor(m / 2)`` groups must be unanimous (theory, section 11).
    """
    radii = np.full((n_rows, 2 * r + 1), -1)
    for m in range(2 * r + 1):
        for q in range(r - (m + 1) // 2 + 1):
            try:
                held = holds(q, m)
            except InputError:  # too many sets to enumerate
                break
            radii[held & (radii[:, m] == q - 1), m] = q
    return radii


# ---- values of the models of a design ----


def stay_between(
    interval: Callable[[int], tuple[Array, Array]],
    radius: int,
    n_groups: int,
    lower: Array,
    upper: Array,
) -> Certificates:
    """Certify that predictions stay between bounds; ``interval(q)``: under q attacked groups."""
    prediction, proven = np.empty(len(lower)), np.full(len(lower), -1)
    for q in range(radius + 1):
        least, most = interval(q)
        if q == 0:
            prediction = least
        proven[(proven == q - 1) & (least >= lower) & (most <= upper)] = q
    return Certificates(prediction, proven, None, Counts("groups", n_groups), of_values=True)


def decide_values(
    values: Array, design: Design, side: int, lower: Array, upper: Array
) -> Certificates:
    """Predict and certify checked values."""

    def interval(q: int) -> tuple[Array, Array]:
        return kernels.agreement_bounds(values, design.bounds(q), side)

    proof = stay_between(interval, design.radius, design.n_groups, lower, upper)
    return replace(proof, frontier=partial(value_frontier, values, design, side, lower, upper))


def values_breakable(values: Array, tables: Tables, side: int, lower: Array, upper: Array) -> Array:
    """Return whether each set of the tables may move each row out of its bounds."""
    models_of, sets_with, models_beyond, beyond_with = tables
    breakable = np.empty((len(values), len(sets_with)), dtype=bool)
    for rows in blocks(len(values), models_of.size + models_beyond.size):
        of_sets, of_beyond = values[rows][:, models_of], values[rows][:, models_beyond]
        least = [
            of_sets.min(axis=2)[:, sets_with].max(axis=2),
            of_beyond.max(axis=2)[:, beyond_with].min(axis=2),
        ]
        most = [
            of_beyond.min(axis=2)[:, beyond_with].max(axis=2),
            of_sets.max(axis=2)[:, sets_with].min(axis=2),
        ]
        low, high = (_by_side(side, *both) for both in (least, most))
        breakable[rows] = (low < lower[rows, None]) | (high > upper[rows, None])
    return breakable


def _by_side(side: int, from_below: Array, from_above: Array) -> Array:
    """Choose the bound of ``max_B min_D``, of its mirror image, or the mean of the two."""
    if side == 0:
        return np.asarray(from_below / 2 + from_above / 2)
    return from_below if side < 0 else from_above


def value_frontier(values: Array, design: Design, side: int, lower: Array, upper: Array) -> Array:
    """Return how many groups may lie while m others are silent: (rows, m); -1: none proven."""
    r = design.radius

    def holds(q: int, m: int) -> Array:
        left = r - (m + 1) // 2
        tables = design.bounds_by(r + m // 2, q + m, q + m + left)
        low, high = kernels.agreement_bounds(values, tables, side)
        return np.asarray((low >= lower) & (high <= upper))

    return _frontier(len(values), r, holds)


# ---- rules ----


@dataclass(eq=False, repr=False)
class Agreement(Settings):
    """Predict the label on which all models that leave out some set of ``radius`` groups agree.

    For every set ``D`` of ``2 * radius`` groups there is one model that never saw the groups in
    ``D``, in training or in the row. A set ``B`` of ``radius`` groups is *unanimous* if all models
    that leave out ``B`` predict the same label; that label is predicted. The radius is the largest
    ``q`` such that every set of ``q`` groups lies inside a unanimous set: the models that vouch for
    the prediction then leave out whatever was attacked. It is exact against models that answer
    arbitrarily when they see an attacked group (theory, section 10).

    Values are predicted as ``max_B min_D``: the largest value that all models leaving out some set
    ``B`` reach.

    Parameters
    ----------
    radius : int, default=1
        The number of groups an attacker may own; the largest radius that can be certified.
    side : {"lower", "mean", "upper"}, default="lower"
        For values: ``max_B min_D``, its mirror image ``min_B max_D``, or the mean of the two.

    See Also
    --------
    partita.LeaveOutClassifier : Fits such models.

    Examples
    --------
    >>> import numpy as np
    >>> from itertools import combinations
    >>> from partita.rules import Agreement
    >>> left_out = np.zeros((6, 4), dtype=bool)  # 4 groups: 6 models, each leaves out 2 of them
    >>> for model, groups in enumerate(combinations(range(4), 2)):
    ...     left_out[model, list(groups)] = True
    >>> proof = Agreement(radius=1).certify([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 1]], left_out)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([1, 1], [1, 0])
    """

    radius: int = 1
    side: str = "lower"

    def check(self) -> None:
        """Raise if a setting cannot be right."""
        check_whole("radius", self.radius, 1)
        if self.side not in SIDES:
            raise InputError(f"side is {self.side!r}: it must be one of {', '.join(SIDES)}")

    def certify(
        self, votes: ArrayLike, left_out: ArrayLike, fallback: ArrayLike | None = None
    ) -> Certificates:
        """Decide and certify labels.

        Parameters
        ----------
        votes : array-like of int, shape (n_samples, n_models)
            The label of every model, as a class index.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw: every set of ``2 * radius`` groups exactly once.
        fallback : array-like of int, shape (n_samples,), optional
            The prediction where no set is unanimous, such as that of a model on all columns; by
            default the label with the most votes. Nothing is proven there (radius 0).

        Returns
        -------
        Certificates
            ``radius`` counts groups, from 0 to ``self.radius``; ``runner_up`` is the other label
            with the most votes.
        """
        design = self._design(left_out)
        array = array_of("votes", votes)
        if array.ndim != 2 or array.dtype.kind not in "iub":
            raise InputError(
                f"votes has shape {array.shape} and holds {array.dtype}: it must be class indices "
                "of shape (rows, models)"
            )
        check_models("votes", array, design)
        n_labels = check_indices("votes", array)
        if fallback is None:
            return decide_labels(array, design, np.full(len(array), -1), n_labels)
        labels = array_of("fallback", fallback)
        if labels.shape != (len(array),) or labels.dtype.kind not in "iub":
            raise InputError(
                f"fallback has shape {labels.shape} and holds {labels.dtype}: give one class index "
                "per row"
            )
        n_labels = max(n_labels, check_indices("fallback", labels))
        return decide_labels(array, design, labels, n_labels)

    def predict(self, values: ArrayLike, left_out: ArrayLike) -> Array:
        """Predict values.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.

        Returns
        -------
        array of float64, shape (n_samples,)
            ``max_B min_D``, or what ``side`` says.
        """
        return self.interval(values, left_out, radius=0)[0]

    def interval(
        self, values: ArrayLike, left_out: ArrayLike, radius: int = 1
    ) -> tuple[Array, Array]:
        """Bound the prediction under every attack on ``radius`` groups.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.
        radius : int, default=1
            How many groups are attacked, from 0 to ``self.radius``.

        Returns
        -------
        low : array of float64, shape (n_samples,)
            The least prediction that an attacker can bring about.
        high : array of float64, shape (n_samples,)
            The largest one.
        """
        design = self._design(left_out)
        array = self._values(values, design)
        if (
            not isinstance(radius, Integral)
            or isinstance(radius, bool)
            or not 0 <= radius <= self.radius
        ):
            raise InputError(
                f"radius is {radius!r}: these models bound 0 to {self.radius} attacked groups"
            )
        return kernels.agreement_bounds(array, design.bounds(int(radius)), SIDES[self.side])

    def certify_values(
        self, values: ArrayLike, left_out: ArrayLike, lower: ArrayLike, upper: ArrayLike
    ) -> Certificates:
        """Certify that predicted values stay between bounds.

        Parameters
        ----------
        values : array-like of shape (n_samples, n_models)
            The value of every model.
        left_out : array-like of bool, shape (n_models, n_groups)
            Which groups each model never saw.
        lower, upper : float or array-like of shape (n_samples,)
            The bounds; infinities leave a side open.

        Returns
        -------
        Certificates
            ``radius`` counts groups; -1 where the prediction itself is outside.
        """
        design = self._design(left_out)
        array, side = self._values(values, design), SIDES[self.side]
        low, high = check_row_bounds(lower, upper, len(array))
        return decide_values(array, design, side, low, high)

    def _values(self, values: ArrayLike, design: Design) -> Array:
        array = array_of("values", values)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise InputError(
                f"values has shape {array.shape} and holds {array.dtype}: it must be numbers of "
                "shape (rows, models)"
            )
        check_models("values", array, design)
        array = np.ascontiguousarray(array, dtype=np.float64)
        finite = np.isfinite(array).all(axis=1)
        check_finite("values", -1 if finite.all() else int(np.argmin(finite)))
        return array

    def _design(self, left_out: ArrayLike) -> Design:
        self.check()
        return read_design(left_out, int(self.radius))


class SilencePattern(NamedTuple):
    """Rows with the same silent groups, and the models that leave these out."""

    rows: Array | slice
    silent: tuple[int, ...]
    design: Design | None  # None: more groups are silent than any model leaves out
    proving: Design | None  # whose unanimous sets carry the proof; None: nothing is proven
    pools: Pools  # of these models
    members: Array | slice  # those that leave out all silent groups

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

    @property
    def largest_radius(self) -> int:  # type: ignore[override]  # settings are attributes
        """The largest radius that can be certified."""
        return self.radius

    def unit_groups(self) -> Array:
        """Return the group of each unit; by default every group is one unit."""
        own = self.group_of_unit
        return np.arange(self.n_groups) if own is None else np.asarray(own)

    def breakable(self, ballots: ArrayLike, size: int, *bounds: ArrayLike | None) -> Array:
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
        sets = list(combinations(range(self.n_groups), size))
        found = np.ones((len(checked), len(sets)), dtype=bool)
        for pattern in self.patterns(checked):
            if not pattern.silent:
                if size <= pattern.radius:
                    found[pattern.rows] = self._breakable(checked, pattern, size, *bounds)
                continue
            active = [group for group in range(self.n_groups) if group not in pattern.silent]
            by_size: dict[int, tuple[dict[tuple[int, ...], int], Array]] = {}
            for k, groups in enumerate(sets):
                attacked = tuple(active.index(g) for g in groups if g not in pattern.silent)
                if not attacked and not checked.silence_detected:
                    found[pattern.rows, k] = False
                elif pattern.proving is not None and len(attacked) <= pattern.radius:
                    if len(attacked) not in by_size:
                        by_size[len(attacked)] = (
                            numbered_sets(len(active), len(attacked)),
                            self._breakable(checked, pattern, len(attacked), *bounds),
                        )
                    number, breakable = by_size[len(attacked)]
                    found[pattern.rows, k] = breakable[:, number[attacked]]
        return found

    def _read(self, ballots: ArrayLike) -> Ballots:
        """Return checked ballots."""
        raise NotImplementedError

    def _breakable(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: ArrayLike | None
    ) -> Array:
        """Return which sets of groups that are not silent can break rows of a pattern."""
        raise NotImplementedError

    def patterns(self, ballots: Ballots) -> Iterator[SilencePattern]:
        """Yield the rows of each set of silent groups."""
        silence = ballots.abstentions
        if silence is None:
            design = complete_design(self.n_groups, self.radius)
            yield SilencePattern(slice(None), (), design, design, self.pools, slice(None))
            return
        assert silence.groups is not None
        distinct, of_row = np.unique(silence.groups, axis=0, return_inverse=True)
        sets = list(combinations(range(self.n_groups), 2 * self.radius))
        starts, pooled = self.pools
        for k, quiet in enumerate(distinct):
            rows = np.flatnonzero(of_row.reshape(-1) == k)
            silent = tuple(np.flatnonzero(quiet).tolist())
            members = np.flatnonzero(~silence.submodels[rows[0]])
            models = [d for d, chosen in enumerate(sets) if set(silent) <= set(chosen)]
            own = [pooled[starts[d] : starts[d + 1]] for d in models]
            ends = np.cumsum([0, *(len(one) for one in own)]).astype(starts.dtype)
            pools = ends, np.concatenate([*own, pooled[:0]])
            smaller = self._smaller_design(len(silent), len(models))
            proving = smaller
            if silence.detected and smaller is not None:
                radius = self.radius - len(silent)  # a set must leave out the silent groups too
                proving = smaller._replace(radius=radius) if radius >= 0 else None
            yield SilencePattern(rows, silent, smaller, proving, pools, members)

    def _smaller_design(self, n_silent: int, n_models: int) -> Design | None:
        """Return the design of the models that leave out all silent groups."""
        size = 2 * self.radius - n_silent
        if size < 0:
            return None
        order = np.arange(n_models, dtype=np.int32)
        return Design(self.n_groups - n_silent, self.radius - (n_silent + 1) // 2, order, size)

    def _nothing_more(self, n_rows: int) -> Callable[[], Array]:
        """Return a frontier without proofs of its own: silence costs no more than a lie."""
        return partial(np.full, (n_rows, self.n_groups), -1)


@dataclass(eq=False, repr=False)
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

    needs_scores: ClassVar[bool] = False

    radius: int
    n_groups: int
    pools: Pools
    fallback: int | None = None
    as_probabilities: bool = True
    group_of_unit: Array | None = None

    def __repr__(self) -> str:
        return repr(Agreement(self.radius))

    def model_votes(self, ballots: ArrayLike) -> Array:
        """Return every model's label, as an index: (rows, models)."""
        return self._votes(self._read(ballots).scores, self.pools)

    def _read(self, ballots: ArrayLike) -> Ballots:
        checked = as_ballots(ballots)
        check_members("ballots", checked, self.pools[1], self.fallback)
        return checked

    def _votes(self, scores: Array, pools: Pools, members: Array | slice = slice(None)) -> Array:
        """Return the label of each pool; ``members``: those whose scores mean something."""
        votes = np.empty((len(scores), len(pools[0]) - 1), np.int32)

        def work(rows: slice) -> int:
            block = scores[rows].astype(np.float64, order="C")
            finite = np.isfinite(block[:, members]).all(axis=(1, 2))
            if not finite.all():
                return int(np.argmin(finite))
            if self.as_probabilities:
                with np.errstate(over="ignore"):  # no infinity becomes a NaN: all are positive
                    block = np.exp(block)
            votes[rows] = kernels.pooled_votes(block, *pools)
            return -1

        check_finite("ballots", kernels.over_rows(work, len(scores), scores[:1].size))
        return votes

    def certify(
        self,
        ballots: ArrayLike,
        reach: ArrayLike | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        if reach is not None:
            raise InputError("reach does not apply to models that leave groups out: leave it out")
        return self.decision(ballots)

    def decision(self, ballots: ArrayLike) -> Certificates:
        checked = self._read(ballots)
        n_rows, _, n_labels = checked.shape
        prediction, radius, runner_up = np.zeros((3, n_rows), np.int64)
        for pattern in self.patterns(checked):
            fallback = self._label_of_all(checked, pattern)
            if pattern.design is None:
                prediction[pattern.rows] = fallback
                continue
            votes = self._votes(checked.scores[pattern.rows], pattern.pools, pattern.members)
            proof = decide_labels(votes, pattern.design, fallback, n_labels)
            if checked.abstentions is None:
                return proof
            prediction[pattern.rows] = proof.prediction
            runner_up[pattern.rows] = 0 if proof.runner_up is None else proof.runner_up
            if pattern.proving is not None:
                if pattern.proving is not pattern.design:
                    proof = decide_labels(votes, pattern.proving, fallback, n_labels)
                radius[pattern.rows] = np.minimum(proof.radius, pattern.radius)
        other = None if n_labels == 1 else runner_up
        counts, frontier = Counts("groups", self.n_groups), self._nothing_more(n_rows)
        return Certificates(prediction, radius, other, counts, frontier=frontier)

    def _label_of_all(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        """Return the label where no set is unanimous.

        It is that of the fallback (-1: there is none), or of all members that are not silent, or
        the default.
        """
        scores = ballots.scores[pattern.rows]
        if not pattern.silent:
            if self.fallback is None:
                return np.full(len(scores), -1)
            return np.asarray(scores[:, self.fallback].argmax(axis=1))
        assert ballots.abstentions is not None
        assert isinstance(pattern.members, np.ndarray)
        if not len(pattern.members):
            return np.full(len(scores), int(np.argmax(ballots.abstentions.default)))
        starts, members = self.pools
        ends = np.array([0, len(pattern.members)], starts.dtype)
        everybody = ends, pattern.members.astype(members.dtype)
        return self._votes(scores, everybody, pattern.members)[:, 0]

    def _breakable(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: ArrayLike | None
    ) -> Array:
        assert pattern.proving is not None
        votes = self._votes(ballots.scores[pattern.rows], pattern.pools, pattern.members)
        return labels_breakable(votes, pattern.proving, size)


@dataclass(eq=False, repr=False)
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

    radius: int
    n_groups: int
    pools: Pools
    side: str = "mean"
    group_of_unit: Array | None = None

    def __repr__(self) -> str:
        return repr(Agreement(self.radius, self.side))

    def votes(self, ballots: ArrayLike) -> Array:
        """Return the value of every member, without meaning for one that abstains."""
        return as_values(ballots).scores

    def model_values(self, ballots: ArrayLike) -> Array:
        """Return every model's value: (rows, models)."""
        return kernels.pooled_means(self._read(ballots).scores, *self.pools)

    def _read(self, ballots: ArrayLike) -> Ballots:
        checked = as_values(ballots)
        check_members("votes", checked, self.pools[1])
        return checked

    def decide(self, ballots: ArrayLike) -> Array:
        """Return each row's value."""
        return self.interval(ballots, 0)[0]

    def certify(  # type: ignore[override]  # a value needs bounds where a label does not
        self,
        votes: ArrayLike,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        reach: None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify that each row's prediction stays in [lower, upper]; the radius counts groups."""
        checked = self._read(votes)
        low, high = check_row_bounds(lower, upper, len(checked))
        if checked.abstentions is None:
            design = complete_design(self.n_groups, self.radius)
            return decide_values(self.model_values(checked), design, SIDES[self.side], low, high)
        proof = stay_between(partial(self.interval, checked), self.radius, self.n_groups, low, high)
        return replace(proof, frontier=self._nothing_more(len(checked)))

    def interval(self, votes: ArrayLike, radius: int, reach: None = None) -> tuple[Array, Array]:
        """Bound the prediction under an attack on ``radius`` groups; infinite beyond the rule's."""
        checked = self._read(votes)
        check_whole("radius", radius, 0)
        low, high = np.full((2, len(checked)), np.inf)
        low = -low
        for pattern in self.patterns(checked):
            if radius == 0 and pattern.design is None:
                low[pattern.rows] = high[pattern.rows] = self._mean(checked, pattern)
            elif radius <= pattern.radius:
                values = self._values(checked, pattern)
                if radius == 0:
                    assert pattern.design is not None
                    tables = pattern.design.bounds(0)
                else:
                    tables = self._tables(checked, pattern, int(radius))
                low[pattern.rows], high[pattern.rows] = kernels.agreement_bounds(
                    values, tables, SIDES[self.side]
                )
        return low, high

    def _tables(self, ballots: Ballots, pattern: SilencePattern, radius: int) -> Tables:
        """Return the sets that bound an attack on ``radius`` groups.

        An attacker who may break the silence brings back sets of up to ``self.radius`` groups.
        """
        design = pattern.proving
        assert design is not None
        beyond = self.radius if ballots.silence_detected else design.radius
        return design.bounds_by(design.radius, radius, radius + beyond)

    def _values(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        """Return the values of the models that leave out all silent groups."""
        own = np.ascontiguousarray(ballots.scores[pattern.rows])
        return kernels.pooled_means(own, *pattern.pools)

    def _mean(self, ballots: Ballots, pattern: SilencePattern) -> Array:
        """Return the mean of all members that are not silent, or the default."""
        assert ballots.abstentions is not None
        own = ballots.scores[pattern.rows][:, pattern.members]
        if not own.shape[1]:
            return np.full(len(own), ballots.abstentions.default)
        return np.asarray(own.mean(axis=1))

    def _breakable(
        self, ballots: Ballots, pattern: SilencePattern, size: int, *bounds: ArrayLike | None
    ) -> Array:
        limits = check_row_bounds(bounds[0], bounds[1], len(ballots))
        lower, upper = (limit[pattern.rows] for limit in limits)
        tables, values = self._tables(ballots, pattern, size), self._values(ballots, pattern)
        return values_breakable(values, tables, SIDES[self.side], lower, upper)


# ---- checks ----


def check_models(name: str, array: Array, design: Design) -> None:
    """Refuse votes or values of another number of models."""
    if array.shape[1] != len(design.order):
        raise InputError(
            f"{name} has {array.shape[1]} columns for {len(design.order)} models in left_out: "
            "expected one per model"
        )


def check_indices(name: str, indices: Array) -> int:
    """Return how many labels there are, at least; refuse what is no class index."""
    if indices.min(initial=0) < 0:
        raise InputError(f"{name} holds a negative number: class indices start at 0")
    largest = int(indices.max(initial=0))
    if largest >= MOST_LABELS:
        raise InputError(
            f"{name} holds {largest}: class indices count the labels from 0, up to {MOST_LABELS:,}"
        )
    return 1 + largest


def check_members(name: str, ballots: Ballots, members: Array, fallback: int | None = None) -> None:
    """Refuse ballots of fewer members than there are: compiled code would read past their end."""
    expected = 1 + max(int(members.max(initial=-1)), -1 if fallback is None else fallback)
    if ballots.shape[1] != expected:
        raise InputError(
            f"{name} has {ballots.shape[1]} members for {expected} in the pools: expected one for "
            "each"
        )
