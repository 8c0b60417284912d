"""The models of a deployment: chosen on validation rows, beside the user's own."""

import numpy as np
import pytest

from partita.deployments._study import mean_recall, setting_name
from partita.selection._choice import Evaluation

from .small import small_study


@pytest.fixture(scope="module")
def study():
    return small_study("credit")


def test_both_methods_are_there_and_certified_on_test_rows(study):
    methods = {one.setting.method for one in (study.main, study.other)}
    assert methods == {"partition", "leave-out"}
    for one in (study.main, study.other):
        assert np.array_equal(
            one.right, one.model.predict(study.deployment.X_test) == study.deployment.y_test
        )
        for radius in range(3):
            expected = [
                bool(right and own >= radius)
                for right, own in zip(one.right, one.proof.radius, strict=True)
            ]
            assert one.certified(radius).tolist() == expected
    assert study.main.certified(1).sum() < study.main.right.sum()


def test_the_single_model_has_the_benefit_of_the_doubt(study):
    """It is the better one on the test rows themselves."""
    own, single = study.deployment, study.single
    (rejected,) = single.rejected
    scores = [
        mean_recall(own.right(one.model.predict(own.X_test), own.y_test), own.y_test)
        for one in (single, rejected)
    ]
    assert scores[0] >= scores[1]
    assert single.name != rejected.name


def test_mean_recall_counts_every_label_the_same():
    right, y = np.array([True, True, True, False]), np.array([0, 0, 0, 1])
    assert mean_recall(right, y) == 0.5


@pytest.mark.parametrize(
    ("method", "options", "name"),
    [
        ("leave-out", {"method": "leave-out", "radius": 1, "groups": 9}, "leave-out with 9 groups"),
        ("partition", {"submodels": 7}, "partition into 7 submodels"),
        ("partition", {"submodels": 7, "prior": 0.5}, "partition into 7 submodels (prior 0.5)"),
        (
            "partition",
            {"submodels": 5, "rule": "plurality"},
            "partition into 5 submodels (plurality)",
        ),
        (
            "partition",
            {"submodels": 5, "fallback": "auto", "gate": 1},
            "partition into 5 submodels (full model behind it)",
        ),
    ],
)
def test_settings_have_names(method, options, name):
    assert setting_name(Evaluation(method, options, 1.0, 1.0, None, None, 0.0, None)) == name
