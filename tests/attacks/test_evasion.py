"""Evasion: plans that keep to r units of a row, and rewrite nothing else."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._claims import Claims
from partita.attacks._evasion import RANDOM_ATTACKS, Evader


@pytest.fixture(scope="module")
def evader(arrays):
    X, y, X_test, _ = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    return Evader(Claims(model, X_test[:25]), AttackedTable(X_test[:25]), 0)


@pytest.mark.parametrize("r", [1, 2])
def test_an_attack_rewrites_at_most_r_units_of_a_row(evader, r, arrays):
    honest = arrays[2][:25]
    attacks = list(evader.attacks(r))
    assert len(attacks) > RANDOM_ATTACKS
    for attack in attacks:
        same = (attack.table == honest) | (np.isnan(attack.table) & np.isnan(honest))
        for row, units in enumerate(attack.units):
            assert len(units) <= r
            owned = [c for unit in units for c in evader.claims.model.units_.columns[unit]]
            assert set(np.flatnonzero(~same[row])) <= set(owned)


def test_the_strongest_attack_breaks_more_than_a_random_one(evader):
    broken = [
        evader.claims.broken(evader.claims.model.predict(attack.table)).sum()
        for attack in list(evader.attacks(2))[: 1 + RANDOM_ATTACKS]
    ]
    assert broken[0] == max(broken) > 0


def test_plans_use_each_submodel_once(evader):
    for plan in evader.plans:
        touched = evader.reach[[unit for unit, _ in plan]].sum(axis=0)
        assert (touched <= 1).all()


def test_an_option_s_ballots_are_what_the_model_says(evader):
    """The plans rely on them."""
    for unit in (0, 7):
        for option in evader.options[unit][:6]:
            ballots = evader.claims.model.ballots(evader.table.table(option.changes))
            assert np.array_equal(ballots[:, evader.reach[unit]], option.ballots)
