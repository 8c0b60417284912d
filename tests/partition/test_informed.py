"""Informed partitions: information dealt out evenly, from trusted rows alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    Informed,
    InputError,
    Partition,
    SoundnessError,
    SoundnessWarning,
)

X, Y = load_wine(return_X_y=True, as_frame=True)
X = X.iloc[:, :7]
REFERENCE, REST = np.arange(0, 178, 3), np.arange(1, 178, 3)
NB = GaussianNB()


def informed(**settings):
    return Informed(X.iloc[REFERENCE], Y[REFERENCE], **settings)


def test_units_are_dealt_out_back_and_forth_by_their_information():
    reference = informed()
    clf = FeaturePartitionClassifier(NB, partition=reference, n_submodels=3)
    clf.fit(X.iloc[REST], Y[REST])
    best = np.argsort(-reference.information(), kind="stable")
    assert clf.partition_ == Partition([[best[0], best[5], best[6]], best[[1, 4]], best[[2, 3]]])
    assert clone(clf).fit(X.iloc[REST], Y[REST]).partition_ == clf.partition_


def test_the_number_of_submodels_is_chosen_and_checked_as_for_every_partition():
    fit = (X.iloc[REST], Y[REST])
    assert len(FeaturePartitionClassifier(NB, partition=informed()).fit(*fit).partition_) == 7
    with pytest.raises(InputError, match="n_submodels is 8, but there are only 7 columns"):
        FeaturePartitionClassifier(NB, partition=informed(), n_submodels=8).fit(*fit)


def test_a_unit_is_worth_its_best_column():
    best, worst = np.argsort(-informed().information())[[0, -1]]
    pair = FeaturePartitionClassifier(
        NB, partition=informed(), units={"pair": [int(best), int(worst)]}, n_submodels=6
    )
    pair.fit(X.iloc[REST], Y[REST])
    assert pair.partition_[0] == (pair.units_.names.index("pair"),)


def test_text_missing_values_and_numbers_have_information():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    table = pd.DataFrame(
        {
            "noise": rng.normal(size=300),
            "text": np.where(y > 0, "high", "low"),
            "gaps": np.where(rng.random(300) < 0.3, np.nan, y),
        }
    )
    information = Informed(table, y).information()
    assert information[1] > information[0]
    assert information[2] > information[0]


def test_reference_rows_that_are_training_rows_void_the_proof():
    shared = Informed(X.iloc[:60], Y[:60])
    with pytest.warns(
        SoundnessWarning, match="60 of 60 rows of X_ref are rows of the training table"
    ):
        FeaturePartitionClassifier(NB, partition=shared).fit(X, Y)
    with pytest.raises(SoundnessError, match="keep the reference rows out of X"):
        FeaturePartitionClassifier(NB, partition=shared, strict=True).fit(X, Y)


def test_what_an_attacker_writes_into_the_training_rows_does_not_move_the_partition():
    clf = FeaturePartitionClassifier(NB, partition=informed(exchanges=30), n_submodels=3)
    before = clf.fit(X.iloc[REST], Y[REST]).partition_
    ruined = X.iloc[REST].assign(alcohol=0.0, ash=np.asarray(Y[REST], dtype=float))
    assert clone(clf).fit(ruined, Y[REST]).partition_ == before


def test_a_reference_needs_the_columns_of_the_table_in_their_order():
    def fit(reference, table):
        partition = Informed(reference, np.arange(len(reference)) % 2)
        clf = FeaturePartitionClassifier(NB, n_submodels=2, partition=partition)
        return clf.fit(table, np.arange(len(table)) % 2)

    rows = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(InputError, match="X_ref has 2 columns, but X has 3"):
        fit(rows[:20, 1:], rows[20:])
    frame = pd.DataFrame(rows, columns=list("abc"))
    with pytest.raises(InputError, match="X_ref has the column 'b' where X has 'a'"):
        fit(frame.loc[:19, list("bac")], frame[20:])
    numbered = pd.DataFrame(rows)
    with pytest.raises(InputError, match="X_ref has the column 1 where X has 0"):
        fit(numbered.loc[:19, [1, 0, 2]], numbered[20:])


def test_a_reference_needs_targets():
    with pytest.raises(InputError, match="y_ref is None: Informed needs the targets"):
        Informed(X, None).information()
    with pytest.raises(ValueError, match=r"Input y_ref contains NaN"):
        Informed(X, np.where(Y == 0, np.nan, Y)).information()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Informed(X, Y[:10]).information()


def test_many_exchanges_show_progress_where_verbose(capsys):
    for verbose in (0, 1):
        clf = FeaturePartitionClassifier(
            NB, n_submodels=2, partition=informed(exchanges=40), verbose=verbose
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X.iloc[REST], Y[REST])
        shown = "partita: tried 40 of 40 exchanges" in capsys.readouterr().err
        assert shown == bool(verbose)


def test_whole_numbers_of_a_regression_are_values_not_labels():
    diabetes, y = load_diabetes(return_X_y=True)
    whole = Informed(diabetes[:150], y[:150]).information()
    assert np.array_equal(whole, Informed(diabetes[:150], y[:150] + 0.5).information())
    letters = np.arange(390) % 26  # labels that are many, each in enough rows
    column = (letters * 7 % 26)[:, None].astype(float)  # tells them apart, but not in their order
    assert Informed(column, letters).information()[0] > 2
    assert Informed(column, letters)._target().shape == (390, 26)


def test_its_text_says_how_many_rows_it_has():
    assert repr(informed()) == "Informed(60 reference rows)"
    assert repr(informed(exchanges=300)) == "Informed(60 reference rows, 300 exchanges)"


@pytest.mark.parametrize("exchanges", [-1, 1.5, True, "many"])
def test_exchanges_must_be_a_whole_number(exchanges):
    clf = FeaturePartitionClassifier(NB, n_submodels=2, partition=informed(exchanges=exchanges))
    with pytest.raises(InputError, match=r"exchanges is .*: it must be a whole number, 0 or above"):
        clf.fit(X.iloc[REST], Y[REST])
