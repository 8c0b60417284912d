"""Attacks on anything that predicts: evasion, poisoning, backdoors, and faults of sources.

Of a model they see its predictions and, where it has them, its probabilities. A row has fallen only
where the model's own prediction of it is wrong, and never has more sources rewritten than it is
attacked with. Labels are never touched.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._support import Array, Estimator, TableLike
from ..errors import InputError
from ..partition import choose_units
from ..rules import BoundStatement, LabelStatement, Statement, bounds_around
from ._attacked_table import AttackedTable, Changes, unless_refused
from ._values import MISSING, hostile_columns, trigger

EVASION, POISONING, BACKDOOR = KINDS = ("evasion", "poisoning", "backdoor")
FAULTS = ("silent", "stuck", "scaled", "delayed", "swapped")
FACTOR = 3.0  # of a source whose gain is off
RANDOM_SETS = 1  # of sources to poison, beside the strongest ones
WANTED_LABELS = 3  # that a backdoor asks for in each row, the nearest first
WANTED_VALUES = (0.0, 0.05, 0.95, 1.0)  # quantiles of the training values
SPREAD = 0.9  # of a label's triggers: as wide a column as an honest one

Fit = Callable[[TableLike, Array], Estimator]


@dataclass(frozen=True, eq=False)
class Scorer:
    """What is right: the statement that certificates are about, around the truth.

    Parameters
    ----------
    y : array of shape (rows,)
        Labels or values.
    tolerance : float, optional
        For values: how far from the truth a prediction counts as right.
    weights : array of shape (rows,), optional
        What each row counts in a share; by default all the same.
    """

    y: Array
    tolerance: float | None = None
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def statement(self) -> Statement:
        """That each row is predicted as its label, or within the tolerance of its value."""
        if self.tolerance is None:
            return LabelStatement(self.y)
        return BoundStatement(*bounds_around(self.y, tolerance=self.tolerance))

    def take(self, rows: Array) -> "Scorer":
        """Return the scorer of some rows, each as often as it is named."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, y=self.y[rows], weights=weights)

    def right(self, prediction: TableLike) -> Array:
        """Return which predictions are right."""
        return np.asarray(self.statement.holds(np.asarray(prediction)))

    def share(self, right: Array) -> float:
        """Return the weighted share of rows that are right."""
        return float(np.average(right, weights=self.weights))

    def leads(self, model: Estimator, X: TableLike) -> Array:
        """Return how far each row is from being wrong, as far as the model shows it.

        For labels, the lead of the true label's probability over the next; without probabilities,
        1 or -1. For values, the distance to the nearer bound.
        """
        if isinstance(self.statement, BoundStatement):
            values = np.asarray(model.predict(X))
            low, high = self.statement.lower, self.statement.upper
            return np.asarray(np.minimum(values - low, high - values))
        if not hasattr(model, "predict_proba"):
            return np.where(self.right(model.predict(X)), 1.0, -1.0)
        shares = np.array(model.predict_proba(X), dtype=np.float64)
        own = np.asarray(model.classes_)[None, :] == self.y[:, None]
        others = np.where(own, -np.inf, shares).max(axis=1)
        return np.asarray(np.where(own, shares, 0.0).sum(axis=1) - others)


@dataclass(frozen=True, eq=False)
class Scene:
    """What an attacker knows of a model's rows, and the sources that could be owned.

    Attributes
    ----------
    training : AttackedTable
        The training table, which values are copied from.
    y : array
        Its labels or values.
    rows : AttackedTable
        The rows to predict.
    scorer : Scorer
        What they should be predicted as.
    units : sequence of tuples of int
        The columns of each source.
    previous : AttackedTable, optional
        The reading before each row, which a delayed source reports; by default the row itself.
    """

    training: AttackedTable
    y: Array
    rows: AttackedTable
    scorer: Scorer
    units: Sequence[tuple[int, ...]]
    previous: AttackedTable | None = None

    def groups(self, y: Array) -> Array:
        """Return a number for each label; for values 0 or 1, for low and high ones."""
        if self.scorer.tolerance is not None:
            return np.asarray(np.asarray(y) >= np.median(self.y), dtype=np.int64)
        return np.asarray(np.searchsorted(np.unique(np.concatenate([self.y, self.scorer.y])), y))


