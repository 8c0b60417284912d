"""``certify``: the entrance for people who have ballots and no partita model."""

from dataclasses import replace

from numpy.typing import ArrayLike

from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ._agreement import PooledValues
from ._base import Rule
from ._median import Median
from ._votes import Plurality, RunOff, Tournament

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


def rule_of(ballots: ArrayLike, rule: str | Rule | None) -> tuple[Rule, str]:
    """Return the rule that decides ballots, and a note if it is not their model's."""
    own = ballots.rule if isinstance(ballots, Ballots) else None
    if rule is None:
        if own is None:
            raise InputError(
                "rule is missing: an array does not say how its ballots decide; give rule=, one of "
                f"{', '.join(map(repr, RULES))}, or the ballots of a fitted model, "
                "clf.ballots(X), which bring their rule"
            )
        return own, ""
    chosen = named_rule(rule)
    if own is None or repr(chosen) == repr(own):
        return chosen, ""
    shown = repr(chosen.without_fitted_state())
    return chosen, f"decided by {shown}, not by the model's {own.without_fitted_state()!r}"


def certify(
    ballots: ArrayLike,
    rule: str | Rule | None = None,
    reach: ArrayLike | None = None,
    cover: str = "bound",
    time_limit: float = 10.0,
) -> Certificates:
    """Decide and certify ballots from anywhere.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Each submodel's score for each class. An attacker who owns one unit changes one submodel's
        scores, in any way they like.
    rule : {"plurality", "runoff", "tournament"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring its rule, and
        a certificate by another rule says so.
    reach : array-like of bool, shape (n_units, n_submodels), optional
        Which submodels each unit reaches, where units overlap; the radius then counts units. By
        default that of the ballots; without one every unit reaches one submodel, and the radius
        counts submodels.
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
    chosen, note = rule_of(ballots, rule)
    if isinstance(chosen, Median | PooledValues):
        raise InputError(
            f"rule is {chosen!r}, which needs bounds: rule.certify(votes, lower, upper)"
        )
    proof = chosen.certify(ballots, reach=reach, cover=cover, time_limit=time_limit)
    return replace(proof, note=note)


def prediction_set(
    ballots: ArrayLike,
    rule: str | Rule | None = None,
    radius: int = 1,
    reach: ArrayLike | None = None,
) -> Array:
    """List the labels that an attack of a given size may bring about, for ballots from anywhere.

    Parameters
    ----------
    ballots : Ballots or array-like of shape (n_samples, n_submodels, n_classes)
        Each submodel's score for each class.
    rule : {"plurality", "runoff", "tournament"} or Rule, optional
        How the ballots decide. Required for an array; ballots of a fitted model bring their rule.
    radius : int, default=1
        How many submodels (units, with ``reach``) the attacker owns.
    reach : array-like of bool, shape (n_units, n_submodels), optional
        Which submodels each unit reaches, where units overlap. By default that of the ballots.

    Returns
    -------
    array of bool, shape (n_samples, n_classes)
        Which labels belong to each row's set.

    Raises
    ------
    InputError
        If the ballots have the wrong shape or are not finite, or if the rule has no label sets.

    See Also
    --------
    certify : The prediction and the radius up to which it stands alone.
    partita.metrics.label_set_curve : How often the truth is in the sets, and their mean size.

    References
    ----------
    Theory, section 13.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import prediction_set
    >>> ballots = np.eye(3)[[[0, 0, 0, 1, 1, 2]]]
    >>> [prediction_set(ballots, "plurality", radius).tolist() for radius in (0, 1, 2)]
    [[[True, False, False]], [[True, True, False]], [[True, True, True]]]
    """
    chosen, _ = rule_of(ballots, rule)
    if isinstance(chosen, Median | PooledValues):
        raise InputError(f"rule is {chosen!r}, which decides numbers: use rule.interval(votes, r)")
    return chosen.prediction_set(ballots, radius, reach)
