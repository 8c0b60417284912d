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

from .._support.arrays import array_of
from .._support.types import Array
from ..ensemble._base import FeaturePartitionEnsemble
from ..ensemble._empty_proofs import ENOUGH_ROWS, NEARLY_ALL
from ..errors import EmptyProofWarning, InputError, MissingExtraError
from ..metrics import certified_score, check_radius, check_score
from ..rules import Rule, TopK, named_rule
from ._certified_rows import Answers


@dataclass(frozen=True)
class RuleSearch:
    """What ``search_rules`` found.

    Attributes
    ----------
    best_rule : Rule
        The rule with the highest score (the first of equals), with everything filled in.
    best_score : float
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
        """A pandas frame with a line for each rule, the best first."""
        try:
            import pandas
        except ImportError as exc:
            raise MissingExtraError("pandas", "to_frame()", "pandas") from exc
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

    A setting chosen here is a constant of the model. If an attacker can write into the rows that
    it is chosen on, he can make you choose badly, and the proofs hold only given that choice:
    choose on rows that you trust. The scores flatter the choice a little, so report what you
    measure on other rows.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted. It is not changed.
    rules : list of rules or names of rules
        Such as ``[Tournament(margin=m) for m in (0, 0.5, 2)]``. What a rule leaves open is filled
        in as ``fit`` would do.
    X, y : array-like
        Validation rows, which the ensemble was not fitted on, and their targets.
    radius : int, default=0
        Where the score is taken: whatever an attacker writes into this many units.
    score : "accuracy", "balanced" or ("recall", label), default="accuracy"
        As in :func:`partita.metrics.certified_scorer`.
    y_train : array-like, optional
        The training targets, for rules with a ``prior`` or an ``offset``; needed only where the
        ensemble was fitted with a rule that has neither, and so does not know the labels' shares.
    tolerance, relative : float, optional
        For a regressor, which needs one of them: how far from the truth a prediction counts as
        right.

    Returns
    -------
    RuleSearch
        ``best_rule``, ``best_score``, ``best_estimator`` and a table of all scores.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.rule_search import search_rules
    >>> from partita.rules import Tournament
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=7).fit(X[::2], y[::2])
    >>> rules = ["plurality", *(Tournament(margin=m) for m in (0, 0.5, 2))]
    >>> found = search_rules(clf, rules, X[1::2], y[1::2], radius=1)
    >>> found.best_estimator.certify(X[1::2]).counts.what
    'columns'
    """
    if not isinstance(ensemble, FeaturePartitionEnsemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a fitted FeaturePartitionClassifier "
            "or FeaturePartitionRegressor "
            "(of a Pipeline, its last step, with rows that went through the other steps)"
        )
    check_is_fitted(ensemble, "estimators_")
    check_radius(radius)
    check_score(score)
    given = [named_rule(rule) for rule in ([rules] if isinstance(rules, str | Rule) else rules)]
    if not given:
        raise InputError("rules is empty: give at least one, such as [Tournament(margin=0.5)]")
    settled = [_settled(ensemble, rule, y_train) for rule in given]
    answers = Answers(ensemble, X, tolerance, relative)
    truth = array_of("y", y)
    found = [_scored(answers.under(rule), truth, radius, score) for rule in settled]
    best = int(np.argmax(found))
    model = answers.under(settled[best]).model
    model.rule = given[best]
    model.warnings_ = _constant(answers.under(settled[best]))
    for message in model.warnings_:
        warnings.warn(message, EmptyProofWarning, stacklevel=2)
    rows = [{"rule": rule, "score": value} for rule, value in zip(given, found, strict=True)]
    return RuleSearch(settled[best], found[best], model, rows)


def _settled(ensemble: Any, rule: Rule, y_train: Any) -> Rule:
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
        of_labels = getattr(rule, "prior", 0) is None or getattr(rule, "needs_shares", False)
        if of_labels and rule.shares is None and not ensemble.label_attacks:  # type: ignore[attr-defined]  # a Tournament has them
            raise InputError(
                f"y_train is missing: {rule!r} needs the shares of the training labels, which the "
                "ensemble's rule does not have"
            )
    labels = None if y_train is None else array_of("y_train", y_train)
    settled: Rule = ensemble._settled_rule(rule, ensemble._submodel(), labels)
    return settled


def _scored(answers: Answers, truth: Array, radius: int, score: Any) -> float:
    proof = answers.proof_of_truth(truth)
    if proof is None:
        raise InputError(
            "tolerance and relative are missing: give one of them, to say how far from the truth "
            "a number counts as right"
        )
    return certified_score(truth, proof, radius, score)


def _constant(answers: Answers) -> list[str]:
    """What to warn of where nearly all rows get one label under the rule that was chosen."""
    if answers.of_values or len(answers) < ENOUGH_ROWS:
        return []
    labels, counts = np.unique(answers.prediction, return_counts=True)
    share = counts.max() / len(answers)
    if share <= NEARLY_ALL or len(answers.model.classes_) < 2:
        return []
    label = labels.tolist()[int(counts.argmax())]
    return [
        f"under the best rule {share:.1%} of {len(answers)} rows are predicted {label!r}: the "
        "model is nearly a constant, and its radii "
        "say little; search with score='balanced', or try larger priors"
    ]
