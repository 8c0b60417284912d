"""PixelSetClassifier as the estimator of an ensemble."""

import numpy as np
import pytest

from partita import FeaturePartitionClassifier, InputError, pixels
from partita.metrics import certified_accuracy
from partita.vision import CellImageClassifier, PixelSetClassifier
from partita.vision._cell_sets import CellSets
from partita.vision._pixel_set_classifier import SHARED

from .small_networks import SHAPE


def quick(shape=SHAPE, **settings):
    return PixelSetClassifier(shape, **{"epochs": 1, "device": "cpu", "verbose": 0, **settings})


def test_it_learns_and_certifies(digits):
    net = quick(
        width=24, blocks=1, epochs=6, batch_size=32, learning_rate=5e-3, flip=False, shift=0
    )
    clf = FeaturePartitionClassifier(net, n_submodels=5, partition="strided", image_shape=SHAPE)
    X, y = digits.X_test, digits.y_test
    proof = clf.fit(digits.X_train[:600], digits.y_train[:600]).certify(X)
    assert certified_accuracy(y, proof, 0) > 0.7
    assert certified_accuracy(y, proof, 1) > 0.4
    assert proof.counts.what == "pixels"
    assert clf.score(X, y) == certified_accuracy(y, proof, 0)
    assert len(clf.estimators_) == 5
    assert clf.estimators_[2].pixels == clf.partition_[2]
    expected = np.exp(clf.ballots(X)[:, 2])
    assert np.allclose(clf.estimators_[2].predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"network": "resnet9"}, "network is 'resnet9': give 'sets', 'cells' or 'auto'"),
        ({"image_shape": (8, 9, 1)}, r"needs \(images, 72\)"),
    ],
)
def test_bad_settings_are_refused_in_fit(settings, message, few):
    with pytest.raises(InputError, match=message):
        quick().set_params(**settings).fit(*few)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"on_failure": "vote"}, "use 'raise'"),
        ({"label_attacks": "rows", "classes": list(range(10))}, "label_attacks"),
    ],
)
def test_what_cannot_be_promised_is_refused(settings, message, few):
    clf = FeaturePartitionClassifier(quick(), n_submodels=3, image_shape=SHAPE, **settings)
    with pytest.raises(InputError, match=message):
        clf.fit(*few)


def test_sample_weight_is_refused(few):
    clf = FeaturePartitionClassifier(quick(), n_submodels=3, image_shape=SHAPE)
    with pytest.raises(InputError, match="sample_weight cannot reach"):
        clf.fit(*few, sample_weight=np.ones(64))


def test_parts_of_pixels_are_refused():
    X, y = np.zeros((20, 12), dtype=np.uint8), np.arange(20) % 2
    net = quick((2, 2, 3))
    with pytest.raises(InputError, match="some channels of a pixel"):
        FeaturePartitionClassifier(net, n_submodels=3).fit(X, y)
    clf = FeaturePartitionClassifier(net, n_submodels=3, units=pixels((2, 2, 3))).fit(X, y)
    assert clf.certify(X).counts.total == 4


@pytest.mark.parametrize(
    ("network", "submodels", "cells"),
    [("sets", 2, False), ("cells", 7, True), ("auto", 3, True), ("auto", 4, False)],
)
def test_networks_over_cells_are_chosen_by_pixels_per_submodel(few, network, submodels, cells):
    """64 pixels are 21 for each of three submodels and 16 for each of four."""
    heads = 3 if cells else 2  # networks over cells have no heads
    net = quick(width=8, blocks=1, heads=heads, batch_size=32, network=network)
    columns = [list(range(t, 64, submodels)) for t in range(submodels)]
    fitted = net.fit_submodels(*few, columns, list(range(submodels)))
    assert isinstance(fitted.model, CellSets) == cells
    assert fitted.scores(few[0]).shape == (64, submodels, 10)


def test_networks_over_cells_are_those_of_cell_image_classifier(few, tmp_path):
    net = quick(
        width=4,
        members=2,
        epochs=2,
        batch_size=16,
        flip=False,
        shift=1,
        views=5,
        network="cells",
        checkpoint=tmp_path,
    )
    same = CellImageClassifier(**{name: getattr(net, name) for name in SHARED})
    same.checkpoint = None
    expected = same.fit_submodels(*few, [list(range(64))], [3]).scores(few[0])
    scores = net.fit_submodels(*few, [list(range(64))], [3]).scores(few[0])
    assert np.array_equal(scores, expected)
    assert len(list(tmp_path.iterdir())) == 2
