"""The rows of a run."""

import numpy as np
import pytest

from research.data import TRANSPOSED, load_run_data
from research.runs import Run, Setting

from .smoke import smoke_run


@pytest.mark.parametrize("partition", ["random", "informed", "exchanged"])
def test_no_row_is_in_two_parts(partition):
    run = smoke_run(Setting("ames_raw", "partition", 5, partition))
    rows = load_run_data(run, None)
    parts = [rows.X_train.index, rows.X_test.index] + (
        [rows.reference[0].index] if rows.reference else []
    )
    everything = np.concatenate(parts)
    assert len(np.unique(everything)) == len(everything)
    assert (rows.reference is not None) == (partition != "random")
    other = load_run_data(Run(run.setting, run.details, 1), None)
    assert set(other.X_test.index) != set(rows.X_test.index)


def test_images_of_mnist_are_transposed_where_the_authors_do():
    details = {"stand_in": "digits", "train_rows": 10, "test_rows": 5}
    plain = load_run_data(Run(Setting("mnist", count=20, partition="strided"), details, 0), None)
    turned = load_run_data(
        Run(Setting("mnist", count=TRANSPOSED[0], partition="strided"), details, 0), None
    )
    assert np.array_equal(
        turned.X_test.reshape(-1, 8, 8), plain.X_test.reshape(-1, 8, 8).transpose(0, 2, 1)
    )
    assert not np.array_equal(turned.X_test, plain.X_test)
    other = load_run_data(
        Run(Setting("cifar10", count=TRANSPOSED[0], partition="strided"), details, 0), None
    )
    assert np.array_equal(other.X_test, plain.X_test)
