"""The credit story: what is proven of the rare label is what the metrics say."""

import pytest

from partita.deployments import _credit
from partita.metrics import certified_recall, worst_case_precision

from .small import small_story, small_study


def test_feeds_and_terms():
    own = small_study("credit").deployment
    assert set(_credit.BUREAU) < set(own.units)
    assert own.positive == "bad"
    assert "int_rate" in own.trusted


def test_the_rare_label_is_counted_as_the_metrics_count():
    study = small_study("credit")
    found = small_story("credit").answers["rare"].numbers
    y, proof = study.deployment.y_test, study.main.proof
    for radius in _credit.RADII:
        line = found["lines"][0]
        assert line["recall"][radius] == certified_recall(y, proof, radius)["bad"]
        assert line["precision"][radius] == worst_case_precision(y, proof, "bad", radius)
    assert found["always"] == (y == "good").mean()


def test_a_head_start_finds_more_and_its_proofs_are_below_its_recall():
    rows = small_story("credit").answers["thresholds"].numbers["rows"]
    assert [row["offset"] for row in rows] == list(_credit.OFFSETS)
    assert rows[-1]["alarms"] >= rows[0]["alarms"]
    assert all(row["certified_recall"] <= row["recall"] for row in rows)


def test_trust_leaves_fewer_feeds():
    lines = small_story("credit").answers["trust"].numbers["lines"]
    assert [line["feeds"] for line in lines] == [9, 8, 3]
    assert all(line["certified_recall"] <= line["recall"] for line in lines)


@pytest.mark.parametrize("key", ["rare", "thresholds", "trust"])
def test_its_own_answers_have_figures(key):
    assert small_story("credit").answers[key].png().startswith(b"\x89PNG")
