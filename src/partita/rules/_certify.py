"""``certify``: the entrance for people who have ballots and no partita model."""

from typing import Any

from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule
from ._median import Median
from ._plurality import Plurality
from ._runoff import RunOff
from ._tournament import Tournament

RULES: dict[str, type[Rule]] = {
    "plurality": Plurality,
    "runoff": RunOff,
    "tournament": Tournament,
    "median": Median,
}


def named_rule(rule: str | Rule) -> Rule:
    """Return a rule by its name.

    Parameters
    ----------
    rule : {"plurality", "runoff", "tournament", "median"} or Rule
        A name, or a rule object, which is returned as it is.

    Returns
    -------
    Rule
        A rule with its default settings, or the given one.

    Raises
    ------
    InputError
        If there is no rule of that name.

    See Also
    --------
    certify : Takes a rule or its name.

    Examples
    --------
    >>> from partita.rules import named_rule
    >>> named_rule("runoff")
    RunOff()
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise InputError(
        f"rule is {rule!r}: give one of {', '.join(map(repr, RULES))}, or a rule such as "
        "RunOff(exact=True)"
    )


def certify(
    ballots: Any,
    rule: str | Rule = "tournament",
    reach: Any = None,
    cover: str = "bound",
    time_limit: float = 10.0,
) -> Certificates:
    """Decide and certify ballots from anywhere.

    Parameters
    ----------
    ballots : array-like of shape (n_samples, n_submodels, n_classes)
        Each submodel's score for each class. An attacker who owns one unit changes one submodel's
        scores, in any way they like.
    rule : {"plurality", "runoff", "tournament"} or Rule, default="tournament"
        How the ballots decide.
    reach : array-like of bool, shape (n_units, n_submodels), optional
        Which submodels each unit reaches, where units overlap; the radius then counts units. By
        default every unit reaches one submodel, and the radius counts submodels.
    cover : {"bound", "exact"}, default="bound"
        With ``reach``: a fast sound bound, or an integer program for each row that the bound leaves
        undecided.
    time_limit : float, default=10.0
        Seconds per integer program; after that its dual bound is used, so the result stays sound.

    Returns
    -------
    Certificates
        ``prediction`` and ``runner_up`` hold class indexes.

    Raises
    ------
    InputError
        If the ballots have the wrong shape or are not finite, or if the rule needs more than
        ballots (``TopK`` labels, ``Median`` bounds).

    See Also
    --------
    partita.certify_collective : One attacker, many rows.
    partita.certify_patches : Attackers who own a patch of an image.
    partita.FeaturePartitionClassifier : An estimator that makes such ballots.

    References
    ----------
    Theory, sections 2 to 4. Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0
    Adversarial Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> ballots = np.array([[[3, 1, 0], [2, 0, 1], [0, 2, 1], [4, 0, 1], [1, 0, 0]]], dtype=float)
    >>> proof = certify(ballots, rule="plurality")
    >>> int(proof.prediction[0]), int(proof.radius[0])
    (0, 1)
    """
    chosen = named_rule(rule)
    if isinstance(chosen, Median):
        raise InputError(
            "rule is a Median, which needs bounds: Median().certify(votes, lower, upper)"
        )
    return chosen.certify(ballots, reach=reach, cover=cover, time_limit=time_limit)