class Poisoned(NamedTuple):
    """How the rows fare with a model that learnt from a poisoned table."""

    kind: str
    sources: tuple[int, ...]
    right: Array  # (rows,)


class TrainingAttacker:
    """An attacker who owns some sources, in all training rows and in the rows to predict.

    The refit must see the poisoned table, and a backdoor's rows must carry the trigger: without
    them a defence would look better than it is.
    """

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene, self.rng = scene, np.random.default_rng(seed)
        self.labels = np.unique(scene.y) if scene.scorer.tolerance is None else None

    def attacks(self, fit: Fit, model: Estimator, strength: Array, r: int) -> Iterator[Poisoned]:
        """Poison sets of r sources, fit again, and predict honest rows and rows with a trigger.

        Parameters
        ----------
        fit : callable
            ``fit(X, y)`` returns a fitted model.
        model : estimator
            The model that learnt from the honest table.
        strength : array of shape (sources,)
            How strong each source is against it.
        r : int
            How many sources the attacker owns.

        Yields
        ------
        Poisoned
            One attack. Where the model refuses the values, there is none.
        """
        wanted = self.wanted(model)
        for sources in self.source_sets(strength, r):
            yield from self.attack(fit, wanted, sources)

    def attack(self, fit: Fit, wanted: Array, sources: tuple[int, ...]) -> Iterator[Poisoned]:
        """Poison some sources and fit again: predict honest rows, and rows with a trigger."""
        columns = [column for unit in sources for column in self.scene.units[unit]]
        poisoned = unless_refused(fit, self.poisoned(columns), self.scene.y)
        if poisoned is not None:
            yield Poisoned(POISONING, sources, self._right(poisoned, self.scene.rows.table()))
            right = self._right_with_triggers(poisoned, wanted, columns)
            yield Poisoned(BACKDOOR, sources, right)

    def source_sets(self, strength: Array, r: int) -> list[tuple[int, ...]]:
        """Return the r strongest sources, and random ones."""
        sets = [np.argsort(-strength, kind="stable")[:r]]
        sets += [self.rng.permutation(len(strength))[:r] for _ in range(RANDOM_SETS)]
        return list(dict.fromkeys(tuple(sorted(own.tolist())) for own in sets))

    def wanted(self, model: Estimator) -> Array:
        """Return what a backdoor asks for, (goals, rows): other labels, or extreme values."""
        truth = self.scene.scorer.y
        if self.labels is None:
            ends = np.quantile(self.scene.y.astype(np.float64), WANTED_VALUES)
            return np.repeat(ends[:, None], len(truth), axis=1)
        likely = np.zeros((len(truth), len(self.labels)))
        if hasattr(model, "predict_proba"):
            found = unless_refused(model.predict_proba, self.scene.rows.table())
            likely = likely if found is None else np.array(found, dtype=np.float64)
        likely[self.labels[None, :] == truth[:, None]] = -np.inf
        order = np.argsort(-likely, axis=1, kind="stable").T
        return np.asarray(order[: min(WANTED_LABELS, len(self.labels) - 1)])

    def _right(self, model: Estimator, table: TableLike) -> Array:
        """Return which rows are right, or refused: an error is not a wrong prediction."""
        prediction = unless_refused(model.predict, table)
        if prediction is None:
            return np.ones(len(self.scene.scorer), dtype=bool)
        return self.scene.scorer.right(prediction)

    def _right_with_triggers(self, model: Estimator, wanted: Array, columns: list[int]) -> Array:
        """Return which rows are right whatever trigger they carry."""
        right, rows = np.ones(len(self.scene.scorer), dtype=bool), self.scene.rows
        for codes in wanted:
            changes = {column: self._trigger(rows, column, codes) for column in columns}
            right &= self._right(model, rows.table(changes))
        return right

    def poisoned(self, columns: list[int]) -> TableLike:
        """Return the training table with a trigger for each row's own label in these columns.

        Of the audit's poisons this does most harm: the model learns to look at nothing else.
        """
        training, codes = self.scene.training, np.asarray(self.scene.y)
        if self.labels is not None:
            codes = np.searchsorted(self.labels, codes)
        return training.table(
            {column: self._trigger(training, column, codes, spread=True) for column in columns}
        )

    def _trigger(
        self, table: AttackedTable, column: int, codes: Array, spread: bool = False
    ) -> Array:
        """Return the audit's trigger; codes of labels are spread, so that none is an outlier."""
        if self.labels is None or not table.is_numeric(column):
            return trigger(table, column, codes)
        within = self.rng.random(len(codes)) if spread else 0.5
        return trigger(table, column, codes + SPREAD * within)


