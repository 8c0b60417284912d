"""Reference rates: how often each source contradicts the outcome on clean rows.

The rows must be ones that the model was not fitted on, or the rates are too low. A bound on a rate
must hold for thresholds that were learnt from the same rows too (:meth:`ReferenceRates.at_most`).
"""

import hashlib
import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Self

import numpy as np

from .._support import (
    Array,
    JsonObject,
    TableLike,
    check_whole,
    clopper_pearson,
    json_value,
    percent,
)
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..errors import InputError
from ._evidence import ALL_SOURCES, Evidence, evidence, source_names, source_units

QUIET_SHARE = 0.9  # of clean rows in which a distance is not above the threshold
AT_ONCE = 20_000  # rows
CHANCE = 1e-4  # with which independent clean rows are called dependent


@dataclass(frozen=True, eq=False)
class ReferenceRates:
    """How often each source contradicts the outcome on clean rows.

    Make one with :func:`learn_usual`. The last entry of every list is about all sources together:
    rows on which nothing is certified (labels), or on which one source could move the prediction
    unusually far (values).

    Attributes
    ----------
    sources : tuple of str
        A name for every source: a unit, the units of a submodel, or a group of units.
    units : tuple of tuples of str
        The units of every source.
    rows : int
        How many clean rows there were.
    every : int
        Only every n-th of them was used.
    counted : array of int
        Rows that say something about each source.
    contradictions : array of int
        How many of these contradict the outcome.
    thresholds : array of float
        A source contradicts the outcome if its score is above this: 0 for votes; for values the
        distance from the prediction that it had in 90 % of the clean rows.

    See Also
    --------
    learn_usual : Make one from clean rows.
    watch : Compare new rows with it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.watch import learn_usual
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    >>> usual = learn_usual(clf, X[1::2])
    >>> usual.rows, len(usual.sources), usual.sources[-1]
    (89, 6, 'all sources')
    """

    sources: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    rows: int
    every: int
    counted: Array
    contradictions: Array
    thresholds: Array

    @property
    def rates(self) -> Array:
        """Return how often each source contradicts, as a share of counted clean rows, or NaN."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.contradictions / self.counted)

    def at_most(self, level: float) -> Array:
        """Bound each source's probability of a contradiction, as far as clean rows tell.

        Parameters
        ----------
        level : float
            The probability with which a bound may be too low.

        Returns
        -------
        array of float
            Clopper and Pearson's upper bounds; 1 for a source about which no row says anything.
        """
        _, upper = clopper_pearson(self.contradictions, np.maximum(self.counted, 1), level)
        return np.where(self.counted > 0, upper, 1.0)

    def check_model(self, model: FittedEnsemble) -> None:
        """Refuse a model with other sources.

        Parameters
        ----------
        model : ensemble
            The model to watch.
        """
        if [list(own) for own in self.units[:-1]] != source_units(model):
            raise InputError(
                "usual was learnt for a model with other sources: learn it again with this model "
                "(learn_usual, or partita watch --usual)"
            )

    def to_dict(self) -> JsonObject:
        """Return plain data, as JSON holds it; an infinite threshold is null.

        Returns
        -------
        dict
            For :meth:`from_dict`.
        """
        return dict(json_value(vars(self)))

    @classmethod
    def from_dict(cls, found: JsonObject) -> Self:
        """Read what :meth:`to_dict` returned.

        Parameters
        ----------
        found : mapping
            Plain data.

        Returns
        -------
        ReferenceRates
            Equal to the one that was written.

        Raises
        ------
        InputError
            If it is something else.
        """
        try:
            usual = cls(
                tuple(str(name) for name in found["sources"]),
                tuple(tuple(str(unit) for unit in own) for own in found["units"]),
                int(found["rows"]),
                int(found["every"]),
                np.array(found["counted"], dtype=np.int64),
                np.array(found["contradictions"], dtype=np.int64),
                np.array([np.inf if t is None else float(t) for t in found["thresholds"]]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as exc:
            raise InputError(f"usual is damaged ({exc!r}): learn it again") from exc
        counted, contradictions, thresholds = usual.counted, usual.contradictions, usual.thresholds
        consistent = (
            usual.sources[-1:] == (ALL_SOURCES,)
            and {counted.shape, contradictions.shape, thresholds.shape} == {(len(usual.units),)}
            and len(usual.units) == len(usual.sources)
            and usual.every >= 1
            and bool(np.all((contradictions >= 0) & (contradictions <= counted)))
            and bool(np.all(counted <= usual.rows))
            and not np.isnan(thresholds).any()
        )
        if not consistent:
            raise InputError("usual is damaged: its numbers do not fit together, so learn it again")
        return usual

    def __str__(self) -> str:
        width = max(map(len, self.sources))
        lines = [
            f"  {name:<{width}}  {percent(rate) if n else '-':>7}  of {n:,}"
            for name, rate, n in zip(
                self.sources, self.rates.tolist(), self.counted.tolist(), strict=True
            )
        ]
        return "\n".join([f"ReferenceRates contradictions on {self.rows:,} clean rows", *lines])


def learn_usual(model: FittedEnsemble, X: TableLike, *, every: int = 1) -> ReferenceRates:
    """Learn how often each source contradicts the outcome while nothing is wrong.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor or leave-out ensemble
        Fitted.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Clean rows that the model was not fitted on. The more of them, the sooner a change is
        found: 100 find only sources that go wrong in most rows, 1,000 do well.
    every : int, default=1
        Use only every n-th row, where neighbouring rows depend on one another; no period of the
        rows, such as 24 for hours, since new rows may begin at another place in it.

    Returns
    -------
    ReferenceRates
        Rates for :func:`watch`.

    Raises
    ------
    InputError
        If there are no rows, or the model's rule is ``TopK``.

    Warns
    -----
    UserWarning
        If contradictions come in runs, so that clean rows depend on their neighbours.

    See Also
    --------
    watch : Test new rows against it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.watch import learn_usual
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=9).fit(X[:900], y[:900])
    >>> usual = learn_usual(clf, X[900:])
    >>> usual.rates.shape
    (10,)
    """
    return rates_of(model, [model.ballots(X)], every)


def rates_of(model: FittedEnsemble, pieces: Iterable[Ballots], every: int = 1) -> ReferenceRates:
    """Return what :func:`learn_usual` finds, from ballots of the clean rows in pieces."""
    check_whole("every", every, 1)
    n_rows, found = 0, []
    for ballots in pieces:
        own = ballots[-n_rows % every :: every]
        found += [evidence(model, own[k : k + AT_ONCE]) for k in range(0, len(own), AT_ONCE)]
        n_rows += len(ballots)
    if not found:
        raise InputError("the clean rows are none: give rows that the model was not fitted on")
    units = source_units(model)
    whole = Evidence(
        np.concatenate([one.score for one in found]),
        np.concatenate([one.counted for one in found]),
        found[0].measured,
    )
    names, rates = (*source_names(units), ALL_SOURCES), _rates(whole)
    chances = chances_of_runs(whole.contradicts(rates[2]), whole.counted)
    if min(chances) < CHANCE / len(names):
        warnings.warn(
            f"the clean rows depend on their neighbours: contradictions of "
            f"{names[int(np.argmin(chances))]} come in runs. Rows like these raise more false "
            "alarms than stated: use only every n-th row (every), or put the rows of a sorted "
            "table into random order",
            stacklevel=3,
        )
    return ReferenceRates(names, (*(tuple(own) for own in units), ()), n_rows, every, *rates)


def fingerprint(usual: ReferenceRates) -> str:
    """Return one hash for all reference rates."""
    return hashlib.sha256(json.dumps(usual.to_dict(), sort_keys=True).encode()).hexdigest()


def chances_of_runs(contradicts: Array, counted: Array) -> list[float]:
    """Return for each source how likely contradictions come in so few runs if rows are independent.

    All orders of m contradictions among n rows are then equally likely, and C(m - 1, r - 1)
    C(n - m + 1, r) of C(n, m) orders have r runs, which is a hypergeometric distribution.
    """
    from scipy.stats import hypergeom

    chances = []
    for own, is_counted in zip(contradicts.T, counted.T, strict=True):
        row = own[is_counted]
        runs = np.count_nonzero(row[1:] & ~row[:-1]) + row[:1].sum()
        m, n = np.count_nonzero(row), len(row)
        chances.append(float(hypergeom.cdf(runs, n, n - m + 1, m)) if m else 1.0)
    return chances


def _rates(found: Evidence) -> tuple[Array, Array, Array]:
    """Return counted rows, contradictions and the threshold of each source.

    A learnt threshold is the k-th smallest of n distances, with k fixed beforehand. Then the
    probability of a distance above it is, as a random variable, at most as large as the (n-k+1)-th
    smallest of n uniform numbers, and Clopper and Pearson's bound for n - k contradictions bounds
    just that. With ties fewer than n - k rows are above: the bound would not hold for their number.
    """
    counted = found.counted.sum(axis=0)
    thresholds = np.zeros(len(counted))
    contradictions = found.contradicts(thresholds).sum(axis=0)
    for source in np.flatnonzero(found.measured):
        n = int(counted[source])
        k = ceil(QUIET_SHARE * n)
        thresholds[source] = np.sort(found.score[found.counted[:, source], source])[k - 1]
        contradictions[source] = n - k
    return counted, contradictions, thresholds
