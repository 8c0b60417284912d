"""Choosing a rule or a threshold for a fitted ensemble without fitting it again.

Submodels do not depend on the rule, so all rules are tried on the same ballots. A plain search
over ``rule__margin`` fits every submodel again for every setting. A head start of a label is a
constant in every gap, so every threshold has a proof of its own, given that it is the one.
"""

import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._support import Array, Estimator, JsonObject, TableLike, array_of, check_whole, require
from ..ensemble import (
    ENOUGH_ROWS,
    Ensemble,
    FeaturePartitionClassifier,
    LeaveOutEnsemble,
    failure_banner,
)
from ..errors import EmptyProofWarning, InputError
from ..metrics import certified_alarms, certified_score, check_score
from ..rules import Rule, TopK, Tournament, named_rule
from ..workflow import TASKS, CertifiedTable
from ._evaluation import is_constant

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class RuleSearch:
    """What :func:`search_rules` found.

    Attributes
    ----------
    best_rule : Rule
        The rule with the highest score (the first of equals), with everything filled in.
    best_score : float
        Its score.
    best_estimator : FeaturePartitionClassifier or FeaturePartitionRegressor
        A copy of the ensemble that decides by the best rule; it shares its submodels.
    rows : list of dict
        ``rule`` (as it was given) and ``score``, in the order of the rules.
    """

    best_rule: Rule
    best_score: float
    best_estimator: Estimator
    rows: list[JsonObject]

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas frame with one line per rule, the best first.

        Returns
        -------
        pandas.DataFrame
            The columns ``rule``, as text, and ``score``.
        """
        pandas = require("pandas", "to_frame()")
        frame = pandas.DataFrame(
            [{"rule": repr(row["rule"]), "score": row["score"]} for row in self.rows]
        )
        return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)


def search_rules(
    ensemble: Ensemble,
    rules: Iterable[Rule | str],
    X: TableLike,
    y: object,
    *,
    radius: int = 0,
    score: str | tuple[str, object] = "accuracy",
    y_train: object = None,
    tolerance: float | None = None,
    relative: float | None = None,
) -> RuleSearch:
    """Try several rules on a fitted ensemble, without fitting it again, and choose the best.

    The proofs of an ensemble that learnt from the training table hold given the rule that is chosen
    here: writing into one training column can change which rule scores best, however clean the rows
    X are. Without this condition they hold if the choice is made on a trusted sample
    alone: fit on one part of it, search on the other, then fit a clone with ``best_rule`` on all
    training rows. The scores flatter the choice a little, so report what you measure on other rows.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted. It is not changed.
    rules : list of Rule or str
        Such as ``[Tournament(margin=m) for m in (0, 0.5, 2)]``. What a rule leaves open is filled
        in as ``fit`` would do.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Validation rows, which the ensemble was not fitted on.
    y : array-like of shape (n_samples,)
        Their targets.
    radius : int, default=0
        Where the score is taken: whatever an attacker writes into this many units.
    score : {"accuracy", "balanced"} or ("recall", label), default="accuracy"
        Certified accuracy, the mean certified recall of the labels, or that of one label.
    y_train : array-like, optional
        The training targets, for rules with a ``prior`` or an ``offset``; needed only where the
        ensemble was fitted with a rule that has neither, and so does not know the labels' shares.
    tolerance : float, optional
        For a regressor: how far from the truth a prediction counts as right.
    relative : float, optional
        The same as a share of the truth; a regressor needs one of the two.

    Returns
    -------
    RuleSearch
        ``best_rule``, ``best_score``, ``best_estimator`` and a table of all scores.

    Raises
    ------
    InputError
        If a rule does not go with the ensemble, or a regressor has no tolerance.

    See Also
    --------
    partita.metrics.certified_scorer : The same scores for scikit-learn's own searches.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, search_rules
    >>> from partita.rules import Tournament
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=7).fit(X[::2], y[::2])
    >>> rules = ["plurality", *(Tournament(margin=m) for m in (0, 0.5, 2))]
    >>> found = search_rules(clf, rules, X[1::2], y[1::2], radius=1)
    >>> found.best_estimator.certify(X[1::2]).counts.what
    'columns'
    """
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a fitted FeaturePartitionClassifier "
            "or FeaturePartitionRegressor (of a Pipeline, its last step, with rows that went "
            "through the other steps)"
        )
    if isinstance(ensemble, LeaveOutEnsemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}, which is decided by agreement and by no "
            "other rule: search its radius, n_groups or leave_out with GridSearchCV and "
            "certified_scorer, or use partita.choose"
        )
    check_is_fitted(ensemble, "estimators_")
    check_whole("radius", radius, 0)
    check_score(score)
    given = [named_rule(rule) for rule in ([rules] if isinstance(rules, str | Rule) else rules)]
    if not given:
        raise InputError("rules is empty: give at least one, such as [Tournament(margin=0.5)]")
    resolved = [_resolved(ensemble, rule, y_train) for rule in given]
    truth = array_of("y", y)
    ballots = CertifiedTable.of(ensemble, X, tolerance, relative, truth)
    tables = [ballots.under(rule) for rule in resolved]
    scores = [_score(table, radius, score) for table in tables]
    best = int(np.argmax(scores))
    model: Estimator = copy(ensemble)
    model.rule, model.rule_ = given[best], resolved[best]
    empty = _constant_warnings(tables[best])
    for message in empty:
        warnings.warn(message, EmptyProofWarning, stacklevel=2)
    model.warnings_ = [*failure_banner(len(model.failures_), len(model.estimators_)), *empty]
    rows = [{"rule": rule, "score": value} for rule, value in zip(given, scores, strict=True)]
    return RuleSearch(resolved[best], scores[best], model, rows)


def _resolved(ensemble: Ensemble, rule: Rule, y_train: object) -> Rule:
    """The rule as ``fit`` would have filled it in.

    What it needs of the training labels comes from ``y_train``, or from the ensemble's own rule.
    """
    if isinstance(rule, TopK):
        raise InputError(
            "rules has a TopK, whose score is about staying among the top k, not about being "
            "right: leave it out"
        )
    rule = copy(rule)
    if y_train is None:
        known = ensemble.rule_.get_params()
        unset = [
            name
            for name in ("shares", "centre")
            if getattr(rule, name, 0) is None and known.get(name) is not None
        ]
        rule.set_params(**{name: known[name] for name in unset})
        needs_shares = getattr(rule, "prior", 0) is None or getattr(rule, "needs_shares", False)
        if needs_shares and getattr(rule, "shares", None) is None and not ensemble.label_attacks:
            raise InputError(
                f"y_train is missing: {rule!r} needs the shares of the training labels, which the "
                "ensemble's rule does not have"
            )
    labels = None if y_train is None else array_of("y_train", y_train)
    return ensemble.resolve_rule(rule, ensemble.unfitted_submodel(), labels)


def _score(certified: CertifiedTable, radius: int, score: str | tuple[str, object]) -> float:
    proof = certified.against_truth.proof
    if proof is None:
        raise InputError(
            "tolerance and relative are missing: give one of them, to say how far from the truth "
            "a number counts as right"
        )
    return certified_score(certified.truth, proof, radius, score)


def _constant_warnings(certified: CertifiedTable) -> list[str]:
    """What to warn of where nearly all rows get one label under the chosen rule."""
    model, rows = certified.model, len(certified)
    predicted = TASKS[model.task].label_counts(certified.prediction)
    if not predicted or rows < ENOUGH_ROWS or len(model.classes_) < 2:
        return []
    assert certified.truth is not None
    if not is_constant(predicted, TASKS[model.task].label_counts(certified.truth)):
        return []
    label, count = predicted.most_common(1)[0]
    return [
        f"under the best rule {count / rows:.1%} of {rows} rows are predicted {label!r}: the model "
        "is nearly a constant, and its radii say little; search with score='balanced', or try "
        "larger priors"
    ]


@dataclass(frozen=True)
class OffsetSearch:
    """What :func:`search_offsets` found.

    Attributes
    ----------
    positive : object
        The label that is an alarm.
    radius : int
        Where the certified numbers are taken.
    rows : list of dict
        One per offset, in their order: ``offset`` in votes, ``alarms``, ``recall`` and
        ``precision`` as they are, ``kept`` alarms that no attacker of that size can silence, and
        the ``certified_recall`` and ``worst_case_precision`` that such an attacker leaves.
    """

    positive: object
    radius: int
    rows: list[JsonObject]
    _models: list[Estimator] = field(repr=False)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas frame with one line per offset.

        Returns
        -------
        pandas.DataFrame
            The keys of ``rows`` as columns.
        """
        return require("pandas", "to_frame()").DataFrame(self.rows)

    def best(self, recall: float = 0.0, precision: float = 0.0) -> JsonObject:
        """Return the line with the highest certified recall that meets two conditions.

        Parameters
        ----------
        recall : float, default=0.0
            The recall that is needed without an attack.
        precision : float, default=0.0
            The same for precision.

        Returns
        -------
        dict
            One of ``rows``; the higher precision among equals.

        Raises
        ------
        InputError
            If no offset meets both.
        """
        able = [
            row for row in self.rows if row["recall"] >= recall and row["precision"] >= precision
        ]
        if not able:
            raise InputError(
                f"no offset has a recall of {recall:g} and a precision of {precision:g} on these "
                "rows: ask for less, or try other offsets"
            )
        return max(able, key=lambda row: (row["certified_recall"], row["precision"]))

    def with_offset(self, offset: float) -> Estimator:
        """Return the classifier that decides with one of the offsets.

        Parameters
        ----------
        offset : float
            One of those that were tried.

        Returns
        -------
        FeaturePartitionClassifier
            A copy that shares its submodels with the ensemble that was searched.
        """
        for row, model in zip(self.rows, self._models, strict=True):
            if row["offset"] == offset:
                return model
        raise InputError(
            f"offset is {offset!r}, which was not tried: give one of "
            f"{', '.join(str(row['offset']) for row in self.rows)}"
        )