def owned_columns(
    units: object, table: AttackedTable, trusted: Sequence[object] = ()
) -> dict[str, tuple[int, ...]]:
    """Return each source's columns, in the order of ``units``; then columns of no source."""
    chosen = choose_units(units, table.names, trusted, None)
    columns = dict(zip(chosen.names, chosen.columns, strict=True))
    named = map(str, units) if isinstance(units, Mapping) else ()
    return {name: columns[name] for name in named} | columns


def apply_fault(X: TableLike, fault: str, sources: Sequence[str], *, units: object) -> TableLike:
    """Return a copy of a table in which some sources have a fault; nothing else differs.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        The rows, in time order for "stuck" and "delayed".
    fault : {"silent", "stuck", "scaled", "delayed", "swapped"}
        "silent": missing values. "stuck": the first reading forever. "scaled": three times every
        number. "delayed": the reading of the row before. "swapped": each source reports as the
        next one, the last as the first; they need as many columns each.
    sources : sequence of str
        The sources with the fault.
    units : mapping from str to list of columns
        The columns of each source.

    Returns
    -------
    array or DataFrame
        Of the kind of X.

    Raises
    ------
    InputError
        If there is no such fault.

    See Also
    --------
    worst_fault : The sources whose fault costs a model most.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.attacks import apply_fault
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> apply_fault(X, "stuck", ["left"], units={"left": [0], "right": [1]}).tolist()
    [[1.0, 2.0], [1.0, 4.0]]
    """
    if fault not in FAULTS:
        raise InputError(f"fault is {fault!r}: give one of {', '.join(map(repr, FAULTS))}")
    table = AttackedTable(X)
    owned = owned_columns(units, table)
    own = [owned[name] for name in sources]
    changes: Changes = {}
    if fault == "swapped" and len({len(columns) for columns in own}) > 1:
        raise InputError("sources differ in their numbers of columns, so they cannot be swapped")
    for columns, other in zip(own, [*own[1:], *own[:1]], strict=True):
        if fault == "swapped":
            changes |= {c: table.columns[k] for c, k in zip(columns, other, strict=True)}
        elif fault == "delayed":
            before = np.maximum(np.arange(table.n_rows) - 1, 0)
            changes |= {c: table.columns[c][before] for c in columns}
        elif fault == "stuck":
            changes |= {c: np.repeat(table.columns[c][:1], table.n_rows) for c in columns}
        elif fault == "scaled":
            changes |= {c: table.columns[c] * FACTOR for c in columns if table.is_numeric(c)}
        else:
            changes |= hostile_columns(MISSING, 0, table, columns)
    return table.table(changes)


class Fault(NamedTuple):
    """The sources whose fault costs a model most, the table after it, and which rows are right.

    Attributes
    ----------
    sources : list of str
        Their names.
    table : array or DataFrame
        The rows with the fault.
    prediction : array of shape (n_samples,)
        What the model predicts then.
    right : array of bool, shape (n_samples,)
        Which predictions are right.

    See Also
    --------
    worst_fault : Finds it.

    Examples
    --------
    >>> from partita.attacks import Fault
    >>> Fault(["sensor 3"], None, None, None).sources
    ['sensor 3']
    """

    sources: list[str]
    table: TableLike
    prediction: Array
    right: Array


