"""Accuracy, proofs and cost are counted as the slow obvious way counts them."""

import numpy as np
import pytest

from partita.deployments._answers import accuracy, certified_answer, cost
from partita.metrics import certified_accuracy

from .small import small_study


@pytest.fixture(scope="module")
def study():
    return small_study("credit")


def test_accuracy_by_group_adds_up_to_the_whole(study):
    y = study.deployment.y_test
    found = accuracy(study, {"bad": y == "bad", "good": y == "good"}, "loan").numbers
    for key, right in (("one model", study.single.right), ("ensemble", study.main.right)):
        total = sum(one["rows"] * one[key] for one in found["groups"].values())
        assert total == pytest.approx(right.sum())
    assert found["difference"] == pytest.approx(found["ensemble"] - found["one_model"])


def test_the_table_names_the_constant_both_single_models_and_both_methods(study):
    answer = accuracy(study, {}, "loan")
    names = [row[0] for row in answer.rows]
    assert names[0] == "a constant answer"
    assert sum(name.startswith("one model (") for name in names) == 2
    assert {study.main.name, study.other.name} <= set(names)
    assert answer.columns == ("model", "right", "mean recall", "recall of bad")


def test_the_curves_are_certified_accuracies(study):
    found = certified_answer(study).numbers
    for one in (study.main, study.other):
        for radius, share in enumerate(found["curves"][one.name]):
            assert share == certified_accuracy(study.deployment.y_test, one.proof, radius)
    assert found["certified"] == np.mean(study.main.certified(1))


def test_cost_is_a_multiple_of_one_model(study):
    answer = cost(study)
    found = answer.numbers
    assert found["ratios"]["size"] == found["bytes"][1] / found["bytes"][0]
    assert all(ratio > 0 for ratio in found["ratios"].values())
    assert [row[0] for row in answer.rows] == [
        "fit",
        "predict 1,000 rows",
        "certify 1,000 rows",
        "size, pickled",
    ]
