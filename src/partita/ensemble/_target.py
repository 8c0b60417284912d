"""Reading a target: labels or values, as submodels learn them.

Under label attacks a label is the attacker's, so nothing here may raise because of one label, and
the list of classes must be the user's constant.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from .._support import Array, array_of
from ..errors import InputError
from ._label_attacks import class_positions, numbers_or_missing


def target_array(estimator: Any, y: Any) -> Array:
    """Return the target as a one-dimensional array without missing values."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if (
        getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b")
        and hasattr(y, "isna")
        and not y.isna().any()
    ):
        y = y.to_numpy()  # scikit-learn would make floats of pandas' nullable integers and booleans
    target = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(target, input_name="y")
    return target


def classes_of(labels: Array) -> Array:
    """Return the sorted classes of an array of labels."""
    try:
        check_classification_targets(labels)
        return np.unique(labels)
    except TypeError as exc:
        raise InputError(
            "y mixes labels that cannot be sorted, such as texts and numbers: make them all one "
            "type"
        ) from exc


def read_labels(ensemble: Any, y: Any) -> tuple[Array, Array]:
    """Return the labels as submodels learn them, and all classes, sorted.

    Under label attacks the labels come as positions in the classes, -1 for one that is not there.
    """
    if ensemble.label_attacks:
        if ensemble.classes is None:
            raise InputError(
                "classes is missing: under label_attacks the list of labels must be a "
                "constant that you give"
            )
        classes = _given_classes(ensemble.classes)
        return class_positions(column_or_1d(np.asarray(y, dtype=object)), classes), classes
    labels = target_array(ensemble, y)
    _check_exact("y", y, labels)
    found = classes_of(labels)
    if ensemble.classes is None:
        return labels, found
    classes = _given_classes(ensemble.classes)
    unknown = found[~np.isin(found, classes)]
    if len(unknown):
        raise InputError(
            f"y holds the label {unknown.tolist()[0]!r}, which is not in classes: add it "
            "or leave classes out"
        )
    return labels, classes


def read_values(ensemble: Any, y: Any) -> Array:
    """Return the target as float64; under label attacks NaN for what is not a number."""
    if ensemble.label_attacks:
        return numbers_or_missing(column_or_1d(np.asarray(y, dtype=object)))
    return numeric_target(ensemble, y, "FeaturePartitionClassifier")


def numeric_target(estimator: Any, y: Any, classifier: str) -> Array:
    """Return the target as float64; ``classifier`` is what to use for labels instead."""
    target = target_array(estimator, y)
    try:
        return target.astype(np.float64)
    except (TypeError, ValueError) as exc:
        raise InputError(
            f"y holds values that are not numbers: for labels use a {classifier}"
        ) from exc


def _given_classes(given: Any) -> Array:
    """Return the user's list of classes as a sorted array."""
    classes = array_of("classes", list(given) if isinstance(given, Iterable) else given)
    _check_exact("classes", given, classes)
    if classes.ndim != 1 or not len(classes):
        raise InputError(f"classes is {given!r}: give the list of all labels")
    try:
        return np.unique(classes)
    except TypeError as exc:
        raise InputError(
            f"classes is {given!r}, which cannot be put in order: give labels of one type"
        ) from exc


def _check_exact(argument: str, given: Any, labels: Array) -> None:
    """Refuse listed integers that became floats and are not what they were: two could be one."""
    if labels.dtype.kind != "f" or not isinstance(given, list | tuple):
        return
    for label, value in zip(given, labels.tolist(), strict=True):
        if isinstance(label, int) and label != value:
            raise InputError(
                f"{argument} holds the label {label!r}, which no float is equal to, beside labels "
                "that make floats of all: give all of them as texts"
            )
