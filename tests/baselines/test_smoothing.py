"""SmoothingClassifier: real images under real patches."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from partita import InputError
from partita.baselines import SmoothingClassifier
from partita.datasets import load_digits
from partita.metrics import certified_accuracy


def test_a_patched_image_keeps_its_certified_label():
    """Real images, real patches: random and one-coloured, at every position."""
    data = load_digits()
    clf = SmoothingClassifier(data.image_shape, size=2, epochs=15).fit(data.X_train, data.y_train)
    images, y = data.X_test[:40], data.y_test[:40]
    proof = clf.certify(images, patch=(6, 1))
    assert certified_accuracy(data.y_test, clf.certify(data.X_test, patch=(6, 1)), 0) > 0.7
    assert 0.05 < proof.radius.mean() < 1
    assert (clf.predict(images) == proof.prediction).all()
    draw = np.random.default_rng(0)
    changed = 0
    for row, column in product(range(3), range(8)):
        attacked = images.reshape(-1, 8, 8).copy()
        attacked[:, row : row + 6, column : column + 1] = draw.choice(
            [0, 255], size=(len(images), 6, 1)
        )
        fell = clf.predict(attacked.reshape(-1, 64)) != proof.prediction
        changed += fell.sum()
        assert not (fell & (proof.radius == 1)).any()
    assert changed > 0
    assert certified_accuracy(y, proof, 1) <= certified_accuracy(y, proof, 0)


@pytest.mark.parametrize("kind", ["row", "block"])
def test_other_bands_and_estimators(kind):
    data = load_digits()
    clf = SmoothingClassifier(
        data.image_shape, kind, 4, 0.25, SGDClassifier(loss="log_loss"), epochs=3
    ).fit(data.X_train, data.y_train)
    proof = clf.certify(data.X_test[:50], patch=(1, 2))
    assert str(proof.counts) == (
        "patches of 1 x 2 pixels (1 in all, out of reach: the training images)"
    )
    assert certified_accuracy(data.y_test[:50], proof, 0) > 0.3
    again = SmoothingClassifier(
        data.image_shape, kind, 4, 0.25, SGDClassifier(loss="log_loss"), epochs=3
    ).fit(data.X_train, data.y_train)
    assert np.array_equal(again.votes(data.X_test[:50]), clf.votes(data.X_test[:50]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "ring"}, "kind is 'ring'"),
        ({"size": 0}, "size is 0: a column of these images has 1 to 8 pixels"),
        ({"size": 9}, "size is 9"),
        ({"threshold": 0}, "threshold is 0"),
        ({"image_shape": (8, 9, 1)}, "needs 72 columns"),
    ],
)
def test_bad_settings(settings, message):
    data = load_digits()
    clf = SmoothingClassifier(**{"image_shape": data.image_shape, "epochs": 1, **settings})
    with pytest.raises(InputError, match=message):
        clf.fit(data.X_train, data.y_train)


def test_bad_input():
    data = load_digits()
    clf = SmoothingClassifier(data.image_shape, epochs=1)
    with pytest.raises(InputError, match="holds float64"):
        clf.fit(data.X_train / 1.0, data.y_train)
    with pytest.raises(InputError, match="one label per image"):
        clf.fit(data.X_train, data.y_train[:3])
    clf.fit(data.X_train, data.y_train)
    for patch in ((0, 1), (9, 1), 3, (1, 1, 1), (1.5, 1)):
        with pytest.raises(InputError, match="patch is"):
            clf.certify(data.X_test[:2], patch=patch)
