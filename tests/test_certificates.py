"""Certificates: comparing them with the truth, frames, and how they look in a notebook."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, certify
from partita.certificates import Certificates, Counts, Silence, recounted
from partita.rules import Median

VOTES = np.eye(2)[[[0, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 1]]]
PROOF = certify(VOTES, rule="plurality")


def test_labels_are_right_where_they_equal_the_truth():
    assert PROOF.correct([0, 1, 1]).tolist() == [True, True, False]
    with pytest.raises(InputError, match=r"y has shape \(1,\).*expected one true value per row"):
        PROOF.correct([0])


def test_values_are_right_only_around_the_truth():
    votes = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    around_prediction = Median().certify(votes, [1, 4], [3, 6])
    with pytest.raises(InputError, match="around=y"):
        around_prediction.correct([2.0, 9.0])
    truth = np.array([2.5, 9.0])
    proof = Median().certify(votes, truth - 1, truth + 1)
    around_truth = Certificates(
        proof.prediction, proof.radius, None, proof.counts, truth, of_values=True
    )
    assert around_truth.correct([2.5, 9.0]).tolist() == [True, False]
    with pytest.raises(InputError, match="y differs"):
        around_truth.correct([2.5, 9.5])


def test_a_frame_is_of_the_library_that_the_table_came_from():
    index = pd.Index(["a", "b", "c"])
    named = Certificates(PROOF.prediction, PROOF.radius, PROOF.runner_up, PROOF.counts, index=index)
    frame = named.to_frame()
    assert frame.loc["b"].to_dict() == {"prediction": 1, "radius": 0, "runner_up": 0}
    other = Certificates(PROOF.prediction, PROOF.radius, None, PROOF.counts, frame="polars")
    assert other.to_frame().equals(pl.DataFrame({"prediction": [0, 1, 0], "radius": [2, 0, 1]}))


def test_what_a_radius_counts_is_said_in_words():
    assert str(Counts("sensors", 12)) == "sensors (12 in all)"
    assert "out of reach: hour, day" in str(Counts("sensors", 12, ("hour", "day")))
    assert repr(PROOF) == (
        "Certificates(3 rows, radius 0 to 2, median 1; counts submodels (5 in all))"
    )
    empty = certify(np.zeros((0, 3, 2)), "plurality")
    assert repr(empty) == "Certificates(0 rows; counts submodels (3 in all))"


@pytest.mark.parametrize("rows", [1, -1, slice(None, None, 2), [2, 0], VOTES[:, 0, 1] == 0, []])
def test_rows_are_chosen_as_from_an_array(rows):
    """All that is known of the others is left out: radii, silence, liars beside it, the index."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    table = X.iloc[[3, 70, 150]].assign(alcohol=[np.nan, 12.0, np.nan])
    whole = clf.certify(table, silent="detect")
    kept = np.atleast_1d(np.arange(3)[rows])
    some, alone = whole[rows], clf.certify(table.iloc[kept], silent="detect") if len(kept) else None
    assert len(some) == len(kept)
    assert some.to_frame(silence=True).equals(whole.to_frame(silence=True).iloc[kept])
    if alone is not None:
        assert some.to_frame(silence=True).equals(alone.to_frame(silence=True))
        assert (str(some.silence), repr(some)) == (str(alone.silence), repr(alone))
        assert np.array_equal(some.survives(1, 1), alone.survives(1, 1))
        assert np.array_equal(some.survival(), alone.survival())


def test_statements_around_the_truth_keep_their_own():
    truth = np.array([2.5, 9.0])
    proof = Median().certify([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], truth - 1, truth + 1)
    about = replace(proof, truth=truth)
    assert about[1].correct([9.0]).tolist() == [False]
    assert about[:1].correct([2.5]).tolist() == [True]


def test_rows_that_are_not_there_and_arrays_of_certificates_are_refused():
    with pytest.raises(IndexError):
        PROOF[3]
    with pytest.raises(IndexError):
        PROOF[np.array([True])]
    with pytest.raises(
        InputError, match=r"not an array: give one of theirs, such as proof\.radius"
    ):
        np.asarray(PROOF)


