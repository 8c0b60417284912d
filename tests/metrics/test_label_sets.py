"""Coverage and size of label sets."""

import numpy as np
import pytest

from partita.errors import InputError
from partita.metrics import label_set_curve

SETS = [
    np.array([[True, False], [True, False], [False, True]]),
    np.array([[True, True], [True, False], [True, True]]),
]


def test_it_counts_rows_whose_truth_is_in_the_set_and_labels():
    curve = label_set_curve(["a", "b", "a"], SETS, classes=["a", "b"])
    assert curve.coverage.tolist() == [1 / 3, 2 / 3]
    assert curve.size.tolist() == [1, 5 / 3]


def test_a_label_that_no_model_knows_is_not_covered():
    assert label_set_curve([7, 0, 1], SETS).coverage.tolist() == [2 / 3, 2 / 3]


def test_sets_of_other_rows_or_classes_are_refused():
    for y, sets, classes in (
        ([0, 1], SETS, None),
        ([0, 1, 0], SETS, [0, 1, 2]),
        ([0, 1, 0], [], None),
        ([], [np.zeros((0, 2), bool)], None),
    ):
        with pytest.raises(InputError, match="sets"):
            label_set_curve(y, sets, classes)
