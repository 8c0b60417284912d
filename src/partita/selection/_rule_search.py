"""Choosing a rule's settings for a fitted ensemble without fitting it again.

Submodels do not depend on the rule, so all rules are tried on the same ballots. A plain search
over ``rule__margin`` fits every submodel again for every setting.
"""

import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._support import array_of, check_whole, require
from ..ensemble import ENOUGH_ROWS, Ensemble, LeaveOutEnsemble, failure_banner, is_nearly_constant
from ..errors import EmptyProofWarning, InputError
from ..metrics import certified_score, check_score
from ..rules import Rule, TopK, named_rule
from ..workflow import TASKS, CertifiedTable


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
    best_estimator: Any
    rows: list[dict[str, Any]]

    def to_frame(self) -> Any:
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
    ensemble: Any,
    rules: Iterable[Rule | str],
    X: Any,
    y: Any,
    *,
    radius: int = 0,
    score: Any = "accuracy",
    y_train: Any = None,
    tolerance: Any = None,
    relative: Any = None,
) -> RuleSearch:
    """Try several rules on a fitted ensemble, without fitting it again, and choose the best.

    The proofs of an ensemble that learnt from the training table hold given the rule that is chosen
    here: whoever writes into one training column can change which rule scores best, however clean
    the rows X are. Without this condition they hold if the choice is made on a trusted sample
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
    model: Any = tables[best].model
    model.rule = given[best]
    empty = _constant_warnings(tables[best])
    for message in empty:
        warnings.warn(message, EmptyProofWarning, stacklevel=2)
    model.warnings_ = [*failure_banner(len(model.failures_), len(model.estimators_)), *empty]
    rows = [{"rule": rule, "score": value} for rule, value in zip(given, scores, strict=True)]
    return RuleSearch(resolved[best], scores[best], model, rows)


def _resolved(ensemble: Any, rule: Rule, y_train: Any) -> Rule:
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
    resolved: Rule = ensemble.resolve_rule(rule, ensemble.unfitted_submodel(), labels)
    return resolved


def _score(certified: CertifiedTable, radius: int, score: Any) -> float:
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
    label, count = predicted.most_common(1)[0]
    assert certified.truth is not None
    common = max(TASKS[model.task].label_counts(certified.truth).values()) / rows
    if not is_nearly_constant(count / rows, common):
        return []
    return [
        f"under the best rule {count / rows:.1%} of {rows} rows are predicted {label!r}: the model "
        "is nearly a constant, and its radii say little; search with score='balanced', or try "
        "larger priors"
    ]
