"""One submodel: fitted, and from its columns to ballots, the waist between models and proofs.

A submodel that fails on its own columns still has a vote, a fixed one: otherwise an attacker who
owns one column could stop the whole model. What all submodels share is another matter: memory that
one of them uses up is missing in others, which would then lose their votes to a column that they do
not own, and no proof allows for that. Such failures are raised, whatever ``on_failure`` says.

A non-finite score becomes a fixed finite one here, row by row and without looking at other rows, so
that nothing but a submodel's own columns moves its ballot (theory, section 1).
"""

import errno
import warnings
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from .._support import Array, Estimator, TableLike
from ..errors import InputError, SubmodelError, SubmodelWarning
from ..tables import one_row

SMALLEST = 1e-9  # probabilities below count as this
FLOOR = float(np.log(SMALLEST))  # the lowest log-probability, and what replaces a non-finite score
LOWEST = np.finfo(np.float32).min  # below every score: for a class that the submodel never saw

Score = Callable[[Estimator, TableLike], Array]

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
PLAIN = (str, bytes, int, float, bool, complex, type(None))
DEEPEST = 20  # how far estimators inside estimators are followed
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
    submodel: Estimator,
    X: TableLike,
    y: Array,
    fit_params: Mapping[str, Array],
    name: str,
    may_fail: bool,
) -> Estimator:
    """Fit a submodel; if it fails, raise, or return a FixedVote where it may fail."""
    if len(y) == 0:
        return FixedVote(f"{name}{UNLABELLED}")
    try:
        return submodel.fit(X, y, **fit_params)
    except Exception as exc:
        return failed_fit(exc, submodel, name, may_fail)


def failed_fit(exc: Exception, submodel: Estimator, name: str, may_fail: bool) -> FixedVote:
    """Return what stands in for a submodel whose fit raised this; raise where it may not fail."""
    cause = f"{name}, {type(submodel).__name__}, could not be fitted: {exc}"
    raise_shortage(exc, cause)
    if not may_fail:
        raise SubmodelError(cause) from exc
    return FixedVote(cause)


def score_one(
    score: Score, submodel: Estimator, X: TableLike, fixed: Array, name: str, may_fail: bool
) -> tuple[Array, str]:
    """Return ``score(submodel, X)``, and why some rows have the fixed ballot instead ("": none).

    A batch that fails is scored again row by row, so that one row cannot take others along.
    """
    n_rows = X.shape[0]
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
            ballots[i] = score(submodel, one_row(X, i))[0]
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

    ``cause`` names the submodel. A RecursionError is not a shortage: recursion depth depends on the
    submodel alone. Texts are searched at the start of a message only, where no cell of a table can
    stand.
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
            or any(cls.__name__ == "OutOfMemoryError" for cls in type(link).__mro__)
        ):
            raise MemoryError(message) from exc
        if isinstance(link, OSError) and link.errno in SHORTAGES:
            raise OSError(link.errno, message) from exc
        if isinstance(link, RuntimeError) and str(link).startswith(NO_THREAD):
            raise RuntimeError(message) from exc
        seen.add(id(link))
        link = link.__cause__ or link.__context__


# ---- scores ----


def has_scores(estimator: Estimator) -> bool:
    """Return whether a classifier gives scores, not only votes."""
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def class_scores(model: Estimator, X: TableLike, classes: Array) -> Array:
    """Return a classifier's scores as float32 (rows, classes).

    Log-probabilities where it has them, else decision values, else one-hot votes.
    """
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        scores = np.log(np.maximum(shares.reshape(len(shares), -1), SMALLEST))
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1 or scores.shape[1] == 1:
            scores = scores.reshape(-1, 1) * np.array([[-0.5, 0.5]])
    else:
        votes = np.asarray(model.predict(X))
        return np.asarray(votes[:, None] == classes, dtype=np.float32)
    own = np.asarray(getattr(model, "classes_", classes))
    if scores.shape[1] != len(own):
        raise InputError(
            f"estimator gives {scores.shape[1]} scores for {len(own)} classes: it must give one "
            "per class (for SVC, decision_function_shape='ovr')"
        )
    return scores_as_ballots(scores, own, classes)


def scores_as_ballots(scores: Array, own: Array, classes: Array) -> Array:
    """Arrange scores (..., own classes) as float32 ballots (..., all classes), all finite."""
    with np.errstate(over="ignore"):
        known = scores.astype(np.float32)
    known[~np.isfinite(known)] = FLOOR
    ballots = np.full((*known.shape[:-1], len(classes)), LOWEST, dtype=np.float32)
    ballots[..., np.searchsorted(classes, own)] = known
    return ballots


def values(model: Estimator, X: TableLike, stand_in: float) -> Array:
    """Return a regressor's predictions as float64 (rows,), ``stand_in`` where not finite."""
    predicted = np.asarray(model.predict(X), dtype=np.float64).reshape(-1)
    return np.where(np.isfinite(predicted), predicted, stand_in)


# ---- what kind of estimator submodels are ----


def parts_of(estimator: Estimator) -> Iterator[tuple[str, Estimator]]:
    """Yield an estimator and everything inside it, each with its place.

    Steps of pipelines, estimators in lists and mappings, splitters, and what these hold.
    """
    seen: set[int] = set()

    def inside(name: str, part: Estimator, depth: int) -> Iterator[tuple[str, Estimator]]:
        if (
            isinstance(part, (*PLAIN, type))
            or (callable(part) and not hasattr(part, "__dict__"))
            or id(part) in seen
        ):
            return
        seen.add(id(part))
        if isinstance(part, list | tuple | set):
            inner = {f"{name}[{k}]": one for k, one in enumerate(part)}
        elif isinstance(part, Mapping):
            inner = {f"{name}[{key!r}]": one for key, one in part.items()}
        elif hasattr(part, "get_params"):
            yield name, part
            own = "" if name == "estimator" else f"{name}."
            inner = {f"{own}{key}": one for key, one in part.get_params(deep=False).items()}
        elif hasattr(part, "split") and hasattr(part, "__dict__"):  # a splitter has no get_params
            yield name, part
            inner = {f"{name}.{key}": one for key, one in vars(part).items()}
        else:
            return
        if depth < DEEPEST:
            for place, one in inner.items():
                yield from inside(place, one, depth + 1)

    yield from inside("estimator", estimator, 0)


def wants_integers(estimator: Estimator) -> bool:
    """Return whether the estimator learns only labels 0, 1, 2, ..., as XGBoost does."""
    return any(
        type(part).__module__.partition(".")[0] == "xgboost" for _, part in parts_of(estimator)
    )


def were_trained_jointly(submodels: object) -> bool:
    """Return whether these fitted submodels came from such an estimator."""
    return hasattr(submodels, "scores")
