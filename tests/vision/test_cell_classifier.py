"""CellImageClassifier as the estimator of an ensemble."""

import numpy as np
import pytest
from sklearn.base import clone

from partita import FeaturePartitionClassifier, InputError, store
from partita.metrics import certified_accuracy
from partita.vision import CellImageClassifier

from .small_networks import SHAPE


def quick(**settings):
    small = {"width": 8, "epochs": 1, "batch_size": 32, "flip": False, "shift": 1}
    return CellImageClassifier(SHAPE, **{**small, "device": "cpu", "verbose": 0, **settings})


@pytest.mark.long
def test_it_learns_and_certifies(digits, tmp_path):
    clf = FeaturePartitionClassifier(
        quick(epochs=8, shift=0), n_submodels=3, partition="strided", image_shape=SHAPE
    )
    names = np.asarray(digits.classes, dtype=object)
    clf.fit(digits.X_train[:400], names[digits.y_train[:400]])
    X, truth = digits.X_test, names[digits.y_test]
    proof = clf.certify(X)
    assert certified_accuracy(truth, proof, 0) > 0.7
    assert certified_accuracy(truth, proof, 1) > 0.4
    assert proof.counts.what == "pixels"
    assert clf.estimators_[2].pixels == clf.partition_[2]
    expected = np.exp(clf.ballots(X)[:, 2])
    assert np.allclose(clf.estimators_[2].predict_proba(X), expected, atol=1e-6)
    loaded = store.load(store.save(clf, tmp_path / "model.zip"))
    assert np.array_equal(loaded.ballots(X), clf.ballots(X))
    assert loaded.estimator.get_params() == clf.estimator.get_params()


def test_an_ensemble_trained_on_attacked_pixels_differs_in_one_ballot(few, digits):
    X, y = few
    clf = FeaturePartitionClassifier(
        quick(shift=2, erase=2, flip=True), n_submodels=3, image_shape=SHAPE
    )
    honest = clf.fit(X, y).ballots(digits.X_test)
    own = list(clf.partition_[0])
    poisoned, attacked = X.copy(), digits.X_test.copy()
    poisoned[:, own] = np.random.default_rng(0).integers(0, 256, (len(X), len(own)))
    attacked[:, own] = np.random.default_rng(1).integers(0, 256, (len(attacked), len(own)))
    ballots = clone(clf).fit(poisoned, y).ballots(attacked)
    changed = (ballots != honest).any(axis=(0, 2))
    assert changed.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"image_shape": (8, 9, 1)}, r"needs \(images, 72\)"),
    ],
)
def test_bad_settings_are_refused_in_fit(settings, message, few):
    with pytest.raises(InputError, match=message):
        quick().set_params(**settings).fit(*few)


def test_a_network_over_all_pixels_learns(digits):
    net = quick(epochs=5, shift=0).fit(digits.X_train[:400], digits.y_train[:400])
    assert (net.predict(digits.X_test) == digits.y_test).mean() > 0.8
