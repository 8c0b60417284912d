"""Patches: which submodels they touch, rectangles, and what is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
    Partition,
    certify_patches,
    certify_rectangles,
)
from partita.partition._partition import patch_partition, random_partition, strided_partition
from partita.patches import patch_reach
from tests.exhaustive.cases import pixels_under

SHAPE = (4, 5, 1)


@pytest.mark.parametrize("patch", [(1, 1), (2, 2), (1, 3), (4, 5), (3, 1)])
def test_a_patch_touches_the_submodels_of_its_pixels(patch):
    for partition in (
        random_partition(20, 6, 0),
        strided_partition(20, 7),
        patch_partition(SHAPE, 6),
    ):
        reach = patch_reach(partition, SHAPE, patch)
        assert [set(np.flatnonzero(row)) for row in reach] == pixels_under(partition, SHAPE, patch)


def test_what_no_patch_can_break():
    """A submodel owns a row of the image: a patch one row high reaches one of five votes."""
    partition = Partition([[5 * t + k for k in range(5)] for t in range(5)])
    ballots = np.tile([1.0, 0.0], (1, 5, 1))
    assert (
        certify_patches(ballots, partition, (5, 5), (1, 5), "plurality", n_patches=2).radius[0] == 2
    )
    assert (
        certify_patches(ballots, partition, (5, 5), (2, 5), "plurality", n_patches=2).radius[0] == 1
    )
    assert certify_patches(ballots, partition, (5, 5), (3, 1), "plurality").radius[0] == 0
    two = np.tile([1.0, 0.0], (1, 2, 1))
    assert (
        certify_patches(
            two, Partition([[0], [1]]), (1, 2), (1, 1), "plurality", n_patches=2
        ).radius[0]
        == 1
    )
    assert (
        certify_patches(
            np.zeros((1, 5, 1)), partition, (5, 5), (5, 5), "plurality", n_patches=3
        ).radius[0]
        == 3
    )  # one class


def test_patches_say_nothing_of_silence():
    """One liar and one silent submodel bring about label 0; no patch alone does."""
    pixels = Partition([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    proof = certify_patches(np.eye(2)[[[1, 1, 1]]], pixels, (3, 3), (1, 3), "plurality")
    assert proof.survives(1).tolist() == [True]
    assert proof.silence_radius is None
    for silent in (1, 2, 3):
        with pytest.raises(InputError, match="count patches of 1 x 3 pixels, and nothing is prov"):
            proof.survives(1, silent)
    assert proof.survival().tolist() == [[1], [1]]


def test_rectangles_of_an_area_are_certified_one_by_one():
    digits, y = load_digits(return_X_y=True)
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=0.1), n_submodels=16, partition="patch", image_shape=(8, 8, 1)
    )
    ballots = clf.fit(digits[:900], y[:900]).ballots(digits[900:])
    proofs = certify_rectangles(ballots, clf.partition_, (8, 8), area=4)
    assert set(proofs) == {(1, 4), (2, 2), (4, 1)}
    for shape, proof in proofs.items():
        assert np.array_equal(
            proof.radius, certify_patches(ballots, clf.partition_, (8, 8), shape).radius
        )
        assert 0 < proof.radius.mean() < 1
        assert proof.counts.what == f"patches of {shape[0]} x {shape[1]} pixels"
        assert proof.counts.trusted == ("other places of the training images",)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"patch": (5, 1)}, "patch is 5 x 1, larger than the image of 4 x 5"),
        ({"patch": (0, 1)}, "patch is"),
        ({"patch": 3}, "patch is 3: give"),
        ({"image_shape": (4, 4, 1)}, "partition is of 20 units, but the image has 4 x 4 pixels"),
        ({"n_patches": 0}, "n_patches is 0"),
        ({"rule": "majority"}, "rule is 'majority'"),
    ],
)
def test_wrong_arguments_are_named(question, message):
    arguments = {"image_shape": SHAPE, "patch": (1, 1)} | question
    with pytest.raises(InputError, match=message):
        certify_patches(np.zeros((1, 6, 2)), random_partition(20, 6, 0), **arguments)


def test_a_list_is_not_a_partition():
    with pytest.raises(InputError, match="give a Partition"):
        certify_patches(np.zeros((1, 2, 2)), [[0], [1]], (1, 2), (1, 1))


@pytest.mark.parametrize("area", [0, 7, 2.5])
def test_an_area_that_no_rectangle_has(area):
    with pytest.raises(InputError, match="area is"):
        certify_rectangles(np.zeros((1, 6, 2)), random_partition(20, 6, 0), SHAPE, area)
