"""How much of a test set is certified, and how far: scores at one radius, curves, and alarms.

``y`` holds the truth and ``proof`` what ``certify`` returned for the same rows. The command line,
the report and the searches draw the same curves, so they all count here. Counts of rows by radius
add up over the pieces of a table. Each row is counted as if it had an attacker of its own, so all
numbers are on the safe side of what one attacker does to all rows at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._support import Array, Estimator, TableLike, array_of, check_whole
from .certificates import Certificates
from .errors import InputError

__all__ = [
    "Alarms",
    "ClassCurve",
    "Curve",
    "Envelope",
    "SetCurve",
    "certified_accuracy",
    "certified_accuracy_curve",
    "certified_alarms",
    "certified_balanced_accuracy",
    "certified_class_curves",
    "certified_recall",
    "certified_scorer",
    "envelope",
    "label_set_curve",
    "median_radius",
    "worst_case_precision",
]

# Curves end here. The radius of a row that nothing can change is the number of all units, which may
# include every training label.
FARTHEST = 10_000
SHOWN_LABELS = 10


def correct_radius(y: ArrayLike, proof: Certificates) -> Array:
    """Return each row's radius as a float, -inf where the row is wrong."""
    if not len(proof):
        raise InputError("proof covers no rows: certify at least one")
    return np.where(proof.correct(y), proof.radius.astype(float), -np.inf)


def shares_at_radii(
    radii: ArrayLike, counts: ArrayLike | None = None, length: int | None = None
) -> Array:
    """Compute the share of rows with a radius of at least r, for r = 0, 1, ...

    Parameters
    ----------
    radii : array-like
        The radius of every row; below 0 for a row that is not certified at all. With ``counts``,
        distinct radii.
    counts : array-like of int, optional
        How many rows have each of the radii.
    length : int, optional
        How many shares to return, 0 beyond the largest radius. By default up to the largest radius
        (at least one, at most FARTHEST + 1).

    Returns
    -------
    array of float, shape (length,)

    Examples
    --------
    >>> from partita.metrics import shares_at_radii
    >>> shares_at_radii([2, 0, -1, 2]).tolist()
    [0.75, 0.5, 0.5]
    >>> shares_at_radii([2, 0, -1], counts=[2, 1, 1], length=4).tolist()
    [0.75, 0.5, 0.5, 0.0]
    """
    total = np.size(radii) if counts is None else int(np.sum(counts))
    return np.asarray(rows_at_radii(radii, counts, length) / total)


def rows_at_radii(
    radii: ArrayLike, counts: ArrayLike | None = None, length: int | None = None
) -> Array:
    """Count the rows with a radius of at least r, for r = 0, 1, ...; see shares_at_radii."""
    radius = np.asarray(radii, dtype=np.float64)
    if length is None:
        length = int(min(max(radius.max(initial=0), 0), FARTHEST)) + 1
    place = np.clip(radius, -1, length - 1).astype(np.int64) + 1  # 0: not certified at all
    rows = np.ones(len(radius), np.int64) if counts is None else np.asarray(counts, np.int64)
    at = np.zeros(length + 1, np.int64)
    np.add.at(at, place, rows)
    return np.asarray(at[::-1].cumsum()[::-1][1:])


# ---- scores at one radius ----


def certified_accuracy(y: ArrayLike, proof: Certificates, radius: int = 0) -> float:
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


def certified_recall(y: ArrayLike, proof: Certificates, radius: int = 0) -> dict[Any, float]:
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


def certified_balanced_accuracy(y: ArrayLike, proof: Certificates, radius: int = 0) -> float:
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


def worst_case_precision(
    y: ArrayLike, proof: Certificates, label: object, radius: int = 0
) -> float:
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


def median_radius(y: ArrayLike, proof: Certificates) -> float:
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


# ---- curves over the radius ----