class Cells(HTMLParser):
    """The texts of a page's cells, and whether every tag is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_a_notebook_shows_radii_and_first_rows():
    page = PROOF._repr_html_()
    assert "3 rows, radius 0 to 2, median 1" in page
    assert "the radius counts submodels (5 in all)" in page
    cells = Cells(page).cells
    assert cells[:3] == ["radius", "", "rows"]
    assert cells[3:12] == ["0", "", "1 (33%)", "1", "", "1 (33%)", "2", "", "1 (33%)"]
    assert cells[12:16] == ["row", "prediction", "radius", "runner_up"]
    assert cells[16:20] == ["0", "0", "2", "1"]


def test_a_notebook_shows_no_more_than_fits():
    rows = 1000
    many = Certificates(np.arange(rows), np.arange(rows), None, Counts("units", rows))
    page = many._repr_html_()
    assert "… 995 more" in page
    assert "11 and more" in page
    assert "989 (99%)" in page
    assert page.count("<tr>") < 25
    assert Cells(Certificates(np.empty(0), np.empty(0, int), None, many.counts)._repr_html_())


def test_what_users_wrote_is_escaped_in_a_notebook():
    evil = "<script>alert(1)</script>"
    proof = Certificates(
        np.array([evil]), np.array([1]), np.array([evil]), Counts(evil, 3), index=pd.Index([evil])
    )
    page = proof._repr_html_()
    assert "<script>" not in page
    assert Cells(page).cells.count(evil) == 3


def test_labels_of_another_type_are_refused_rather_than_counted_as_wrong():
    proof = replace(certify(np.eye(2)[[[0, 0, 0]]], "plurality"), prediction=np.array(["malign"]))
    assert proof.correct(["malign"]).all()
    assert not proof.correct(["benign"]).any()
    with pytest.raises(InputError, match="y holds numbers, but the predictions are texts"):
        proof.correct([0])
    with pytest.raises(InputError, match="y holds texts, but the predictions are numbers"):
        certify(np.eye(2)[[[0, 0, 0]]], "plurality").correct(["0"])


def test_what_is_counted_changes_with_all_that_counts_it():
    """A frontier of submodels under a total of other things once called rows unbreakable."""
    fewer = Counts("patches", 1)
    with pytest.raises(ValueError, match="radius and frontier count submodels"):
        replace(PROOF, counts=fewer)
    with pytest.raises(ValueError, match="radius and frontier count submodels"):
        replace(PROOF, counts=fewer, radius=np.minimum(PROOF.radius, 1))
    proof = recounted(PROOF, np.minimum(PROOF.radius, 1), fewer, None)
    assert proof.counts == fewer
    assert proof.silence_radius is None


# ---- what a silence cost, in words ----


def silence_of(units, abstained, radius, without):
    names = tuple(f"station {k}" for k in range(units.shape[1]))
    return Silence(units, names, np.array(abstained), 9, np.array(radius), np.array(without))


def test_words_name_units_rows_submodels_and_radii():
    units = np.array([[True, False], [True, True], [False, False]])
    words = str(silence_of(units, [1, 2, 0], [3, 1, 4], [4, 4, 4]))
    assert words == (
        "Silent: station 0 in 2 rows, station 1 in 1 row; 2 of 3 rows lack a source. In these 1 to "
        "2 of 9 submodels abstain, and the median radius is 2 (at best 4 without the silence)"
    )


def test_nothing_silent_is_said_too():
    words = str(silence_of(np.zeros((2, 3), dtype=bool), [0, 0], [1, 1], [1, 1]))
    assert words == "No source is silent in any of 2 rows"


def test_a_long_list_is_cut():
    words = str(silence_of(np.ones((1, 8), dtype=bool), [8], [0], [4]))
    assert "station 4 in 1 row, 3 more; 1 of 1 rows" in words
