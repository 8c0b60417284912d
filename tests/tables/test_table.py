"""The interface of a table: a user may fit from one of their own."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.tables import Table, open_table

ROWS = np.random.default_rng(0).normal(size=(50, 5))
LABELS = np.arange(50) % 2


class OwnTable(Table):
    """Columns computed when they are asked for."""

    n_rows, n_columns = ROWS.shape

    def __init__(self):
        self.taken = []

    def take(self, columns, rows=None):
        self.taken.append((tuple(columns), None if rows is None else rows.tolist()))
        return (ROWS if rows is None else ROWS[rows])[:, columns]

    def numeric(self):
        return [True] * self.n_columns


def test_batches_are_taken_one_after_the_other():
    table = OwnTable()
    batches = list(table.batches([3, 1], 20))
    assert [len(batch) for batch in batches] == [20, 20, 10]
    assert np.array_equal(np.vstack(batches), ROWS[:, [3, 1]])
    some = list(table.batches([0], 2, np.array([4, 7, 9])))
    assert np.array_equal(np.vstack(some), ROWS[[4, 7, 9]][:, [0]])
    assert table.taken[-1] == ((0,), [9])


def test_a_model_is_fitted_from_a_table_as_from_the_array_it_stands_for():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    expected = clf.fit(ROWS, LABELS).ballots(ROWS)
    for table in (OwnTable(), open_table(ROWS)):
        assert np.array_equal(clf.fit(table, LABELS).ballots(table), expected)
        assert clf.n_features_in_ == 5
        assert np.array_equal(clf.ballots(ROWS), expected)


def test_a_table_with_other_columns_than_in_training_is_refused():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(ROWS[:, :4], LABELS)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 4 features"):
        clf.predict(OwnTable())
