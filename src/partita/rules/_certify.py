"""``certify``: decide and certify ballots from anywhere, under a rule or its name."""

from typing import Any

from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule
from ._median import Median
from ._plurality import Plurality
from ._runoff import RunOff
from ._tournament import Tournament


def named_rule(rule: Any) -> Rule:
    """A rule from its name, or the rule itself."""
    names: dict[str, type[Rule]] = {
        "plurality": Plurality,
        "runoff": RunOff,
        "tournament": Tournament,
        "median": Median,
    }
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in names:
        return names[rule]()
    raise InputError(
        f"rule is {rule!r}: give one of {', '.join(map(repr, names))}, or a rule such as "
        "RunOff(exact=True)"
    )


def certify(
    ballots: Any,
    rule: Any = "tournament",
    reach: Any = None,
    cover: str = "bound",
    time_limit: float = 10.0,
) -> Certificates:
    """Decide and certify ballots from anywhere.

    Parameters
    ----------
    ballots : array of shape (N, T, C)
        The score of each of T submodels for each of C classes, in N rows. An attacker who owns one
        unit changes one submodel's scores, however he likes.
    rule : str or Rule
        "plurality", "runoff", "tournament", or a rule object.
    reach : bool array of shape (U, T), default=None
        Which submodels each of U units reaches; None: each reaches one. The radius then counts
        units.
    cover : "bound" or "exact", default="bound"
        Where units overlap: a sound bound, or an integer program for every row that the bound
        leaves in doubt.
    time_limit : float, default=10
        Seconds for each such row; what is proven by then is used, so the answer is sound in any
        case.

    Returns
    -------
    Certificates
        ``prediction`` is a class index, ``radius`` counts submodels (units, where ``reach`` is
        given).

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> ballots = np.array([[[3, 1, 0], [2, 0, 1], [0, 2, 1], [4, 0, 1], [1, 0, 0]]], dtype="float32")
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
