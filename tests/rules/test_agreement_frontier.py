"""Silence and models that leave groups out: what is proven beforehand."""

import numpy as np
import pytest

from partita.rules import Agreement, _agreement
from tests.exhaustive.left_out_attacker import every_set


@pytest.mark.parametrize(("n_groups", "radius"), [(4, 1), (6, 2), (7, 3)])
def test_where_all_models_agree_twice_as_many_may_be_silent(n_groups, radius):
    sets, left_out = every_set(n_groups, radius)
    proof = Agreement(radius).certify(np.zeros((1, len(sets)), int), left_out)
    assert proof.radius.tolist() == [radius]
    assert proof.silence_radius.tolist() == [2 * radius]
    for m in range(2 * radius + 1):
        left = radius - (m + 1) // 2
        assert proof.survives(left, m).all()
        assert not proof.survives(left + 1, m).any()


def test_values_that_do_not_depend_on_groups_survive_as_much():
    sets, left_out = every_set(5, 2)
    proof = Agreement(2, "mean").certify_values(np.full((1, len(sets)), 3.0), left_out, 2.9, 3.1)
    assert proof.silence_radius.tolist() == [4]
    assert proof.survives(1, 2).all()


def test_designs_too_large_to_enumerate_fall_back_on_the_radius(monkeypatch):
    """Whoever is silent does no more than a liar could."""
    sets, left_out = every_set(6, 2)
    proof = Agreement(2).certify(np.zeros((1, len(sets)), int), left_out)
    _agreement.supersets.cache_clear()
    monkeypatch.setattr(_agreement, "MOST_ENTRIES", 10)
    assert proof.silence_radius.tolist() == [2]
    _agreement.supersets.cache_clear()
