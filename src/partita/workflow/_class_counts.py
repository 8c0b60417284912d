"""Rows counted by true label, predicted label and radius: all that is certified of each label.

Counts of pieces of a table add up. Where the truth is not known, the true label is None.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._support import Array, json_value
from ..metrics import precision_bound, rows_at_radii

Pairs = dict[tuple[Any, Any], "Counter[int]"]  # (true label or None, predicted label): radii


def count_pairs(truth: Array | None, prediction: Array, radius: Array) -> Pairs:
    """Count rows by their labels and radius."""
    predicted, of_predicted = np.unique(prediction, return_inverse=True)
    true, of_true = np.zeros(1), np.zeros(len(prediction), dtype=np.int64)
    if truth is not None:
        true, of_true = np.unique(truth, return_inverse=True)
    keys = np.stack([of_true.reshape(-1), of_predicted.reshape(-1), radius])
    found: Pairs = {}
    for (i, j, r), n in zip(*_distinct(keys), strict=True):
        pair = (None if truth is None else true.tolist()[i], predicted.tolist()[j])
        found.setdefault(pair, Counter())[r] += n
    return found


def _distinct(keys: Array) -> tuple[list[list[int]], list[int]]:
    distinct, counts = np.unique(keys, axis=1, return_counts=True)
    return distinct.T.tolist(), counts.tolist()


def add_pairs(one: Pairs, other: Pairs) -> Pairs:
    """Counts of two pieces of a table."""
    return {
        pair: one.get(pair, Counter()) + other.get(pair, Counter()) for pair in {**one, **other}
    }


def class_numbers(pairs: Pairs, length: int) -> list[dict[str, Any]]:
    """For every true label what is certified of it at r = 0, 1, ..., in the order of the labels.

    Returns
    -------
    list of dict
        ``label``; ``rows`` and ``predicted``: how many have it and are predicted as it; ``share``:
        its certified recall; ``precision``: the least an attacker leaves of its precision;
        ``kept``: how many of the rows predicted as it stay so.
    """
    labels = _sorted(true for true, _ in pairs if true is not None)
    return [_numbers_of(label, pairs, length) for label in labels]


def _numbers_of(label: Any, pairs: Pairs, length: int) -> dict[str, Any]:
    rows = sum(radii.total() for (true, _), radii in pairs.items() if true == label)
    certain = _at_radii(pairs.get((label, label), Counter()), length)
    false_now, others = 0, Counter[int]()
    for (true, predicted), radii in pairs.items():
        if true != label and predicted == label:
            false_now += radii.total()
        elif true != label:
            others += radii
    falling = others.total() - _at_radii(others, length)
    kept = kept_predictions(pairs, length)
    return {
        "label": json_value(label),
        "rows": rows,
        "predicted": sum(
            radii.total() for (_, predicted), radii in pairs.items() if predicted == label
        ),
        "share": (certain / rows).tolist(),
        "precision": precision_bound(certain, false_now, falling).tolist(),
        "kept": kept.get(label, [0] * length),
    }


def kept_predictions(pairs: Pairs, length: int | None = None) -> dict[Any, list[int]]:
    """For every predicted label how many of its rows stay so at r = 0, 1, ..."""
    by_label: dict[Any, Counter[int]] = {}
    for (_, predicted), radii in pairs.items():
        by_label[predicted] = by_label.get(predicted, Counter()) + radii
    if length is None:
        length = max((max(radii) for radii in by_label.values()), default=0) + 1
    return {label: _at_radii(by_label[label], length).tolist() for label in _sorted(by_label)}


def minority_summary(pairs: Pairs, length: int) -> dict[str, Any] | None:
    """What is certified at r = 0, 1, ... of labels other than the one predicted most often.

    ``label``: that one, and ``kept`` how many of its predictions stay. ``rows``: rows of other
    labels, by the truth where it is known, otherwise by prediction; ``certified``: how many of them
    stay what they are, and right. None where there are no such rows.
    """
    kept = kept_predictions(pairs, length)
    if not kept:
        return None
    label = max(kept, key=lambda one: kept[one][0])
    rows, certified = 0, np.zeros(length, dtype=np.int64)
    for (true, predicted), radii in pairs.items():
        own = predicted if true is None else true
        rows += radii.total() if own != label else 0
        if own != label and predicted == own:
            certified += _at_radii(radii, length)
    if not rows:
        return None
    return {"label": label, "kept": kept[label], "rows": rows, "certified": certified.tolist()}


def _at_radii(radii: "Counter[int]", length: int) -> Array:
    return rows_at_radii(list(radii), list(radii.values()), length)


def _sorted(labels: Iterable[Any]) -> list[Any]:
    return sorted(set(labels), key=lambda label: (isinstance(label, str), label))
