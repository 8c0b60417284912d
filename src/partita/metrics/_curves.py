"""Curves over the radius: the one place that turns radii into shares.

The command line, the report and the sweep draw the same curves, so they all count here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._support import Array
from ..certificates import Certificates
from ..errors import InputError

# Curves end here. The radius of a row that nothing can change is the number of all units, which may
# include every training label.
FARTHEST = 10_000


def correct_radius(y: Any, proof: Certificates) -> Array:
    """Return each row's radius as a float, -inf where the row is wrong."""
    if not len(proof):
        raise InputError("proof covers no rows: certify at least one")
    return np.where(proof.correct(y), proof.radius.astype(float), -np.inf)


def shares_at_radii(radii: Any, counts: Any = None, length: int | None = None) -> Array:
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
    >>> from partita.metrics._curves import shares_at_radii
    >>> shares_at_radii([2, 0, -1, 2]).tolist()
    [0.75, 0.5, 0.5]
    >>> shares_at_radii([2, 0, -1], counts=[2, 1, 1], length=4).tolist()
    [0.75, 0.5, 0.5, 0.0]
    """
    total = len(radii) if counts is None else int(np.sum(counts))
    return np.asarray(rows_at_radii(radii, counts, length) / total)


def rows_at_radii(radii: Any, counts: Any = None, length: int | None = None) -> Array:
    """Count the rows with a radius of at least r, for r = 0, 1, ...; see shares_at_radii."""
    radius = np.asarray(radii, dtype=np.float64)
    if length is None:
        length = int(min(max(radius.max(initial=0), 0), FARTHEST)) + 1
    place = np.clip(radius, -1, length - 1).astype(np.int64) + 1  # 0: not certified at all
    rows = np.ones(len(radius), np.int64) if counts is None else np.asarray(counts, np.int64)
    at = np.zeros(length + 1, np.int64)
    np.add.at(at, place, rows)
    return np.asarray(at[::-1].cumsum()[::-1][1:])


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


def certified_accuracy_curve(y: Any, proof: Certificates) -> Curve:
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


def envelope(y: Any, proofs: Mapping[Any, Certificates] | Sequence[Certificates]) -> Envelope:
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


def best_at_radii(curves: Sequence[Any]) -> tuple[Array, Array]:
    """Return the highest value of several curves at each radius, and the first that reaches it.

    Curves may differ in length; beyond its end a curve is 0.
    """
    length = max(map(len, curves))
    table = np.stack([np.pad(curve, (0, length - len(curve))) for curve in curves])
    return table.max(axis=0), table.argmax(axis=0)
