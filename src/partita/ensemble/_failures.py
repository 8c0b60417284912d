"""A submodel that fails on its own columns still has a vote: a fixed one.

Otherwise an attacker who owns one column could stop the whole model. What all submodels share is
another matter: memory that one of them uses up is missing in others, which would then lose their
votes to a column that they do not own, and no proof allows for that. Such failures are raised,
whatever ``on_failure`` says.
"""

import errno
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._support import Array
from ..errors import SubmodelError, SubmodelWarning

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
UNLABELLED = " has no labelled training rows: a label must be in classes, a value a number"
NO_MEMORY = ("std::bad_alloc", "[enforce fail at alloc_cpu.cpp")  # LightGBM, XGBoost; PyTorch


class FixedVote:
    """What stands in for a submodel that could not be fitted: the same ballot for every row.

    Parameters
    ----------
    cause : str
        Which submodel failed, and why.

    See Also
    --------
    FeaturePartitionClassifier : With ``on_failure="vote"``, its ``estimators_`` may hold these.

    References
    ----------
    Theory, section 1, condition 6.

    Examples
    --------
    >>> from partita.ensemble import FixedVote
    >>> FixedVote("submodel 3 could not be fitted: no finite value")
    FixedVote('submodel 3 could not be fitted: no finite value')
    """

    __module__ = "partita.ensemble"  # stored models name public paths

    def __init__(self, cause: str) -> None:
        self.cause = cause

    def __repr__(self) -> str:
        return f"FixedVote({self.cause!r})"


def fit_one(
    submodel: Any, X: Any, y: Array, fit_params: dict[str, Any], name: str, may_fail: bool
) -> Any:
    """Fit a submodel; if it fails, raise, or return a FixedVote where it may fail."""
    if len(y) == 0:
        return FixedVote(f"{name}{UNLABELLED}")
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
    """Return ``score(submodel, X)``, and why some rows have the fixed ballot instead ("": none).

    A batch that fails is scored again row by row, so that one row cannot take others along.
    """
    if isinstance(submodel, FixedVote):
        return np.repeat(fixed[None], n_rows, axis=0), ""
    try:
        return score(submodel, X), ""
    except Exception as exc:
        cause = f"{name}, {type(submodel).__name__}, could not predict: {exc}"
        raise_shortage(exc, cause)
        if not may_fail:
            raise SubmodelError(
                f"{cause}; mend the row, or fit with on_failure='vote', so that such a submodel "
                "casts a fixed vote"
            ) from exc
    ballots = np.repeat(fixed[None], n_rows, axis=0)
    failed = 0
    for i in range(n_rows):
        try:
            ballots[i] = score(submodel, row(X, i))[0]
        except Exception as exc:
            raise_shortage(exc, f"{name}, {type(submodel).__name__}, could not predict: {exc}")
            failed += 1
    return ballots, f"{cause} ({failed} of {n_rows} rows)"


def failure_banner(failed: int, submodels: int) -> list[str]:
    """Return what every output says of submodels that failed: a sentence, or nothing."""
    if not failed:
        return []
    return [
        f"{failed:,} of {submodels:,} submodels failed to fit; each casts a fixed vote, whatever "
        "its columns say"
    ]


def warn_of_failures(causes: list[str], submodels: int) -> list[str]:
    """Warn of submodels that failed to fit, and return the banner.

    Their number is no error: of any limit, honest failures could reach it and one attacked column
    exceed it.
    """
    banner = failure_banner(len(causes), submodels)
    for text in banner:
        warnings.warn(f"{text}. The first: {causes[0]}", SubmodelWarning, stacklevel=4)
    return banner


def raise_shortage(exc: Exception, cause: str) -> None:
    """Raise an error if a submodel failed for want of something that the whole process shares.

    ``cause`` names the submodel. A RecursionError is not a shortage: how deep a submodel's calls go
    is its own affair. Texts are searched at the start of a message only, where no cell of a table
    can stand.
    """
    link: BaseException | None = exc
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        message = (
            f"{cause.removesuffix(': ')} ({type(link).__name__}); this concerns the whole "
            f"process, so no fixed vote is cast: {CURE}"
        )
        if (
            isinstance(link, MemoryError)
            or str(link).startswith(NO_MEMORY)
            or _has_class_named(link, "OutOfMemoryError")
        ):
            raise MemoryError(message) from exc
        if isinstance(link, OSError) and link.errno in SHORTAGES:
            raise OSError(link.errno, message) from exc
        if isinstance(link, RuntimeError) and str(link).startswith(NO_THREAD):
            raise RuntimeError(message) from exc
        seen.add(id(link))
        link = link.__cause__ or link.__context__


def _has_class_named(exc: BaseException, name: str) -> bool:
    return any(cls.__name__ == name for cls in type(exc).__mro__)
