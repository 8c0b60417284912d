"""AblatedImageClassifier: ablated rows as images, and scores that do not depend on the batch."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch
from sklearn.base import clone

from partita import InputError
from partita.baselines import RandomizedAblationClassifier
from partita.baselines._ablation import ablate
from partita.partition import pixels
from partita.vision import AblatedImageClassifier, _ablated_classifier, _runtime
from partita.vision._ablated_classifier import _logits, random_units
from tests.vision.small_networks import same

ALONE = np.arange(64)  # every pixel is a unit


def values_of(images):
    return (images / 255).astype(np.float32)


def fitted(net, images, y, keep=48, epochs=1, entropy=0):
    seed = np.random.SeedSequence(entropy)
    drawn = {"unit_of": np.arange(images.shape[1]), "keep": keep, "seed": seed}
    return net.fit_ablations(values_of(images), y, epochs=epochs, **drawn)


@pytest.fixture(scope="module")
def net(digits):
    """A network that saw a few ablated images."""
    one = AblatedImageClassifier((8, 8, 1), batch_size=32, device="cpu")
    return fitted(one, digits.X_train[:96], digits.y_train[:96])


def test_ablated_images_have_twice_the_channels_and_nothing_of_what_is_ablated():
    shown = []

    def network(images):
        shown.append(images)
        return images

    image = np.random.default_rng(0).random((1, 4, 6, 3), dtype=np.float32)
    mask = np.random.default_rng(1).random((1, 4, 6, 3)) < 0.5
    _logits(network, torch.from_numpy(image), torch.from_numpy(mask))
    rows = ablate(image.reshape(1, -1), mask.reshape(1, -1)).reshape(2, 4, 6, 3)
    expected = torch.from_numpy(np.concatenate(list(rows), axis=2)).permute(2, 0, 1)
    assert torch.equal(shown[0][0], expected)


def test_votes_and_probabilities_do_not_depend_on_how_many_images_are_predicted(net, digits):
    values, masks = values_of(digits.X_test[:5]), np.random.default_rng(0).random((9, 64)) < 0.7
    alone = [net.masked_probabilities(one[None], masks) for one in values]
    assert np.array_equal(np.concatenate(alone), net.masked_probabilities(values, masks))
    drawn = {"unit_of": ALONE, "keep": 20, "n_draws": 70, "seed": np.random.SeedSequence(3)}
    together = net.ablated_votes(values, **drawn)
    assert (together.sum(axis=1) == 70).all()
    assert np.array_equal(
        np.concatenate([net.ablated_votes(v[None], **drawn) for v in values]), together
    )


def test_votes_are_the_labels_of_the_drawn_ablations(net, digits):
    """Counted again from the probabilities under the same masks."""
    values, seed = values_of(digits.X_test[:5]), np.random.SeedSequence(5)
    masks = random_units(ALONE, 20)(300, net._generator(seed)).numpy()
    labels = net.masked_probabilities(values, masks).argmax(axis=2)
    votes = net.ablated_votes(values, unit_of=ALONE, keep=20, n_draws=300, seed=seed)
    counted = [np.bincount(own, minlength=10) for own in labels]
    assert np.array_equal(votes, counted)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_all_sets_of_kept_units_are_equally_likely(keep):
    """Trusted values stay; the values of a unit stay or go together."""
    unit_of = np.array([0, 1, 1, -1, 2, 3])
    masks = random_units(unit_of, keep)(24_000, torch.Generator().manual_seed(1)).numpy()
    assert masks[:, 3].all()
    assert np.array_equal(masks[:, 1], masks[:, 2])
    kept = masks[:, [0, 1, 4, 5]]
    assert (kept.sum(axis=1) == keep).all()
    sets, counts = np.unique(kept, axis=0, return_counts=True)
    expected = 24_000 / math.comb(4, keep)
    assert len(sets) == math.comb(4, keep)
    assert (((counts - expected) ** 2) / expected).sum() < 25


def test_an_interrupted_training_resumes_to_the_same_network(digits, tmp_path, monkeypatch):
    X, y, file = digits.X_train[:96], digits.y_train[:96], tmp_path / "network.pt"
    make = partial(AblatedImageClassifier, (8, 8, 1), "tiny", batch_size=32, device="cpu")
    whole = fitted(make(), X, y, epochs=3)
    monkeypatch.setattr(_runtime, "SECONDS", 0.0)
    run_epoch, epochs = _ablated_classifier.AblationTraining.run_epoch, []

    def interrupted(self, epoch, generator):
        epochs.append(epoch)
        if epochs == [0, 1, 2]:
            raise KeyboardInterrupt
        return run_epoch(self, epoch, generator)

    monkeypatch.setattr(_ablated_classifier.AblationTraining, "run_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted(make(checkpoint=file), X, y, epochs=3)
    resumed = fitted(make(checkpoint=file), X, y, epochs=3)
    again = fitted(make(checkpoint=file), X, y, epochs=3)  # finished: nothing is trained
    assert epochs == [0, 1, 2, 2]
    for one in (resumed, again):
        assert same(one.network_.state_dict(), whole.network_.state_dict())
    with pytest.raises(InputError, match="belongs to other images, labels, columns"):
        fitted(make(checkpoint=file), X, y, epochs=3, entropy=1)
    with pytest.raises(InputError, match="belongs to other images, labels, columns"):
        fitted(make(checkpoint=file), X, y, epochs=3, keep=47)


def test_it_learns_from_ablated_images(digits):
    net = AblatedImageClassifier(
        (8, 8, 1), "tiny", learning_rate=0.01, batch_size=32, flip=False, shift=0, device="cpu"
    )
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
            scores = clf.estimator_.masked_probabilities(values_of(attacked), kept)
            votes = scores.argmax(axis=2)
            assert (2 * (votes == label).sum(axis=1) > len(kept)).all()
            counts[rho] += 1
    assert counts[0] > 30
    assert counts[1] > 10


def test_bad_input_is_named(net, digits):
    message = r"X has shape \(5, 60\), but images of image_shape=\(8, 8, 1\) have 64 columns"
    with pytest.raises(InputError, match=message):
        net.masked_probabilities(np.zeros((5, 60)), np.zeros((1, 60), dtype=bool))
    with pytest.raises(InputError, match="y has 3 values for 5 rows"):
        RandomizedAblationClassifier(net).fit(digits.X_train[:5], [0, 1, 2])
