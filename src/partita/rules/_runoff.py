"""Run-off: the two labels with most votes meet in a duel of all submodels."""

from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ._base import Rule, certificates


class RunOff(Rule):
    """Round 1 keeps the two labels with the most votes; in round 2 every submodel sides with the
    one it scores higher.

    The winner falls only if a rival enters round 2 and beats it there, or if two rivals push it out
    of the top two; the radius is the smaller of the two costs. (docs/rules.md, "Run-off".)

    Parameters
    ----------
    exact : bool, default=False
        False: the paper's bound, which prices entering and winning apart. True: the true smallest
        attack, never below the bound.
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact

    def check(self) -> None:
        if not isinstance(self.exact, bool):
            raise InputError(f"exact is {self.exact!r}: it must be True or False")

    def decision(self, ballots: Array) -> Certificates:
        self.check()
        return certificates("runoff", ballots, self.exact)
