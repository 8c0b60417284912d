"""A submodel that fails on its own columns still has a vote: a fixed one. Otherwise whoever owns one column could stop the whole model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import SubmodelError

Array = NDArray[Any]
Score = Callable[[Any, Any], Array]


class FixedVote:
    """Stands in for a submodel that could not be fitted: the same ballot for every row."""

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"FixedVote({self.cause!r})"


def fit_one(submodel: Any, X: Any, y: Array, fit_params: dict[str, Any], name: str, may_fail: bool) -> Any:
    """The fitted submodel; where it fails, an error, or a FixedVote if it may."""
    if len(y) == 0:
        return FixedVote(f"{name} has no labelled training rows")
    try:
        return submodel.fit(X, y, **fit_params)
    except Exception as exc:
        cause = f"{name}, {type(submodel).__name__}, could not be fitted: {exc}"
        if may_fail:
            return FixedVote(cause)
        raise SubmodelError(cause) from exc


def score_one(
    score: Score, submodel: Any, X: Any, row: Callable[[Any, int], Any], n_rows: int, fixed: Array, name: str, may_fail: bool
) -> tuple[Array, str]:
    """What ``score(submodel, X)`` says, and why some rows have the fixed ballot instead ("": none has).

    A batch that fails is asked again row by row, so that one row cannot take the others along.
    """
    if isinstance(submodel, FixedVote):
        return np.repeat(fixed[None], n_rows, axis=0), ""
    try:
        return score(submodel, X), ""
    except Exception as exc:
        cause = f"{name}, {type(submodel).__name__}, could not predict: {exc}"
        if not may_fail:
            raise SubmodelError(cause) from exc
    ballots = np.repeat(fixed[None], n_rows, axis=0)
    failed = 0
    for i in range(n_rows):
        try:
            ballots[i] = score(submodel, row(X, i))[0]
        except Exception:
            failed += 1
    return ballots, f"{cause} ({failed} of {n_rows} rows)"
