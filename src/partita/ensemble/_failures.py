"""A submodel that fails on its own columns still has a vote: a fixed one.

Otherwise whoever owns one column could stop the whole model. What all submodels share is another
matter: memory that one of them uses up is missing in others, which would then lose their votes to a
column that they do not own, and no proof allows for that. Such failures are raised, whatever
``on_failure`` says.
"""

import errno
from collections.abc import Callable
from typing import Any

import numpy as np

from .._support.types import Array
from ..errors import SubmodelError

Score = Callable[[Any, Any], Array]

# of files, disks, memory
SHORTAGES = (
    errno.EAGAIN,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
)
CURE = "free memory, files or threads, or lower n_jobs"
NO_THREAD = "can't start new thread"  # a RuntimeError
NO_MEMORY = ("std::bad_alloc", "[enforce fail at alloc_cpu.cpp")  # LightGBM, XGBoost; PyTorch


class FixedVote:
    """Stands in for a submodel that could not be fitted: the same ballot for every row."""

    __module__ = "partita.ensemble"  # stored models name public paths

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"FixedVote({self.cause!r})"


def fit_one(
    submodel: Any, X: Any, y: Array, fit_params: dict[str, Any], name: str, may_fail: bool
) -> Any:
    """The fitted submodel; where it fails, an error, or a FixedVote if it may."""
    if len(y) == 0:
        return FixedVote(f"{name} has no labelled training rows")
    try:
        return submodel.fit(X, y, **fit_params)
    except Exception as exc:
        cause = f"{name}, {type(submodel).__name__}, could not be fitted: {exc}"
        raise_shortage(exc, cause)
        if may_fail:
            return FixedVote(cause)
        raise SubmodelError(cause) from exc


def score_one(
    score: Score,
    submodel: Any,
    X: Any,
    row: Callable[[Any, int], Any],
    n_rows: int,
    fixed: Array,
    name: str,
    may_fail: bool,
) -> tuple[Array, str]:
    """What ``score(submodel, X)`` says, and why some rows have the fixed ballot instead ("": none
    has).

    A batch that fails is asked again row by row, so that one row cannot take the others along.
    """
    if isinstance(submodel, FixedVote):
        return np.repeat(fixed[None], n_rows, axis=0), ""
    try:
        return score(submodel, X), ""
    except Exception as exc:
        cause = f"{name}, {type(submodel).__name__}, could not predict: {exc}"
        raise_shortage(exc, cause)
        if not may_fail:
            raise SubmodelError(cause) from exc
    ballots = np.repeat(fixed[None], n_rows, axis=0)
    failed = 0
    for i in range(n_rows):
        try:
            ballots[i] = score(submodel, row(X, i))[0]
        except Exception as exc:
            raise_shortage(exc, f"{name}, {type(submodel).__name__}, could not predict: {exc}")
            failed += 1
    return ballots, f"{cause} ({failed} of {n_rows} rows)"


def raise_shortage(exc: Exception, cause: str) -> None:
    """Raise an error if a submodel failed for want of something that the whole process shares.

    ``cause`` names the submodel. A RecursionError is none: how deep a submodel's calls go is its
    own affair. Texts are looked for at the beginning of a message alone, where no cell of a table
    stands."""
    one: BaseException | None = exc
    seen: set[int] = set()
    while one is not None and id(one) not in seen:
        told = f"{cause.removesuffix(': ')} ({type(one).__name__}); this concerns the whole process, so no fixed vote is cast: {CURE}"
        if (
            isinstance(one, MemoryError)
            or str(one).startswith(NO_MEMORY)
            or _is_named(one, "OutOfMemoryError")
        ):
            raise MemoryError(told) from exc
        if isinstance(one, OSError) and one.errno in SHORTAGES:
            raise OSError(one.errno, told) from exc
        if isinstance(one, RuntimeError) and str(one).startswith(NO_THREAD):
            raise RuntimeError(told) from exc
        seen.add(id(one))
        one = one.__cause__ or one.__context__


def _is_named(exc: BaseException, name: str) -> bool:
    return any(cls.__name__ == name for cls in type(exc).__mro__)
