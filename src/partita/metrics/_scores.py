"""Certified scores at one radius: accuracy, recall, precision, and the median radius."""

from typing import Any

import numpy as np

from .._support import array_of, check_whole
from ..certificates import Certificates
from ..errors import InputError
from ._curves import correct_radius


def certified_accuracy(y: Any, proof: Certificates, radius: int = 0) -> float:
    """Compute the share of rows that are right and stay right at a radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels or values.
    proof : Certificates
        What ``certify`` returned for these rows. For a regressor certify with ``around=y``; a
        prediction within the tolerance of the truth is right.
    radius : int, default=0
        How many units the attacker owns.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    certified_accuracy_curve : At every radius.
    certified_balanced_accuracy : Every label counts the same.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy
    >>> proof = certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality")
    >>> certified_accuracy([0, 1], proof, radius=0), certified_accuracy([0, 1], proof, radius=1)
    (1.0, 0.5)
    """
    check_whole("radius", radius, 0)
    return float(np.mean(correct_radius(y, proof) >= radius))


def certified_recall(y: Any, proof: Certificates, radius: int = 0) -> dict[Any, float]:
    """Compute, for each label, the share of its rows that are right and stay right at a radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proof : Certificates
        What ``certify`` returned for these rows. After ``certify(X, labels=y)`` with ``TopK(k)``,
        the recall is about staying among the top k.
    radius : int, default=0
        How many units the attacker owns.

    Returns
    -------
    dict
        A share for each label that occurs in ``y``, in the order of the sorted labels.

    See Also
    --------
    certified_balanced_accuracy : The mean of these shares.
    certified_class_curves : At every radius, with precision.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_recall
    >>> votes = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]
    >>> proof = certify(np.eye(2)[votes], rule="plurality")
    >>> certified_recall([0, 0, 1, 0], proof)
    {0: 0.6666666666666666, 1: 1.0}
    >>> certified_recall([0, 0, 1, 0], proof, radius=1)
    {0: 0.3333333333333333, 1: 0.0}
    """
    check_whole("radius", radius, 0)
    check_about_labels(proof, "recall")
    right = correct_radius(y, proof) >= radius
    labels, which = np.unique(array_of("y", y), return_inverse=True)
    shares = np.bincount(which, weights=right) / np.bincount(which)
    return dict(zip(labels.tolist(), shares.tolist(), strict=True))


def certified_balanced_accuracy(y: Any, proof: Certificates, radius: int = 0) -> float:
    """Compute the mean certified recall of the labels that occur in ``y``.

    A constant prediction has a certified accuracy as high as the share of its label, but a balanced
    one of 1 / (number of labels), at every radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proof : Certificates
        What ``certify`` returned for these rows.
    radius : int, default=0
        How many units the attacker owns.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    certified_recall : The recall of each label.
    certified_accuracy : Every row counts the same.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy, certified_balanced_accuracy
    >>> proof = certify(np.eye(2)[[[0, 0, 0]] * 4], rule="plurality")  # always label 0
    >>> y = [0, 0, 0, 1]
    >>> certified_accuracy(y, proof, 1), certified_balanced_accuracy(y, proof, 1)
    (0.75, 0.5)
    """
    return float(np.mean(list(certified_recall(y, proof, radius).values())))


def worst_case_precision(y: Any, proof: Certificates, label: Any, radius: int = 0) -> float:
    """Compute a lower bound on the precision of a label under an attack of a given size.

    Proof: rows of this label that are right with at least this radius keep the label, so there are
    no fewer true positives. A row of another label can be predicted as this one only if it already
    is or if its radius is smaller, so there are no more false positives; and TP / (TP + FP) grows
    with TP and falls with FP.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proof : Certificates
        What ``certify`` returned for these rows.
    label : object
        The label, which must occur in ``y``.
    radius : int, default=0
        How many units the attacker owns. 0: the precision as it is.

    Returns
    -------
    float
        0 where no row is certain to be predicted as this label.

    See Also
    --------
    certified_recall : What stays right of each label's rows.
    certified_class_curves : Both for every label, at every radius.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import worst_case_precision
    >>> votes = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]]
    >>> proof = certify(np.eye(2)[votes], rule="plurality")
    >>> worst_case_precision([0, 0, 1, 1], proof, label=0, radius=0)
    1.0
    >>> worst_case_precision([0, 0, 1, 1], proof, label=0, radius=1)  # the last row can be made a 0
    0.5
    """
    check_whole("radius", radius, 0)
    check_about_predictions(proof, "precision")
    safe = correct_radius(y, proof) >= radius
    own = array_of("y", y) == label
    if not np.any(own):
        raise InputError(
            f"label is {label!r}, which does not occur in y: give one of the true labels"
        )
    certain = int(np.count_nonzero(own & safe))
    possible = int(np.count_nonzero(~own & ((proof.prediction == label) | (proof.radius < radius))))
    return certain / (certain + possible) if certain else 0.0


def median_radius(y: Any, proof: Certificates) -> float:
    """Compute the median radius, a wrong prediction counting as -inf.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels or values.
    proof : Certificates
        What ``certify`` returned for these rows; for a regressor with ``around=y``.

    Returns
    -------
    float
        Half of the rows are right with at least this radius; -inf if half are wrong.

    See Also
    --------
    certified_accuracy_curve : The share of rows at every radius.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import median_radius
    >>> proof = certify(np.eye(2)[[[0] * 5, [0] * 4 + [1], [1] * 5]], rule="plurality")
    >>> median_radius([0, 0, 1], proof), median_radius([1, 1, 1], proof)
    (2.0, -inf)
    """
    return float(np.median(correct_radius(y, proof)))


def check_about_labels(proof: Certificates, what: str) -> None:
    """Raise if a proof is about values."""
    if proof.of_values:
        raise InputError(
            f"proof is about numbers, and {what} is about labels: use certified_accuracy"
        )


def check_about_predictions(proof: Certificates, what: str) -> None:
    """Raise if a proof is not about predicted labels."""
    check_about_labels(proof, what)
    if proof.truth is not None:
        raise InputError(
            f"proof is about given labels (TopK), not about predictions: {what} needs the proof "
            "of another rule"
        )
