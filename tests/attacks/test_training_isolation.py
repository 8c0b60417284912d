"""Submodels that reach one another in training are found, and those that differ every time."""

import pytest

from partita.attacks._isolation import _interleaved

from .leaky_estimators import RemembersInTraining, Restless


@pytest.mark.parametrize(
    "on",
    [
        pytest.param(1e5, marks=pytest.mark.long),
        pytest.param(1e12, marks=pytest.mark.long),
        pytest.param(1e200, marks=pytest.mark.long),
        "infinities",
    ],
)
def test_a_leak_from_a_strange_value_in_training_is_found(small, audited, failed, on):
    found = audited(RemembersInTraining(on), small, attacks=("checks",), rows=20)
    assert not found.passed
    assert "FAILED" in str(found)
    assert any("in training move" in name for name in failed(found))
    # it takes a strange value
    assert not any(
        "rewritten" in name or "n_jobs" in name or "in the rows" in name for name in failed(found)
    )


def test_a_leak_in_training_changes_certified_predictions(small, audited, failed):
    found = audited(RemembersInTraining(), small, attacks=("poisoning",))
    assert not found.passed
    assert {one.attack for one in found.broken} | set(failed(found))


def test_a_submodel_that_differs_every_time_is_found(small, audited, failed):
    Restless.fitted = 0
    found = audited(Restless(), small, attacks=("checks",), rows=20)
    assert {"fitted again with n_jobs=1", "fitted again with n_jobs=2"} <= set(failed(found))


def test_columns_are_dealt_anew_in_the_order_of_their_sets():
    sets = [[0, 3, 6], [1, 4], [2, 5, 7]]
    order = _interleaved(sets, 0)
    assert sorted(order) == list(range(8))
    assert order != list(range(8))
    for own in sets:
        assert [column for column in order if column in own] == own
