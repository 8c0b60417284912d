"""How much of a test set is certified, and how far. ``proof`` is what certify() returned for the rows of ``y``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .certificates import Certificates
from .errors import InputError

Array = NDArray[Any]


def certified_accuracy(y: Any, proof: Certificates, radius: int = 0) -> float:
    """The share of rows that are right and stay so whatever an attacker writes into ``radius`` units.

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
    if not isinstance(radius, int | np.integer) or radius < 0:
        raise InputError(f"radius is {radius!r}: it must be a whole number, 0 or above")
    return float(np.mean(_safe_radius(y, proof) >= radius))


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
    last = int(max(safe.max(), -1)) + 1
    radii = np.arange(last + 1)
    return Curve(radii, np.array([np.mean(safe >= radius) for radius in radii]))


class Envelope(NamedTuple):
    """The best certified accuracy at every radius, and the setting that reaches it."""

    radius: Array
    accuracy: Array
    setting: list[Any]


def envelope(y: Any, proofs: Mapping[Any, Certificates] | Sequence[Certificates]) -> Envelope:
    """The best of several settings at every radius; the first of equals. A sequence is named by position."""
    named = dict(proofs) if isinstance(proofs, Mapping) else dict(enumerate(proofs))
    if not named:
        raise InputError("proofs is empty: give the certificates of at least one setting")
    curves = {name: certified_accuracy_curve(y, proof).accuracy for name, proof in named.items()}
    length = max(map(len, curves.values()))
    table = np.stack([np.pad(curve, (0, length - len(curve))) for curve in curves.values()])
    best = table.argmax(axis=0)
    return Envelope(np.arange(length), table.max(axis=0), [list(curves)[k] for k in best])


def certified_scorer(radius: int = 0, *, tolerance: Any = None, relative: Any = None) -> Callable[[Any, Any, Any], float]:
    """A scorer for ``GridSearchCV(scoring=...)``: certified accuracy at a radius; a regressor needs a tolerance."""

    def score(estimator: Any, X: Any, y: Any) -> float:
        if tolerance is None and relative is None:
            proof = estimator.certify(X)
        else:
            proof = estimator.certify(X, around=y, tolerance=tolerance, relative=relative)
        return certified_accuracy(y, proof, radius)

    return score


def _safe_radius(y: Any, proof: Certificates) -> Array:
    if not len(proof):
        raise InputError("proof covers no rows: certify at least one")
    return np.where(proof.correct(y), proof.radius.astype(float), -np.inf)
