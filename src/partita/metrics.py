"""How much of a test set is certified, and how far. ``proof`` is what certify() returned for the
rows of ``y``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._support.arrays import array_of
from ._support.types import Array
from .certificates import Certificates
from .errors import InputError

# no curve goes further: the radius of a row that nothing can change may be the number of all
# training labels
FARTHEST = 10_000


def certified_accuracy(y: Any, proof: Certificates, radius: int = 0) -> float:
    """The share of rows that are right and stay so whatever an attacker writes into ``radius``
    units.

    Regression: certify with ``around=y``; right means within the tolerance of the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy
    >>> proof = certify(np.eye(2)[[[0, 0, 0], [0, 1, 1]]], rule="plurality")
    >>> certified_accuracy([0, 1], proof, radius=0), certified_accuracy([0, 1], proof, radius=1)
    (1.0, 0.5)
    """
    check_radius(radius)
    return float(np.mean(_safe_radius(y, proof) >= radius))


def certified_recall(y: Any, proof: Certificates, radius: int = 0) -> dict[Any, float]:
    """Compute, for each label, the share of its rows that are right and stay so at a radius.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    proof : Certificates
        What ``certify`` returned for these rows. After ``certify(X, labels=y)`` with ``TopK(k)``,
        the recall is about staying among the top k.
    radius : int, default=0
        Whatever an attacker writes into this many units.

    Returns
    -------
    dict
        A share for each label that occurs in ``y``, in the order of the sorted labels.

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

    See Also
    --------
    certified_balanced_accuracy : The mean of these shares.
    """
    check_radius(radius)
    _check_labels(proof, "recall")
    right = _safe_radius(y, proof) >= radius
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
        Whatever an attacker writes into this many units.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.metrics import certified_accuracy, certified_balanced_accuracy
    >>> proof = certify(np.eye(2)[[[0, 0, 0]] * 4], rule="plurality")  # always label 0
    >>> certified_accuracy([0, 0, 0, 1], proof, 1), certified_balanced_accuracy([0, 0, 0, 1], proof, 1)
    (0.75, 0.5)
    """
    return float(np.mean(list(certified_recall(y, proof, radius).values())))


