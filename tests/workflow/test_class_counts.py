"""Counts by label and radius say what the metrics say, and pieces add up."""

from collections import Counter

import numpy as np
import pytest

from partita.certificates import Certificates, Counts
from partita.metrics import certified_class_curves
from partita.workflow._certified_table import (
    class_numbers,
    count_pairs,
    kept_predictions,
    minority_summary,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = np.array(["a", "b", "c"])[rng.choice(3, 400, p=[0.8, 0.15, 0.05])]
    prediction = np.where(rng.random(400) < 0.7, truth, "a")
    return truth, prediction, rng.integers(0, 4, 400)


def test_they_are_the_metrics_of_every_label(rows):
    truth, prediction, radius = rows
    proof = Certificates(prediction, radius, prediction, Counts("columns", 9))
    curves = certified_class_curves(truth, proof)
    numbers = class_numbers(count_pairs(*rows), 5)
    assert [one["label"] for one in numbers] == list(curves)
    for one, curve in zip(numbers, curves.values(), strict=True):
        assert (one["rows"], one["predicted"]) == (curve.rows, curve.predicted)
        assert one["share"] == pytest.approx(curve.recall.tolist())
        assert one["precision"] == pytest.approx(curve.precision.tolist())
        assert one["kept"] == curve.kept.tolist()


def test_pieces_add_up(rows):
    pieces = [
        count_pairs(*(column[part] for column in rows)) for part in np.split(np.arange(400), 4)
    ]
    total = pieces[0]
    for piece in pieces[1:]:
        total += piece
    assert total == count_pairs(*rows)
    assert kept_predictions(total)["a"][0] == (rows[1] == "a").sum()


def test_without_the_truth_predictions_are_counted(rows):
    _, prediction, radius = rows
    pairs = count_pairs(None, prediction, radius)
    assert class_numbers(pairs, 3) == []
    assert kept_predictions(pairs) == {
        label: [int(np.sum((prediction == label) & (radius >= r))) for r in range(4)]
        for label in ("a", "b", "c")
    }


def test_what_is_certified_beside_the_commonest_label():
    pairs = Counter({("no", "no", 3): 80, ("yes", "no", 2): 6})
    pairs |= Counter({("yes", "yes", 0): 3, ("yes", "yes", 1): 1})
    assert minority_summary(pairs, 3) == {
        "label": "no",
        "kept": [86, 86, 86],
        "rows": 10,
        "certified": [4, 1, 0],
    }
    unknown = Counter({(None, "no", 3): 86, (None, "yes", 0): 3, (None, "yes", 1): 1})
    assert minority_summary(unknown, 2) == {
        "label": "no",
        "kept": [86, 86],
        "rows": 4,
        "certified": [4, 1],
    }
    assert minority_summary(Counter({("no", "no", 3): 80}), 2) is None
    assert minority_summary(Counter(), 2) is None
