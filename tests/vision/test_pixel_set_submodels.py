"""Jointly trained submodels, one by one."""

import numpy as np
import pytest

from partita.vision._pixel_sets import PixelSetSubmodels

from .small_networks import SETS, trained


def test_each_entry_is_one_submodel(digits):
    classes = np.array([f"digit {k}" for k in range(10)])
    submodels = PixelSetSubmodels(trained(digits.X_train[:64], digits.y_train[:64]), classes)
    X = digits.X_test[:20]
    scores = submodels.scores(X)
    assert len(submodels) == 7
    assert submodels[-1].pixels == tuple(SETS[6])
    with pytest.raises(IndexError):
        submodels[7]
    for t, one in enumerate(submodels):
        assert np.array_equal(one.predict_proba(X), np.exp(scores[:, t]))
        assert np.array_equal(one.predict(X), classes[scores[:, t].argmax(axis=1)])
    assert repr(submodels[0]) == "PixelSetSubmodel(0 of 7, 10 pixels)"
