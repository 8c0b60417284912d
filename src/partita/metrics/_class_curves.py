"""Certified recall and worst-case precision of every label, at every radius.

Everything is a count of rows by radius, so that counts of several pieces of a table add up.
"""

from typing import Any, NamedTuple

import numpy as np

from .._support import Array, array_of
from ..certificates import Certificates
from ._curves import FARTHEST, correct_radius, rows_at_radii
from ._scores import check_about_predictions


class ClassCurve(NamedTuple):
    """What is certified of one label, at every radius from 0 up.

    Attributes
    ----------
    rows : int
        How many rows have the label.
    predicted : int
        How many rows are predicted as it.
    radius : array of int
        0, 1, 2, ...
    recall : array of float
        At each radius, the share of its rows that are right and stay right.
    precision : array of float
        At each radius, a lower bound on its precision under attack.
    kept : array of int
        At each radius, how many of the rows that are predicted as it stay so, right or wrong.

    See Also
    --------
    certified_class_curves : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_class_curves
    >>> proof = certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality")
    >>> certified_class_curves([0, 1], proof)[0].recall
    array([1., 1., 0.])
    """

    rows: int
    predicted: int
    radius: Array
    recall: Array
    precision: Array
    kept: Array


def certified_class_curves(y: Any, proof: Certificates) -> dict[Any, ClassCurve]:
    """Compute certified recall and worst-case precision of every label, at every radius.

    Certified accuracy flatters a model that gives nearly all rows the most frequent label, and so
    does a large radius. These curves show what is certified of the other labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proof : Certificates
        What ``certify`` returned for these rows.

    Returns
    -------
    dict
        A ClassCurve for each label that occurs in ``y``, in the order of the sorted labels; from
        radius 0 to the first at which no row is both right and certified.

    See Also
    --------
    certified_recall, worst_case_precision : At one radius.
    certified_alarms : One label as an alarm.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_class_curves
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 0]]
    >>> proof = certify(np.eye(2)[votes], rule="plurality")
    >>> for label, curve in certified_class_curves([0, 0, 0, 1], proof).items():
    ...     print(label, curve.recall.round(2), curve.precision.round(2), curve.kept)
    0 [1.   0.67 0.  ] [1.   0.67 0.  ] [3 2 0]
    1 [1. 0. 0.] [1. 0. 0.] [1 0 0]
    """
    check_about_predictions(proof, "precision")
    radius, labels = correct_radius(y, proof), array_of("y", y)
    length = int(min(max(radius.max(), -1), FARTHEST)) + 2
    return {
        label: _curve(label, labels, radius, proof, length) for label in np.unique(labels).tolist()
    }


def _curve(
    label: Any, labels: Array, correct: Array, proof: Certificates, length: int
) -> ClassCurve:
    own, named = labels == label, proof.prediction == label
    certain = rows_at_radii(correct[own], length=length)
    others = proof.radius[~own & ~named]
    falling = len(others) - rows_at_radii(others, length=length)
    return ClassCurve(
        int(own.sum()),
        int(named.sum()),
        np.arange(length),
        certain / own.sum(),
        precision_bound(certain, int(np.count_nonzero(named & ~own)), falling),
        rows_at_radii(proof.radius[named], length=length),
    )


def precision_bound(certain: Array, false_now: int, falling: Array) -> Array:
    """Compute the least precision of a label at r = 0, 1, ..., from counts of rows.

    ``certain``: at each radius, those that are right and stay so. ``false_now``: those that are
    predicted as the label, and have another. ``falling``: at each radius, those that neither have
    the label nor are predicted as it, and have a smaller radius: they may become false alarms.
    """
    possible = certain + false_now + falling
    return np.where(certain > 0, certain / np.maximum(possible, 1), 0.0)
