"""Models under the same attacks, each adapted to the model: what is left, and what was proven.

A share here is what attacks found, so that a better attacker can only lower it. It must never be
below what a deterministic proof promises for the same rows.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from joblib.parallel import get_active_backend
from sklearn import get_config
from sklearn.base import clone

from .._support import Array, Estimator, Progress, TableLike, on_one_thread, require
from ..baselines import Comparison
from ..ensemble import Ensemble
from ..errors import InputError
from ..metrics import certify_against, correct_radius
from ._any_model import (
    BACKDOOR,
    EVASION,
    KINDS,
    POISONING,
    Scene,
    Scorer,
    TrainingAttacker,
    evade,
    owned_columns,
)
from ._attacked_table import AttackedTable

MOST_TRAINING_ROWS = 1000  # every model is fitted a dozen times


@dataclass(frozen=True)
class AttackTable(Comparison):
    """One line per model: accuracy under every kind of attack, beside what is proven.

    Attributes
    ----------
    rows : list of dict
        One per model, with the same keys in the same order; shares are from 0 to 1.
    radii : tuple of int
        How many sources were attacked.
    notes : tuple of str
        What the numbers were measured on.

    See Also
    --------
    under_attack : Makes it.

    Examples
    --------
    >>> from partita.attacks import AttackTable
    >>> AttackTable([{"method": "one model", "accuracy": 0.9}]).to_frame().shape
    (1, 1)
    """

    radii: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Convert to a Markdown table in percent, with the notes below it.

        Returns
        -------
        str
            The table.
        """
        shown = []
        for row in self.rows:
            cells = {"model": row["method"], "accuracy": _percent(row["accuracy"])}
            covers = row["proof covers"]
            for r in self.radii:
                found = " / ".join(_percent(row[f"{kind}, r = {r}"]) for kind in KINDS)
                proven = _percent(row[f"proven, r = {r}"])
                only = {"all": proven, "nothing": ""}.get(covers, f"{proven} ({covers} only)")
                cells |= {f"r = {r}: {' / '.join(KINDS)}": found, f"proven at {r}": only}
            shown.append(cells | {"fit": f"{row['fit']:.1f} x"})
        return "\n".join([Comparison(shown).to_markdown(), "", *self.notes])

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy under the worst attack against the number of sources, model by model.

        Dotted lines are what is proven against all kinds of attacks.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the picture.
        """
        ticker = require("matplotlib.ticker", "a plot", "partita[plot]")
        if ax is None:
            figures = require("matplotlib.figure", "a plot", "partita[plot]")
            ax = figures.Figure(figsize=(6.4, 4.4), layout="constrained").add_subplot()
        radii = [0, *self.radii]
        for row in self.rows:
            proven = row["proof covers"] == "all"
            worst = [row["accuracy"], *(row[f"worst, r = {r}"] for r in self.radii)]
            style = {"linewidth": 2.4} if proven else {"linewidth": 1.3, "alpha": 0.85}
            (line,) = ax.plot(radii, worst, "o-", markersize=4, label=row["method"], **style)
            if proven:
                shares = [row["accuracy"], *(row[f"proven, r = {r}"] for r in self.radii)]
                label = f"{row['method']}: proven"
                ax.plot(radii, shares, ":", color=line.get_color(), linewidth=2, label=label)
        ax.set(xlabel="sources attacked", ylabel="right under the worst attack found")
        ax.set_ylim(0, 1.02)
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
        return ax


def under_attack(
    models: Mapping[str, Estimator],
    X_train: TableLike,
    y_train: TableLike,
    X: TableLike,
    y: TableLike,
    *,
    units: object = None,
    trusted: Sequence[object] = (),
    radii: Sequence[int] = (1, 2, 3),
    rows: int = 200,
    tolerance: float | None = None,
    rare: object = None,
    random_state: int = 0,
    verbose: int = 0,
) -> AttackTable:
    """Attack models, yours and partita's own, in the same ways.

    Evasion rewrites sources of the row that is predicted; poisoning rewrites sources in all
    training rows; a backdoor does both, so that training rows carry a trigger for their label and
    the row carries the trigger of another. Sources and values are chosen against each model by its
    own predictions. What attacks leave is an upper bound of what a better attacker would leave;
    what is proven holds against every attacker.

    Parameters
    ----------
    models : mapping from str to estimator
        Models by name, with ``fit`` and ``predict``; each is cloned and fitted a dozen times. Times
        are multiples of the first one's.
    X_train : array-like or DataFrame of shape (n_train, n_features)
        The rows to learn from; at most 1,000 of them, chosen at random.
    y_train : array-like of shape (n_train,)
        Their labels or values.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The rows to attack.
    y : array-like of shape (n_samples,)
        Their labels or values.
    units : mapping from str to list of columns, optional
        The columns of each source, as the estimators take them; by default each column is one.
    trusted : sequence of columns, default=()
        Columns out of an attacker's reach.
    radii : sequence of int, default=(1, 2, 3)
        How many sources an attacker owns.
    rows : int, default=200
        How many rows of X are attacked, chosen at random.
    tolerance : float, optional
        For values: how far from the truth a prediction is right.
    rare : label, optional
        A rare class: all shares are then means over labels, and rows are drawn with as many of that
        class as of the others.
    random_state : int, default=0
        Of the rows and the attacks.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    AttackTable
        With ``rows``, ``to_frame()``, ``to_markdown()`` and ``plot()``.

    Raises
    ------
    InputError
        If a radius is not between 1 and the number of sources, or there are no models.

    See Also
    --------
    audit : Attacks a certified model as its own radius allows.
    partita.compare : What several certified defences prove.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import under_attack
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> units = {f"part {k}": range(k, 30, 10) for k in range(10)}
    >>> models = {
    ...     "one model": GaussianNB(),
    ...     "partition": FeaturePartitionClassifier(GaussianNB(), units=units),
    ... }
    >>> data = (X[::2], y[::2], X[1::2], y[1::2])
    >>> found = under_attack(models, *data, units=units, radii=[1], rows=50)
    >>> one_model, partition = found.rows
    >>> one_model["worst, r = 1"] < partition["proven, r = 1"] <= partition["worst, r = 1"]
    True
    """
    if not models:
        raise InputError("models is empty: give at least one")
    training, attacked = AttackedTable(X_train), AttackedTable(X)
    owned = owned_columns(units, training, trusted)
    levels = tuple(sorted({int(r) for r in radii}))
    if not levels or levels[0] < 1 or levels[-1] > len(owned):
        raise InputError(
            f"radii is {list(radii)!r}: give whole numbers from 1 to {len(owned)}, the number of "
            "sources"
        )
    truth, answers = np.asarray(y), np.asarray(y_train)
    rng = np.random.default_rng(random_state)
    learnt = _draw(answers, MOST_TRAINING_ROWS, rare, rng)
    chosen = _draw(truth, rows, rare, rng)
    scene = Scene(
        training.take(learnt),
        answers[learnt],
        attacked.take(chosen),
        Scorer(truth[chosen], tolerance, rare is not None),
        list(owned.values()),
    )
    notes = [
        f"Learnt from {len(learnt):,} of {len(answers):,} training rows; attacked: "
        f"{len(chosen):,} of {len(truth):,} test rows."
    ]
    if rare is not None:
        notes.append(f"All shares are means over labels; {rare!r} is half of the rows.")
    if tolerance is not None:
        notes.append(f"Right: within {tolerance:g} of the truth.")
    jobs = (
        delayed(on_one_thread)(get_config(), measure, model, scene, levels, random_state)
        for model in models.values()
    )
    _, n_jobs = get_active_backend(prefer="processes")
    n_jobs = cpu_count() if n_jobs in (None, 1) else n_jobs
    results = Parallel(min(n_jobs, len(models)), prefer="processes", return_as="generator")(jobs)
    progress = Progress("attacked", len(models), "models", enabled=bool(verbose))
    measured = zip(models, progress.over(results), strict=True)
    lines = [{"method": name} | line for name, line in measured]
    for line in reversed(lines):
        line["fit"] /= lines[0]["fit"]
    return AttackTable(lines, levels, tuple(notes))


def _draw(y: Array, most: int, rare: object, rng: np.random.Generator) -> Array:
    """Return positions of at most so many rows, half of them of the rare class if there is one."""
    order = rng.permutation(len(y))
    if rare is not None:
        is_rare = y[order] == rare
        half = min(most // 2, int(is_rare.sum()), int((~is_rare).sum()))
        order = np.concatenate([order[is_rare][:half], order[~is_rare][:half]])
    return np.sort(order[:most])


def measure(model: Estimator, scene: Scene, radii: Sequence[int], seed: int) -> dict[str, Any]:
    """Fit one model, attack it in every way, and return the shares that are left.

    Parameters
    ----------
    model : estimator
        Cloned for every fit.
    scene : Scene
        The rows.
    radii : sequence of int
        How many sources an attacker owns, increasing.
    seed : int
        Of the attacks.

    Returns
    -------
    dict
        Shares by attack and radius; "fit" in seconds.
    """
    seconds: list[float] = []

    def fit(X: TableLike, y: Array) -> Estimator:
        started = time.perf_counter()
        fitted = clone(model).fit(X, y)
        seconds.append(time.perf_counter() - started)
        return fitted

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what estimators say of an attacker's values
        honest, share = fit(scene.training.table(), scene.y), scene.scorer.share
        evasion = evade(honest, scene, radii[-1], np.random.default_rng(seed))
        attacker = TrainingAttacker(scene, seed)
        proven, covers = _proven(honest, scene)
        line: dict[str, Any] = {"accuracy": share(evasion.right[0])}
        least = dict.fromkeys(KINDS, line["accuracy"])  # an attacker may use fewer sources than r
        for r in radii:
            least[EVASION] = share(evasion.right[r])
            for attack in attacker.attacks(fit, honest, evasion.strength, r):
                least[attack.kind] = min(least[attack.kind], share(attack.right))
            # without a trigger, a backdoor is a poisoning
            least[BACKDOOR] = min(least[BACKDOOR], least[POISONING])
            line |= {f"{kind}, r = {r}": least[kind] for kind in KINDS}
            line[f"worst, r = {r}"] = min(least.values())
            line[f"proven, r = {r}"] = share(proven >= r)
    return line | {"proof covers": covers, "fit": float(np.median(seconds))}


def _proven(model: Estimator, scene: Scene) -> tuple[Array, str]:
    """Return the radius up to which each row is proven right, and against which attacks."""
    truth = scene.scorer
    if not hasattr(model, "certify"):
        return np.full(len(truth), -np.inf), "nothing"
    proof = certify_against(model, scene.rows.table(), truth.y, truth.tolerance)
    whole = isinstance(model, Ensemble) and not model.trusts_training
    return np.asarray(correct_radius(truth.y, proof)), "all" if whole else EVASION


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
