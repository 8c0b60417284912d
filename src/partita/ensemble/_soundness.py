"""What would void the proof: settings that show it before training, and canaries that notice it.

Before training an estimator is only inspected. The classes that are looked for are imported by the
functions that look: a model that only predicts does not need them.

Submodels are fitted in threads. What they share there (a library's generator, numpy's global one, a
cache) lets one column reach submodels that do not own it, which no proof allows for. So a few
submodels, the canaries, are fitted again and must score the same to the last bit: at the end,
beside others than the first time, so that what they got from their neighbours is something else.
This finds what no list of settings foresees.
"""

import numpy as np

from .._support import Array, Estimator, warn_or_raise
from ..errors import SoundnessError
from ._submodels import FixedVote, parts_of


def check_settings(estimator: Estimator, random_state: object, strict: bool) -> None:
    """Warn of, or refuse, settings under which a second fit gives other votes."""
    from sklearn.frozen import FrozenEstimator

    for name, part in parts_of(estimator):
        if isinstance(part, FrozenEstimator):
            raise SoundnessError(
                f"{name} is a FrozenEstimator, which was fitted elsewhere, on columns that are not "
                "its submodel's: give the estimator itself, so that every submodel fits its own"
            )
        if not hasattr(part, "get_params") and _draws_at_random(part):
            warn_or_raise(
                f"{name} is a {type(part).__name__} with random_state=None, which draws from "
                "numpy's global generator, so a submodel "
                "depends on more than its columns: give it a random_state",
                strict,
            )
    for name, value in sorted(estimator.get_params().items()):
        if name.split("__")[-1] == "warm_start" and value:
            warn_or_raise(
                f"{name}=True lets a submodel start from an earlier fit, so its votes depend on "
                "more than its columns: set it to False",
                strict,
            )
    if not hasattr(random_state, "__index__"):
        warn_or_raise(
            f"random_state={random_state!r} gives other submodels at every fit, so the proof holds "
            "only for the one drawn now: give a number",
            strict,
        )


def shares_a_generator(estimator: Estimator) -> bool:
    """Return whether a part draws from the process-wide generator of liblinear or libsvm."""
    return any(_is_of_liblinear(part) for _, part in parts_of(estimator))


def is_balanced(estimator: Estimator) -> bool:
    """Return whether the estimator weighs its classes by their shares, as a prior would."""
    weights = [getattr(part, "class_weight", None) for _, part in parts_of(estimator)]
    return any(isinstance(weight, str) and weight.startswith("balanced") for weight in weights)


def _is_of_liblinear(part: Estimator) -> bool:
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.svm import SVC, LinearSVC, LinearSVR, NuSVC

    if isinstance(part, LinearSVC | LinearSVR):
        return True
    if isinstance(part, LogisticRegression | LogisticRegressionCV):
        return bool(part.solver == "liblinear")
    return isinstance(part, SVC | NuSVC) and part.probability is True


def _draws_at_random(splitter: Estimator) -> bool:
    unseeded = "random_state" in vars(splitter) and splitter.random_state is None
    return unseeded and bool(getattr(splitter, "shuffle", True))


MOST_CANARIES = 3
MANY_ROWS = 100_000  # from here on one canary: fits take long, and what is shared reaches them all
SUBMODELS_PER_CANARY = 7
ROWS = 500  # training rows on which scores are compared

CANARY_CURE = (
    "seed everything random in the estimator; if that does not help, its submodels share "
    "something between threads, which n_jobs=1 prevents"
)


def canaries(n_submodels: int, n_rows: int) -> list[int]:
    """Choose the submodels to fit again: the middle one, and with more submodels the ends."""
    number = min(MOST_CANARIES, max(1, n_submodels // SUBMODELS_PER_CANARY))
    if n_rows >= MANY_ROWS:
        number = 1
    first, middle, last = 0, n_submodels // 2, n_submodels - 1
    return {1: [middle], 2: [first, last]}.get(number, [first, middle, last])


def sample_rows(n_rows: int) -> Array:
    """Choose training rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS)).astype(np.int64))


def check_same_fit(before: Estimator, after: Estimator, name: str) -> None:
    """Refuse a submodel that fails in one of two fits on the same columns."""
    if isinstance(before, FixedVote) != isinstance(after, FixedVote):
        raise SoundnessError(
            f"{name} fails at random when it is fitted again, so no radius would hold: find out "
            "why first"
        )


def check_same_scores(before: Array, after: Array, name: str) -> None:
    """Refuse a submodel whose scores differ when it is fitted again on the same columns."""
    if np.array_equal(before, after, equal_nan=True):
        return
    differ = 1.0
    if before.shape == after.shape:
        differ = float(np.mean((before != after).reshape(len(before), -1).any(axis=1)))
    raise SoundnessError(
        f"{name} gives other scores ({differ:.0%} of rows) when it is fitted again on the "
        f"same columns, so no radius would hold: {CANARY_CURE}"
    )


def generator_state() -> tuple[object, ...]:
    """Return the state of numpy's global generator.

    Python's own generator is not watched: clusters draw from it for their own purposes during a
    fit.
    """
    name, keys, *rest = np.random.get_state(legacy=True)
    return name, np.asarray(keys).tobytes(), *rest


def check_generator(before: tuple[object, ...], strict: bool) -> None:
    """Warn, or raise if ``strict``, if something was drawn from numpy's global generator since.

    What is drawn there depends on what was drawn before.
    """
    if generator_state() != before:
        warn_or_raise(
            "numpy's global generator was drawn from while the submodels were fitted, so their "
            "votes depend on more than their columns: give everything in the estimator a "
            "random_state",
            strict,
        )
