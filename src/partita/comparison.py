"""Several defences on the same rows, in one table: what each proves, how far, and what it costs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from .baselines import (
    ConstantClassifier,
    ConstantRegressor,
    RandomizedAblationClassifier,
    RandomizedAblationRegressor,
    RowPartitionClassifier,
    SmoothingClassifier,
)
from .baselines.published import Published
from .baselines.published import published as printed
from .errors import InputError, MissingExtraError
from .estimators import FeaturePartitionClassifier, FeaturePartitionRegressor
from .metrics import certified_accuracy, median_radius

EVASION, POISONING, BACKDOOR, PATCH, ROWS = "evasion", "poisoned columns", "backdoor", "patch", "poisoned rows"
COVERS: dict[type, tuple[str, ...]] = {
    FeaturePartitionClassifier: (EVASION, POISONING, BACKDOOR),
    FeaturePartitionRegressor: (EVASION, POISONING, BACKDOOR),
    RandomizedAblationClassifier: (EVASION,),
    RandomizedAblationRegressor: (EVASION,),
    SmoothingClassifier: (PATCH,),
    RowPartitionClassifier: (ROWS,),
    ConstantClassifier: (EVASION, POISONING, BACKDOOR, PATCH),
    ConstantRegressor: (EVASION, POISONING, BACKDOOR, PATCH),
}
BY_CHANCE = (RandomizedAblationClassifier, RandomizedAblationRegressor)  # their proofs hold with a probability


@dataclass(frozen=True)
class Comparison:
    """One line a method, as dictionaries: accuracy, median radius, certified accuracy at some radii, times, and what is covered."""

    rows: list[dict[str, Any]]

    def to_frame(self) -> Any:
        """A pandas frame with a line for each method."""
        try:
            import pandas
        except ImportError as exc:
            raise MissingExtraError("pandas", "to_frame()", "pandas") from exc
        return pandas.DataFrame(self.rows).set_index("method")

    def to_markdown(self) -> str:
        """The table as Markdown has it."""
        names = list(self.rows[0])
        lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        return "\n".join(lines + ["| " + " | ".join(_shown(row[name]) for name in names) + " |" for row in self.rows])

    def __str__(self) -> str:
        return self.to_markdown()


def compare(
    methods: Mapping[str, Any],
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    radii: Sequence[int] = (1, 2, 4),
    tolerance: Any = None,
    relative: Any = None,
    patch: tuple[int, int] | None = None,
    published: str | None = None,
) -> Comparison:
    """Fit every method on the same rows, certify the same rows, and tell what came out.

    A radius counts different things for different methods (columns, training rows, patches): the table says which, and what is covered.

    Parameters
    ----------
    methods : mapping from a name to an estimator with fit and certify
        Each is cloned. Estimators of your own are told apart by ``certify`` alone, and nothing is said about what they cover.
    radii : list of int
        Where certified accuracy is looked at, beside 0.
    tolerance, relative : for regressors, what counts as right
    patch : (height, width), for SmoothingClassifier
    published : "cifar10", default=None
        Add lines with the printed numbers of defences against ``patch`` that are not implemented here (Patch IBP, BagCert), marked as such.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, compare
    >>> from partita.baselines import ConstantClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> methods = {"partition": FeaturePartitionClassifier(GaussianNB(), n_submodels=9), "constant": ConstantClassifier()}
    >>> table = compare(methods, X[::2], y[::2], X[1::2], y[1::2], radii=[2])
    >>> [row["method"] for row in table.rows]
    ['partition', 'constant']
    """
    if not methods:
        raise InputError("methods is empty: give at least one, such as {'partition': FeaturePartitionClassifier()}")
    if published is not None and patch is None:
        raise InputError("patch is missing: published numbers are about patches; give (height, width)")
    others = [] if published is None or patch is None else printed(published, patch)
    data = (X_train, y_train, X_test, y_test)
    lines = [_line(name, method, data, radii, tolerance, relative, patch) for name, method in methods.items()]
    return Comparison(lines + [_published_line(other, list(lines[0]), patch) for other in others])


def _line(name: str, method: Any, data: tuple[Any, ...], radii: Sequence[int], tolerance: Any, relative: Any, patch: Any) -> dict[str, Any]:
    X_train, y_train, X_test, y_test = data
    model = clone(method)
    options: dict[str, Any] = {}
    if is_regressor(model):
        options = {"around": np.asarray(y_test, dtype=float), "tolerance": tolerance, "relative": relative}
    elif isinstance(model, SmoothingClassifier):
        if patch is None:
            raise InputError(f"patch is missing: {name!r} is proven against patches; give (height, width)")
        options = {"patch": patch}
    started = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    proof = model.certify(X_test, **options)
    certified = time.perf_counter()
    covers = next((covered for known, covered in COVERS.items() if isinstance(model, known)), None)
    return {
        "method": name,
        "accuracy": certified_accuracy(y_test, proof, 0),
        "median r": median_radius(y_test, proof),
        **{f"r = {radius}": certified_accuracy(y_test, proof, radius) for radius in radii},
        "r counts": proof.counts.what,
        "fit": fitted - started,
        "per row": (certified - fitted) / len(proof),
        "covers": "?" if covers is None else ", ".join(covers),
        "proof": "with probability" if isinstance(model, BY_CHANCE) else "deterministic",
    }


def _published_line(other: Published, names: Sequence[str], patch: Any) -> dict[str, Any]:
    """What is printed about a method; None where nothing is."""
    line: dict[str, Any] = dict.fromkeys(names)
    line |= {"method": f"{other.method} (published: {other.source})", "r counts": f"patches of {patch[0]} x {patch[1]} pixels"}
    if "r = 1" in line:
        line["r = 1"] = other.certified
    return line | {"covers": PATCH, "proof": "published, not run here"}


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if value < 0.1 or value != value else f"{value:.3f}".rstrip("0").rstrip(".")
