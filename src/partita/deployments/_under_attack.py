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

from .._support import Array, Progress, on_one_thread
from ..attacks import AttackedTable
from ..ensemble import Ensemble
from ..errors import InputError
from ..metrics import certify_against, correct_radius
from ._alternatives import alternatives
from ._attack_table import AttackTable
from ._deployment import Deployment
from ._evasion import Donors, evade
from ._poisoning import BACKDOOR, EVASION, KINDS, POISONING, TrainingAttacker
from ._truth import Scorer

MOST_TRAINING_ROWS = 1000  # every model is fitted a dozen times


def under_attack(
    deployment: Deployment,
    radii: Sequence[int] = (1, 2, 3),
    rows: int = 200,
    models: Mapping[str, Any] | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> AttackTable:
    """Attack what users would do instead, and partita's own models, in the same ways.

    Evasion rewrites sources of the row that is predicted; poisoning rewrites sources in all
    training rows; a backdoor does both, so that training rows carry a trigger for their label and
    the row carries the trigger of another. Sources and values are chosen against each model by its
    own predictions. What attacks leave is an upper bound of what a better attacker would leave;
    what is proven holds against every attacker.

    Parameters
    ----------
    deployment : Deployment
        The rows, and the sources of their columns.
    radii : sequence of int, default=(1, 2, 3)
        How many sources an attacker owns.
    rows : int, default=200
        How many test rows are attacked, chosen at random.
    models : mapping from str to estimator, optional
        Models by name, not fitted, with ``fit`` and ``predict`` on frames; times are multiples of
        the first one's. By default a plain model, five common defences around it, and partita's
        two methods.
    random_state : int, default=0
        Of the rows and the attacks.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    AttackTable
        With ``rows``, ``to_frame()``, ``to_markdown()`` and ``plot()``. With a rare class
        (``deployment.positive``) all shares are means over labels, and rows are drawn with as many
        of that class as of the others.

    Raises
    ------
    InputError
        If a radius is not between 1 and the number of sources, or there are no models.

    See Also
    --------
    partita.attacks.audit : Attacks a certified model as its own radius allows.
    partita.compare : What several certified defences prove.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.deployments import Deployment, under_attack
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> y, columns = y.to_numpy(), tuple(X.columns)
    >>> units = {f"part {k}": columns[k::10] for k in range(10)}
    >>> cancer = Deployment(
    ...     "cancer", "Tumours", "?", X[::2], y[::2], X[1::4], y[1::4], X[3::4], y[3::4], units
    ... )
    >>> models = {
    ...     "one model": GaussianNB(),
    ...     "partition": FeaturePartitionClassifier(GaussianNB(), units=units),
    ... }
    >>> found = under_attack(cancer, radii=[1], rows=50, models=models)
    >>> one_model, partition = found.rows
    >>> one_model["worst, r = 1"] < partition["proven, r = 1"] <= partition["worst, r = 1"]
    True
    """
    levels = _check_radii(radii, len(deployment.units))
    chosen = alternatives(deployment, random_state=random_state) if models is None else models
    if not chosen:
        raise InputError("models is empty: give at least one, or None for the usual ones")
    scene = Scene.of(deployment, rows, random_state)
    jobs = (
        delayed(on_one_thread)(get_config(), measure, model, scene, levels, random_state)
        for model in chosen.values()
    )
    _, n_jobs = get_active_backend(prefer="processes")
    n_jobs = cpu_count() if n_jobs in (None, 1) else n_jobs
    results = Parallel(min(n_jobs, len(chosen)), prefer="processes", return_as="generator")(jobs)
    progress = Progress("attacked", len(chosen), "models", enabled=bool(verbose))
    measured = zip(chosen, progress.over(results), strict=True)
    lines = [{"method": name} | line for name, line in measured]
    for line in reversed(lines):
        line["fit"] /= lines[0]["fit"]
    return AttackTable(lines, levels, deployment.title, deployment.source, scene.notes)


def _check_radii(radii: Sequence[int], n_sources: int) -> tuple[int, ...]:
    levels = tuple(sorted({int(r) for r in radii}))
    if not levels or levels[0] < 1 or levels[-1] > n_sources:
        raise InputError(
            f"radii is {list(radii)!r}: give whole numbers from 1 to {n_sources}, the number of "
            "sources"
        )
    return levels


@dataclass(frozen=True, eq=False)
class Scene:
    """The rows that models learn from and are attacked on."""

    X_train: Any
    y_train: Array
    X: Any
    truth: Scorer
    units: list[tuple[int, ...]]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, deployment: Deployment, rows: int, seed: int) -> "Scene":
        """Draw the rows of a deployment, with a rare class as often as the others."""
        rng, positive = np.random.default_rng(seed), deployment.positive
        y_train, y_test = np.asarray(deployment.y_train), np.asarray(deployment.y_test)
        learnt = _draw(y_train, MOST_TRAINING_ROWS, positive, rng)
        attacked = _draw(y_test, rows, positive, rng)
        columns = list(deployment.X_train.columns)
        notes = [
            f"Learnt from {len(learnt):,} of {len(y_train):,} training rows; attacked: "
            f"{len(attacked):,} of {len(y_test):,} test rows."
        ]
        if positive is not None:
            notes.append(f"All shares are means over labels; {positive!r} is half of the rows.")
        if deployment.tolerance is not None:
            notes.append(f"Right: within {deployment.tolerance:g} of the truth.")
        return cls(
            deployment.X_train.iloc[learnt],
            y_train[learnt],
            deployment.X_test.iloc[attacked],
            Scorer(y_test[attacked], deployment.tolerance, positive is not None),
            [tuple(columns.index(name) for name in own) for own in deployment.units.values()],
            tuple(notes),
        )


