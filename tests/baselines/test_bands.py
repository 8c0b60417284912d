"""Bands and patches, against an attacker who sets every touched vote."""

from itertools import product

import numpy as np
import pytest

from partita import InputError
from partita.baselines._smoothing import band_pixels, certify_bands, touched_bands


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
def test_certificates_are_exact_for_votes_that_an_attacker_may_set(kind, shape, size, patch):
    """Every position, every vote of the touched bands: certified iff none changes the winner."""
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


def test_votes_of_another_kind_are_refused():
    with pytest.raises(InputError, match="give booleans of shape"):
        certify_bands(np.zeros((2, 8, 3)), "column", 2, (8, 8), (1, 1))
