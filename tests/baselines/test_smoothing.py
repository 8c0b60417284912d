"""De-randomized smoothing: bands, patches, and an attacker who tries everything."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from partita import InputError
from partita.baselines._bands import band_pixels, certify_bands, touched_bands
from partita.baselines._smoothing import SmoothingClassifier
from partita.datasets import load_digits
from partita.metrics import certified_accuracy


@pytest.mark.parametrize(("kind", "bands"), [("column", 5), ("row", 4), ("block", 20)])
def test_bands_wrap_round(kind, bands):
    seen = band_pixels(kind, 2, (4, 5))
    assert seen.shape == (bands, 4, 5)
    assert set(seen.sum(axis=(1, 2))) == {{"column": 8, "row": 10, "block": 4}[kind]}
    assert (seen.sum(axis=0) == seen.sum() / 20).all()  # every pixel is in as many bands


@pytest.mark.parametrize("kind", ["column", "row", "block"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("patch", [(1, 1), (2, 2), (1, 3), (4, 5)])
def test_touched_bands_are_those_that_see_a_patched_pixel(kind, size, patch):
    shape = (4, 5)
    seen = band_pixels(kind, size, shape)
    expected = set()
    for row, column in product(range(shape[0] - patch[0] + 1), range(shape[1] - patch[1] + 1)):
        inside = {
            (r, c) for r in range(row, row + patch[0]) for c in range(column, column + patch[1])
        }
        expected.add(tuple(any(band[r, c] for r, c in inside) for band in seen))
    assert {tuple(line) for line in touched_bands(kind, size, shape, patch).tolist()} == expected


def winner(votes):
    return int(np.argmax(votes.sum(axis=0)))


@pytest.mark.parametrize(
    ("kind", "shape", "size", "patch"),
    [("column", (2, 5), 1, (2, 2)), ("column", (3, 4), 2, (1, 1)), ("row", (5, 2), 1, (1, 1))],
)
def test_an_attacker_who_sets_the_touched_votes_as_he_likes(kind, shape, size, patch):
    """Every position, every way to vote of the touched bands: certified exactly where none changes
    the winner."""
    draw = np.random.default_rng(0)
    bands = len(band_pixels(kind, size, shape))
    votes = draw.random((60, bands, 2)) < draw.random((60, 1, 2))
    proof = certify_bands(votes, kind, size, shape, patch)
    positions = touched_bands(kind, size, shape, patch)
    for own, prediction, radius in zip(votes, proof.prediction, proof.radius, strict=True):
        assert prediction == winner(own)
        falls = False
        for touched in positions:
            places = np.flatnonzero(touched)
            for setting in product([False, True], repeat=2 * len(places)):
                attacked = own.copy()
                attacked[places] = np.reshape(setting, (-1, 2))
                falls |= winner(attacked) != prediction
        assert radius == (not falls)
    assert 0 < proof.radius.mean() < 1


def test_ties_go_to_the_smaller_label():
    votes = np.zeros((2, 7, 3), dtype=bool)
    votes[0, :5, 1] = (
        # 5 votes for label 1; a patch of one column takes one and gives one to label 0: 4 against 1
        True
    )
    votes[1, :2, 1] = True  # 2 votes: 1 against 1, and the smaller label wins the tie
    proof = certify_bands(votes, "column", 1, (2, 7), (1, 1))
    assert proof.radius.tolist() == [1, 0]
    votes[1, :2] = False
    votes[1, :2, 0] = True  # the same votes for label 0: it wins the tie
    assert certify_bands(votes, "column", 1, (2, 7), (1, 1)).radius.tolist() == [1, 1]


def test_never_worse_than_the_usual_bound():
    draw = np.random.default_rng(1)
    for kind, bands, most in (("column", 8, 2 + 3 - 1), ("block", 64, (2 + 3 - 1) ** 2)):
        votes = draw.random((300, bands, 3)) < np.array([0.9, 0.2, 0.1])
        counts = np.sort(votes.sum(axis=1), axis=1)
        usual = counts[:, -1] - counts[:, -2] > 2 * most
        assert (certify_bands(votes, kind, 3, (8, 8), (2, 2)).radius >= usual).all()


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
    assert proof.counts.what == "patches of 1 x 2 pixels"
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
    with pytest.raises(InputError, match="one label an image"):
        clf.fit(data.X_train, data.y_train[:3])
    clf.fit(data.X_train, data.y_train)
    for patch in ((0, 1), (9, 1), 3, (1, 1, 1), (1.5, 1)):
        with pytest.raises(InputError, match="patch is"):
            clf.certify(data.X_test[:2], patch=patch)
    with pytest.raises(InputError, match="give booleans of shape"):
        certify_bands(np.zeros((2, 8, 3)), "column", 2, (8, 8), (1, 1))
