"""Models under the same attacks, each adapted to the model: what is left, and what was proven.

A share here is what attacks found, so that a better attacker can only lower it. It must never be
below what a deterministic proof promises for the same rows.
"""

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array, Estimator, TableLike, require
from ..baselines import Comparison
from ..ensemble import Ensemble
from ..metrics import certify_against, correct_radius
from ._any_model import (
    BACKDOOR,
    EVASION,
    KINDS,
    POISONING,
    Scene,
    TrainingAttacker,
)
from ._search import Budget, evade


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
    partita.stress : Makes it.

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


def measure(
    model: Estimator, scene: Scene, radii: Sequence[int], seed: int, budget: Budget | None = None
) -> dict[str, Any]:
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
    budget : Budget, optional
        After it is spent, nothing more is tried.

    Returns
    -------
    dict
        Shares by attack and radius, NaN where nothing was tried; "fit" in seconds.
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
        budget = budget or Budget()
        evasion = evade(honest, scene, radii[-1], np.random.default_rng(seed), budget)
        attacker = TrainingAttacker(scene, seed)
        proven, covers = _proven(honest, scene)
        line: dict[str, Any] = {"accuracy": share(evasion.right[0])}
        # an attacker may use fewer sources than r
        least = {kind: line["accuracy"] if kind == EVASION else math.nan for kind in KINDS}
        for r in radii:
            least[EVASION] = share(evasion.right[r]) if r <= evasion.tried else math.nan
            tried = () if budget.spent else attacker.attacks(fit, honest, evasion.strength, r)
            for attack in tried:
                least[attack.kind] = np.fmin(least[attack.kind], share(attack.right))
                if budget.spent and attack.kind == BACKDOOR:
                    break
            # without a trigger, a backdoor is a poisoning
            least[BACKDOOR] = np.fmin(least[BACKDOOR], least[POISONING])
            line |= {f"{kind}, r = {r}": float(least[kind]) for kind in KINDS}
            line[f"worst, r = {r}"] = float(np.fmin.reduce(list(least.values())))
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
    return "-" if math.isnan(share) else f"{100 * share:.0f}"
