"""Poisoning: attacks on training rewrite the chosen units alone."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._claims import Claims
from partita.attacks._poisoning import Poisoner


def poisoner(arrays, **settings):
    X, y, X_test, _ = arrays
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, **settings).fit(X, y)
    claims = Claims(model, X_test[:20])
    return Poisoner(claims, AttackedTable(X_test[:20]), AttackedTable(X), y, 0)


@pytest.mark.parametrize("r", [1, 2])
def test_poison_is_written_into_r_units_of_training_and_rows(arrays, r):
    attacker = poisoner(arrays)
    poisons = list(attacker.attacks(r, hostile=True))
    assert {"backdoor", "poisoning: noise", "poisoning: missing values"} <= {
        poison.kind for poison in poisons
    }
    for poison in poisons:
        assert len(poison.units[0]) == r
        owned = attacker.claims.columns_of(poison.units[0])
        for table, honest in ((poison.training, arrays[0]), (poison.table, arrays[2][:20])):
            changed = (table != honest).any(axis=0)
            assert set(np.flatnonzero(changed)) <= set(owned), poison.kind
        assert np.array_equal(poison.y, arrays[1])


def test_a_backdoor_turns_the_submodels_it_owns(arrays):
    attacker = poisoner(arrays)
    poison = next(one for one in attacker.attacks(1, hostile=False) if one.kind == "backdoor")
    model = clone(attacker.claims.model).fit(poison.training, poison.y)
    goal = attacker.claims.goals.of_rows(attacker.claims.ballots)[0]
    owned = np.asarray(model.partition_.incidence())[poison.units[0]].any(axis=0)
    votes = model.ballots(poison.table).scores.argmax(axis=2)
    assert (votes[:, owned] == goal[:, None]).mean() > 0.8


def test_labels_are_flipped_where_they_are_covered(arrays):
    attacker = poisoner(arrays, label_attacks="rows", classes=[0, 1])
    poisons = {poison.kind: poison for poison in attacker.attacks(2, hostile=False)}
    flips = poisons["label flips"]
    assert len(flips.labels) == (flips.y != arrays[1]).sum() == 2
    both = poisons["backdoor and label flips"]
    assert len(both.units[0]) + len(both.labels) == 2
