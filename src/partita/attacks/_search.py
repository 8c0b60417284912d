"""Evasion of anything that predicts: the worst that r sources can do to each row, as far as found.

Values come from a pool: training rows, random mixes of them, the ends of every column's range and
far beyond, no values, and texts that training never had. An attack is a matrix that says, for each
row and source, from which row of the pool the source's values are copied. So a source moves as a
whole, types stay what they are, and every attack can be repeated. What works on one row is tried
first on others of the same label. A row has fallen only where the model's own prediction is wrong.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from .._support import Array, Estimator, TableLike
from ..errors import SoundnessError
from ..tables import is_missing
from ._any_model import FACTOR, Scene
from ._attacked_table import AttackedTable
from ._values import MISSING, TEXTS, UNSEEN, end_of_range, values_of

DONORS = 200  # training rows whose values are tried, as many of each label
MIXES = 16  # of training values, drawn for each column alone
ENDS = 4  # the ends of the column's range in training, and far beyond
FAULTY, EXTREME = -1, 0
# for each row and source: faults, donors (at random first, then what worked), extremes
ROUNDS = (FAULTY, 4, 3, 3, 2, EXTREME)
TRANSFERRED = 3  # donors that worked best on rows of the label, tried beside another lying source
ALL_PAIRS = 20  # sources: of so many, every pair is tried
LATER_SOURCES = 8  # of more, as the second, third, ... source: the strongest ones
BATCH_CELLS, BATCH_ROWS = 4_000_000, 20_000  # at most, in one call of predict
PROBES = 8  # rows of a refused batch that are tried alone before it is halved


@dataclass
class Budget:
    """What an attack may spend, and what it has spent.

    Attributes
    ----------
    seconds : float
        From the moment that this object is made.
    queries : float
        Rows that the model is asked for.
    asked : int
        How many it has been asked for.
    """

    seconds: float = np.inf
    queries: float = np.inf
    asked: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.asked >= self.queries or time.monotonic() - self.started >= self.seconds


def ask_each(ask: Callable[[Array], Array], places: Array) -> tuple[Array, Array]:
    """Ask for all places at once; where that raises, find out which of them are refused.

    Returns
    -------
    answers : array
        None in its place where there is no answer at all.
    refused : bool array
        Where the model raises an error.
    """
    try:
        return np.asarray(ask(places)), np.zeros(len(places), dtype=bool)
    except SoundnessError:
        raise
    except Exception:  # any model may raise anything
        if len(places) == 1:
            return np.array([None]), np.ones(1, dtype=bool)
    if len(places) > 2 * PROBES:
        some = places[np.linspace(0, len(places) - 1, PROBES).astype(int)]
        if all(ask_each(ask, some[k : k + 1])[1][0] for k in range(PROBES)):
            return np.full(len(places), None), np.ones(len(places), dtype=bool)
    halves = [ask_each(ask, half) for half in np.array_split(places, 2)]
    kinds = [answers[~refused] for answers, refused in halves if not refused.all()]
    joined = np.full(len(places), None, dtype=object)
    refused = np.concatenate([own for _, own in halves])
    if not kinds:
        return joined, refused
    accepted = np.concatenate(kinds)
    answers = np.full((len(places), *accepted.shape[1:]), accepted[0], dtype=accepted.dtype)
    answers[~refused] = accepted
    return answers, refused


class Pool:
    """The rows to attack, and below them the rows that values are copied from.

    Attributes
    ----------
    donors : array of int
        Places of training rows and of mixes.
    faults : mapping from str to list of int arrays of shape (rows,)
        The place that each row's values come from, in every variant of a fault.
    ends : list of int arrays of shape (rows,)
        Places of the ends of the ranges, and beyond.
    unseen : int array of shape (rows,)
        Places of texts that training never had.
    """

    def __init__(self, scene: Scene, rng: np.random.Generator) -> None:
        rows, training, y = scene.rows, scene.training, scene.y
        labels = scene.groups(y)
        order = rng.permutation(len(y))
        rank = np.zeros(len(y), dtype=np.int64)  # within the label
        for label in np.unique(labels):
            own = order[labels[order] == label]
            rank[own] = np.arange(len(own))
        drawn = order[np.argsort(rank[order], kind="stable")][:DONORS]
        self.n_rows, self.n_donors = rows.n_rows, len(drawn)
        before = rows if scene.previous is None else scene.previous
        columns = [
            np.concatenate(
                [own, *self._below(training, k, drawn, rng), _scaled(own), before.columns[k]]
            )
            for k, own in enumerate(rows.columns)
        ]
        first = rows.take(np.zeros(len(columns[0]), dtype=np.int64))
        self.table = AttackedTable(first.table(dict(enumerate(columns))))
        n = self.n_rows
        own, last = np.arange(n), n + len(drawn) + MIXES
        self.donors = np.arange(n, last)
        self.donor_groups = np.concatenate([labels[drawn], np.full(MIXES, -1)])
        everywhere = np.zeros(n, dtype=np.int64)
        self.faults = {
            "silent": [everywhere + last + ENDS],
            "stuck": [everywhere + place for place in sorted({0, n - 1})],
            "scaled": [own + last + ENDS + 2],
            "delayed": [own + last + ENDS + 2 + n],
        }
        self.ends = [everywhere + last + end for end in range(ENDS)]
        self.unseen = everywhere + last + ENDS + 1
        columns_of = range(len(columns))
        self.gaps = [bool(values_of(MISSING, rows, column)) for column in columns_of]
        self.texts = [bool(values_of(TEXTS, rows, column)) for column in columns_of]
        self.numbers = [rows.is_numeric(k) or rows.is_bytes(k) for k in columns_of]
        self._codes = np.column_stack([_codes(own[n:last]) for own in columns])

    @staticmethod
    def _below(
        training: AttackedTable, column: int, drawn: Array, rng: np.random.Generator
    ) -> list[Array]:
        """Return a column of everything below the rows."""
        own = training.columns[column]
        mixed = own[rng.integers(len(own), size=MIXES)]
        ends = [end_of_range(training, column, end)[:1] for end in range(ENDS)]
        if training.is_numeric(column) and not np.all(own[np.isfinite(own)] % 1 == 0):
            mixed = rng.uniform(ends[0], ends[1], size=MIXES)
        gap, text = own[:1].copy(), own[:1].copy()
        if values := values_of(MISSING, training, column):
            gap = np.array(values[:1], dtype=own.dtype)
        if training.has_text(column):
            text = np.array([UNSEEN], dtype=object)
        return [own[drawn], mixed, *ends, gap, text]

    def candidates(self, columns: Sequence[int]) -> tuple[Array, Array]:
        """Return donors that differ in these columns, and the group of each."""
        codes = self._codes[:, list(columns)]
        _, first = np.unique(codes, axis=0, return_index=True)
        first = np.sort(first)
        return self.donors[first], self.donor_groups[first]


def _scaled(own: Array) -> Array:
    """Return a column of a source whose gain is off; texts have none."""
    if own.dtype == np.uint8:
        return np.clip(own * FACTOR, 0, 255).astype(np.uint8)
    return own * FACTOR if own.dtype.kind == "f" else own


def _codes(values: Array) -> Array:
    """Return equal numbers for equal values."""
    if values.dtype == object:
        values = np.array(["" if is_missing(one) else f"={one}" for one in values])
    return np.asarray(np.unique(values, return_inverse=True)[1])


@dataclass(frozen=True, eq=False)
class Evasion:
    """What came of an attack on all rows.

    Attributes
    ----------
    right : bool array of shape (radius + 1, rows)
        Which rows are right, and stay right after at most r of their sources are rewritten.
    refusing : int array of shape (rows, sources)
        Values of a source with which the model raises an error instead of answering; -1: none.
    faults : mapping from (fault, source) to a bool and an int array of shape (rows,)
        Which rows are right with the fault, and where its values come from.
    strength : array of shape (sources,)
        How much of the rows' leads each source takes alone, at its best.
    alone : bool array of shape (rows, sources)
        Which rows stay right whatever was tried in that source alone.
    readings : bool array of shape (rows, sources)
        The same where the source only reports what it reported in other rows, or mixes of that.
    pairs : mapping from (int, int) to bool array of shape (rows,)
        The same for pairs of sources.
    states : int array of shape (radius + 1, rows, sources)
        Where the values of each row come from in the pool.
    tried : int
        The largest r for which everything was tried before the budget was spent.
    choice : int array of shape (rows, sources)
        The most harmful values of each source alone.
    pool : Pool
        What values are copied from.
    """

    right: Array
    refusing: Array
    faults: dict[tuple[str, int], tuple[Array, Array]]
    strength: Array
    alone: Array
    readings: Array
    pairs: dict[tuple[int, int], Array]
    states: Array
    tried: int
    choice: Array
    pool: Pool
    of_column: Array

    @property
    def table(self) -> TableLike:
        """The rows as they were rewritten last."""
        return self.rewritten(self.states[-1])

    @property
    def sources(self) -> Array:
        """Which sources of each row were rewritten last."""
        return np.asarray(self.states[-1] != np.arange(len(self.states[-1]))[:, None])

    def rewritten(self, state: Array) -> TableLike:
        """Return the rows with the values that a matrix of places says."""
        own = np.arange(len(state))[:, None]
        return self.pool.table.gathered(np.hstack([state, own])[:, self.of_column])


def evade(
    model: Estimator,
    scene: Scene,
    radius: int,
    rng: np.random.Generator,
    budget: Budget | None = None,
    report: Callable[[int], None] | None = None,
) -> Evasion:
    """Rewrite up to ``radius`` sources of every row so that the prediction is wrong.

    Parameters
    ----------
    model : estimator
        Anything with ``predict``; ``predict_proba`` shows how near a row is to falling.
    scene : Scene
        The rows, and what an attacker knows of them.
    radius : int
        How many sources of a row at most.
    rng : Generator
        Of everything random.
    budget : Budget, optional
        After it is spent, nothing more is tried.
    report : callable, optional
        Gets the number of sources that were tried, in each of the ``ROUNDS``.
    """
    search = _Search(model, scene, rng, budget or Budget())
    n_units, done = len(scene.units), 0
    for number in ROUNDS:
        for unit in range(n_units):
            if search.budget.spent:
                break
            search.try_alone(unit, number)
            done += 1
            if report:
                report(done)
    return search.result(radius)


class _Search:
    """One search: the best values found so far for each row and source."""

    def __init__(
        self, model: Estimator, scene: Scene, rng: np.random.Generator, budget: Budget
    ) -> None:
        self.model, self.scene, self.rng, self.budget = model, scene, rng, budget
        self.pool = Pool(scene, rng)
        n, units = scene.rows.n_rows, scene.units
        self.own = np.arange(n)
        self.of_column = np.full(len(scene.rows.columns), len(units))
        for unit, columns in enumerate(units):
            self.of_column[list(columns)] = unit
        self.batch = max(1, min(BATCH_ROWS, BATCH_CELLS // len(self.of_column)))
        honest = np.repeat(self.own[:, None], len(units), axis=1)
        self.aligned = False  # whether a row is right where its lead is above zero
        self.odd = False
        self.lead, refused = self.leads(self.own, honest)
        self.aligned = not self.odd
        self.right = (self.lead >= 0) & ~refused
        self.best = np.repeat(self.lead[:, None], len(units), axis=1)
        self.choice, self.refusing = honest, np.full(honest.shape, -1)
        self.faults: dict[tuple[str, int], tuple[Array, Array]] = {}
        self.readings = self.best.copy()
        self.groups = scene.groups(scene.scorer.y)
        n_groups = self.groups.max() + 1
        self.candidates = [self.pool.candidates(columns) for columns in units]
        self.tried = [np.zeros((n, len(own)), dtype=bool) for own, _ in self.candidates]
        self.drops = [np.zeros((n_groups, len(own))) for own, _ in self.candidates]
        self.counts = [np.zeros((n_groups, len(own))) for own, _ in self.candidates]

    def leads(self, rows: Array, state: Array) -> tuple[Array, Array]:
        """Return the leads of rewritten rows, and which of them are refused.

        Leads are below zero exactly where the prediction is wrong, and infinite where it is
        refused.
        """
        leads, refused = np.full(len(rows), np.inf), np.zeros(len(rows), dtype=bool)
        places = np.hstack([state, rows[:, None]])[:, self.of_column]

        def ask(some: Array) -> Array:
            table, scorer = self.pool.table.gathered(places[some]), self.scene.scorer
            own = np.array(scorer.take(rows[some]).leads(self.model, table), dtype=np.float64)
            doubtful = np.flatnonzero((own <= 0) | (not self.aligned))
            if len(doubtful):  # the prediction decides, not the probabilities
                table = self.pool.table.gathered(places[some[doubtful]])
                right = scorer.take(rows[some[doubtful]]).right(self.model.predict(table))
                self.odd |= bool((right != (own[doubtful] > 0))[own[doubtful] != 0].any())
                lowest = np.minimum(own[doubtful], -np.finfo(float).tiny)
                own[doubtful] = np.where(right, np.maximum(own[doubtful], 0), lowest)
            return own

        for start in range(0, len(rows), self.batch):
            some = np.arange(start, min(start + self.batch, len(rows)))
            found, bad = ask_each(ask, some)
            leads[some[~bad]] = found[~bad].astype(np.float64)
            refused[some] = bad
            self.budget.asked += len(some)
        return leads, refused

    def _try(self, rows: Array, unit: int, places: Array) -> Array:
        """Try values of one source in some rows, each with several, and return the leads."""
        if not len(rows):
            return np.empty(places.shape)
        asked = np.repeat(rows, places.shape[1])
        state = np.repeat(asked[:, None], len(self.scene.units), axis=1)
        state[:, unit] = places.ravel()
        leads, refused = self.leads(asked, state)
        leads = leads.reshape(places.shape)
        for k, bad in enumerate(refused.reshape(places.shape).T):
            self.refusing[rows[bad], unit] = places[bad, k]
        best = leads.argmin(axis=1)
        lowest = leads[np.arange(len(rows)), best]
        better = lowest < self.best[rows, unit]
        self.best[rows[better], unit] = lowest[better]
        self.choice[rows[better], unit] = places[np.arange(len(rows)), best][better]
        return leads

    def try_alone(self, unit: int, number: int) -> None:
        """Try one source in all rows: so many donors, or faults, or extremes."""
        if number == FAULTY:
            self._try_faults(unit)
        elif number == EXTREME:
            self._try_extremes(unit)
        else:
            self._try_donors(unit, number)

    def _try_donors(self, unit: int, number: int) -> None:
        own, _ = self.candidates[unit]
        rows = np.flatnonzero(self.right & (self.readings[:, unit] >= 0))
        number = min(number, len(own) - int(self.tried[unit].sum(axis=1).max()))
        if not len(rows) or number < 1:
            return
        chosen = self._ranked(unit, rows)[:, :number]
        leads = self._try(rows, unit, own[chosen])
        self.readings[rows, unit] = np.minimum(self.readings[rows, unit], leads.min(axis=1))
        self.tried[unit][rows[:, None], chosen] = True
        drop = np.where(np.isfinite(leads), leads - self.lead[rows, None], 0)
        np.add.at(self.drops[unit], (self.groups[rows, None], chosen), drop)
        np.add.at(self.counts[unit], (self.groups[rows, None], chosen), 1)

    def _try_faults(self, unit: int) -> None:
        pool, columns = self.pool, self.scene.units[unit]
        able = {"silent": pool.gaps, "scaled": pool.numbers}
        for fault, variants in pool.faults.items():
            if fault not in able or any(able[fault][column] for column in columns):
                leads = self._try(self.own, unit, np.column_stack(variants))  # wrong rows too
                right = (leads >= 0) & np.isfinite(leads)
                worst = int(right.sum(axis=0).argmin())
                self.faults[fault, unit] = right[:, worst], variants[worst]

    def _try_extremes(self, unit: int) -> None:
        """Try the ends of the ranges, and apart from them texts, which models may refuse."""
        has_text = any(self.pool.texts[column] for column in self.scene.units[unit])
        for variants in (self.pool.ends, [self.pool.unseen] * has_text):
            if variants:
                rows = np.flatnonzero(self.right & (self.best[:, unit] >= 0))
                self._try(rows, unit, np.column_stack(variants)[rows])

    def _ranked(self, unit: int, rows: Array) -> Array:
        """Return candidates for each row, the most promising first and the tried ones last."""
        drops, counts = self.drops[unit], self.counts[unit]
        if counts.any():
            overall = drops.sum(axis=0) / (counts.sum(axis=0) + 1)
            score = ((drops + overall) / (counts + 1))[self.groups[rows]]
            score = score + 1e-9 * self.rng.random(score.shape)
        else:  # at random, those of other labels first
            same = self.candidates[unit][1][None, :] == self.groups[rows, None]
            score = self.rng.random(same.shape) + 0.7 * same
        score[self.tried[unit][rows]] = np.inf
        return np.asarray(np.argsort(score, axis=1))

    def result(self, radius: int) -> Evasion:
        """Go on to pairs, triples, ... of sources, and return what was found."""
        n_units = self.choice.shape[1]
        alone = ~self.right[:, None] | (self.best >= 0)
        taken = np.maximum(self.lead[:, None] - np.minimum(self.best, self.lead[:, None]), 0)
        taken = np.where(self.right[:, None], taken, 0)
        strength = np.sum(~alone, axis=0) + np.mean(np.tanh(taken), axis=0)
        order = np.argsort(-strength, kind="stable")
        honest = np.repeat(self.own[:, None], n_units, axis=1)
        states, leads = [honest], self.lead.copy()
        right, pairs, tried = [self.right], {}, 0
        later = order if n_units <= ALL_PAIRS else order[:LATER_SOURCES]
        for r in range(1, radius + 1):
            state = states[-1].copy()
            if r == 1:
                unit = self.best.argmin(axis=1)
                better = self.right & (self.best[self.own, unit] < leads)
                rows = self.own[better]
                state[rows, unit[rows]] = self.choice[rows, unit[rows]]
                leads[rows] = self.best[rows, unit[rows]]
            elif not self.budget.spent:
                if r == 2:
                    pairs = self._pairs(np.sort(later), alone, state, leads)
                for unit in later[:LATER_SOURCES]:
                    if not self.budget.spent:
                        self._extend(int(unit), states[-1], state, leads)
            tried = r if not self.budget.spent else tried
            states.append(state)
            right.append(right[-1] & (leads >= 0))
        return Evasion(
            np.stack(right),
            self.refusing,
            self.faults,
            strength,
            alone & self.right[:, None],
            (self.readings >= 0) & self.right[:, None],
            pairs,
            np.stack(states),
            tried,
            self.choice,
            self.pool,
            self.of_column,
        )

    def _pairs(
        self, units: Array, alone: Array, state: Array, leads: Array
    ) -> dict[tuple[int, int], Array]:
        """Try the most harmful values of two sources together, for all pairs."""
        found = {}
        for one, other in combinations(units.tolist(), 2):
            if self.budget.spent:
                break
            stands = self.right & alone[:, one] & alone[:, other]
            rows = np.flatnonzero(stands)
            tried = np.repeat(rows[:, None], state.shape[1], axis=1)
            tried[:, [one, other]] = self.choice[rows][:, [one, other]]
            own, _ = self.leads(rows, tried)
            stands[rows[own < 0]] = False
            found[one, other] = stands
            better = own < leads[rows]
            state[rows[better]], leads[rows[better]] = tried[better], own[better]
        return found

    def _extend(self, unit: int, base: Array, state: Array, leads: Array) -> None:
        """Try one more source beside those of ``base``, where it is not yet among them."""
        rows = np.flatnonzero(self.right & (leads >= 0) & (base[:, unit] == self.own))
        if not len(rows):
            return
        own, _ = self.candidates[unit]
        # what was tried on a row alone may work beside another source: by the label, not the row
        kept, self.tried[unit] = self.tried[unit], np.zeros_like(self.tried[unit])
        places = own[self._ranked(unit, rows)[:, :TRANSFERRED]]
        self.tried[unit] = kept
        places = np.hstack([self.choice[rows, unit][:, None], places])
        asked = np.repeat(rows, places.shape[1])
        tried = base[asked].copy()
        tried[:, unit] = places.ravel()
        found, _ = self.leads(asked, tried)
        found = found.reshape(places.shape)
        best = found.argmin(axis=1)
        lowest = found[np.arange(len(rows)), best]
        better = lowest < leads[rows]
        chosen = tried.reshape(*places.shape, -1)[np.arange(len(rows)), best]
        state[rows[better]], leads[rows[better]] = chosen[better], lowest[better]