def worst_case_precision(y: Any, proof: Certificates, label: Any, radius: int = 0) -> float:
    """Compute a lower bound on the precision of a label when an attacker owns ``radius`` units.

    Proof: rows of this label that are right with at least this radius keep the label, so the true
    positives are no fewer. A row of another label can be predicted as this one only if it is
    already or if its radius is smaller, so the false positives are no more; and TP / (TP + FP)
    grows with TP and falls with FP.

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
    check_radius(radius)
    _check_labels(proof, "precision")
    if proof.truth is not None:
        raise InputError(
            "proof is about given labels (TopK), not about predictions: precision needs the proof "
            "of another rule"
        )
    safe = _safe_radius(y, proof) >= radius
    own = array_of("y", y) == label
    if not np.any(own):
        raise InputError(
            f"label is {label!r}, which does not occur in y: give one of the true labels"
        )
    certain = int(np.count_nonzero(own & safe))
    possible = int(np.count_nonzero(~own & ((proof.prediction == label) | (proof.radius < radius))))
    return certain / (certain + possible) if certain else 0.0


def median_radius(y: Any, proof: Certificates) -> float:
    """The median of the radii, a wrong prediction counting as -inf."""
    return float(np.median(_safe_radius(y, proof)))


class Curve(NamedTuple):
    """Certified accuracy at every radius from 0 up."""

    radius: Array
    accuracy: Array


def certified_accuracy_curve(y: Any, proof: Certificates) -> Curve:
    """Certified accuracy at every radius from 0 to the first where nothing is certified."""
    safe = _safe_radius(y, proof)
    last = int(min(max(safe.max(), -1), FARTHEST)) + 1
    radii = np.arange(last + 1)
    return Curve(radii, np.array([np.mean(safe >= radius) for radius in radii]))


class Envelope(NamedTuple):
    """The best certified accuracy at every radius, and the setting that reaches it."""

    radius: Array
    accuracy: Array
    setting: list[Any]


def envelope(y: Any, proofs: Mapping[Any, Certificates] | Sequence[Certificates]) -> Envelope:
    """The best of several settings at every radius; the first of equals. A sequence is named by
    position."""
    named = dict(proofs) if isinstance(proofs, Mapping) else dict(enumerate(proofs))
    if not named:
        raise InputError("proofs is empty: give the certificates of at least one setting")
    curves = {name: certified_accuracy_curve(y, proof).accuracy for name, proof in named.items()}
    length = max(map(len, curves.values()))
    table = np.stack([np.pad(curve, (0, length - len(curve))) for curve in curves.values()])
    best = table.argmax(axis=0)
    return Envelope(np.arange(length), table.max(axis=0), [list(curves)[k] for k in best])


def certified_scorer(
    radius: int = 0, *, score: Any = "accuracy", tolerance: Any = None, relative: Any = None
) -> Callable[[Any, Any, Any], float]:
    """Make a scorer for ``GridSearchCV`` and ``cross_val_score``: a certified score at a radius.

    Parameters
    ----------
    radius : int, default=0
        Whatever an attacker writes into this many units.
    score : "accuracy", "balanced" or ("recall", label), default="accuracy"
        Certified accuracy, the mean certified recall of all labels, or the certified recall of one.
    tolerance, relative : float, optional
        For a regressor, which needs one of them: how far from the truth a prediction counts as
        right.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``. The estimator may be a Pipeline whose last step can certify, or
        a fitted search (``best_estimator_``) over either. Whether the steps before keep columns
        apart is not seen here: ``partita.audit.check_pipeline`` tries it.

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
    check_radius(radius)
    check_score(score)
    around = (
        {"tolerance": tolerance, "relative": relative}
        if tolerance is not None or relative is not None
        else {}
    )

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        model, X = certifier_of(estimator, X)
        if around:
            proof = model.certify(X, around=y, **around)
        elif asks_about_labels(model):
            proof = model.certify(X, labels=y)
        else:
            proof = model.certify(X)
        return certified_score(y, proof, radius, score)

    return scorer


def certified_score(y: Any, proof: Certificates, radius: int, score: Any) -> float:
    """The score that ``certified_scorer`` gives to a proof."""
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


def certifier_of(estimator: Any, X: Any) -> tuple[Any, Any]:
    """What certifies in a fitted estimator, and the rows as it sees them.

    It may be at the end of a Pipeline, or what a search has found.
    """
    found = find_certifier(estimator, X)
    if found is None:
        raise InputError(
            f"estimator is a {type(estimator).__name__}, which has no certify: give a "
            "FeaturePartitionClassifier, a "
            "FeaturePartitionRegressor, or a Pipeline or a fitted search with one at its end"
        )
    return found


def find_certifier(estimator: Any, X: Any) -> tuple[Any, Any] | None:
    """The same; None where nothing certifies."""
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


def asks_about_labels(model: Any) -> bool:
    """Whether its rule certifies given labels, not its own predictions."""
    from .rules import TopK

    return isinstance(getattr(model, "rule_", None), TopK)


def check_radius(radius: Any) -> None:
    """Raise if this is no radius."""
    if not isinstance(radius, int | np.integer) or isinstance(radius, bool) or radius < 0:
        raise InputError(f"radius is {radius!r}: it must be a whole number, 0 or above")


def check_score(score: Any) -> None:
    """Raise if this names no certified score."""
    if score not in ("accuracy", "balanced") and not (
        isinstance(score, tuple) and len(score) == 2 and score[0] == "recall"
    ):
        raise InputError(f'score is {score!r}: give "accuracy", "balanced" or ("recall", label)')


def _check_labels(proof: Certificates, what: str) -> None:
    if proof.of_values:
        raise InputError(
            f"proof is about numbers, and {what} is about labels: use certified_accuracy"
        )


def _safe_radius(y: Any, proof: Certificates) -> Array:
    if not len(proof):
        raise InputError("proof covers no rows: certify at least one")
    return np.where(proof.correct(y), proof.radius.astype(float), -np.inf)
