"""Patches: squares of pixels, and nothing outside them."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier
from partita.attacks._attacked_table import AttackedTable
from partita.attacks._claims import Claims
from partita.attacks._evasion import POSITIONS, Evader
from partita.datasets import load_digits


@pytest.fixture(scope="module")
def evader():
    data = load_digits()
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=9, partition="strided", image_shape=data.image_shape
    ).fit(data.X_train[:400], data.y_train[:400])
    X = data.X_test[:12]
    return Evader(Claims(model, X), AttackedTable(X), 0)


def test_a_patch_is_a_square_of_pixels(evader):
    survives, attacks = evader.patches(2)
    assert set(survives.tolist()) <= {0, 1}
    assert len(attacks) == POSITIONS
    honest = evader.table.table()
    for attack in attacks:
        for image, units in zip(attack.table != honest, attack.units, strict=True):
            rows, columns = np.divmod(units, 8)
            assert np.ptp(rows) <= 1
            assert np.ptp(columns) <= 1
            assert set(np.flatnonzero(image)) <= set(units)


def test_a_square_that_does_not_fit_is_not_tried(evader):
    assert evader.patches(9) is None
