"""The models of a deployment: the user's own single model, and ensembles that ``choose`` found.

The ensembles' settings are chosen on the validation rows alone; their test rows are looked at once,
here. Only the single model is picked on the test rows, in its own favour. All answers are about the
models fitted here.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from .._support import Array, log
from ..certificates import Certificates
from ..ensemble import (
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from ..errors import EmptyProofWarning
from ..selection import Choice, Evaluation, choose
from ._deployment import Deployment


@dataclass(frozen=True, eq=False)
class Contender:
    """A fitted ensemble and its certificates for the test rows.

    Attributes
    ----------
    setting : Evaluation
        How it did on the validation rows.
    name : str
        Its method and size, for tables.
    model : estimator
        Fitted on the training rows.
    proof : Certificates
        For the test rows; for numbers around the truth.
    right : array of bool
        Which test rows are right.
    seconds : float
        For fitting.
    warnings : list of str
        What the library said about proofs that are empty.
    """

    setting: Evaluation
    name: str
    model: Any = field(repr=False)
    proof: Certificates = field(repr=False)
    right: Array = field(repr=False)
    seconds: float
    warnings: list[str]

    def certified(self, radius: int) -> Array:
        """Which test rows are right, whatever so many sources say."""
        return np.asarray(self.right & (self.proof.radius >= radius))


@dataclass(frozen=True, eq=False)
class Single:
    """The user's own model: one model on all columns, without a proof.

    ``rejected`` are those that did worse.
    """

    name: str
    model: Any = field(repr=False)
    right: Array = field(repr=False)
    seconds: float
    rejected: "tuple[Single, ...]" = ()


@dataclass(frozen=True, eq=False)
class Study:
    """A deployment and its models.

    Attributes
    ----------
    deployment : Deployment
        The data.
    choice : Choice
        All settings of both methods on the validation rows.
    main : Contender
        The recommended ensemble; where nothing is recommended, the one with the highest mean
        recall on the validation rows.
    other : Contender
        The best of the other method.
    single : Single
        The user's own model.
    """

    deployment: Deployment
    choice: Choice
    main: Contender
    other: Contender
    single: Single

    @property
    def recommended(self) -> bool:
        """Whether ``choose`` recommends the main contender."""
        return self.choice.best is not None


def make_study(
    deployment: Deployment, submodels: Sequence[int], groups: Sequence[int], verbose: int = 0
) -> Study:
    """Choose by the validation rows, fit on the training rows, certify the test rows."""
    own = deployment
    # one thread for each fit of boosted trees: on small tables more of them only wait
    with threadpool_limits(limits=1, user_api="openmp"):
        single = fit_single(own, verbose)
        _say(verbose, f"{own.name}: comparing both methods on {len(own.y_valid)} validation rows")
        found = choose(
            *own.rows_to_choose_by(),
            radius=own.radius,
            units=own.units,
            trusted=own.trusted,
            want="certified" if own.positive is None else "balanced",
            tolerance=own.tolerance,
            submodels=submodels,
            groups=groups,
            verbose=verbose,
        )
        best = found.best or max(found.settings, key=lambda one: one.balanced or one.accuracy)
        rest = [one for one in found.settings if one.method != best.method]
        other = max(rest, key=lambda one: (one.certified, one.accuracy))
        _say(verbose, f"{own.name}: fitting {setting_name(best)} and {setting_name(other)}")
        return Study(own, found, fit_contender(own, best), fit_contender(own, other), single)


def fit_single(deployment: Deployment, verbose: int = 0) -> Single:
    """The better of boosted and of extremely randomized trees, on the test rows themselves.

    A user's own model thus has the benefit of any doubt. Where a label is rare, every label has the
    same weight, and the mean recall decides.
    """
    own = deployment
    _say(verbose, f"{own.name}: fitting one model on all columns, as you would")
    tried = []
    for name, made in single_models(own).items():
        started = time.perf_counter()
        model = _fitted(own, made)
        seconds = time.perf_counter() - started
        right = own.right(model.predict(own.X_test), own.y_test)
        score = mean_recall(right, own.y_test) if own.positive is not None else right.mean()
        tried.append((score, Single(name, model, right, seconds)))
    chosen = max(tried, key=lambda one: one[0])[1]
    rest = tuple(one for _, one in tried if one is not chosen)
    return replace(chosen, rejected=rest)


def _fitted(deployment: Deployment, model: Any) -> Any:
    """One model on the training rows; where a label is rare, every label has the same weight."""
    own = deployment
    if own.positive is None:
        return model.fit(own.X_train, own.y_train)
    weight = compute_sample_weight("balanced", own.y_train)
    return model.fit(own.X_train, own.y_train, sample_weight=weight)


def mean_recall(right: Array, y: Array) -> float:
    """The mean of the labels' recalls."""
    return float(np.mean([right[y == label].mean() for label in np.unique(y)]))


def single_models(deployment: Deployment) -> dict[str, Any]:
    """What a user would fit, by name."""
    if deployment.tolerance is None:
        boosted, random = (
            TableBoostingClassifier(random_state=0),
            TableTreesClassifier(n_estimators=100, random_state=0),
        )
    else:
        boosted, random = (
            TableBoostingRegressor(random_state=0),
            TableTreesRegressor(n_estimators=100, random_state=0),
        )
    return {"boosted trees": boosted, "extremely randomized trees": random}


def fit_contender(deployment: Deployment, setting: Evaluation) -> Contender:
    """Fit a setting and certify the test rows."""
    own = deployment
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        model = setting.estimator.fit(own.X_train, own.y_train)
        seconds = time.perf_counter() - started
        proof = certified(own, model, own.X_test, own.y_test)
    messages = [str(one.message) for one in caught if one.category is EmptyProofWarning]
    right = proof.correct(own.y_test)
    return Contender(setting, setting_name(setting), model, proof, right, seconds, messages)


def certified(
    deployment: Deployment, model: Any, X: Any, y: Array, silent: Any = None
) -> Certificates:
    """Certificates that a metric can compare with the truth."""
    options: dict[str, Any] = {} if silent is None else {"silent": silent}
    if deployment.tolerance is not None:
        options |= {"around": y, "tolerance": deployment.tolerance}
    proof: Certificates = model.certify(X, **options)
    return proof


def setting_name(setting: Evaluation) -> str:
    """A setting in a few words."""
    options = dict(setting.options)
    if setting.method == "leave-out":
        return f"leave-out with {options['groups']} groups"
    size, parts = options.pop("submodels"), []
    if options.pop("fallback", None) is not None:
        options.pop("gate")
        parts.append("full model behind it")
    parts += [
        str(value) if name == "rule" else f"{name} {value:g}" for name, value in options.items()
    ]
    details = f" ({', '.join(parts)})" if parts else ""
    return f"partition into {size} submodels{details}"


def _say(verbose: int, message: str) -> None:
    if verbose:
        log(message)