def search_offsets(
    ensemble: Ensemble,
    X: TableLike,
    y: object,
    positive: object,
    *,
    offsets: Iterable[float] | None = None,
    radius: int = 1,
) -> OffsetSearch:
    """Try several thresholds for one label, with their proofs, and tabulate what they cost.

    An offset gives the label so many votes more (or fewer) than the ensemble's own rule does: more
    alarms and recall, or fewer and more precision. Every offset has proofs of its own. Those of an
    ensemble that learnt from the training table hold given the offset that you choose: writing into
    one training column can change which one looks best, however clean the rows X are.
    Without this condition they hold if the choice is made on a trusted sample alone: fit on one
    part of it, search on the other, then fit with the chosen rule on all training rows. Report what
    you measure on other rows.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier
        Fitted, with ``rule="tournament"`` or a Tournament. It is not changed.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Validation rows, which the ensemble was not fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    positive : object
        The label that is an alarm (fraud, a fault).
    offsets : list of float, optional
        Head starts in votes. By default every whole number up to half of the submodels, up and
        down.
    radius : int, default=1
        How many units the attacker owns, for the certified numbers.

    Returns
    -------
    OffsetSearch
        A table of recall, precision and their certified counterparts, and the classifiers.

    Raises
    ------
    InputError
        If the ensemble has another rule, or no row has the positive label.

    See Also
    --------
    search_rules : Choose among rules.
    partita.metrics.certified_alarms : What the numbers of a line mean.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, search_offsets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[::2], y[::2])
    >>> found = search_offsets(clf, X[1::2], y[1::2], positive=0, offsets=[-2, 0, 2])
    >>> recall = [row["recall"] for row in found.rows]
    >>> recall == sorted(recall)
    True
    >>> alert = found.with_offset(found.best(precision=0.8)["offset"])
    """
    if not isinstance(ensemble, FeaturePartitionClassifier):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a fitted FeaturePartitionClassifier"
        )
    check_is_fitted(ensemble, "estimators_")
    check_whole("radius", radius, 0)
    rule = ensemble.rule_
    if not isinstance(rule, Tournament):
        raise InputError(f"offsets belong to the tournament, not to {rule!r}: fit with that rule")
    labels = ensemble.classes_.tolist()
    truth = array_of("y", y)
    if positive not in labels or positive not in truth.tolist():
        raise InputError(
            f"positive is {positive!r}: give a label of the ensemble that some of these rows have, "
            f"such as {truth.tolist()[0]!r}"
        )
    certified = CertifiedTable.of(ensemble, X, truth=truth)
    n_submodels = certified.ballots.shape[1]
    half = n_submodels // 2
    tried = _numbers(range(-half, half + 1) if offsets is None else offsets)
    start = rule.head_start(len(labels)) / rule.full_vote
    rows, models = [], []
    for offset in tried:
        votes = start + offset * (np.arange(len(labels)) == labels.index(positive))
        moved = Tournament(rule.margin, rule.prior, votes.tolist(), rule.shares)
        table = certified.under(moved)
        rows.append({"offset": offset} | _numbers_of(table, truth, positive, int(radius)))
        model: Estimator = copy(ensemble)
        model.rule = model.rule_ = moved
        models.append(model)
    return OffsetSearch(positive, int(radius), rows, models)


def _numbers(offsets: Iterable[float]) -> list[float]:
    numbers = list(offsets)
    if not numbers or not all(
        isinstance(one, Real) and not isinstance(one, bool) and np.isfinite(float(one))
        for one in numbers
    ):
        raise InputError(f"offsets is {numbers!r}: give numbers of votes, such as [-2, 0, 2]")
    return [float(one) for one in numbers]


def _numbers_of(table: CertifiedTable, truth: Array, positive: object, radius: int) -> JsonObject:
    """Recall and precision of one threshold, as they are and as an attacker leaves them."""
    assert table.proof is not None
    now, attacked = (certified_alarms(truth, table.proof, positive, r) for r in (0, radius))
    return {
        "alarms": now.raised,
        "recall": now.recall,
        "precision": now.precision,
        "kept": attacked.kept,
        "certified_recall": attacked.recall,
        "worst_case_precision": attacked.precision,
    }
