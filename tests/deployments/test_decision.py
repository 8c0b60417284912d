"""The decision follows from the numbers: other numbers, another decision."""

from copy import deepcopy
from dataclasses import replace

import pytest

from partita.deployments._decision import decide

from .small import small_story


@pytest.fixture
def found():
    """A study that recommends something, and its numbers."""
    story = small_story("credit")
    numbers = deepcopy({key: answer.numbers for key, answer in story.answers.items()})
    del numbers["rare"]  # as if no label were rare
    numbers["accuracy"]["group"] = "batch (months after training)"
    best = story.study.choice.settings[0]
    study = replace(story.study, choice=replace(story.study.choice, best=best))
    for one in numbers["accuracy"]["groups"].values():
        one["certified"] = 0.9
    numbers["certified"]["curves"][study.main.name] = [0.9, 0.8, 0.3]
    numbers["accuracy"]["difference"] = 0.01
    return study, numbers


def test_it_says_what_is_gained_and_where_it_ends(found):
    decision = decide(*found)
    assert decision.startswith(f"Deploy {found[0].main.name}: ")
    assert "1.0 points more than with one model" in decision
    assert "Do not rely on it against more than one feed lying at once" in decision


def test_a_weak_group_is_named(found):
    study, numbers = found
    numbers["accuracy"]["groups"]["bad"]["certified"] = 0.1
    assert "Do not rely on it in batch bad, where less than half" in decide(study, numbers)
    for one in numbers["accuracy"]["groups"].values():
        one["certified"] = 0.1
    assert "In no batch is half of the rows proven" in decide(study, numbers)


def test_lost_accuracy_is_a_price(found):
    study, numbers = found
    numbers["accuracy"]["difference"] = -0.06
    assert "if a proof is worth 6.0 points of accuracy" in decide(study, numbers)


def test_a_method_that_would_have_proven_more_is_named(found):
    study, numbers = found
    curves = numbers["certified"]["curves"]
    curves[study.other.name] = [0.9, 0.815, 0.0]
    assert "hindsight" not in decide(study, numbers)
    curves[study.other.name] = [0.9, 0.83, 0.0]
    assert f"In hindsight {study.other.name} would have proven 83.0 %" in decide(study, numbers)


def test_nothing_recommended_is_a_refusal(found):
    study, numbers = found
    choice = replace(study.choice, best=None, reason="no setting proves more")
    decision = decide(replace(study, choice=choice), numbers)
    assert decision == "Do not deploy an ensemble here for its proofs: no setting proves more."


def test_a_rare_label_that_is_not_proven_is_a_refusal():
    story = small_story("credit")
    numbers = deepcopy({key: answer.numbers for key, answer in story.answers.items()})
    line = numbers["rare"]["lines"][0]
    line["recall"], line["precision"] = [0.6, 0.4, 0.0], [0.2, 0.1, 0.0]
    lines = numbers["trust"]["lines"]
    lines[0]["certified_recall"], lines[1]["certified_recall"] = 0.01, 0.4
    decision = decide(story.study, numbers)
    assert decision.startswith("Do not decide about a loan by this model alone: against one wrong")
    assert "40.0 % of the bad loans are found and proven" in decision
    assert "rests on the columns that are trusted (1.0 % without them)" in decision
    lines[1]["certified_recall"] = 0.0
    assert "more independent feeds" in decide(story.study, numbers)