def _draw(y: Array, most: int, positive: Any, rng: np.random.Generator) -> Array:
    """Positions of at most so many rows; half of them positive where that is a class."""
    order = rng.permutation(len(y))
    if positive is not None:
        rare = y[order] == positive
        half = min(most // 2, int(rare.sum()), int((~rare).sum()))
        order = np.concatenate([order[rare][:half], order[~rare][:half]])
    return np.sort(order[:most])


def measure(model: Any, scene: Scene, radii: Sequence[int], seed: int) -> dict[str, Any]:
    """Fit one model, attack it in every way, and say what is left.

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

    def fit(X: Any, y: Array) -> Any:
        started = time.perf_counter()
        fitted = clone(model).fit(X, y)
        seconds.append(time.perf_counter() - started)
        return fitted

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what estimators say of an attacker's values
        honest = fit(scene.X_train, scene.y_train)
        training, rows, truth = AttackedTable(scene.X_train), AttackedTable(scene.X), scene.truth
        donors = Donors(training, scene.y_train, truth.tolerance)
        rng = np.random.default_rng(seed)
        evasion = evade(honest, rows, truth, donors, scene.units, radii[-1], rng)
        attacker = TrainingAttacker(training, scene.y_train, rows, truth, scene.units, seed)
        proven, covers = _proven(honest, scene)
        accuracy = truth.share(evasion.right[0])
        line: dict[str, Any] = {"accuracy": accuracy}
        least = dict.fromkeys(KINDS, accuracy)  # whoever owns r sources may use fewer
        for r in radii:
            least[EVASION] = truth.share(evasion.right[r])
            for attack in attacker.attacks(fit, honest, evasion.strength, r):
                least[attack.kind] = min(least[attack.kind], truth.share(attack.right))
            # without a trigger, a backdoor is a poisoning
            least[BACKDOOR] = min(least[BACKDOOR], least[POISONING])
            line |= {f"{kind}, r = {r}": least[kind] for kind in KINDS}
            line[f"worst, r = {r}"] = min(least.values())
            line[f"proven, r = {r}"] = truth.share(proven >= r)
    return line | {"proof covers": covers, "fit": float(np.median(seconds))}


def _proven(model: Any, scene: Scene) -> tuple[Array, str]:
    """The radius up to which each row is proven to stay right, and against which attacks."""
    truth = scene.truth
    if not hasattr(model, "certify"):
        return np.full(len(truth), -np.inf), "nothing"
    proof = certify_against(model, scene.X, truth.y, truth.tolerance)
    whole = isinstance(model, Ensemble) and not model.trusts_training
    return np.asarray(correct_radius(truth.y, proof)), "all" if whole else EVASION
