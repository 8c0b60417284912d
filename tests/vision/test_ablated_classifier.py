"""AblatedImageClassifier: ablated rows as images, and scores that do not depend on the batch."""

from itertools import combinations

import numpy as np
import pytest
import torch
from sklearn.base import clone

from partita import InputError
from partita.baselines import RandomizedAblationClassifier
from partita.baselines._ablated_model import ablate
from partita.partition import pixels
from partita.vision import AblatedImageClassifier


@pytest.fixture(scope="module")
def net(digits):
    """A network that saw a few ablated images."""
    rows = ablate(digits.X_train[:96] / np.float32(255), np.ones((96, 64), dtype=bool))
    one = AblatedImageClassifier((8, 8, 1), batch_size=32, device="cpu")
    return one.fit(rows, digits.y_train[:96])


def test_ablated_rows_become_images_with_twice_the_channels():
    net = AblatedImageClassifier((4, 6, 3), "tiny", device="cpu")
    image = np.random.default_rng(0).random((4, 6, 3), dtype=np.float32)
    rows = ablate(image.reshape(1, -1), np.ones((1, 72), dtype=bool))
    net.partial_fit(np.repeat(rows, 4, axis=0), [0, 1, 0, 1], classes=[0, 1])
    expected = torch.from_numpy(np.concatenate([image, 1 - image], axis=2)).permute(2, 0, 1)
    assert torch.equal(net._to_device(rows)[0], expected)


def test_scores_do_not_depend_on_how_many_rows_are_predicted(net, digits):
    rows = ablate(digits.X_test[:5] / np.float32(255), np.ones((5, 64), dtype=bool))
    alone = np.concatenate([net.predict_proba(row[None]) for row in rows])
    assert np.array_equal(alone, net.predict_proba(rows))


def test_rows_ablated_on_the_device_are_the_rows_ablated_here(net, digits):
    kept = np.random.default_rng(0).random((30, 64)) < 0.7
    values = (digits.X_test[:5] / 255).astype(np.float32)
    ablated = ablate(values[:, None], kept).reshape(-1, 128)
    assert np.array_equal(net.predict_ablated(values, kept).ravel(), net.predict(ablated))


def test_it_learns_from_ablated_images(digits):
    net = AblatedImageClassifier((8, 8, 1), "tiny", learning_rate=0.01, batch_size=32, device="cpu")
    clf = RandomizedAblationClassifier(
        net,
        keep=48,
        units=pixels((8, 8, 1)),
        epochs=8,
        n_select=10,
        n_certify=10,
        alpha=0.05,
        batch_size=512,
    )
    X, y = digits.X_train[:400], digits.y_train[:400]
    assert np.mean(clf.fit(X, y).predict(digits.X_test[:80]) == digits.y_test[:80]) > 0.6
    again = clone(clf).fit(X, y)
    assert np.array_equal(again.votes(digits.X_test[:5]), clf.votes(digits.X_test[:5]))


def test_no_rewritten_pixel_changes_what_all_ablations_of_a_certified_image_say(digits):
    """16 pixels of which 2 are kept: all 120 ablations, and 30 attacks for every radius."""
    small = [image.reshape(8, 8)[::2, ::2].ravel() for image in digits.X_train[:300]]
    X, y = np.array(small), (digits.y_train[:300] > 4).astype(int)
    net = AblatedImageClassifier((4, 4, 1), "tiny", learning_rate=0.01, device="cpu")
    settings = {"n_select": 100, "n_certify": 2000, "alpha": 1e-3}
    clf = RandomizedAblationClassifier(net, keep=2, epochs=6, **settings).fit(X, y)
    kept = np.array([[k in some for k in range(16)] for some in combinations(range(16), 2)])
    rng, counts = np.random.default_rng(0), np.zeros(17, dtype=int)
    proof = clf.certify(X[:60])
    for image, label, radius in zip(X, proof.prediction, proof.radius, strict=False):
        for rho in range(radius + 1):
            attacked = np.repeat(image[None], 30, axis=0)
            for one in attacked:
                one[rng.choice(16, rho, replace=False)] = rng.choice([0, 255, rng.integers(256)])
            votes = clf.estimator_.predict_ablated((attacked / 255).astype(np.float32), kept)
            assert (2 * (votes == label).sum(axis=1) > len(kept)).all()
            counts[rho] += 1
    assert counts[0] > 30
    assert counts[1] > 10


def test_bad_input_is_named(net, digits):
    rows = np.zeros((5, 128))
    with pytest.raises(InputError, match="classes is missing"):
        clone(net).partial_fit(rows, [0] * 5)
    with pytest.raises(InputError, match="not in classes, 7"):
        clone(net).set_params(network="tiny").partial_fit(rows, [7] * 5, classes=[0, 1])
    with pytest.raises(InputError, match="y has 3 labels for 5 rows"):
        clone(net).fit(rows, [0, 1, 2])
    message = r"ablated images of image_shape=\(8, 8, 1\) have 128 columns"
    with pytest.raises(InputError, match=message):
        net.predict(digits.X_test)
