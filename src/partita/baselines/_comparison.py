"""Several defences on the same rows, in one table: what each proves, how far, and what it costs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from ..certificates import Certificates, Counts
from ..ensemble._classifier import FeaturePartitionClassifier
from ..ensemble._regressor import FeaturePartitionRegressor
from ..errors import InputError, MissingExtraError
from ..metrics import (
    asks_about_labels,
    certified_accuracy,
    certified_balanced_accuracy,
    find_certifier,
    median_radius,
)
from ..rules._bounds import bounds_around
from ._ablation import RandomizedAblationClassifier
from ._ablation_regression import RandomizedAblationRegressor
from ._constant import ConstantClassifier, ConstantRegressor
from ._published import Published
from ._published import published as printed
from ._rows import RowPartitionClassifier
from ._smoothing import SmoothingClassifier

EVASION, POISONING, BACKDOOR, PATCH, ROWS = (
    "evasion",
    "poisoned columns",
    "backdoor",
    "patch",
    "poisoned rows",
)
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
BY_CHANCE = (
    RandomizedAblationClassifier,
    RandomizedAblationRegressor,
)  # their proofs hold with a probability


@dataclass(frozen=True)
class Comparison:
    """One line a method, as dictionaries: accuracies, mean recalls, the median radius, times, and
    what is covered."""

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
        return "\n".join(
            lines
            + ["| " + " | ".join(_shown(row[name]) for name in names) + " |" for row in self.rows]
        )

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

    A radius counts different things for different methods (columns, training rows, patches): the
    table says which, and what is covered. For labels it has the mean recall too (the mean over
    labels of the share of their rows that are right), without an attack and at the largest of
    ``radii``: a constant has 1 / (number of labels) there, however often it is right.

    Parameters
    ----------
    methods : mapping from a name to an estimator
        Each is cloned. A plain scikit-learn estimator, which has no ``certify``, is a baseline:
        nothing is proven about it, so its certified accuracy is 0 from radius 1 on. A Pipeline, or
        a search, with a method at its end is certified too. Nothing is said about what estimators
        of your own cover, or Pipelines, whose other steps are not looked at.
    X_train, y_train : the rows to learn from
    X_test, y_test : the rows to certify
    radii : list of int, default=(1, 2, 4)
        Where certified accuracy is looked at, beside 0.
    tolerance, relative : float, optional
        For regressors, what counts as right.
    patch : (height, width), optional
        For SmoothingClassifier.
    published : "cifar10", optional
        Add lines with the printed numbers of defences against ``patch`` that are not implemented
        here (Patch IBP, BagCert), marked as such.

    Returns
    -------
    Comparison
        ``rows``, ``to_frame()`` and ``to_markdown()``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, compare
    >>> from partita.baselines import ConstantClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> partition = FeaturePartitionClassifier(GaussianNB(), n_submodels=9)
    >>> methods = {"partition": partition, "one model": GaussianNB(), "constant": ConstantClassifier()}
    >>> table = compare(methods, X[::2], y[::2], X[1::2], y[1::2], radii=[2])
    >>> [(row["method"], row["covers"]) for row in table.rows[1:]]
    [('one model', 'nothing'), ('constant', 'evasion, poisoned columns, backdoor, patch')]
    """
    if not methods:
        raise InputError(
            "methods is empty: give at least one, such as {'partition': "
            "FeaturePartitionClassifier()}"
        )
    if published is not None and patch is None:
        raise InputError(
            "patch is missing: published numbers are about patches; give (height, width)"
        )
    others = [] if published is None or patch is None else printed(published, patch)
    data = (X_train, y_train, X_test, y_test)
    lines = [
        _line(name, method, data, radii, tolerance, relative, patch)
        for name, method in methods.items()
    ]
    return Comparison(lines + [_published_line(other, list(lines[0]), patch) for other in others])


def _line(
    name: str,
    method: Any,
    data: tuple[Any, ...],
    radii: Sequence[int],
    tolerance: Any,
    relative: Any,
    patch: Any,
) -> dict[str, Any]:
    X_train, y_train, X_test, y_test = data
    model = clone(method)
    if isinstance(model, SmoothingClassifier) and patch is None:
        raise InputError(
            f"patch is missing: {name!r} is proven against patches; give (height, width)"
        )
    around = (
        {"around": np.asarray(y_test, dtype=float), "tolerance": tolerance, "relative": relative}
        if is_regressor(model)
        else {}
    )
    started = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    found = find_certifier(model, X_test)
    if found is None:
        proof, covers, kind = _unproven(model.predict(X_test), around), "nothing", "none"
    else:
        certifier, rows = found
        options = around | ({"patch": patch} if isinstance(certifier, SmoothingClassifier) else {})
        proof = certifier.certify(
            rows, **options | ({"labels": y_test} if asks_about_labels(certifier) else {})
        )
        known = [
            ", ".join(covered) for cls, covered in COVERS.items() if isinstance(certifier, cls)
        ]
        covers = known[0] if known and rows is X_test else "?"
        kind = "with probability" if isinstance(certifier, BY_CHANCE) else "deterministic"
    certified = time.perf_counter()
    at = max(radii, default=0)
    return {
        "method": name,
        "accuracy": certified_accuracy(y_test, proof, 0),
        **({} if around else {"mean recall": certified_balanced_accuracy(y_test, proof, 0)}),
        "median r": median_radius(y_test, proof),
        **{f"r = {radius}": certified_accuracy(y_test, proof, radius) for radius in radii},
        **(
            {}
            if around or not at
            else {f"mean recall at r = {at}": certified_balanced_accuracy(y_test, proof, at)}
        ),
        "r counts": proof.counts.what,
        "fit": fitted - started,
        "per row": (certified - fitted) / len(proof),
        "covers": covers,
        "proof": kind,
    }


def _unproven(prediction: Any, around: Mapping[str, Any]) -> Certificates:
    """What is known about predictions that nothing is proven about: whether they are right now."""
    said = np.asarray(prediction)
    nothing = Counts("nothing", 0)
    if not around:
        return Certificates(said, np.zeros(len(said), dtype=np.int64), None, nothing)
    low, high, truth = bounds_around(said, **around)
    return Certificates(
        said, np.where((said >= low) & (said <= high), 0, -1), None, nothing, truth, of_values=True
    )


def _published_line(other: Published, names: Sequence[str], patch: Any) -> dict[str, Any]:
    """What is printed about a method; None where nothing is."""
    line: dict[str, Any] = dict.fromkeys(names)
    line |= {
        "method": f"{other.method} (published: {other.source})",
        "r counts": f"patches of {patch[0]} x {patch[1]} pixels",
    }
    if "r = 1" in line:
        line["r = 1"] = other.certified
    return line | {"covers": PATCH, "proof": "published, not run here"}


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return (
        f"{value:.3g}" if value < 0.1 or value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    )
