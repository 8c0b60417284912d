"""A choice is a table, a picture and plain data; what it recommends is on the frontier."""

import math

import matplotlib.image
import pytest

from partita import InputError
from partita.selection import Choice, Evaluation, Objective
from partita.selection._choice import frontier

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


def test_the_frontier_holds_what_nothing_beats_in_both():
    assert frontier(SETTINGS) == [SETTINGS[3], SETTINGS[1], SETTINGS[0]]
    assert frontier([]) == []


def choice(settings=SETTINGS, radius=1, constant=CONSTANT):
    one = {"accuracy": 0.96, "balanced": 0.9, "score": 0.96}
    return Choice(Objective("certified"), radius, settings, one, constant, "9 sensors", 200)


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
    assert (found.best, found.frontier) == (SETTINGS[3], frontier(SETTINGS))


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
