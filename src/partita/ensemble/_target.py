"""Targets: labels or values, as submodels learn them, and who sees which when they may be flipped.

Under label attacks a label is the attacker's, so no function here may raise because of one, and the
list of classes must be the user's constant. A label must reach one submodel only, as a column does.
So every training row belongs to one submodel, by a hash of its position: not of its content, or one
corrupted value could move it to another. With "rows" a submodel trains on its own rows; with
"labels" on all rows, of which only its own have labels (theory, section 6).
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from .._support import Array, Estimator, array_of
from ..errors import InputError
from ..rules import Median, Rule, Tournament

UNLABELLED = -1

Target: TypeAlias = Any  # as users have it: a list, an array, or a column of a frame


def assign_rows(n_rows: int, n_submodels: int, seed: int) -> Array:
    """Assign each training row to a submodel, from its position and the seed alone."""
    mixed = np.arange(n_rows, dtype=np.uint64) + np.uint64(seed % 2**32 << 32)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(n_submodels)).astype(np.int64)


def class_positions(y: Array, classes: Array) -> Array:
    """Return each label's position in the list, -1 for one outside of it; never raises."""
    places = {label: position for position, label in enumerate(classes.tolist())}
    positions = np.full(len(y), UNLABELLED, dtype=np.int64)
    for i, label in enumerate(np.asarray(y, dtype=object)):
        try:
            positions[i] = places.get(
                label.item() if isinstance(label, np.generic) else label, UNLABELLED
            )
        except TypeError:  # a label that cannot be hashed
            continue
    return positions


def numbers_or_missing(y: Array) -> Array:
    """Return targets as numbers, NaN for what is not a number; never raises."""
    numbers = np.full(len(y), np.nan)
    for i, value in enumerate(y):
        try:
            numbers[i] = float(value)
        except (TypeError, ValueError, OverflowError):
            continue
    return numbers


def semi_supervised(estimator: Estimator) -> Estimator:
    """Return an estimator that learns from rows labelled -1.

    scikit-learn's own semi-supervised estimators stay as they are; others are self-trained.
    """
    if type(estimator).__module__.startswith("sklearn.semi_supervised") or getattr(
        estimator, "learns_unlabelled", False
    ):
        return clone(estimator)
    from sklearn.semi_supervised import SelfTrainingClassifier  # takes long, and few need it

    return SelfTrainingClassifier(clone(estimator))


def check_constants(rule: Rule) -> None:
    """Refuse a rule that would learn a constant from all labels."""
    if isinstance(rule, Tournament) and rule.needs_shares and rule.shares is None:
        raise InputError(
            "shares is missing: under label_attacks the labels' shares for prior and offset must "
            "be constants that you give"
        )
    if isinstance(rule, Median) and rule.centre is None and rule.stretch != 1:
        raise InputError(
            "centre is missing: under label_attacks the centre of the stretch must be a constant "
            "that you give"
        )


def target_array(estimator: Estimator, y: Target) -> Array:
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
    except ValueError as exc:
        if getattr(labels, "dtype", np.dtype(object)).kind != "f":
            raise
        raise InputError(
            "Unknown label type: y holds fractions. For numbers use the regressor, and give "
            "tolerance or relative where something must count as right"
        ) from exc


def read_labels(ensemble: Estimator, y: Target) -> tuple[Array, Array]:
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


def numeric_target(estimator: Estimator, y: Target, classifier: str) -> Array:
    """Return the target as float64; ``classifier`` is what to use for labels instead."""
    target = target_array(estimator, y)
    try:
        return target.astype(np.float64)
    except (TypeError, ValueError) as exc:
        raise InputError(
            f"y holds values that are not numbers: for labels use a {classifier}"
        ) from exc


def _given_classes(given: object) -> Array:
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


def _check_exact(argument: str, given: object, labels: Array) -> None:
    """Refuse listed integers that became floats and are not what they were: two could be one."""
    if labels.dtype.kind != "f" or not isinstance(given, list | tuple):
        return
    for label, value in zip(given, labels.tolist(), strict=True):
        if isinstance(label, int) and label != value:
            raise InputError(
                f"{argument} holds the label {label!r}, which no float is equal to, beside labels "
                "that make floats of all: give all of them as texts"
            )
