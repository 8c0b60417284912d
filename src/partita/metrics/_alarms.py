"""One label as an alarm: how many alarms no attacker can silence, and how many they can raise.

Each row is counted as if it had an attacker of its own, so all numbers are on the safe side of what
one attacker does to all rows at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import array_of, check_whole
from ..certificates import Certificates
from ..errors import InputError
from ._scores import check_about_predictions, worst_case_precision

SHOWN_LABELS = 10


@dataclass(frozen=True)
class Alarms:
    """What an attacker of a given size can do to alarms.

    Attributes
    ----------
    radius : int
        How many units the attacker owns.
    raised : int
        The rows that are predicted as the positive label now.
    kept : int
        How many of them no such attacker can silence.
    quiet : int
        The other rows.
    kept_quiet : int
        How many of them no such attacker can turn into alarms.
    recall : float or None
        The share of all positive rows whose alarm is raised and cannot be silenced; None without
        the truth, or where no row is positive.
    precision : float or None
        A lower bound on the share of alarms that are right, whatever the attacker does; None
        without the truth.

    See Also
    --------
    certified_alarms : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_alarms
    >>> proof = certify(np.eye(2)[[[1, 1, 1], [0, 1, 1], [0, 0, 0]]], rule="plurality")
    >>> print(certified_alarms([1, 1, 0], proof, positive=1, radius=1))
    r = 1: 1 of 2 alarms cannot be silenced, 0 of 1 quiet rows can become one; recall at least \
50.0 %, precision at least 100.0 %
    """

    radius: int
    raised: int
    kept: int
    quiet: int
    kept_quiet: int
    recall: float | None = None
    precision: float | None = None

    def __str__(self) -> str:
        shares = [
            f"{name} at least {100 * share:.1f} %"
            for name, share in (("recall", self.recall), ("precision", self.precision))
            if share is not None
        ]
        return (
            f"r = {self.radius}: {self.kept} of {self.raised} alarms cannot be silenced, "
            f"{self.quiet - self.kept_quiet} of {self.quiet} quiet rows can become one"
            + (f"; {', '.join(shares)}" if shares else "")
        )


def certified_alarms(y: Any, proof: Certificates, positive: Any, radius: int = 0) -> Alarms:
    """Count the alarms that an attacker cannot silence, and those that they can raise.

    A row raises an alarm if it is predicted as the positive label (fraud, a fault). To move the
    threshold between alarm and silence with the proof intact, use ``Tournament(offset=...)``
    (:func:`partita.search_offsets`).

    Parameters
    ----------
    y : array-like of shape (n_samples,) or None
        True labels; None where they are not known, for counts alone.
    proof : Certificates
        What ``certify`` returned for these rows.
    positive : object
        The label that is an alarm.
    radius : int, default=0
        How many units the attacker owns. 0: as it is now.

    Returns
    -------
    Alarms
        Counts, and with ``y`` the recall and precision that are left at worst.

    Raises
    ------
    InputError
        If no row has the positive label or is predicted as it.

    See Also
    --------
    certified_class_curves : Recall and precision of every label, at every radius.
    partita.search_offsets : Recall and precision at several thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_alarms
    >>> votes = [[1, 1, 1], [0, 1, 1], [0, 0, 0], [0, 0, 1]]
    >>> proof = certify(np.eye(2)[votes], rule="plurality")
    >>> alarms = certified_alarms([1, 1, 0, 0], proof, positive=1, radius=1)
    >>> alarms.raised, alarms.kept, alarms.quiet, alarms.kept_quiet
    (2, 1, 2, 1)
    >>> alarms.recall, alarms.precision
    (0.5, 0.5)
    """
    check_whole("radius", radius, 0)
    check_about_predictions(proof, "an alarm")
    labels = None if y is None else array_of("y", y)
    known = proof.prediction if labels is None else np.append(proof.prediction, labels)
    if positive not in known.tolist():
        shown = ", ".join(map(repr, np.unique(known).tolist()[:SHOWN_LABELS]))
        raise InputError(
            f"positive is {positive!r}, which no row has or is predicted as: give one of {shown}"
        )
    raised, safe = proof.prediction == positive, proof.radius >= radius
    recall = precision = None
    if labels is not None:
        own, right = labels == positive, proof.correct(labels)
        recall = float(np.mean((right & safe)[own])) if own.any() else None
        precision = worst_case_precision(labels, proof, positive, radius) if own.any() else 0.0
    return Alarms(
        int(radius),
        raised=int(raised.sum()),
        kept=int((raised & safe).sum()),
        quiet=int((~raised).sum()),
        kept_quiet=int((~raised & safe).sum()),
        recall=recall,
        precision=precision,
    )
