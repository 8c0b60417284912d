"""A choice is a table, a picture and plain data; what it recommends is on the frontier."""

import math
from dataclasses import replace

import matplotlib.image
import pytest

from partita import InputError
from partita.selection import Choice, Evaluation, Objective
from partita.selection._choice import frontier, worst_of

from .sweeps import setting

CONSTANT = {"answer": "no", "accuracy": 0.6, "balanced": 0.5}


def judged(accuracy, certified, recall=0.7, method="partition"):
    options = {"submodels": round(100 * certified)}
    return Evaluation(method, options, 1, [accuracy, certified], 1.0, None, [recall, recall])


SETTINGS = [
    judged(0.95, 0.7),
    judged(0.9, 0.8, recall=0.65),
    judged(0.85, 0.75),
    judged(0.8, 0.85, recall=0.9, method="leave-out"),
]


def shares(one):
    return one.accuracy, one.certified


def test_the_frontier_holds_what_nothing_beats_in_both():
    assert frontier(SETTINGS, shares) == [SETTINGS[3], SETTINGS[1], SETTINGS[0]]
    assert frontier([], shares) == []


def ordinary(name, accuracy, recall, **more):
    curves = [accuracy], 0.1, None, [recall]
    recalls = {"no": [accuracy], "yes": [2 * recall - accuracy]}
    return Evaluation("one model", {"submodels": 1, "estimator": name} | more, 1, *curves, recalls)


MODELS = [
    ordinary("ExtraTrees", 0.96, 0.9, rule="plurality"),
    ordinary("Ridge", 0.99, 0.9, margin=0.0, prior=1.0),
    ordinary("Boosting", 0.95, 0.92, rule="plurality"),
]


def choice(settings=SETTINGS, radius=1, constant=CONSTANT, want="certified", models=MODELS):
    counts = {"no": 120, "yes": 80}
    found = Objective(want), radius, settings, models, constant, "9 sensors", counts, 200
    return Choice(*found)


def test_the_best_ordinary_model_by_what_counts_is_the_one_to_compare_with():
    assert choice().one_model["name"] == "ExtraTrees"  # shares are divided out for recall only
    assert choice(want="balanced").one_model["name"] == "Boosting"
    assert choice(want="balanced", models=MODELS[:2]).one_model["name"] == "Ridge with prior 1"
    failed = replace(MODELS[0], warnings=["it failed to fit"])
    none = choice(models=[failed])
    assert (none.one_model["name"], none.price) == (None, None)
    assert "the price is not known" in none.notes()[-1]
    assert "one model on all columns: failed" in none.table()[2][0]


def test_the_price_of_the_proof_is_the_difference_with_its_error():
    price = choice(want="accuracy=0.95").price  # recommends the setting of 95 %
    assert price["share"] == pytest.approx(0.96 - 0.95)
    expected = math.sqrt((0.96 * 0.04 + 0.95 * 0.05) / 200)
    assert price["standard_error"] == pytest.approx(expected)
    last = choice(want="accuracy=0.95").notes()[-1]
    assert "the price of the proof is 1.0 points of accuracy, give or take 2.1, against" in last
    lower = [ordinary("ExtraTrees", 0.94, 0.9, rule="plurality")]
    last = choice(want="accuracy=0.95", models=lower).notes()[-1]
    assert "the proof costs no accuracy on these rows, give or take" in last


def test_the_price_in_mean_recall_names_that_in_accuracy_too():
    tried = [replace(one, recall={"no": [one.accuracy] * 2, "yes": [0.5, 0.5]}) for one in SETTINGS]
    found = choice(tried, want="balanced")
    assert found.best is tried[3]
    assert found.price["share"] == pytest.approx(0.92 - 0.9)
    assert found.price["accuracy"] == pytest.approx(0.99 - 0.8)
    spread = 0.95 * 0.05 / 120 + 0.89 * 0.11 / 80 + 0.8 * 0.2 / 120 + 0.5 * 0.5 / 80
    assert found.price["standard_error"] == pytest.approx(math.sqrt(spread) / 2)
    assert found.notes()[-1].endswith("against Boosting, and 19.0 points of accuracy.")


def test_a_choice_prints_as_its_table():
    text = str(choice())
    assert "one model on all columns: ExtraTrees" in text
    assert "  --submodels 85  (recommended)" in text
    assert text.splitlines()[-2] == choice().notes()[-2]
    assert "NO SETTING IS RECOMMENDED" in str(choice(constant=CONSTANT | {"accuracy": 0.97}))


