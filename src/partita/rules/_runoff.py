"""Run-off: the two labels with the most votes meet in a duel of all submodels."""

from .. import kernels
from .._support import Array
from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule, run_kernel


class RunOff(Rule):
    """Let the two labels with the most votes meet in a second round.

    Round 1 keeps the two labels with the most votes; in round 2 every submodel sides with the one
    it scores higher. The winner falls only if another label enters round 2 and beats it there, or
    if two labels push it out of the top two; the radius is the smaller of the two costs (Theorem 4
    of [1]_; theory, section 3).

    Parameters
    ----------
    exact : bool, default=False
        False: the paper's bound, which prices entering and winning round 2 separately. True: the
        size of the smallest attack, never below the bound.

    See Also
    --------
    Plurality : Round 1 alone.
    Tournament : Uses all pairwise preferences; the default.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.rules import RunOff
    >>> scores = np.array([[[3, 1, 0], [3, 1, 0], [0, 2, 1], [0, 2, 1], [1, 0, 2]]])
    >>> proof = RunOff(exact=True).certify(scores)
    >>> proof.prediction.tolist(), proof.radius.tolist()
    ([0], [0])
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact

    def check(self) -> None:
        if not isinstance(self.exact, bool):
            raise InputError(f"exact is {self.exact!r}: it must be True or False")

    def _decision(self, scores: Array, *about: Array) -> Certificates:
        self.check()
        return run_kernel("runoff", scores, self.exact)

    def _frontier(self, scores: Array, idle: int, *about: Array) -> Array:
        return kernels.runoff_frontier(scores, scores.shape[1] - 1)