class Curve(NamedTuple):
    """Certified accuracy at every radius from 0 up.

    Attributes
    ----------
    radius : array of int
        0, 1, 2, ...
    accuracy : array of float
        Certified accuracy at each radius.

    See Also
    --------
    certified_accuracy_curve : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy_curve
    >>> proof = certify(np.eye(2)[[[0, 0, 0]]], rule="plurality")
    >>> certified_accuracy_curve([0], proof).accuracy
    array([1., 1., 0.])
    """

    radius: Array
    accuracy: Array


def certified_accuracy_curve(y: ArrayLike, proof: Certificates) -> Curve:
    """Compute certified accuracy at every radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels or values.
    proof : Certificates
        What ``certify`` returned for these rows; for a regressor with ``around=y``.

    Returns
    -------
    Curve
        From radius 0 to the first at which nothing is certified.

    See Also
    --------
    certified_accuracy : At one radius.
    partita.CertifiedAccuracyDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy_curve
    >>> proof = certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality")
    >>> curve = certified_accuracy_curve([0, 1], proof)
    >>> curve.radius.tolist(), curve.accuracy.tolist()
    ([0, 1, 2], [1.0, 0.5, 0.0])
    """
    radius = correct_radius(y, proof)
    last = int(min(max(radius.max(), -1), FARTHEST)) + 1
    return Curve(np.arange(last + 1), shares_at_radii(radius, length=last + 1))


class Envelope(NamedTuple):
    """The best certified accuracy at every radius, and the setting that reaches it.

    Attributes
    ----------
    radius : array of int
        0, 1, 2, ...
    accuracy : array of float
        The best certified accuracy at each radius.
    setting : list
        The name of the setting that reaches it, the first among equals.

    See Also
    --------
    envelope : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import envelope
    >>> envelope([0], [certify(np.eye(2)[[[0, 0, 0]]], rule="plurality")]).setting
    [0, 0, 0]
    """

    radius: Array
    accuracy: Array
    setting: list[Any]


def envelope(y: ArrayLike, proofs: Mapping[Any, Certificates] | Sequence[Certificates]) -> Envelope:
    """Find the best of several settings at every radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels or values.
    proofs : mapping or sequence of Certificates
        The certificates of each setting for these rows, by name; those of a sequence are named by
        position.

    Returns
    -------
    Envelope
        From radius 0 to the first at which no setting certifies anything.

    See Also
    --------
    certified_accuracy_curve : The curve of one setting.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import envelope
    >>> ballots = np.eye(3)[[[0, 0, 1, 2, 2], [1, 1, 1, 1, 0]]]
    >>> best = envelope([0, 1], {rule: certify(ballots, rule) for rule in ("plurality", "runoff")})
    >>> best.accuracy.tolist(), best.setting
    ([1.0, 0.5, 0.0], ['plurality', 'plurality', 'plurality'])
    """
    named = dict(proofs) if isinstance(proofs, Mapping) else dict(enumerate(proofs))
    if not named:
        raise InputError("proofs is empty: give the certificates of at least one setting")
    curves = [certified_accuracy_curve(y, proof).accuracy for proof in named.values()]
    accuracy, index = best_at_radii(curves)
    names = list(named)
    return Envelope(np.arange(len(accuracy)), accuracy, [names[k] for k in index])


def best_at_radii(curves: Sequence[Array]) -> tuple[Array, Array]:
    """Return the highest value of several curves at each radius, and the first that reaches it.

    Curves may differ in length; beyond its end a curve is 0.
    """
    length = max(map(len, curves))
    table = np.stack([np.pad(curve, (0, length - len(curve))) for curve in curves])
    return table.max(axis=0), table.argmax(axis=0)


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


def certified_class_curves(y: ArrayLike, proof: Certificates) -> dict[Any, ClassCurve]:
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
    right, labels = correct_radius(y, proof), array_of("y", y)
    length = int(min(max(right.max(), -1), FARTHEST)) + 2
    return {
        label: class_curve(label, labels, proof.prediction, proof.radius, length)
        for label in np.unique(labels).tolist()
    }


