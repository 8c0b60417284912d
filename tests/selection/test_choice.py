"""A recommendation is on the frontier, follows the wish, and beats a constant answer."""

import math

import matplotlib.image
import pytest

from partita import InputError
from partita.selection._choice import Choice, Evaluation, check_want, frontier, recommend

CONSTANT = {"answer": "no", "accuracy": 0.6, "balanced": 0.5}


def judged(accuracy, certified, recall=0.7, method="partition", constant=False):
    options = {"submodels": round(100 * certified)}
    return Evaluation(method, options, accuracy, certified, recall, recall, 1.0, None, constant)


SETTINGS = [
    judged(0.95, 0.7),
    judged(0.9, 0.8, recall=0.65),
    judged(0.85, 0.75),
    judged(0.8, 0.85, recall=0.9, method="leave-out"),
]


def test_the_frontier_holds_what_nothing_beats_in_both():
    assert frontier(SETTINGS) == [SETTINGS[3], SETTINGS[1], SETTINGS[0]]
    assert frontier([]) == []


@pytest.mark.parametrize(
    ("want", "expected", "reason"),
    [
        ("certified", 3, "the most certified"),
        ("accuracy=0.84", 1, "at least 0.84"),
        ("accuracy=0.95", 0, "at least 0.95"),
        ("accuracy=0.99", 0, "none reaches an accuracy of 0.99"),
        ("balanced", 3, "highest mean certified recall"),
    ],
)
def test_a_wish_picks_a_point(want, expected, reason):
    best, why = recommend(SETTINGS, want, CONSTANT, by_labels=True)
    assert best is SETTINGS[expected]
    assert reason in why


def test_nothing_that_a_constant_beats_is_recommended():
    poor = [judged(0.9, 0.55, recall=0.4), judged(0.97, 0.97, constant=True)]
    best, why = recommend(poor, "certified", CONSTANT, by_labels=True)
    assert best is None
    assert "no setting proves more than a constant answer" in why
    # a rare class: less accuracy than the constant is certified, but more recall
    rare = [judged(0.9, 0.55, recall=0.6)]
    assert recommend(rare, "certified", CONSTANT, by_labels=True)[0] is rare[0]
    assert recommend(rare, "certified", CONSTANT, by_labels=False)[0] is None


@pytest.mark.parametrize("want", ["best", "accuracy=", "accuracy=84", "accuracy=-1", ""])
def test_other_wishes_are_refused(want):
    with pytest.raises(InputError, match=r"want is .*: give certified, balanced, or accuracy="):
        check_want(want)


def test_numbers_have_no_balanced_wish():
    with pytest.raises(InputError, match="'balanced', which is for labels"):
        recommend(SETTINGS, "balanced", CONSTANT, by_labels=False)


def choice(best):
    one = {"accuracy": 0.96, "balanced": 0.9}
    return Choice(1, SETTINGS, one, CONSTANT, "9 sensors", 200, "certified", best, "a reason")


def test_a_choice_is_a_table_a_picture_and_plain_data(tmp_path):
    found = choice(SETTINGS[3])
    assert found.to_frame()["certified"].tolist() == [0.85, 0.8, 0.75, 0.7]
    plain = found.as_dict()
    assert plain["best"]["fit"] == "--submodels 85"
    assert [one["accuracy"] for one in plain["frontier"]] == [0.8, 0.9, 0.95]
    place = tmp_path / "choice.png"
    place.write_bytes(found.png())
    height, width, _ = matplotlib.image.imread(place).shape
    assert math.isclose(width / height, 6.4 / 4.6, rel_tol=0.01)
    labels = found.plot().get_legend_handles_labels()[1]
    assert labels[0] == "partition (frontier of 3)"
    assert "recommended" in labels


def test_without_a_recommendation_there_is_no_estimator():
    found = choice(None)
    with pytest.raises(InputError, match="no setting is recommended: a reason"):
        _ = found.estimator
    assert found.as_dict()["best"] is None
    assert "recommended" not in found.plot().get_legend_handles_labels()[1]
