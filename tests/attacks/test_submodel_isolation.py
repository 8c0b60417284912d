"""Submodels that reach one another through the rows are found."""

import numpy as np
import pytest

from partita import FeaturePartitionClassifier
from partita.attacks import audit
from partita.attacks._isolation import (
    compare_ballots,
    one_unit_per_submodel,
    units_by_thirds,
)

from .leaky_estimators import LooksAtNeighbour, Own, RemembersInRows, numbers


@pytest.mark.parametrize(
    "on",
    [
        1e5,
        pytest.param(1e12, marks=pytest.mark.long),
        pytest.param(1e200, marks=pytest.mark.long),
        "infinities",
    ],
)
@pytest.mark.parametrize("kind", [RemembersInRows, LooksAtNeighbour])
def test_a_leak_from_a_strange_value_in_the_rows_is_found(small, kind, on, failed):
    X, y, X_test, y_test = small
    model = FeaturePartitionClassifier(kind(on), n_submodels=5, n_jobs=1).fit(X, y)
    found = audit(
        model, X_test, y_test, rows=30, most=1, attacks=("checks",)
    )  # no training data is needed to see it
    where = (
        "in the rows move no other submodel" if kind is LooksAtNeighbour else "alone and in a batch"
    )
    assert any(where in name for name in failed(found))


def test_a_leak_in_the_rows_changes_certified_predictions(small, audited):
    found = audited(RemembersInRows(), small, attacks=("evasion",))
    assert not found.passed
    assert {one.attack for one in found.broken} == {"evasion"}


class ChangesLater(RemembersInRows):
    """Answers the opposite once it was asked about many strange values."""

    n_strange = 0

    def predict_proba(self, X):
        kind = type(self)
        shares = Own.predict_proba(self, X)[:, :: -1 if kind.n_strange > 1000 else 1]
        kind.n_strange += int(self._strange(numbers(X)).sum())
        return shares


def test_a_model_that_changes_during_the_audit_is_found(small, failed):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(ChangesLater(), n_submodels=5, n_jobs=1).fit(X, y)
    found = audit(model, X_test, rows=40, most=1, attacks=("evasion", "checks"))
    assert "the model says the same after all attacks" in failed(found)


def test_thirds_of_the_submodels_leave_the_others_safe():
    reach = np.eye(10, dtype=bool).repeat(2, axis=0)  # two units per submodel
    parts = list(units_by_thirds(reach, np.random.default_rng(0)))
    assert len(parts) == 3
    assert sorted(unit for units, _ in parts for unit in units) == list(range(20))
    for units, safe in parts:
        assert not reach[units][:, safe].any()
        assert 6 <= safe.sum() <= 7


def test_overlapping_sets_leave_something_safe():
    reach = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=bool)
    for units, safe in units_by_thirds(reach, np.random.default_rng(0)):
        assert len(units) == 1
        assert not reach[units][:, safe].any()


def test_every_submodel_has_a_unit_rewritten():
    reach = np.eye(5, dtype=bool).repeat(3, axis=0)
    units = one_unit_per_submodel(reach, np.random.default_rng(0))
    assert reach[units].any(axis=0).all()
    assert len(units) == 5


def test_ballots_are_compared_bit_for_bit(small):
    X, y, _, _ = small
    model = FeaturePartitionClassifier(Own(), n_submodels=5).fit(X, y)
    honest = model.ballots(X[:10]).scores
    moved = honest.copy()
    moved[3, 2, 0] = np.nextafter(moved[3, 2, 0], np.float32(np.inf))
    assert compare_ballots("name", model, honest, lambda: honest).problem == ""
    problem = compare_ballots("name", model, honest, lambda: moved).problem
    assert "says something else in 10% of rows (1 submodels do)" in problem
    elsewhere = np.arange(5) != 2
    assert compare_ballots("name", model, honest, lambda: moved, elsewhere).problem == ""
    assert "ballots of shape" in compare_ballots("name", model, honest, lambda: moved[:5]).problem


def test_a_memory_error_is_raised_and_not_reported():
    def no_memory():
        raise MemoryError

    def wrong():
        raise KeyError("x")

    with pytest.raises(MemoryError):
        compare_ballots("name", None, np.zeros((1, 1)), no_memory)
    assert compare_ballots("name", None, np.zeros((1, 1)), wrong).problem.startswith("it fails")
