"""Several defences on the same rows in one table: what each certifies, and at what cost.

Every number is measured through the method's own fit and certify; no code here depends on how a
method works, only what its certificates cover. Published numbers are those of table 4 of the
feature partition aggregation paper.
"""

import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor

from .._support import Estimator, JsonObject, TableLike, require
from ..certificates import Certificates, Counts
from ..ensemble import Ensemble
from ..errors import InputError
from ..metrics import (
    certified_accuracy,
    certified_balanced_accuracy,
    certify_against,
    find_certifier,
    median_radius,
)
from ..rules import bounds_around
from ._ablation import RandomizedAblationClassifier, RandomizedAblationRegressor
from ._constant import ConstantClassifier, ConstantRegressor
from ._row_partition import RowPartitionClassifier
from ._smoothing import SmoothingClassifier

# what the numbers are about: a square of 5 x 5, and rectangles of 24 pixels of every shape
SQUARE, RECTANGLE_PIXELS = (5, 5), 24


@dataclass(frozen=True)
class Published:
    """A defence's certified accuracy as printed."""

    method: str
    source: str
    certified: float  # a share, not a percentage


def published_numbers(data: str, patch: tuple[int, int]) -> list[Published]:
    """The published shares of images that survive a patch of (height, width).

    For a patch of 24 pixels they are about the worst shape of such a rectangle.
    """
    text = files("partita.baselines").joinpath("published.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    known = sorted({row["data"] for row in rows})
    if data not in known:
        raise InputError(
            f"published is {data!r}: there are numbers for {', '.join(map(repr, known))} only"
        )
    if tuple(patch) == SQUARE:
        column = "square_5x5"
    elif patch[0] * patch[1] == RECTANGLE_PIXELS:
        column = "rectangle_24_worst"
    else:
        raise InputError(
            f"patch is {patch!r}: published numbers are for (5, 5) and for rectangles of 24 "
            "pixels only"
        )
    return [
        Published(row["method"], row["source"], float(row[column]) / 100)
        for row in rows
        if row[column]
    ]


EVASION, POISONING, BACKDOOR = "evasion", "poisoned columns", "backdoor"
PATCH, ROWS = "patch", "poisoned rows"
COVERS: dict[type, tuple[str, ...]] = {
    Ensemble: (EVASION, POISONING, BACKDOOR),
    RandomizedAblationClassifier: (EVASION,),
    RandomizedAblationRegressor: (EVASION,),
    SmoothingClassifier: (PATCH,),
    RowPartitionClassifier: (ROWS,),
    ConstantClassifier: (EVASION, POISONING, BACKDOOR, PATCH),
    ConstantRegressor: (EVASION, POISONING, BACKDOOR, PATCH),
}
PROBABILISTIC = (RandomizedAblationClassifier, RandomizedAblationRegressor)


@dataclass(frozen=True)
class Comparison:
    """One line per method: accuracy, mean recall, certified accuracy, times, and what is covered.

    Attributes
    ----------
    rows : list of dict
        One per method, with the same keys in the same order.
    """

    rows: list[JsonObject]

    def to_frame(self) -> Any:
        """Convert to a pandas frame.

        Returns
        -------
        DataFrame
            One line per method, indexed by the method's name.
        """
        pandas = require("pandas", "to_frame()")
        return pandas.DataFrame(self.rows).set_index("method")

    def to_markdown(self) -> str:
        """Convert to a Markdown table.

        Returns
        -------
        str
            The table.
        """
        names = list(self.rows[0])
        lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        for row in self.rows:
            lines.append("| " + " | ".join(_cell_text(row[name]) for name in names) + " |")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_markdown()


def compare(
    methods: Mapping[str, Estimator],
    X_train: TableLike,
    y_train: ArrayLike,
    X_test: TableLike,
    y_test: ArrayLike,
    *,
    radii: Sequence[int] = (1, 2, 4),
    tolerance: ArrayLike | None = None,
    relative: ArrayLike | None = None,
    patch: tuple[int, int] | None = None,
    published: str | None = None,
) -> Comparison:
    """Fit several methods on the same rows, certify the same rows, and tabulate the results.

    A radius counts different things for different methods (columns, training rows, patches): the
    table says which, and what is covered. For labels it has the mean recall too (the mean over
    labels of the share of their rows that are right), without an attack and at the largest of
    ``radii``: a constant has 1 / (number of labels) there, however often it is right.

    Parameters
    ----------
    methods : mapping from str to estimator
        Each is cloned. A plain scikit-learn estimator, which has no ``certify``, is a baseline:
        nothing is proven about it, so its certified accuracy is 0 from radius 1 on. A Pipeline, or
        a search, with a method at its end is certified too. What estimators of your own cover is
        unknown, and so is what Pipelines cover, whose other steps are not examined.
    X_train : array-like or DataFrame of shape (n_train, n_features)
        The rows to learn from.
    y_train : array-like of shape (n_train,)
        Their labels or values.
    X_test : array-like or DataFrame of shape (n_test, n_features)
        The rows to certify.
    y_test : array-like of shape (n_test,)
        Their labels or values.
    radii : sequence of int, default=(1, 2, 4)
        Where certified accuracy is shown, besides 0.
    tolerance : float or array-like of shape (n_test,), optional
        For regressors: a value within this distance of the truth counts as right.
    relative : float or array-like of shape (n_test,), optional
        For regressors: the distance as a share of the truth's absolute value.
    patch : tuple of (height, width), optional
        For SmoothingClassifier.
    published : {"cifar10"}, optional
        Add lines with the published numbers of defences against ``patch`` that are not implemented
        here (Patch IBP, BagCert), marked as such.

    Returns
    -------
    Comparison
        With ``rows``, ``to_frame()`` and ``to_markdown()``.

    Raises
    ------
    InputError
        If there are no methods, or ``patch``, ``tolerance`` or ``relative`` is needed and missing.

    See Also
    --------
    partita.metrics.certified_accuracy : What is shown at each radius.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, compare
    >>> from partita.baselines import ConstantClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> methods = {
    ...     "partition": FeaturePartitionClassifier(GaussianNB(), n_submodels=9),
    ...     "one model": GaussianNB(),
    ...     "constant": ConstantClassifier(),
    ... }
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
    numbers = [] if published is None or patch is None else published_numbers(published, patch)
    data = (X_train, y_train, X_test, y_test)
    lines = [
        _measured_line(name, method, data, radii, tolerance, relative, patch)
        for name, method in methods.items()
    ]
    columns = list(lines[0])
    return Comparison(lines + [_published_line(one, columns, patch) for one in numbers])


def _measured_line(
    name: str,
    method: Estimator,
    data: tuple[TableLike, ...],
    radii: Sequence[int],
    tolerance: ArrayLike | None,
    relative: ArrayLike | None,
    patch: tuple[int, int] | None,
) -> JsonObject:
    """Fit and certify one method."""
    X_train, y_train, X_test, y_test = data
    model = clone(method)
    if isinstance(model, SmoothingClassifier) and patch is None:
        raise InputError(
            f"patch is missing: {name!r} is certified against patches; give (height, width)"
        )
    widths = {"tolerance": tolerance, "relative": relative} if is_regressor(model) else {}
    started = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    certifier_and_rows = find_certifier(model, X_test)
    if certifier_and_rows is None:
        proof, covers, kind = _unproven(model.predict(X_test), y_test, widths), "nothing", "none"
    else:
        certifier, rows = certifier_and_rows
        options = {"patch": patch} if isinstance(certifier, SmoothingClassifier) else {}
        truth = np.asarray(y_test, dtype=float) if widths else y_test
        proof = certify_against(certifier, rows, truth, **widths, **options)
        covers = _covers(certifier) if rows is X_test else "?"
        kind = "with probability" if isinstance(certifier, PROBABILISTIC) else "deterministic"
    certified = time.perf_counter()
    recall, recall_at = {}, {}
    if not widths:
        recall["mean recall"] = certified_balanced_accuracy(y_test, proof, 0)
        if largest := max(radii, default=0):
            score = certified_balanced_accuracy(y_test, proof, largest)
            recall_at[f"mean recall at r = {largest}"] = score
    return {
        "method": name,
        "accuracy": certified_accuracy(y_test, proof, 0),
        **recall,
        "median r": median_radius(y_test, proof),
        **{f"r = {radius}": certified_accuracy(y_test, proof, radius) for radius in radii},
        **recall_at,
        "r counts": proof.counts.what,
        "fit": fitted - started,
        "per row": (certified - fitted) / len(proof),
        "covers": covers,
        "proof": kind,
    }


def _covers(certifier: Estimator) -> str:
    """What a method's certificates cover; "?" where that is not known."""
    if hasattr(certifier, "covers"):  # a class that is imported late
        return ", ".join(certifier.covers)
    if getattr(certifier, "trusts_training", False):
        return EVASION
    known = [", ".join(attacks) for cls, attacks in COVERS.items() if isinstance(certifier, cls)]
    return known[0] if known else "?"


def _unproven(
    prediction: ArrayLike, truth: ArrayLike, widths: Mapping[str, ArrayLike | None]
) -> Certificates:
    """Certificates of predictions about which nothing is proven: they may be right now."""
    values, nothing = np.asarray(prediction), Counts("nothing", 0)
    if not widths:
        return Certificates(values, np.zeros(len(values), dtype=np.int64), None, nothing)
    low, high, middle = bounds_around(values, around=np.asarray(truth, dtype=float), **widths)
    radius = np.where((values >= low) & (values <= high), 0, -1)
    return Certificates(values, radius, None, nothing, middle, of_values=True)


def _published_line(number: Published, columns: Sequence[str], patch: Any) -> JsonObject:
    """What is published about a method; None where nothing is."""
    line: JsonObject = dict.fromkeys(columns)
    line |= {
        "method": f"{number.method} (published: {number.source})",
        "r counts": f"patches of {patch[0]} x {patch[1]} pixels",
    }
    if "r = 1" in line:
        line["r = 1"] = number.certified
    return line | {"covers": PATCH, "proof": "published, not run here"}


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return (
        f"{value:.3g}" if value < 0.1 or value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    )