def test_a_choice_is_a_table_a_picture_and_plain_data(tmp_path):
    found = choice()
    assert found.best is SETTINGS[3]
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


def test_one_model_that_was_tried_too_is_nowhere_among_the_settings_to_take():
    one = judged(1.0, 0.99)
    one.options["submodels"] = 1
    found = choice([one, *SETTINGS])
    assert (found.best, found.frontier) == (SETTINGS[3], frontier(SETTINGS, shares))


def test_without_a_recommendation_there_is_no_estimator():
    found = choice(constant=CONSTANT | {"accuracy": 0.97})
    message = "no setting is recommended: no setting proves more than a constant answer, at this"
    with pytest.raises(InputError, match=message):
        _ = found.estimator
    assert found.as_dict()["best"] is None
    assert "recommended" not in found.plot().get_legend_handles_labels()[1]


def test_without_a_radius_the_best_is_that_of_one_unit_or_of_none():
    found = choice(radius=None)
    assert [one.accuracy for one in found.by_radius] == [0.95, 0.8]
    assert found.best is SETTINGS[3]
    high = choice(radius=None, constant=CONSTANT | {"accuracy": 0.9})
    assert high.by_radius == [high.best] == [SETTINGS[0]]
    assert "always answering 'no' scores as much or more (90.0 %)" in high.no_more
    none = choice(radius=None, constant=CONSTANT | {"accuracy": 0.97})
    assert (none.best, none.by_radius) == (None, [])
    assert none.reason == none.no_more


def judged_by(*shares, rows=400, want="certified", best=0.0):
    """Two settings by each kind of split, from their shares at r = 0 and 1."""
    kinds = {}
    for kind, pairs in zip(("random", "last"), shares, strict=True):
        settings = [
            setting(size, list(pair), list(pair), recall={"no": list(pair), "yes": list(pair)})
            for size, pair in zip((3, 5), pairs, strict=False)
        ]
        constant = {"answer": "no", "accuracy": 0.1, "balanced": 0.1}
        about = {"held_out_how": f"{kind} rows", "split": {"kind": kind}}
        kinds[kind] = Choice(
            Objective(want),
            1,
            settings,
            [],
            constant,
            "9 columns",
            {"no": rows - 20, "yes": 20},
            rows,
            about=about,
        )
    return worst_of(kinds)


def test_the_worse_split_decides():
    found = judged_by([(0.9, 0.6), (0.9, 0.8)], [(0.9, 0.59), (0.9, 0.5)])
    assert found.settings is found.splits["last"].settings
    assert found.splits["random"].best.size == "5 submodels"
    assert found.best.size == "3 submodels"
    assert judged_by([(0.9, 0.5)], [(0.9, 0.51)], rows=400).about["split"] == {"kind": "random"}


@pytest.mark.parametrize("random_first", [True, False])
def test_splits_that_disagree_recommend_nothing(random_first):
    """By more than twice the standard error of the difference, at the radius or at r = 0."""
    for high, low, rows, agree in (
        ((0.9, 0.70), (0.9, 0.60), 400, False),
        ((0.9, 0.70), (0.9, 0.66), 400, True),
        ((0.9, 0.70), (0.9, 0.66), 4000, False),
        ((0.99, 0.60), (0.90, 0.60), 400, False),
        ((0.9, 0.605), (0.9, 0.60), 1_000_000, True),  # half a point harms nobody
    ):
        found = judged_by(*([[high], [low]] if random_first else [[low], [high]]), rows=rows)
        assert (found.best is not None) == agree
        if not agree:
            assert "differ by more than the sampling error" in found.reason
            assert "--last 0.25" in found.reason
            for share in max(
                ((high[1], low[1]), (high[0], low[0])), key=lambda two: two[0] - two[1]
            ):
                assert f"{100 * share:.1f} %" in found.reason
            with pytest.raises(InputError, match="no setting is recommended: the certified acc"):
                _ = found.estimator


def test_the_sampling_error_of_a_recall_counts_the_rows_of_its_label():
    shares = [(0.9, 0.70)], [(0.9, 0.62)]
    assert judged_by(*shares, rows=2000).best is None
    assert judged_by(*shares, rows=2000, want="balanced").best is not None
    assert judged_by(*shares, rows=2000, want="recall:yes").best is not None
    assert judged_by(*shares, rows=2000, want="recall:no").best is None
