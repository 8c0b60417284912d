"""A trusted sample is split so that every label can be learnt and judged."""

import numpy as np
import pytest

from partita import InputError
from partita.selection._reference_splits import LEAST_ROWS, mean, mostly, reference_splits
from partita.workflow import TASKS

LABELS, NUMBERS = TASKS["classification"], TASKS["regression"]


def test_both_parts_of_every_split_hold_every_label():
    rng = np.random.default_rng(0)
    for seed in range(1000):
        sizes = rng.geometric(0.15, size=rng.integers(2, 7)) + 2
        sizes[0] += LEAST_ROWS
        y = rng.permutation(np.repeat([f"label {k}" for k in range(len(sizes))], sizes))
        splits = reference_splits(y, LABELS, seed)
        for learn, held in splits:
            assert np.array_equal(np.sort([*learn, *held]), np.arange(len(y)))
            assert set(y[learn]) == set(y[held]) == set(y)
        assert len({tuple(held) for _, held in splits}) == len(splits)
        again = reference_splits(y, LABELS, seed)
        assert all(np.array_equal(a, b) for a, b in zip(splits[-1], again[-1], strict=True))


def test_numbers_are_split_too():
    for learn, held in reference_splits(np.linspace(0, 1, 60), NUMBERS, 0):
        assert (len(learn), len(held)) == (40, 20)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (np.arange(29.0), NUMBERS, "reference has 29 rows, too few .*: give at least 30"),
        (np.arange(29) % 2, LABELS, "reference has 29 rows"),
        (np.zeros(40, dtype=int), LABELS, "reference holds no label but 0"),
        (
            np.array(["a"] * 40 + ["b"] * 2),
            LABELS,
            "reference has 2 rows of the label 'b', too few .*: give at least 3 rows of every",
        ),
        (np.array(["a"] * 40 + ["b"]), LABELS, "reference has one row of the label 'b'"),
    ],
)
def test_a_sample_that_is_too_small_is_refused(y, task, message):
    with pytest.raises(InputError, match=message) as caught:
        reference_splits(y, task, 0)
    assert "\n" not in str(caught.value)


def test_means_over_splits():
    assert mean([0.5, 1.0]) == 0.75
    assert mean([0.5, None]) is None
    assert [mostly(flags) for flags in ([True, False], [False, False, True])] == [True, False]
