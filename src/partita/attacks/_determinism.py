"""A check that fitting again, with another number of threads, gives the same model."""

from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import warn_or_raise
from ..ensemble import Ensemble
from ..errors import InputError, SoundnessError


def check_deterministic(ensemble: Any, X: Any, y: Any, strict: bool = False) -> list[str]:
    """Fit twice, with different numbers of threads, and compare every submodel's ballots.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier or FeaturePartitionRegressor
        It is cloned, and need not be fitted.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Training data; a sample of it is enough.
    y : array-like of shape (n_samples,)
        Its labels or values.
    strict : bool, default=False
        Raise SoundnessError for the first problem instead of a SoundnessWarning for each.

    Returns
    -------
    list of str
        One sentence for each submodel that differs; empty if all is well.

    See Also
    --------
    check_pipeline : Look for steps that mix columns.

    References
    ----------
    Theory, section 1: submodels must be deterministic.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.attacks import check_deterministic
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3)
    >>> check_deterministic(clf, *load_iris(return_X_y=True))
    []
    """
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    try:
        first, second = (clone(ensemble).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    except SoundnessError as exc:  # fit has seen it already, by fitting some submodels again
        problems = [str(exc)]
    else:
        one, two = first.ballots(X), second.ballots(X)
        differ = (one != two).reshape(*one.shape[:2], -1).any(axis=2)
        problems = [
            f"{first.describe(t)} gives other votes when it is fitted again on the same columns "
            f"({differ[:, t].mean():.0%} of rows): seed everything random in the estimator, or "
            "the radius means nothing"
            for t in np.flatnonzero(differ.any(axis=0))
        ]
    for problem in problems:
        warn_or_raise(problem, strict)
    return problems
