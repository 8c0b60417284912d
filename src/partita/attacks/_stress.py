"""``stress``: what one bad source, or several, can do to any model.

Every share here is what was found: a better attacker may do more harm. Only what ensembles prove
holds against all attackers, and it is named so.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import cycle, pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_regressor

from .._support import (
    Array,
    Estimator,
    JsonObject,
    PathLike,
    Progress,
    TableLike,
    check_whole,
    json_value,
    on_one_thread,
    one_line,
    percent,
    require,
)
from ..ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from ..errors import InputError
from ..tables import write_table
from ._any_model import (
    BACKDOOR,
    EVASION,
    FAULTS,
    KINDS,
    POISONING,
    Fit,
    Scene,
    Scorer,
    TrainingAttacker,
    owned_columns,
)
from ._attack_table import AttackTable, measure
from ._attacked_table import AttackedTable, Changes
from ._search import ROUNDS, Budget, Evasion, ask_each, evade

MODEL = "your model"
FOUND, PROVEN = "#c2600c", "#1f5fae"  # two colours, as in the report
LIES, PAIR, ANY = "lies", "pair", "any"  # one source; two; others in every row
MOST_TRAINING_ROWS = 3000  # of poisoned models, which are fitted often
MOST_COMPARED_ROWS = 10_000  # of ensembles that are fitted once
LEAST_OF_LABEL = 10  # rows that are attacked
MOST_MODELS = 30  # of a leave-out ensemble to compare with
EVASION_TIME, COMPARE_TIME = 0.4, 0.3  # of all seconds, where training data are given


class Replay(NamedTuple):
    """An attack done again.

    Attributes
    ----------
    table : array or DataFrame
        The attacked rows; for poisoning and backdoors, the training table as it was poisoned.
    right : array of bool, shape (rows,)
        Which rows are right now.

    See Also
    --------
    StressTest.replay : Makes it.

    Examples
    --------
    >>> from partita.attacks import Replay
    >>> Replay([[0.0]], [True]).right
    [True]
    """

    table: TableLike
    right: Array


@dataclass(frozen=True, eq=False)
class Finding:
    """A fault or an attack, and what it left.

    Attributes
    ----------
    kind : str
        "silent", "stuck", "scaled", "delayed" or "swapped" are faults. "lies" is one source in all
        rows, "pair" two, "any" the r most harmful ones of each row; "poisoning" and "backdoor" are
        in the training data.
    sources : tuple of str
        The sources; none for "any".
    r : int
        How many lie.
    right : array of bool, shape (rows,)
        Which of the attacked rows are still right.
    share : float
        The share of them.
    refused : int
        Rows of which the model raised an error; they are not right.

    See Also
    --------
    StressTest : All findings.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.attacks import Finding
    >>> Finding("silent", ("north",), 1, np.array([True, False]), 0.5).share
    0.5
    """

    kind: str
    sources: tuple[str, ...]
    r: int
    right: Array
    share: float
    refused: int = 0
    _written: Any = field(default=None, repr=False)  # places in the pool, or changed columns

    def as_dict(self) -> JsonObject:
        """Convert to plain values.

        Returns
        -------
        dict
            Everything but the rows.
        """
        names = ("kind", "sources", "r", "share", "refused")
        return {name: json_value(getattr(self, name)) for name in names}


@dataclass(frozen=True, eq=False)
class StressTest:
    """What :func:`partita.stress` found.

    Attributes
    ----------
    shares : list of float
        The share of rows right now, and under 1, 2, ... lying sources, others in each row.
    sources : list of dict
        One per source, the most harmful first: the share right when it lies ("lies"), when it only
        reports readings of other rows ("readings"), and for every fault; rows that the model
        refuses ("refused"); the worst partner ("with") and what is right when both lie ("pair");
        with training data "poisoning" and "backdoor". None stands for what was not tried.
    labels : list of dict
        Recall of every label, now and under 1, 2, ... lying sources; empty for values.
    findings : list of Finding
        Every fault and attack, the most harmful first.
    comparison : AttackTable or None
        The model beside ensembles that prove something.
    notes : list of str
        What was measured, and what was left out.
    rows : array of int
        The rows of X that were attacked.
    queries : int
        How many rows the model was asked for.
    seconds : float
        How long it took.

    See Also
    --------
    partita.stress : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import stress
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = stress(GaussianNB().fit(X, y), X, y, radius=1)
    >>> found.sources[0]["source"]
    'petal width (cm)'
    """

    shares: list[float]
    sources: list[JsonObject]
    labels: list[JsonObject]
    findings: list[Finding]
    comparison: AttackTable | None
    notes: list[str]
    rows: Array
    queries: int
    seconds: float
    _scene: Scene = field(repr=False)
    _model: Estimator = field(repr=False)
    _evasion: Evasion = field(repr=False)
    _attacker: Callable[[], tuple[TrainingAttacker, Fit, Array]] | None = field(repr=False)

    @property
    def sentences(self) -> list[str]:
        """The result in words."""
        first = self.sources[0]
        said = [
            f"When all is well, the model is right on {percent(self.shares[0])} of "
            f"{len(self.rows):,} rows."
        ]
        said += [
            f"When {'one source lies' if r == 1 else f'{r} sources lie'}, chosen anew for each "
            f"row: {percent(share)} right (found)."
            for r, share in enumerate(self.shares[1:], start=1)
        ]
        said.append(
            f"Most harmful: {first['source']!r}. When it lies in all rows, {percent(first[LIES])} "
            f"are right; {percent(first['readings'])} if it only reports readings of other rows."
        )
        for fault in FAULTS:
            known = [one for one in self.sources if one[fault] is not None]
            if known:
                worst = min(known, key=lambda one: one[fault])
                names = repr(worst["source"])
                if fault == "swapped":
                    names += f" with {worst['swapped with']!r}"
                said.append(f"{fault.capitalize()}: {names} leaves {percent(worst[fault])}.")
        refusing = [one for one in self.sources if one["refused"]]
        if refusing:
            most = max(refusing, key=lambda one: one["refused"])
            said.append(
                f"The model raises an error on {most['refused']} rows because of values in "
                f"{most['source']!r}, and because of {len(refusing)} of {len(self.sources)} "
                "sources in all; such rows count as not right."
            )
        for kind, words in (
            (POISONING, "had lied in training"),
            (BACKDOOR, "had lied in training and lies now"),
        ):
            known = [one for one in self.sources if one[kind] is not None]
            if known:
                worst = min(known, key=lambda one: one[kind])
                said.append(
                    f"If {worst['source']!r} {words}: {percent(worst[kind])} found ({len(known)} "
                    f"of {len(self.sources)} sources tried)."
                )
        for row in self.comparison.rows[1:] if self.comparison else ():
            gap, lies = 100 * (row["accuracy"] - self.shares[0]), row["evasion, r = 1"]
            left = "no time to attack it" if np.isnan(lies) else f"{percent(lies)} found"
            said.append(
                f"Beside it, {row['method']}: right on {percent(row['accuracy'])} when all is well "
                f"({gap:+.1f} points); under one lying source {left}, "
                f"{percent(row['proven, r = 1'])} proven."
            )
        per_row = self.queries / max(1, len(self.rows))
        said.append(
            f"Found with {per_row:,.0f} queries per row: a lower bound of the damage, since a "
            "better attacker may find more. Only what is proven holds against all of them."
        )
        return said

    def to_frame(self) -> Any:
        """Convert the sources to a pandas frame.

        Returns
        -------
        DataFrame
            One line per source, the most harmful first.
        """
        frames = require("pandas", "to_frame", "partita[cli]")
        return frames.DataFrame(self.sources).set_index("source")

    def as_dict(self) -> JsonObject:
        """Convert to what the command prints as JSON.

        Returns
        -------
        dict
            Numbers, texts, lists and dicts.
        """
        rows = [] if self.comparison is None else self.comparison.rows
        content = {
            "shares": self.shares,
            "sources": self.sources,
            "labels": self.labels,
            "findings": [one.as_dict() for one in self.findings],
            "comparison": rows,
            "sentences": self.sentences,
            "notes": self.notes,
            "rows": len(self.rows),
            "queries": self.queries,
            "queries_per_row": round(self.queries / max(1, len(self.rows)), 1),
            "seconds": round(self.seconds, 1),
        }
        return dict(json_value(content))

    def replay(self, k: int) -> Replay:
        """Do a finding again.

        Parameters
        ----------
        k : int
            Its place in ``findings``.

        Returns
        -------
        Replay
            The attacked table, and which rows are right.
        """
        one = self.findings[k]
        if self._attacker is not None and one.kind in (POISONING, BACKDOOR):
            attacker, fit, wanted = self._attacker()
            columns = [c for unit in one._written for c in self._scene.units[unit]]
            done = {a.kind: a.right for a in attacker.attack(fit, wanted, one._written)}
            table = self._attacker()[0].poisoned(columns)
            return Replay(table, done[one.kind])
        table = (
            self._scene.rows.table(one._written)
            if isinstance(one._written, dict)
            else self._evasion.rewritten(one._written)
        )
        right, _ = _right(self._model, self._scene.scorer, table)
        return Replay(table, right)

    def to_parquet(self, k: int, path: PathLike) -> None:
        """Write the table of a finding to a file.

        Parameters
        ----------
        k : int
            Its place in ``findings``.
        path : path
            A .parquet or .csv file. Attacked rows also have "row", their place in X, and "right".
        """
        done = self.replay(k)
        table = AttackedTable(done.table)
        columns: dict[str, object] = dict(zip(table.names, table.columns, strict=True))
        if self.findings[k].kind not in (POISONING, BACKDOOR):
            columns |= {"row": self.rows, "right": done.right}
        write_table(columns, path)

    def plot(self, ax: Any = None, most: int = 15) -> Any:
        """Draw what is right when each source lies or fails.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        most : int, default=15
            How many sources are shown.

        Returns
        -------
        matplotlib Axes
            With the picture.
        """
        ticker = require("matplotlib.ticker", "a plot", "partita[plot]")
        shown = self.sources[:most][::-1]
        if ax is None:
            figures = require("matplotlib.figure", "a plot", "partita[plot]")
            height = 1.6 + 0.3 * len(shown)
            ax = figures.Figure(figsize=(6.8, height), layout="constrained").add_subplot()
        places = range(len(shown))
        ax.barh(places, [one[LIES] for one in shown], color=FOUND, label="lies (found)")
        for fault, marker in zip(FAULTS, "os^Dv", strict=True):
            known = [(one[fault], k) for k, one in enumerate(shown) if one[fault] is not None]
            if known:
                ax.plot(*zip(*known, strict=True), marker, label=fault, markersize=5, alpha=0.8)
        ax.axvline(self.shares[0], color="black", linewidth=1, label="all is well")
        others = self.comparison.rows[1:] if self.comparison else []
        for row, style in zip(others, cycle(["--", ":", "-."]), strict=False):
            label = f"{row['method']}, one source (proven)"
            ax.axvline(row["proven, r = 1"], color=PROVEN, linestyle=style, label=label)
        ax.set_yticks(places, [one["source"] for one in shown])
        ax.set(xlim=(0, 1.02), xlabel="right when this source is bad")
        ax.xaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
        return ax

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.notes])


def stress(
    model: Estimator,
    X: TableLike,
    y: TableLike,
    *,
    units: object = None,
    trusted: Sequence[object] = (),
    radius: int = 3,
    X_train: TableLike = None,
    y_train: TableLike = None,
    tolerance: float | None = None,
    compare: bool | Mapping[str, Estimator] = True,
    rows: int = 200,
    seconds: float = 60.0,
    queries: float = np.inf,
    random_state: int = 0,
    verbose: int = 0,
) -> StressTest:
    """Find out what one bad source, or several, can do to a model that you have.

    Sources fail (silent, stuck, scaled, delayed, swapped) or lie, with values chosen against this
    model by its own answers. With training data they also lie in training, and ensembles that prove
    something are fitted and attacked on the same rows.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Fitted. Where it has ``predict_proba`` and ``classes_``, attacks are stronger. An error on
        a row counts as a row that is not right.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Rows to attack, which the model has not learnt from; in time order for "delayed".
    y : array-like of shape (n_samples,)
        Their labels or values.
    units : mapping from str to list of columns, optional
        The columns of each source; by default each column is one.
    trusted : sequence of columns, default=()
        Columns out of an attacker's reach.
    radius : int, default=3
        How many sources lie at most.
    X_train : array-like or DataFrame of shape (n_train, n_features), optional
        What the model learnt from. With it, values are taken from there; a model with ``fit`` is
        poisoned and fitted again.
    y_train : array-like of shape (n_train,), optional
        Its labels or values.
    tolerance : float, optional
        For values: how far from the truth a prediction is right; by default twice the model's
        median error.
    compare : bool or mapping from str to estimator, default=True
        With training data: a partition and a leave-out ensemble, or models of your own, not fitted.
    rows : int, default=200
        How many rows of X are attacked, at least ten of each label.
    seconds : float, default=60
        After that nothing new is begun; the result is the best that was found.
    queries : float, default=inf
        How many rows the model is asked for at most, in faults and lies.
    random_state : int, default=0
        Of the rows and the attacks.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    StressTest
        With ``sources``, ``sentences``, ``to_frame()``, ``plot()`` and ``replay(k)``.

    Raises
    ------
    InputError
        If the model cannot predict X, or the tables do not go together.

    See Also
    --------
    partita.attacks.audit : Attacks a certified model as its own radius allows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from partita import stress
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = stress(forest, X[1::2], y[1::2], radius=2)
    >>> print(found.sentences[0])
    When all is well, the model is right on 96.6 % of 89 rows.
    >>> found.shares[1] < 0.6
    True
    """
    started = time.monotonic()
    check_whole("radius", radius, 1)
    check_whole("rows", rows, 1)
    table, truth, rng = AttackedTable(X), np.asarray(y), np.random.default_rng(random_state)
    if len(truth) != table.n_rows:
        raise InputError(f"y has {len(truth)} entries and X {table.n_rows} rows: give one per row")
    if (X_train is None) != (y_train is None):
        raise InputError("X_train goes with y_train: give both, or neither")
    training, learnt = table, truth
    if X_train is not None:
        training, learnt = AttackedTable(X_train), np.asarray(y_train)
        if training.names != table.names:
            raise InputError("X_train has other columns than X: give the same, in the same order")
    owned = owned_columns(units, table, trusted)
    predictor = model if hasattr(model, "predict") else _Function(model)
    of_values = tolerance is not None or _predicts_values(model, truth)
    chosen, weights = _draw(truth, rows, of_values, rng)
    attacked, notes = table.take(chosen), []
    answers, answered = _predict_each(predictor, attacked)
    if not answered.all():
        notes.append(
            f"The model raises an error on {np.sum(~answered)} of these rows as they are; they "
            "count as not right."
        )
    if of_values and tolerance is None:
        errors = np.abs(answers[answered].astype(float) - truth[chosen][answered])
        tolerance = float(f"{2 * np.median(errors):.3g}") or 1.0
        notes.append(
            f"Right: within {tolerance:g} of the truth, twice the model's median error. Choose "
            "your own by tolerance."
        )
    elif of_values:
        notes.append(f"Right: within {tolerance:g} of the truth.")
    scene = Scene(
        training,
        learnt,
        attacked,
        Scorer(truth[chosen], tolerance, weights),
        list(owned.values()),
        previous=table.take(np.maximum(chosen - 1, 0)),
    )
    run = _Run(predictor, scene, list(owned), min(radius, len(owned)), random_state, verbose)
    trains, end = X_train is not None, started + seconds
    with _quiet():
        budget = Budget(seconds * (EVASION_TIME if trains else 1.0), queries, started=started)
        evasion = on_one_thread(get_config(), run.evade, budget)
        findings = run.at_prediction(evasion)
        if budget.spent:
            notes.append(
                "The budget was spent before everything was tried: the best found so far is shown."
            )
        comparison, attacker, more = None, None, []
        if trains:
            if compare:
                given = compare if isinstance(compare, Mapping) else None
                models = given or _ensembles(scene, units, trusted, random_state)
                if not models:
                    notes.append("Not compared: a partition needs three sources at least.")
                until = end - (1 - EVASION_TIME - COMPARE_TIME) * seconds
                some = _fewer(scene, MOST_COMPARED_ROWS, rng)
                comparison, said = _compared(models, some, run, findings, until)
                notes += [*said, *_said_of(some, scene, "Models to compare with")]
            if hasattr(model, "fit"):
                fit, small = _fitter(model), _fewer(scene, MOST_TRAINING_ROWS, rng)
                wanted = TrainingAttacker(small, random_state).wanted(_Refusing(predictor))
                attacker = lambda: (TrainingAttacker(small, random_state), fit, wanted)  # noqa: E731
                more = list(run.in_training(attacker, evasion.strength, end))
                notes += _said_of(small, scene, "Poisoned models")
            if comparison is not None:
                comparison.rows[0].update(run.line(findings + more))
    return run.result(
        evasion, findings + more, comparison, notes, chosen, budget.asked, started, attacker
    )


class _Function:
    """A function that predicts, as an object."""

    def __init__(self, function: Callable[[TableLike], Array]) -> None:
        if not callable(function):
            raise InputError(
                f"model is a {type(function).__name__}, which has no predict: give a fitted model, "
                "or a function from a table to predictions"
            )
        self.predict = function


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what estimators say of an attacker's values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _predicts_values(model: Estimator, y: Array) -> bool:
    if hasattr(model, "__sklearn_tags__"):
        return bool(is_regressor(model))
    return bool(y.dtype.kind == "f" and np.any(y != np.floor(y)))


def _draw(y: Array, most: int, of_values: bool, rng: np.random.Generator) -> tuple[Array, Any]:
    """Return rows at random, at least some of each label, and what each counts."""
    order = rng.permutation(len(y))
    if of_values:
        return np.sort(order[:most]), None
    _, codes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    rank = np.zeros(len(y), dtype=np.int64)  # within the label
    for code in range(len(counts)):
        rank[codes == code] = np.arange(counts[code])
    order = order[np.argsort(rank >= LEAST_OF_LABEL, kind="stable")]
    chosen = np.sort(order[:most])
    _, codes, drawn = np.unique(y[chosen], return_inverse=True, return_counts=True)
    totals = np.array([np.sum(y == label) for label in np.unique(y[chosen])])
    return chosen, (totals / drawn)[codes]


def _fewer(scene: Scene, most: int, rng: np.random.Generator) -> Scene:
    """Return the scene with fewer training rows."""
    kept = np.sort(rng.permutation(len(scene.y))[:most])
    return Scene(
        scene.training.take(kept), scene.y[kept], scene.rows, scene.scorer, scene.units,
        scene.previous,
    )  # fmt: skip


def _said_of(some: Scene, scene: Scene, subject: str) -> list[str]:
    if len(some.y) == len(scene.y):
        return []
    return [f"{subject} learn from {len(some.y):,} of {len(scene.y):,} rows."]


def _predict_each(model: Estimator, table: AttackedTable) -> tuple[Array, Array]:
    """Return answers, and which rows have one; refuse a model that answers none."""
    whole = table.table()
    try:
        answers, refused = np.asarray(model.predict(whole)), np.zeros(table.n_rows, dtype=bool)
    except Exception as exc:  # any model may raise anything
        ask = lambda some: np.asarray(model.predict(table.take(some).table()))  # noqa: E731
        answers, refused = ask_each(ask, np.arange(table.n_rows))
        if refused.all():
            raise InputError(
                f"the model cannot predict X ({type(exc).__name__}: {one_line(exc)}): give rows "
                "as it takes them"
            ) from exc
    if len(answers) != table.n_rows:
        raise InputError(
            f"the model gives {len(answers)} predictions for {table.n_rows} rows: give one per row"
        )
    return answers, ~refused


def _right(model: Estimator, scorer: Scorer, table: TableLike) -> tuple[Array, Array]:
    """Return which rows are right, and which the model refuses; those are not right."""
    attacked = AttackedTable(table)

    def ask(some: Array) -> Array:
        return scorer.take(some).right(model.predict(attacked.take(some).table()))

    found, refused = ask_each(ask, np.arange(len(scorer)))
    right = np.zeros(len(scorer), dtype=bool)
    right[~refused] = found[~refused].astype(bool)
    return right, refused


class _Refusing:
    """A model whose errors, of whatever type, are refusals."""

    def __init__(self, model: Estimator) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if not callable(found):
            return found

        def call(*given: object) -> Any:
            try:
                return found(*given)
            except Exception as exc:  # any model may raise anything
                raise InputError(f"the model refuses: {one_line(exc)}") from exc

        return call


def _fitter(model: Estimator) -> Fit:
    def fit(X: TableLike, y: Array) -> Estimator:
        copy = clone(model) if hasattr(model, "get_params") else deepcopy(model)
        return _Refusing(_Refusing(copy).fit(X, y))

    return fit


def _ensembles(
    scene: Scene, units: object, trusted: Sequence[object], seed: int
) -> dict[str, Estimator]:
    """Return ensembles that prove something, by name."""
    if len(scene.units) < 3:
        return {}
    values = scene.scorer.tolerance is not None
    partition = FeaturePartitionRegressor if values else FeaturePartitionClassifier
    leave_out = LeaveOutRegressor if values else LeaveOutClassifier
    ours: dict[str, Any] = {"units": units, "trusted": trusted, "random_state": seed}
    ours["on_failure"] = "vote"
    return {
        "a partition": partition(**ours),
        "a leave-out ensemble": leave_out(radius=1, max_models=MOST_MODELS, **ours),
    }


def _compared(
    models: Mapping[str, Estimator], scene: Scene, run: "_Run", findings: list[Finding], end: float
) -> tuple[AttackTable, list[str]]:
    """Attack other models on the same rows; the first line is for the model itself."""
    radii, notes = tuple(range(1, run.radius + 1)), []
    lines = [{"method": MODEL} | run.line(findings)]
    with Progress("compared with", len(models), "models", enabled=bool(run.verbose)) as progress:
        for k, (name, model) in enumerate(models.items()):
            left = (end - time.monotonic()) / (len(models) - k)
            try:
                line = measure(model, scene, radii, run.seed, Budget(max(0.0, left)))
            except Exception as exc:  # of someone's estimator, or of a table too small
                notes.append(f"Not compared: {name} ({type(exc).__name__}: {one_line(exc)}).")
            else:
                lines.append({"method": name} | line)
            progress.update(k + 1)
    return AttackTable(lines, radii, ()), notes


@dataclass
class _Run:
    """One stress test."""

    model: Estimator
    scene: Scene
    names: list[str]
    radius: int
    seed: int
    verbose: int

    def evade(self, budget: Budget) -> Evasion:
        """Search for lies, and try faults on the way."""
        total = len(ROUNDS) * len(self.names)
        rng = np.random.default_rng(self.seed)
        with Progress("tried", total, "rounds", enabled=bool(self.verbose)) as progress:
            return evade(self.model, self.scene, self.radius, rng, budget, progress.update)

    def _finding(
        self, kind: str, units: Sequence[int], right: Array, written: Any, refused: int = 0
    ) -> Finding:
        names = tuple(self.names[unit] for unit in units)
        share = self.scene.scorer.share(right)
        return Finding(kind, names, max(1, len(units)), right, share, refused, written)

    def at_prediction(self, evasion: Evasion) -> list[Finding]:
        """Return what faults and lies leave of the rows."""
        own = np.arange(len(self.scene.scorer))
        honest = np.repeat(own[:, None], len(self.names), axis=1)
        refused, choice = evasion.refusing >= 0, evasion.choice
        lies = honest.copy()
        found = []
        for unit in range(len(self.names)):
            stands = evasion.alone[:, unit]
            places = np.where(stands, own, choice[:, unit])
            errs = stands & refused[:, unit]
            lies[:, unit] = np.where(errs, evasion.refusing[:, unit], places)
            written = honest.copy()
            written[:, unit] = lies[:, unit]
            number = int(refused[:, unit].sum())
            found.append(self._finding(LIES, (unit,), stands & ~errs, written, number))
        for (fault, unit), (right, places) in evasion.faults.items():
            written = honest.copy()
            written[:, unit] = places
            found.append(self._finding(fault, (unit,), right, written))
        stand = evasion.alone & ~refused
        for (one, other), right in evasion.pairs.items():
            left = stand[:, one]
            both = left & stand[:, other]
            written, together = honest.copy(), both & ~right
            written[~left, one] = lies[~left, one]
            written[left & ~both, other] = lies[left & ~both, other]
            for unit in (one, other):
                written[together, unit] = choice[together, unit]
            found.append(self._finding(PAIR, (one, other), right & both, written))
        breaking = refused.argmax(axis=1)
        for r in range(1, self.radius + 1):
            right, written = evasion.right[r], evasion.states[r].copy()
            errs = right & refused.any(axis=1)
            written[errs] = honest[errs]
            written[errs, breaking[errs]] = evasion.refusing[errs, breaking[errs]]
            row_wise = self._finding(ANY, (), right & ~errs, written, int(errs.sum()))
            found.append(replace(row_wise, r=r))
        return found + list(self._swapped())

    def _swapped(self) -> Iterator[Finding]:
        """Yield neighbours that report as each other, where their columns are alike."""
        rows, units = self.scene.rows, self.scene.units
        places = list(range(len(units)))
        for one, other in pairwise([*places, *places[: len(places) > 2]]):
            kinds = [[rows.columns[c].dtype for c in units[unit]] for unit in (one, other)]
            if kinds[0] == kinds[1]:
                pairs = list(zip(units[one], units[other], strict=True))
                changes: Changes = {a: rows.columns[b] for a, b in pairs}
                changes |= {b: rows.columns[a] for a, b in pairs}
                right, refused = _right(self.model, self.scene.scorer, rows.table(changes))
                units_of = (one, other)
                yield self._finding("swapped", units_of, right, changes, int(refused.sum()))

    def in_training(
        self, attacker: Callable[..., Any], strength: Array, end: float
    ) -> Iterator[Finding]:
        """Yield what poisoning and backdoors leave: the strongest sources first, while time is."""
        order = np.argsort(-strength, kind="stable").tolist()
        sets = [tuple(sorted(order[:r])) for r in range(1, self.radius + 1)]
        sets += [(unit,) for unit in order[1:]]
        with Progress("poisoned", len(sets), "sets of sources", enabled=bool(self.verbose)) as bar:
            for k, sources in enumerate(sets):
                if k and time.monotonic() > end:
                    break
                for done in _attacked(attacker, sources):
                    yield self._finding(done.kind, sources, done.right, sources)
                bar.update(k + 1)

    def line(self, findings: list[Finding]) -> JsonObject:
        """Return the model's own line of the comparison."""
        share = self.scene.scorer.share
        right, _ = _right(self.model, self.scene.scorer, self.scene.rows.table())
        line: JsonObject = {"accuracy": share(right)}
        least = dict.fromkeys(KINDS, np.nan)
        for r in range(1, self.radius + 1):
            for one in findings:
                kind = EVASION if one.kind == ANY else one.kind
                if kind in KINDS and one.r <= r:
                    least[kind] = float(np.fmin(least[kind], one.share))
            least[BACKDOOR] = float(np.fmin(least[BACKDOOR], least[POISONING]))
            line |= {f"{kind}, r = {r}": least[kind] for kind in KINDS}
            line[f"worst, r = {r}"] = float(np.fmin.reduce(list(least.values())))
            line[f"proven, r = {r}"] = 0.0
        return line | {"proof covers": "nothing", "fit": 1.0}

    def result(
        self,
        evasion: Evasion,
        findings: list[Finding],
        comparison: AttackTable | None,
        notes: list[str],
        chosen: Array,
        asked: int,
        started: float,
        attacker: Any,
    ) -> StressTest:
        """Rank the sources, and put everything together."""
        scorer = self.scene.scorer
        rights = [evasion.right[0]]
        rights += [one.right for one in findings if one.kind == ANY]
        sources: list[JsonObject] = []
        for unit, name in enumerate(self.names):
            own = [one for one in findings if name in one.sources]
            readings = scorer.share(evasion.readings[:, unit])
            entry: JsonObject = {"source": name, "refused": 0, "readings": readings}
            for kind in (LIES, *FAULTS, PAIR, POISONING, BACKDOOR):
                of_kind = [one for one in own if one.kind == kind]
                if kind in (POISONING, BACKDOOR):
                    of_kind = [one for one in of_kind if one.r == 1]
                worst = min(of_kind, key=lambda one: one.share, default=None)
                entry[kind] = None if worst is None else worst.share
                if kind == LIES and worst is not None:
                    entry["refused"] = worst.refused
                if kind in (PAIR, "swapped"):
                    other = [] if worst is None else [n for n in worst.sources if n != name]
                    entry["with" if kind == PAIR else "swapped with"] = other[0] if other else None
            sources.append(entry)
        strength = dict(zip(self.names, evasion.strength.tolist(), strict=True))
        ranks = {}
        for one in sources:  # of equal liars, those that fail worst or are plausible come first
            alone = [one[fault] for fault in FAULTS if fault != "swapped"]
            worst = min([one["readings"], *(share for share in alone if share is not None)])
            ranks[one["source"]] = (one[LIES], worst, one["readings"], -strength[one["source"]])
        sources.sort(key=lambda one: ranks[one["source"]])
        labels = []
        if scorer.tolerance is None:
            for label in np.unique(scorer.y):
                own_rows = scorer.y == label
                recall = [float(right[own_rows].mean()) for right in rights]
                labels.append(
                    {"label": json_value(label), "rows": int(own_rows.sum()), "recall": recall}
                )
        return StressTest(
            [scorer.share(right) for right in rights],
            sources,
            labels,
            sorted(findings, key=lambda one: one.share),
            comparison,
            notes,
            chosen,
            asked,
            time.monotonic() - started,
            self.scene,
            self.model,
            evasion,
            attacker,
        )


def _attacked(attacker: Callable[..., Any], sources: tuple[int, ...]) -> list[Any]:
    one, fit, wanted = attacker()
    return list(one.attack(fit, wanted, sources))
