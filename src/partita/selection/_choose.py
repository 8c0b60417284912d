"""Choosing between both methods and their settings, on validation rows or a trusted sample.

Every ensemble is fitted once on the rows to learn from and judged under all its variants on others;
with a trusted sample, once for each of its splits. Only then is the choice out of an attacker's
reach: an ensemble that learnt from the training table carries its content into the choice.
"""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._support import Array, array_of, check_whole, log
from ..ensemble import (
    failure_banner,
    fit_full_model,
    full_predictions,
    is_nearly_constant,
)
from ..errors import InputError
from ..metrics import certified_accuracy, certified_balanced_accuracy
from ..partition import Informed
from ..rules import Gated
from ..tables import open_table
from ..workflow import ON_REFERENCE, ON_TRAINING, TASKS, CertifiedTable, Task
from ._candidates import Candidate, Variant, candidates
from ._choice import Choice, Evaluation, check_want, mean_evaluation, recommend
from ._choose_parts import ResultCache
from ._reference_splits import mean_shares, reference_splits, without_warnings_of_trials


class Part(NamedTuple):
    """Rows to learn from and rows to judge by, with the pair of ensembles to fit on the former.

    The pair is a partition and a leave-out ensemble with everything set but their sizes.
    """

    pair: tuple[Any, Any]
    train: tuple[Any, Array]
    valid: tuple[Any, Array]


