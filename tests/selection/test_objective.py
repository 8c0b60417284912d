"""A setting is recommended only where it scores more than a constant answer."""

from collections import Counter

import pytest

from partita import InputError
from partita.selection import Evaluation, Objective

from .sweeps import CONSTANT, setting

BALANCED, ACCURACY = Objective("balanced"), Objective("accuracy")


def recommended(settings, objective, constant=CONSTANT):
    """The radii at which a setting is recommended, with its score and size."""
    found = []
    for radius in range(4):
        one, _ = objective.recommend(settings, constant, radius)
        if one is not None:
            score = objective.entry(one, radius)["score"]
            found.append((radius, score, one.options["submodels"]))
    return found


def why_none(settings, objective, radius, constant=CONSTANT):
    best, reason = objective.recommend(settings, constant, radius)
    assert best is None
    return reason


def test_a_radius_at_which_the_constant_wins_is_not_listed():
    settings = [setting(5, [0.9, 0.79, 0.1, 0.0], [0.8, 0.6, 0.5, 0.0])]
    assert [at[0] for at in recommended(settings, ACCURACY)] == [0]
    assert recommended(settings, ACCURACY, CONSTANT | {"accuracy": 0.9}) == []
    # as much as a constant is not more
    assert [at[0] for at in recommended(settings, BALANCED)] == [0, 1]
    always = "always answering 'no' scores as much or more"
    assert f"{always} (80.0 %)" in why_none(settings, ACCURACY, 1)
    assert f"{always} (50.0 %)" in why_none(settings, BALANCED, 2)
    assert "certifies anything" in why_none(settings, BALANCED, 3)


def test_more_recall_alone_is_no_reason_to_recommend_by_accuracy():
    """A rare label: the constant certifies more rows, the setting more of their labels."""
    rare = [setting(5, [0.9, 0.55], [0.8, 0.6])]
    assert "some settings beat it: ask for balanced" in why_none(rare, ACCURACY, 1)
    assert BALANCED.recommend(rare, CONSTANT, 1)[0] is rare[0]
    numbers = Objective("accuracy", "regression")
    constant = {"answer": 3.0, "accuracy": 0.8, "balanced": None}
    assert "balanced" not in why_none([setting(5, [0.9, 0.55])], numbers, 1, constant)


def test_by_recall_of_a_label_a_setting_must_beat_the_constant_some_other_way():
    always = setting(3, [0.2, 0.2, 0.2], [0.5, 0.5, 0.5], recall={"yes": [1.0, 1.0, 1.0]})
    better = setting(5, [0.7, 0.6, 0.2], [0.8, 0.6, 0.3], recall={"yes": [0.9, 0.6, 0.4]})
    by_recall = Objective("recall:yes")
    assert recommended([always, better], by_recall) == [(0, 0.9, 5), (1, 0.6, 5)]
    assert "by accuracy or by mean recall" in why_none([always, better], by_recall, 2)


def test_neither_one_model_nor_a_near_constant_is_recommended():
    # an offset may certify a constant even with one model
    one_model = setting(1, [0.99, 0.98, 0.0], [0.99, 0.98, 0.0])
    constant = setting(7, [0.95, 0.95, 0.9], [0.9, 0.9, 0.9], nearly_constant=True)
    model = setting(5, [0.9, 0.1, 0.0], [0.7, 0.1, 0.0])
    settings = [one_model, constant, model]
    assert recommended(settings, BALANCED) == [(0, 0.7, 5)]
    assert "nearly constants" in why_none(settings, BALANCED, 1)
    assert recommended([one_model], BALANCED) == []
    assert "more than one submodel" in why_none([one_model], BALANCED, 0)


def test_the_first_of_equals_is_the_best():
    settings = [setting(3, [0.5, 0.25, 0.0]), setting(5, [0.5, 0.5])]
    assert [ACCURACY.best(settings, r) for r in (0, 1)] == settings
    assert ACCURACY.envelope(settings) == [0.5, 0.5]
    assert ACCURACY.best(settings, 2) is None


def test_of_equal_scores_recall_decides_and_then_accuracy_without_an_attack():
    first, second, third = settings = [
        setting(3, [0.9, 0.8], [0.8, 0.7]),
        setting(5, [0.9, 0.8], [0.9, 0.75]),
        setting(7, [0.95, 0.8], [0.9, 0.75]),
    ]
    assert ACCURACY.best(settings, 1) is third
    assert ACCURACY.best([first, second], 1) is second


def judged(accuracy, certified, recall=0.7, method="partition", constant=False):
    options = {"submodels": round(100 * certified)}
    curves = [accuracy, certified], 1.0, None, [recall, recall]
    return Evaluation(method, options, 1, *curves, nearly_constant=constant)


SETTINGS = [
    judged(0.95, 0.7),
    judged(0.9, 0.8, recall=0.65),
    judged(0.85, 0.75),
    judged(0.8, 0.85, recall=0.9, method="leave-out"),
]
LOW = {"answer": "no", "accuracy": 0.6, "balanced": 0.5}


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
def test_an_objective_picks_a_setting(want, expected, reason):
    best, why = Objective(want).recommend(SETTINGS, LOW, 1)
    assert best is SETTINGS[expected]
    assert reason in why


def test_nothing_that_a_constant_beats_is_recommended():
    poor = [judged(0.9, 0.55, recall=0.4), judged(0.97, 0.97, constant=True)]
    assert "always answering 'no' scores as much" not in why_none(
        poor, Objective("certified"), 1, LOW
    )
    assert "always answering 'no'" in why_none(poor[:1], Objective("certified"), 1, LOW)


@pytest.mark.parametrize("want", ["best", "accuracy=", "accuracy=84", "accuracy=-1", "", "recall:"])
def test_other_objectives_are_refused(want):
    with pytest.raises(InputError, match=r"want is .*: give certified, balanced, accuracy=0\.84"):
        Objective.parse(want, "classification")


def test_numbers_have_no_labels_to_balance():
    for want in ("balanced", "recall:1"):
        with pytest.raises(InputError, match=f"'{want}', which is for labels"):
            Objective.parse(want, "regression")


@pytest.mark.parametrize(
    ("rows", "want", "why"),
    [
        ({"no": 70, "yes": 34}, "balanced", "labels are uneven ('no' has 67.3 % of the rows"),
        ({"no": 70, "yes": 36}, "certified", "labels are about even"),
        ({"a": 40, "b": 30, "c": 19}, "balanced", "and 'c' 21.3 %), so each counts the same"),
        ({}, "certified", "the target holds numbers"),
    ],
)
def test_uneven_labels_are_compared_by_mean_recall_and_it_is_said_why(rows, want, why):
    found = Objective.parse(None, "classification" if rows else "regression", Counter(rows))
    assert found.name == want
    assert why in found.why
    assert Objective.parse("certified", "classification", Counter(rows)).why == ""


def fit_options(**options):
    return Evaluation("partition", {"submodels": 5} | options, 1, [1.0], 0.1, None).fit_options


def test_a_setting_in_words_leaves_nothing_for_fit_to_fill_in():
    """Without them fit would take a margin of 0.5 and a prior of 0.9."""
    assert fit_options(margin=0.0, prior=0.0) == "--submodels 5 --margin 0 --prior 0"
    odd = {"margin": 0.123456789, "prior": 0.99, "offset": 0.5}
    assert fit_options(**odd) == "--submodels 5 --margin 0.123456789 --prior 0.99 --offset 0.5"
    assert fit_options(rule="runoff") == "--submodels 5 --rule runoff"
    assert fit_options(offset={"a b": 2.0}) == "--submodels 5 --offset 'a b=2'"
