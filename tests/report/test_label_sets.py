"""Label sets in the report: the model's own, at the slider's radius, where they say something."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.metrics import label_set_curve
from partita.report import gather, render
from partita.report._numbers import one_of
from partita.workflow import CertifiedTable

from .pages import cells


@pytest.fixture(scope="module")
def gathered(digits):
    certified, truth = digits
    known = CertifiedTable(certified.model, certified.table, certified.ballots, truth=truth)
    return known, gather(known, title="Digits")


def in_words(classes, own):
    names = [str(label) for label in classes[own]]
    if len(names) == len(classes):
        return "any label"
    if len(names) > 6:
        return f"{len(names)} of {len(classes)} labels"
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def test_they_are_the_models_own(gathered):
    certified, facts = gathered
    rule, classes = certified.ballots.own_rule, certified.model.classes_
    sets = [rule.prediction_set(certified.ballots, radius) for radius in range(6)]
    curve = label_set_curve(certified.truth, sets, classes)
    assert facts["label_sets"]["size"] == pytest.approx(curve.size)
    assert facts["label_sets"]["coverage"] == pytest.approx(curve.coverage)
    for row in facts["rows"]:
        expected = [
            (int(one[row["row"]].sum()), in_words(classes, one[row["row"]])) for one in sets
        ]
        assert [tuple(own) for own in row["sets"]] == expected[1:]


def test_the_page_shows_them_at_the_sliders_radius(visit, gathered):
    facts = gathered[1]
    text = render(facts)
    own = {row["row"]: [[1, str(row["prediction"])], *row["sets"]] for row in facts["rows"]}
    for scripted in (True, False):
        page = visit(text, java_script_enabled=scripted)
        for radius in (1, 2, 5, 0) if scripted else (1,):
            if scripted:
                page.evaluate(f"setRadius({radius})")
            shown = zip(cells(page, "row"), cells(page, "labels"), strict=True)
            assert all(cell == own[int(row)][radius][1] for row, cell in shown)
            note = page.locator("#label-sets").text_content()
            assert bool(note) is (radius > 0)
            if radius:
                size, covered = (facts["label_sets"][name] for name in ("size", "coverage"))
                assert f"any {radius} of the 64 columns may be bad, {size[radius]:.2f} of" in note
                assert f"{min(100 * covered[radius], 99.9):.1f} %" in note or covered[radius] == 1
            heads = page.locator("#rows thead th").all_inner_texts()
            assert f"labels at r = {radius}" in heads


def test_rows_are_sorted_by_how_many_labels_are_possible(visit, gathered):
    page = visit(render(gathered[1]))
    for down in (False, True):
        page.locator("#rows th[data-name=sets] button").click()
        rows = [int(row) for row in cells(page, "row")]
        sizes = {row["row"]: row["sets"][0][0] for row in gathered[1]["rows"]}
        found = [sizes[row] for row in rows]
        assert found == sorted(found, reverse=down)
    assert found[0] > 1


def test_beyond_what_was_computed_there_is_a_dash(visit):
    """A model that nothing breaks up to seven columns: sets are computed for five."""
    X, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=21).fit(X[:900], y[:900])
    rows = X[900:][clf.certify(X[900:]).radius > 6][:3]
    assert len(rows)
    page = visit(render(gather(CertifiedTable.of(clf, rows), title="Digits")))
    page.evaluate("setRadius(6)")
    assert set(cells(page, "labels")) == {"\N{EN DASH}"}
    assert page.locator("#label-sets").text_content() == ""
    page.evaluate("setRadius(5)")
    assert cells(page, "labels") == cells(page, "prediction")
    assert "are possible in a row, on average." in page.locator("#label-sets").text_content()


def test_they_are_left_out_where_they_say_no_more_than_a_radius(cancer, left_out):
    clf, X, _ = left_out
    behind = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, fallback=GaussianNB())
    X3, y3 = load_digits(return_X_y=True)
    behind.fit(X3[:300], y3[:300])
    for facts in (
        cancer[2],
        gather(CertifiedTable.of(clf, X), title="Left out"),
        gather(CertifiedTable.of(behind, X3[300:330]), title="Fallback"),
    ):
        assert facts["label_sets"] is None
        assert "sets" not in facts["rows"][0]
        assert "labels at r" not in render(facts)


def test_a_large_set_is_counted():
    names = np.array(list("abcdefgh"))
    for chosen, text in (
        ([1], "b"),
        ([1, 2], "b or c"),
        ([0, 1, 2, 3, 4, 7], "a, b, c, d, e or h"),
        ([0, 1, 2, 3, 4, 5, 7], "7 of 8 labels"),
        (range(8), "any label"),
    ):
        assert one_of(names, np.isin(np.arange(8), list(chosen))) == text