def choose(
    X: Any = None,
    y: Any = None,
    X_valid: Any = None,
    y_valid: Any = None,
    radius: int = 1,
    *,
    reference: tuple[Any, Any] | None = None,
    units: Any = None,
    trusted: Any = (),
    estimator: Any = None,
    want: str = "certified",
    tolerance: float | None = None,
    relative: float | None = None,
    submodels: Sequence[int] | None = None,
    groups: Sequence[int] | None = None,
    max_models: int = 150,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Choice:
    """Compare partition and leave-out ensembles for a proof against ``radius`` units.

    Over both methods, their sizes, rules, priors and a full model behind the vote: accuracy and
    certified accuracy on the validation rows, beside one model on all columns.

    Ensembles that learn from the training table carry its content into the choice, however clean
    the validation rows are: whoever rewrites one training column may make you choose otherwise, and
    proofs hold given the chosen settings only. With ``reference``, settings are chosen on that
    trusted sample alone, and proofs hold without this condition. Then fit ``estimator`` on all
    rows.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features), optional
        Training rows. With ``reference`` they may be left out: nothing is learnt from them, and
        they only serve to warn if the sample has other columns or shares rows with them.
    y : array-like of shape (n_samples,), optional
        Labels, or numbers if ``tolerance`` or ``relative`` is given. Not read with ``reference``.
    X_valid : array-like or DataFrame of shape (n_valid, n_features), optional
        Rows to judge by, none of them in X. Not with ``reference``.
    y_valid : array-like of shape (n_valid,), optional
        Their labels or numbers.
    radius : int, default=1
        How many units an attacker may own.
    reference : (X_ref, y_ref), optional
        A trusted sample: rows that no attacker could touch, none of them in X. Settings learn from
        two thirds of it and are judged by the rest, in five random splits; shares are their means.
        At least 30 rows, and 3 of every label.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch.
    estimator : estimator, optional
        What submodels are clones of. By default each method's own.
    want : str, default="certified"
        What to recommend: ``"certified"``, the setting with the most rows certified;
        ``"accuracy=0.84"``, the most among those at least that accurate; ``"balanced"``, the
        highest mean certified recall.
    tolerance, relative : float, optional
        For numbers: how far from the truth a prediction counts as right, also as a share of it.
    submodels : sequence of int, optional
        Numbers of submodels to try; by default 3 to 31.
    groups : sequence of int, optional
        Numbers of groups to try for leave-out ensembles; by default 6, 9, 12 and the most that
        ``max_models`` allows.
    max_models : int, default=150
        How many fits a leave-out ensemble may take.
    random_state : int, default=0
        Of all ensembles, and of the splits of ``reference``.
    n_jobs : int, optional
        Threads; by default all cores.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    Choice
        ``estimator`` is the recommended one, not fitted; ``plot()`` draws the frontier.

    Raises
    ------
    InputError
        If an argument is not valid, or there are too few units for the radius.

    See Also
    --------
    search_rules : Choose a rule for an ensemble that is fitted already.

    References
    ----------
    Theory, section 1 (condition 8), 10 and 12.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import choose
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trusted_sample = X[:150], y[:150]
    >>> found = choose(reference=trusted_sample, estimator=GaussianNB(), submodels=[5, 9])
    >>> found.chosen
    'on-reference'
    >>> clf = found.estimator.fit(X[150:400], y[150:400])
    >>> bool((clf.certify(X[400:]).radius >= 1).mean() > 0.8)
    True
    """
    check_whole("radius", radius, 0)
    is_number = tolerance is not None or relative is not None
    task = TASKS["regression" if is_number else "classification"]
    common = {"units": units, "trusted": trusted, "random_state": random_state}
    common |= {"n_jobs": n_jobs, "verbose": verbose}
    pair = (
        task.ensemble(estimator, **common),
        task.leave_out_ensemble(estimator, max_models=max_models, **common),
    )
    settings = (radius, want, tolerance, relative, submodels, groups)
    if reference is not None:
        parts = _reference_parts(pair, task, reference, X, (X_valid, y_valid), random_state)
        return choose_among(parts, *settings, verbose=verbose, chosen=ON_REFERENCE)
    given = {"X": X, "y": y, "X_valid": X_valid, "y_valid": y_valid}
    for name, value in given.items():
        if value is None:
            raise InputError(
                f"{name} is missing: give X, y, X_valid and y_valid, or reference=(X_ref, y_ref)"
            )
    train, valid = (X, array_of("y", y)), (X_valid, array_of("y_valid", y_valid))
    return choose_among([Part(pair, train, valid)], *settings, verbose=verbose)


def _reference_parts(
    pair: tuple[Any, Any],
    task: Task,
    reference: Any,
    X: Any,
    valid: tuple[Any, Any],
    random_state: int,
) -> list[Part]:
    """Split a trusted sample into rows to learn from and rows to judge by, several times.

    X serves to warn of rows that are in both; nothing is learnt from it.
    """
    if not isinstance(reference, tuple | list) or len(reference) != 2:
        raise InputError(f"reference is a {type(reference).__name__}: give the pair (X_ref, y_ref)")
    if any(value is not None for value in valid):
        raise InputError(
            "X_valid and y_valid do not go with reference, part of which settings are judged by: "
            "leave them out"
        )
    X_ref, y_ref = reference[0], array_of("y_ref", reference[1])
    if X is X_ref:
        raise InputError(
            "reference is X itself, where an attacker could change rows and with them the choice: "
            "give other rows, which no attacker could touch"
        )
    if X is not None:
        Informed(X_ref, y_ref).check_disjoint(open_table(X), strict=False)
    table = open_table(X_ref)
    if table.n_rows != len(y_ref):
        raise InputError(
            f"reference has {table.n_rows} rows and {len(y_ref)} labels or numbers: give one for "
            "each row"
        )
    return [
        Part(
            pair,
            (_safe_indexing(X_ref, learn), y_ref[learn]),
            (_safe_indexing(X_ref, held), y_ref[held]),
        )
        for learn, held in reference_splits(y_ref, task, random_state)
    ]


def choose_among(
    rows: Sequence[Part],
    radius: int,
    want: str = "certified",
    tolerance: float | None = None,
    relative: float | None = None,
    submodels: Sequence[int] | None = None,
    groups: Sequence[int] | None = None,
    verbose: int = 0,
    parts: ResultCache | None = None,
    fallback_name: str = "auto",
    chosen: str = ON_TRAINING,
) -> Choice:
    """The same on one or more pairs of rows to learn from and to judge by; shares are means.

    ``chosen``: whether the rows to learn from are of the training table or of a trusted sample.
    """
    (partition, _), train, valid = rows[0]
    task = TASKS[partition.task]
    task.check_tolerance(tolerance, relative, needed=True)
    check_want(want)
    labels = partition.task == "classification"
    units = clone(partition).units_of(train[0])
    n_units = len(units)
    if n_units < 2 * radius + 1:
        raise InputError(
            f"radius is {radius}, which needs at least {2 * radius + 1} units, but there are "
            f"{n_units}: lower radius, or use finer units"
        )
    judges = [
        _Judge(one.train, one.valid, radius, (tolerance, relative), one.pair[0], fallback_name)
        for one in rows
    ]
    tried: list[Evaluation] = []
    every = list(
        zip(
            *(candidates(*one.pair, n_units, radius, labels, submodels, groups) for one in rows),
            strict=True,
        )
    )
    for number, same in enumerate(every, start=1):
        candidate = same[0]
        if verbose:
            options = " ".join(f"{name} {value}" for name, value in candidate.options.items())
            log(f"{options} ({number} of {len(every)})")
        known = None if parts is None else parts.read(number, candidate)
        if known is None:
            found = [judge.judged(one) for judge, one in zip(judges, same, strict=True)]
            known = [mean_evaluation(entries) for entries in zip(*found, strict=True)]
            if parts is not None:
                parts.write(number, candidate, known)
        tried += known
    constant = mean_shares(
        [task.best_constant(one.train[1], one.valid[1], tolerance, relative) for one in rows]
    )
    best, reason = recommend(tried, want, constant, labels)
    return Choice(
        radius,
        tried,
        mean_shares([judge.one_model() for judge in judges]),
        constant,
        f"{n_units} {units.kind}",
        len(valid[1]),
        want,
        best,
        reason,
        chosen,
    )


class _Judge:
    """Fits candidates and judges them on validation rows."""

    def __init__(
        self,
        train: tuple[Any, Array],
        valid: tuple[Any, Array],
        radius: int,
        tolerances: tuple[float | None, float | None],
        ensemble: Any,
        fallback_name: str,
    ) -> None:
        self.train, self.valid, self.radius, self.tolerances = train, valid, radius, tolerances
        self.task = TASKS[ensemble.task]
        self.ensemble = ensemble
        self.fallback: Any = None  # one model on all columns, fitted once
        self.fallback_name = fallback_name
        self._one_model: Array | None = None

    def judged(self, candidate: Candidate) -> list[Evaluation]:
        """Every variant of a candidate, fitted once."""
        started = time.perf_counter()
        with without_warnings_of_trials():
            model = clone(candidate.ensemble).fit(*self.train)
        seconds = time.perf_counter() - started
        certified = CertifiedTable.of(model, self.valid[0], *self.tolerances, self.valid[1])
        self._fit_full_model()
        return [
            self._entry(candidate, variant, self._under(certified, variant), seconds)
            for variant in candidate.variants
        ]

    def _fit_full_model(self) -> Array:
        """Fit one model on all columns, once; return what it predicts, empty where it fails."""
        if self._one_model is None:
            whole = clone(self.ensemble)
            with without_warnings_of_trials():
                self.fallback = fit_full_model(whole, *self.train)
                whole.plan(*self.train)
            whole.full_model_ = self.fallback
            found = full_predictions(whole, whole.read(self.valid[0]))
            self._one_model = np.empty(0) if found is None else found
        return self._one_model

    def _under(self, certified: CertifiedTable, variant: Variant) -> CertifiedTable:
        """The same ballots under another rule, or with the full model behind them."""
        model: Any = certified.model
        if variant.rule is not None:
            rule = model.resolve_rule(copy(variant.rule), model.unfitted_submodel(), self.train[1])
            return certified.under(rule)
        if variant.gate is None or self.fallback is None:
            return certified
        gated = copy(model)
        gated.fallback, gated.gate, gated.fallback_model_ = (
            model.unfitted_submodel(),
            variant.gate,
            self.fallback,
        )
        rule, scores = Gated(model.rule_, variant.gate), gated.fallback_scores(certified.table)
        ballots = replace(certified.ballots, rule=rule, fallback=scores)
        return replace(certified, ballots=ballots)

    def _entry(
        self, candidate: Candidate, variant: Variant, certified: CertifiedTable, seconds: float
    ) -> Evaluation:
        proof, truth = certified.against_truth.proof, self.valid[1]
        assert proof is not None
        accuracy, certain = (certified_accuracy(truth, proof, r) for r in (0, self.radius))
        balanced: list[float | None] = [None, None]
        constant = False
        predicted = self.task.label_counts(certified.prediction)
        if predicted:
            balanced = [certified_balanced_accuracy(truth, proof, r) for r in (0, self.radius)]
            share = predicted.most_common(1)[0][1] / len(truth)
            commonest = max(self.task.label_counts(truth).values()) / len(truth)
            constant = is_nearly_constant(share, commonest)
        options = candidate.options | variant.options
        if variant.gate is not None:
            options = candidate.options | {"fallback": self.fallback_name} | variant.options
        return Evaluation(
            candidate.method,
            options,
            accuracy,
            certain,
            balanced[0],
            balanced[1],
            seconds,
            candidate.estimator(variant),
            constant,
            failure_banner(len(certified.model.failures_), len(certified.model.estimators_)),
        )

    def one_model(self) -> dict[str, Any]:
        """One model on all columns, on the validation rows."""
        predicted, truth = self._fit_full_model(), self.valid[1]
        if len(predicted) == 0:
            return {"accuracy": float("nan"), "balanced": None}
        right = self.ensemble.correct(predicted, truth, *self.tolerances)
        balanced = None
        if self.task.label_counts(truth):
            balanced = float(np.mean([right[truth == label].mean() for label in np.unique(truth)]))
        return {"accuracy": float(np.mean(right)), "balanced": balanced}
