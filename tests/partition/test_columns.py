"""Columns by name, position or label."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError
from partita.partition._partition import Columns, check_listed

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
FRAME = pd.DataFrame(CANCER).drop(columns=[0, 3, 7])  # 27 columns, labelled 1, 2, 4, 5, 6, 8, ...
NB = GaussianNB()


def test_names_and_positions():
    columns = Columns(["a", "b", "c"])
    assert [columns.position(column, "units") for column in ("c", 1, np.int64(0))] == [2, 1, 0]
    for wrong in ("d", 3, -1, True, 1.0, None, [0]):
        with pytest.raises(InputError, match=r"units names the column .*, which the table"):
            columns.position(wrong, "units")
    assert Columns.of(columns) is columns
    assert Columns.of(["a"]).names == ["a"]


def test_where_labels_are_not_all_strings_a_whole_number_is_a_label():
    columns = Columns(["5", "3", "x"], labels=[5, 3, "x"])
    assert [columns.position(column, "units") for column in (5, 3, "x", "3")] == [0, 1, 2, 1]
    with pytest.raises(InputError, match="names the column 0"):
        columns.position(0, "units")


def test_a_list_is_needed():
    assert list(check_listed((1, 2), "trusted")) == [1, 2]
    for wrong in ("hue", 7, None):
        with pytest.raises(InputError, match=f"trusted is {wrong!r}: give a list"):
            check_listed(wrong, "trusted")


# ---- through fit ----


def test_a_whole_number_names_a_column_by_its_label():
    clf = FeaturePartitionClassifier(NB, n_submodels=5, trusted=[22], units={"pair": [28, 29]})
    clf.fit(FRAME, TUMOUR)
    assert clf.counts_.trusted == ("22",)
    assert clf.units_.trusted == (FRAME.columns.get_loc(22),)
    pair = clf.units_.columns[clf.units_.names.index("pair")]
    assert [FRAME.columns[position] for position in pair] == [28, 29]
    for wrong in ({"trusted": [3]}, {"units": {"a": [0]}}, {"partition": [[0, 1], [2]]}):
        with pytest.raises(InputError, match="which the table does not have"):
            FeaturePartitionClassifier(NB, **wrong).fit(FRAME, TUMOUR)


def test_labels_in_another_order_are_refused():
    clf = FeaturePartitionClassifier(NB, n_submodels=5).fit(FRAME, TUMOUR)
    with pytest.raises(InputError, match="other column labels than in fit, or in another order"):
        clf.predict(FRAME[FRAME.columns[::-1]])
    assert np.array_equal(clf.predict(FRAME.to_numpy()), clf.predict(FRAME))
