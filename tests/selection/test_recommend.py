"""A setting is recommended only where it beats a constant answer."""

from partita.selection._recommend import (
    Score,
    best,
    fit_options,
    full_model_entry,
    recommended,
    why_no_more,
)

from .sweeps import CONSTANT, setting

BALANCED, ACCURACY = Score("balanced"), Score("accuracy")


def test_a_radius_at_which_the_constant_wins_is_not_listed():
    settings = [setting(5, [0.9, 0.79, 0.1, 0.0], [0.8, 0.6, 0.5, 0.0])]
    assert [at["radius"] for at in recommended(settings, ACCURACY, CONSTANT)] == [0]
    assert recommended(settings, ACCURACY, CONSTANT | {"accuracy": 0.9}) == []
    assert [at["radius"] for at in recommended(settings, BALANCED, CONSTANT)] == [
        0,
        1,
    ]  # as much as a constant is not more
    assert "always answering 'no' scores as much or more (80.0 %)" in why_no_more(
        settings, ACCURACY, CONSTANT, 1
    )
    assert "always answering 'no' scores as much or more (50.0 %)" in why_no_more(
        settings, BALANCED, CONSTANT, 2
    )
    assert why_no_more(settings, BALANCED, None, 3) is None  # nothing is certified there


def test_by_recall_of_a_label_a_setting_must_beat_the_constant_some_other_way():
    always = setting(3, [0.2, 0.2, 0.2], [0.5, 0.5, 0.5], recall={"yes": [1.0, 1.0, 1.0]})
    better = setting(5, [0.7, 0.6, 0.2], [0.8, 0.6, 0.3], recall={"yes": [0.9, 0.6, 0.4]})
    found = recommended([always, better], Score("recall:yes"), CONSTANT)
    assert [(at["radius"], at["score"], at["submodels"]) for at in found] == [
        (0, 0.9, 5),
        (1, 0.6, 5),
    ]
    assert "by accuracy or by mean recall" in why_no_more(
        [always, better], Score("recall:yes"), CONSTANT, 2
    )


def test_neither_one_model_nor_a_near_constant_is_recommended():
    one_model = setting(
        1, [0.99, 0.98, 0.0], [0.99, 0.98, 0.0]
    )  # an offset may certify a constant even there
    constant = setting(7, [0.95, 0.95, 0.9], [0.9, 0.9, 0.9], nearly_constant=True)
    model = setting(5, [0.9, 0.1, 0.0], [0.7, 0.1, 0.0])
    found = recommended([one_model, constant, model], BALANCED, CONSTANT)
    assert [(at["radius"], at["submodels"]) for at in found] == [(0, 5)]
    assert "nearly constants" in why_no_more([one_model, constant, model], BALANCED, CONSTANT, 1)
    assert full_model_entry([constant, one_model], BALANCED)["accuracy"] == 0.99
    assert full_model_entry([constant], BALANCED) is None
    assert recommended([one_model], BALANCED, CONSTANT) == []
    assert "more than one submodel" in why_no_more([one_model], BALANCED, CONSTANT, 0)


def test_best_takes_the_first_of_equals():
    settings = [
        {"submodels": k, "options": {"rule": "plurality"}, "curve": curve}
        for k, curve in ((3, [0.5, 0.25, 0.0]), (5, [0.5, 0.5]))
    ]
    assert [(at["accuracy"], at["fit"].split()[1]) for at in best(settings)] == [
        (0.5, "3"),
        (0.5, "5"),
    ]


def test_a_setting_in_words_leaves_nothing_for_fit_to_fill_in():
    """Without them fit would take a margin of 0.5 and a prior of 0.9."""
    zeros = {"rule": "tournament", "margin": 0.0, "prior": 0.0}
    assert fit_options({"submodels": 5, "options": zeros}) == "--submodels 5 --margin 0 --prior 0"
    odd = {"rule": "tournament", "margin": 0.123456789, "prior": 0.99, "offset": 0.5}
    assert (
        fit_options({"submodels": 5, "options": odd})
        == "--submodels 5 --margin 0.123456789 --prior 0.99 --offset 0.5"
    )
    run_off = {"submodels": 5, "options": {"rule": "runoff"}}
    assert fit_options(run_off) == "--submodels 5 --rule runoff"
