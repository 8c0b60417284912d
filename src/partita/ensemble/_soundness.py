"""Settings that would void the proof, as far as they can be seen before training.

The estimator is only inspected here, never fitted. The classes that are looked for are imported by
the functions that look: a model that only predicts does not need them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from .._support import warn_or_raise
from ..errors import SoundnessError

PLAIN = (str, bytes, int, float, bool, complex, type(None))
DEEPEST = 20  # how far estimators inside estimators are followed


def check_settings(ensemble: Any, estimator: Any) -> None:
    """Warn of, or refuse, settings under which a second fit gives other votes."""
    from sklearn.frozen import FrozenEstimator

    for name, part in parts_of(estimator):
        if isinstance(part, FrozenEstimator):
            raise SoundnessError(
                f"{name} is a FrozenEstimator, which was fitted elsewhere, on columns that are "
                "not its submodel's: give the estimator "
                "itself, so that every submodel fits its own"
            )
        if not hasattr(part, "get_params") and _draws_at_random(part):
            warn_or_raise(
                f"{name} is a {type(part).__name__} with random_state=None, which draws from "
                "numpy's global generator, so a submodel "
                "depends on more than its columns: give it a random_state",
                ensemble.strict,
            )
    for name, value in sorted(estimator.get_params().items()):
        if name.split("__")[-1] == "warm_start" and value:
            warn_or_raise(
                f"{name}=True lets a submodel start from an earlier fit, so its votes depend on "
                "more than its columns: set it to False",
                ensemble.strict,
            )
    if not isinstance(ensemble.random_state, int) and not hasattr(
        ensemble.random_state, "__index__"
    ):
        warn_or_raise(
            f"random_state={ensemble.random_state!r} gives other submodels at every fit, so the "
            "proof holds only for the one drawn now: "
            "give a number",
            ensemble.strict,
        )


def parts_of(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield an estimator and everything inside it, each with its place.

    Steps of pipelines, estimators in lists and mappings, splitters, and what these hold.
    """
    seen: set[int] = set()

    def inside(name: str, part: Any, depth: int) -> Iterator[tuple[str, Any]]:
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


def shares_a_generator(estimator: Any) -> bool:
    """Whether a part draws from liblinear's or libsvm's generator, shared by the whole process."""
    return any(_is_of_liblinear(part) for _, part in parts_of(estimator))


def is_balanced(estimator: Any) -> bool:
    """Whether the estimator weighs its classes by their shares, as a prior would."""
    weights = [getattr(part, "class_weight", None) for _, part in parts_of(estimator)]
    return any(isinstance(weight, str) and weight.startswith("balanced") for weight in weights)


def wants_integers(estimator: Any) -> bool:
    """Whether the estimator learns only labels 0, 1, 2, ..., as XGBoost does."""
    return any(
        type(part).__module__.partition(".")[0] == "xgboost" for _, part in parts_of(estimator)
    )


def _is_of_liblinear(part: Any) -> bool:
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.svm import SVC, LinearSVC, LinearSVR, NuSVC

    if isinstance(part, LinearSVC | LinearSVR):
        return True
    if isinstance(part, LogisticRegression | LogisticRegressionCV):
        return bool(part.solver == "liblinear")
    return isinstance(part, SVC | NuSVC) and part.probability is True


def _draws_at_random(splitter: Any) -> bool:
    unseeded = "random_state" in vars(splitter) and splitter.random_state is None
    return unseeded and bool(getattr(splitter, "shuffle", True))
