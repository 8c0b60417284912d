"""The gas story: learnt early, tested late, in every batch."""

import pytest

from .small import small_deployment, small_story


def test_models_learn_from_early_batches_and_are_tested_on_later_ones():
    own = small_deployment("gas")
    assert set(own.X_train.index) == {1, 2, 3}
    assert set(own.X_valid.index) == {3}
    assert set(own.rows_to_choose_by()[0].index) == {1, 2}  # sensors drift
    assert not {*own.X_train["sensor1 DR"]} & {*own.X_valid["sensor1 DR"]}
    assert set(own.X_test.index) == {4, 5, 6, 8, 9}
    assert (own.source, len(own.units)) == ("sensor", 16)


@pytest.mark.long
def test_the_faults_of_the_story_break_no_proof():
    found = small_story("gas").answers["faults"].numbers
    kinds = [(line["fault"], line["sensors"]) for line in found["lines"]]
    assert ("swapped", 2) in kinds
    assert ("trained backdoor", 1) in kinds
    for line in found["lines"]:
        assert line["certified_changed"] == 0
        assert line["ensemble"] >= line["proven"]
