"""Pixel sets: each network's scores depend on its own pixels, and on nothing else in a batch."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from partita.vision._pixel_sets import PixelSets

from .small_networks import DEVICES, SETS, SHAPE, SMALL, trained


@pytest.mark.parametrize("device", DEVICES)
def test_scores_depend_on_the_submodel_s_own_pixels_alone(digits, device):
    model = trained(digits.X_train[:192], digits.y_train[:192], device=device)
    X = digits.X_test[:60]
    honest = model.scores(X)
    for t in range(7):
        attacked = X.copy()
        attacked[:, SETS[t]] = 255 - attacked[:, SETS[t]]
        changed = (model.scores(attacked) != honest).any(axis=(0, 2))
        assert changed.tolist() == [other == t for other in range(7)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_row_s_scores_do_not_depend_on_what_the_other_rows_hold(digits, device):
    model = trained(digits.X_train[:192], digits.y_train[:192], device=device)
    honest = model.scores(digits.X_test[:8])
    mixed = digits.X_test[:8].copy()
    mixed[1:] = 255 - mixed[1:]
    assert np.array_equal(model.scores(mixed)[0], honest[0])


def test_views_are_averaged(digits):
    """The image as it is and shifted by one pixel to each side, each mirrored too."""
    model = trained(digits.X_train[:192], digits.y_train[:192], replace(SMALL, views=5))
    averaged = model.scores(digits.X_test[:20])
    positions, size = model.positions, model.pixel_size
    model.config = replace(SMALL, views=1, flip=False)
    views = []
    for down, right in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
        for mirror in (1, -1):
            shift = size * torch.tensor([down, right])
            model.positions = positions * torch.tensor([1, mirror]) + shift
            views.append(model.scores(digits.X_test[:20]))
    np.testing.assert_allclose(averaged, np.mean(views, axis=0), rtol=1e-5, atol=1e-6)
    assert np.abs(averaged - views[0]).max() > 1e-3


def test_positions_matter(digits):
    """The same values elsewhere in the image are scored differently."""
    model = trained(digits.X_train[:192], digits.y_train[:192])
    scores = model.scores(digits.X_test[:60])
    model.positions = model.positions + 0.5
    assert not np.allclose(model.scores(digits.X_test[:60]), scores)


def test_a_submodel_starts_the_same_whatever_others_are_beside_it():
    all_sets = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7))).networks.state_dict()
    some = PixelSets(SETS[2:4], SHAPE, 10, SMALL, [2, 3]).networks.state_dict()
    assert all(torch.equal(some[name], all_sets[name][2:4]) for name in some)


def test_members_have_seeds_of_their_own():
    model = PixelSets(SETS[:2], SHAPE, 10, replace(SMALL, members=3), [0, 1])
    first = model.networks.weights["embed"]
    assert len(first) == 6
    assert len({tuple(own.flatten().tolist()) for own in first}) == 6
    assert model.scores(np.zeros((4, 64), dtype=np.uint8)).shape == (4, 2, 10)