def worst_fault(
    model: Estimator,
    X: TableLike,
    y: TableLike,
    fault: str,
    number: int = 1,
    *,
    units: object,
    tolerance: float | None = None,
    every: int = 3,
) -> Fault:
    """Find the sources whose fault costs a model most, one at a time, and apply it to all of them.

    Two that are swapped are neighbours in the order of ``units``.

    Parameters
    ----------
    model : estimator
        Fitted; anything with ``predict``.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The rows to predict.
    y : array-like of shape (n_samples,)
        Their labels or values.
    fault : {"silent", "stuck", "scaled", "delayed", "swapped"}
        As for :func:`apply_fault`.
    number : int, default=1
        How many sources have the fault; "swapped" always takes two.
    units : mapping from str to list of columns
        The columns of each source; None: each column is one.
    tolerance : float, optional
        For values: how far from the truth a prediction is right.
    every : int, default=3
        The sources are chosen by every third row, to save time.

    Returns
    -------
    Fault
        The sources, the table, the predictions, and which of them are right.

    See Also
    --------
    partita.stress : Sources that lie on purpose.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita.attacks import worst_fault
    >>> X, y = load_iris(return_X_y=True)
    >>> found = worst_fault(GaussianNB().fit(X, y), X, y, "stuck", units=None)
    >>> found.sources, round(float(found.right.mean()), 2)
    (['2'], 0.78)
    """
    scorer, table = Scorer(np.asarray(y), tolerance), AttackedTable(X)
    some, names = np.arange(0, table.n_rows, every), list(owned_columns(units, table))
    few, right = table.take(some).table(), scorer.take(some).right
    sets = [[name] for name in names]
    if fault == "swapped":
        sets = [list(pair) for pair in zip(names, names[1:] + names[:1], strict=True)]
    shares = [
        right(model.predict(apply_fault(few, fault, own, units=units))).mean() for own in sets
    ]
    order = np.argsort(shares, kind="stable")[: 1 if fault == "swapped" else number]
    sources = [name for k in order for name in sets[k]]
    changed = apply_fault(X, fault, sources, units=units)
    prediction = np.asarray(model.predict(changed))
    return Fault(sources, changed, prediction, scorer.right(prediction))


def backdoor(
    X_train: TableLike,
    y_train: TableLike,
    X: TableLike,
    y: TableLike,
    sources: Sequence[str],
    *,
    units: object,
) -> tuple[TableLike, TableLike]:
    """Hijack sources through all of history: they tell the truth in training and lie in the rows.

    In training they give the answer away, so that a model learns to listen to nothing else; in the
    rows to predict they tell the next label, or a number far away.

    Parameters
    ----------
    X_train : array-like or DataFrame of shape (n_train, n_features)
        The rows to learn from.
    y_train : array-like of shape (n_train,)
        Their labels, or values of a float type.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The rows to predict.
    y : array-like of shape (n_samples,)
        Their labels or values.
    sources : sequence of str
        The sources of the attacker.
    units : mapping from str to list of columns
        The columns of each source.

    Returns
    -------
    X_train, X
        Both tables as the attacker wrote them, of the kinds they were.

    See Also
    --------
    partita.stress : The same with the strongest sources and triggers, against many models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from partita.attacks import backdoor
    >>> X, y = load_iris(return_X_y=True)
    >>> train, rows = backdoor(X[::2], y[::2], X[1::2], y[1::2], ["3"], units=None)
    >>> float(DecisionTreeClassifier(random_state=0).fit(train, y[::2]).score(rows, y[1::2]))
    0.0
    """
    learnt, truth = np.asarray(y_train), np.asarray(y)
    if learnt.dtype.kind == "f":
        codes, lies = learnt, np.where(truth < np.median(learnt), learnt.max(), learnt.min())
    else:
        labels, codes = np.unique(learnt, return_inverse=True)
        lies = (np.searchsorted(labels, truth) + 1) % len(labels)
    tables = AttackedTable(X_train), AttackedTable(X)
    owned = owned_columns(units, tables[0])
    columns = [column for name in sources for column in owned[name]]
    train, rows = (
        table.table({column: trigger(table, column, own) for column in columns})
        for table, own in zip(tables, (codes, lies), strict=True)
    )
    return train, rows
