"""Patches: every position, and everything that the submodels under it could say."""

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
from partita.rules import Plurality, RunOff, Tournament
from tests.exhaustive import attacker
from tests.exhaustive.test_reach import DECISIONS

SHAPE = (4, 5, 1)


def touched(partition, shape, patch):
    """The submodels under each position, pixel by pixel."""
    owner = {unit: t for t, units in enumerate(partition) for unit in units}
    return [
        {owner[(top + i) * shape[1] + left + j] for i in range(patch[0]) for j in range(patch[1])}
        for top in range(shape[0] - patch[0] + 1)
        for left in range(shape[1] - patch[1] + 1)
    ]


@pytest.mark.parametrize("patch", [(1, 1), (2, 2), (1, 3), (4, 5), (3, 1)])
def test_reach(patch):
    for partition in (
        random_partition(20, 6, 0),
        strided_partition(20, 7),
        patch_partition(SHAPE, 6),
    ):
        reach = patch_reach(partition, SHAPE, patch)
        assert [set(np.flatnonzero(row)) for row in reach] == touched(partition, SHAPE, patch)


@pytest.mark.parametrize("rule", [Plurality(), Tournament(), RunOff()], ids=repr)
@pytest.mark.parametrize("n_patches", [1, 2])
def test_every_position(rule, n_patches):
    rng = np.random.default_rng(0)
    for row in attacker.profiles(rng, 150, 3, 6):
        if len(row) < 4:
            continue
        partition = random_partition(20, len(row), int(rng.integers(100)))
        patch = [(1, 1), (1, 2), (2, 1)][rng.integers(3)]
        reach = np.array(
            [[t in under for t in range(len(row))] for under in touched(partition, SHAPE, patch)]
        )
        truth = min(
            attacker.truth(row, DECISIONS[type(rule)], reach=np.unique(reach, axis=0)), n_patches
        )
        radius = certify_patches(row[None], partition, SHAPE, patch, rule, n_patches).radius[0]
        assert radius <= truth
        if n_patches == 1 and isinstance(rule, Plurality):
            assert radius == truth


def test_what_no_patch_can_break():
    """A submodel owns a row of the image, so a patch of one row's height reaches one of five
    votes."""
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
        certify_patches(np.zeros((1, 5, 1)), partition, (5, 5), (5, 5), n_patches=3).radius[0] == 3
    )  # one class


def test_rectangles_of_an_area():
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
def test_wrong_questions_are_named(question, message):
    asked = {"image_shape": SHAPE, "patch": (1, 1)} | question
    with pytest.raises(InputError, match=message):
        certify_patches(np.zeros((1, 6, 2)), random_partition(20, 6, 0), **asked)


@pytest.mark.parametrize("area", [0, 7, 2.5])
def test_an_area_that_no_rectangle_has(area):
    with pytest.raises(InputError, match="area is"):
        certify_rectangles(np.zeros((1, 6, 2)), random_partition(20, 6, 0), SHAPE, area)
