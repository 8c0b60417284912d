"""Who sees which label, when labels may be flipped.

A label must reach one submodel only, as a column does. So every training row belongs to one
submodel, by a hash of its position: not of its content, or one corrupted value could move it to
another. With "rows" a submodel trains on its own rows; with "labels" on all rows, of which only its
own have labels. Labels are the attacker's here, so no function may raise because of one (theory,
section 6).
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array
from ..errors import InputError
from ..rules import Median, Rule, Tournament

UNLABELLED = -1


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


def semi_supervised(estimator: Any) -> Any:
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
