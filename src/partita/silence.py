"""Silence: which sources were silent when rows were certified, and what that cost.

Plain arrays, one entry per row. Nothing here knows models or rules.
"""

from dataclasses import dataclass

import numpy as np

from ._support import Array

__all__ = ["Silence"]

SHOWN_UNITS = 5  # silent units that are listed


@dataclass(frozen=True, eq=False)
class Silence:
    """What was silent when rows were certified, and what it cost.

    Attributes
    ----------
    units : array of bool, shape (n_samples, n_units)
        Which units were silent in which rows.
    names : tuple of str
        The units' names.
    abstained : array of int, shape (n_samples,)
        How many submodels abstained.
    n_submodels : int
        How many there are.
    radius : array of int, shape (n_samples,)
        The certified radius, with the silence.
    without : array of int, shape (n_samples,)
        The radius if the submodels that abstained had sided with the prediction: what the silence
        cost is at most the difference.
    detected : bool
        Whether silence was read from the values, which whoever owns a unit can fake: such silence
        may be lifted by an attacker, and the radius takes that into account.

    See Also
    --------
    partita.Certificates : Holds one as ``silence``.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.silence import Silence
    >>> radius, without = np.array([1, 2]), np.array([2, 2])
    >>> silence = Silence(np.array([[True], [False]]), ("A",), np.array([1, 0]), 5, radius, without)
    >>> for sentence in str(silence).split(". "):
    ...     print(sentence)
    Silent: A in 1 row; 1 of 2 rows lack a source
    In these 1 of 5 submodels abstain, and the median radius is 1 (at best 2 without the silence)
    """

    units: Array
    names: tuple[str, ...]
    abstained: Array
    n_submodels: int
    radius: Array
    without: Array
    detected: bool = False

    def __str__(self) -> str:
        rows = np.asarray(self.units.any(axis=1))
        if not rows.any():
            return f"No source is silent in any of {len(rows)} rows"
        counts = self.units.sum(axis=0)
        listed = [
            f"{self.names[unit]} in {counts[unit]} row{'' if counts[unit] == 1 else 's'}"
            for unit in np.flatnonzero(counts)
        ]
        if len(listed) > SHOWN_UNITS:
            listed = [*listed[:SHOWN_UNITS], f"{len(listed) - SHOWN_UNITS} more"]
        least, most = self.abstained[rows].min(), self.abstained[rows].max()
        abstain = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"Silent: {', '.join(listed)}; {rows.sum()} of {len(rows)} rows lack a source. In "
            f"these {abstain} of {self.n_submodels} submodels abstain, and the median radius is "
            f"{np.median(self.radius[rows]):g} (at best "
            f"{np.median(self.without[rows]):g} without the silence)"
        )