def class_curve(
    label: object,
    true: Array,
    predicted: Array,
    radius: Array,
    length: int,
    counts: Array | None = None,
) -> ClassCurve:
    """Count what is certified of one label at r = 0, 1, ...; ``counts``: rows of each entry."""
    counts = np.ones(len(true), np.int64) if counts is None else counts
    own, named = true == label, predicted == label
    other = ~own & ~named  # those with a small radius may become false alarms
    certain, staying, kept = (
        rows_at_radii(radius[chosen], counts[chosen], length)
        for chosen in (own & named, other, named)
    )
    n_own, n_named, n_other, false_now = (
        int(counts[chosen].sum()) for chosen in (own, named, other, named & ~own)
    )
    possible = certain + false_now + (n_other - staying)
    precision = np.where(certain > 0, certain / np.maximum(possible, 1), 0.0)
    return ClassCurve(n_own, n_named, np.arange(length), certain / n_own, precision, kept)


# ---- one label as an alarm ----


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


def certified_alarms(
    y: ArrayLike | None, proof: Certificates, positive: object, radius: int = 0
) -> Alarms:
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


# ---- label sets ----


class SetCurve(NamedTuple):
    """Certified label sets at every radius: how often they hold the truth, and how large they are.

    Attributes
    ----------
    coverage : array of float, shape (n_radii,)
        The share of rows whose true label is in the set, whatever else is.
    size : array of float, shape (n_radii,)
        The mean number of labels in a set.

    See Also
    --------
    label_set_curve : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import label_set_curve
    >>> curve = label_set_curve([0, 1], [[[True, False], [True, False]], np.ones((2, 2), bool)])
    >>> curve.coverage.tolist(), curve.size.tolist()
    ([0.5, 1.0], [1.0, 2.0])
    """

    coverage: Array
    size: Array


def label_set_curve(
    y: ArrayLike, sets: Sequence[ArrayLike], classes: ArrayLike | None = None
) -> SetCurve:
    """Compute the coverage and the mean size of label sets, for each of several radii.

    The coverage at radius 0 is the accuracy. It rises with the radius because the sets grow: good
    sets stay small. It is counted on these rows and nothing is proven about others; what is
    certified is that no attack brings about a label outside of a row's set.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    sets : sequence of arrays of bool, each of shape (n_samples, n_classes)
        What ``prediction_set`` returned for these rows at each radius.
    classes : array-like of shape (n_classes,), optional
        The labels in the order of the columns: ``clf.classes_``. By default 0, 1, ...

    Returns
    -------
    SetCurve
        One entry for each of ``sets``. A row whose label is not among the classes is not covered.

    See Also
    --------
    partita.FeaturePartitionClassifier.prediction_set : Makes the sets.
    certified_accuracy_curve : Rows whose set is the true label alone.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.metrics import label_set_curve
    >>> from partita.rules import prediction_set
    >>> ballots = np.eye(3)[[[0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 1]]]
    >>> sets = [prediction_set(ballots, "plurality", radius) for radius in (0, 1, 2)]
    >>> curve = label_set_curve([1, 0], sets)
    >>> curve.coverage.tolist(), curve.size.tolist()
    ([0.5, 1.0, 1.0], [1.0, 1.5, 2.0])
    """
    labels, at_radii = array_of("y", y), [array_of("sets", one, np.bool_) for one in sets]
    n_classes = at_radii[0].shape[-1] if at_radii else 0
    names = np.arange(n_classes) if classes is None else array_of("classes", classes)
    if not at_radii or not len(labels):
        raise InputError("sets covers no rows: give label sets of at least one row and radius")
    for one in at_radii:
        if one.shape != (len(labels), len(names)):
            raise InputError(
                f"sets holds an array of shape {one.shape}: expected {(len(labels), len(names))}, "
                "a truth value for each row of y and each class"
            )
    truth = labels[:, None] == names[None, :]
    covered = [np.mean((one & truth).any(axis=1)) for one in at_radii]
    return SetCurve(np.array(covered), np.array([one.sum(axis=1).mean() for one in at_radii]))


# ---- what a proof is about ----


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


