"""Jointly trained estimators alone: one network over all pixels, as scikit-learn expects."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from partita import InputError
from partita.vision import CellImageClassifier, PixelSetClassifier

from .small_networks import SHAPE, masked


def pixel_sets():
    return PixelSetClassifier(
        SHAPE, width=8, blocks=1, heads=2, epochs=1, batch_size=64, device="cpu", verbose=0
    )


def cells():
    return CellImageClassifier(SHAPE, width=4, epochs=1, batch_size=64, device="cpu", verbose=0)


MAKE = [pixel_sets, cells, masked]


@pytest.mark.parametrize("make", MAKE, ids=["pixel sets", "cells", "masked"])
def test_alone_it_is_a_classifier(digits, make):
    y = np.asarray(digits.classes, dtype=object)[digits.y_train[:128]]
    net = clone(make()).fit(digits.X_train[:128], y)
    X = digits.X_test[:50]
    shares = net.predict_proba(X)
    assert shares.shape == (50, 10)
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-4)
    assert net.n_features_in_ == 64
    assert np.array_equal(net.predict(X), net.classes_[shares.argmax(axis=1)])
    again = clone(net).fit(digits.X_train[:128], y)
    assert np.array_equal(again.predict_proba(X), shares)
    with pytest.raises(NotFittedError):
        clone(net).predict(X)


@pytest.mark.parametrize("make", MAKE, ids=["pixel sets", "cells", "masked"])
def test_bad_images_and_labels_are_named(few, make):
    X, y = few
    with pytest.raises(InputError, match="not whole numbers from 0 to 255"):
        make().fit(X / 2, y)
    with pytest.raises(InputError, match="y has 3 labels for 64 images"):
        make().fit(X, y[:3])
    with pytest.raises(InputError, match="some channels of a pixel"):
        make().set_params(image_shape=(8, 4, 2)).fit_submodels(X, y, [[0, 1, 2]], [0])