# ---- a score for searches; something inside of the estimator has ``certify`` ----

CertifiedScore: TypeAlias = str | tuple[str, object]  # or ("recall", label)


def certified_scorer(
    radius: int = 0,
    *,
    score: CertifiedScore = "accuracy",
    tolerance: float | None = None,
    relative: float | None = None,
) -> Callable[[Estimator, TableLike, ArrayLike], float]:
    """Make a scorer for ``GridSearchCV`` and ``cross_val_score``: a certified score at a radius.

    Parameters
    ----------
    radius : int, default=0
        How many units the attacker owns.
    score : {"accuracy", "balanced"} or ("recall", label), default="accuracy"
        Certified accuracy, the mean certified recall of all labels, or the certified recall of one.
    tolerance, relative : float, optional
        For a regressor, which needs one of them: how far from the truth a prediction counts as
        right, absolutely or as a share of the truth.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``. The estimator may be a Pipeline whose last step can certify, or
        a fitted search (``best_estimator_``) over either.

    See Also
    --------
    certified_accuracy : The score itself.
    partita.attacks.check_pipeline : Tests whether a Pipeline's steps mix columns, which voids the
        certificates.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.metrics import certified_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    >>> model = make_pipeline(StandardScaler(), clf).fit(X[::2], y[::2])
    >>> certified_scorer(radius=1, score="balanced")(model, X[1::2], y[1::2]) > 0.5
    True
    """
    check_whole("radius", radius, 0)
    check_score(score)

    def scorer(estimator: Estimator, X: TableLike, y: ArrayLike) -> float:
        found = find_certifier(estimator, X)
        if found is None:
            raise InputError(
                f"estimator is a {type(estimator).__name__}, which has no certify: give a "
                "FeaturePartitionClassifier, a "
                "FeaturePartitionRegressor, or a Pipeline or a fitted search with one at its end"
            )
        proof = certify_against(*found, y, tolerance, relative)
        return certified_score(y, proof, radius, score)

    return scorer


def certify_against(
    model: Estimator,
    X: TableLike,
    y: ArrayLike,
    tolerance: ArrayLike | None = None,
    relative: ArrayLike | None = None,
    **options: Any,
) -> Certificates:
    """Certify the rows of X so that metrics can compare them with the truth y.

    Values stay within the tolerance of the truth; with a rule for given labels (``TopK``), the true
    ones are given. Further options go to ``certify``.
    """
    if tolerance is not None or relative is not None:
        options |= {"around": y, "tolerance": tolerance, "relative": relative}
    elif getattr(getattr(model, "rule_", None), "needs_labels", False):
        options |= {"labels": y}
    proof: Certificates = model.certify(X, **options)
    return proof


def certified_score(y: Any, proof: Certificates, radius: int, score: CertifiedScore) -> float:
    """Return the score that ``certified_scorer`` gives to a proof."""
    if score == "accuracy":
        return certified_accuracy(y, proof, radius)
    if score == "balanced":
        return certified_balanced_accuracy(y, proof, radius)
    recalls, label = certified_recall(y, proof, radius), score[1]
    if label not in recalls:
        raise InputError(
            f"score asks for the recall of {label!r}, which does not occur in y: give one of "
            f"{', '.join(map(repr, recalls))}"
        )
    return recalls[label]


def find_certifier(estimator: Estimator, X: TableLike) -> tuple[Estimator, TableLike] | None:
    """Look for ``certify`` at the end of pipelines and searches; None where nothing certifies."""
    model = estimator
    while not hasattr(model, "certify"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            if len(model.steps) > 1:
                X = model[:-1].transform(X)
            model = model.steps[-1][1]
        else:
            return None
    return model, X


def check_score(score: object) -> None:
    """Raise if this does not name a certified score."""
    if score not in ("accuracy", "balanced") and not (
        isinstance(score, tuple) and len(score) == 2 and score[0] == "recall"
    ):
        raise InputError(f'score is {score!r}: give "accuracy", "balanced" or ("recall", label)')
