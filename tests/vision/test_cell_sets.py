"""Networks over cells: scores depend on the submodel's own pixels, and on nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from partita.ensemble._submodels import FLOOR
from partita.vision._cell_sets import CellSets
from partita.vision._images import as_images

from .small_networks import CELLS, DEVICES, SHAPE, trained_cells
from .small_networks import MASKED_SETS as SETS


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("settings", [{}, {"members": 2, "views": 5}, {"cell": 3, "flip": False}])
def test_scores_depend_on_the_submodel_s_own_pixels_alone(few, digits, device, settings):
    model = trained_cells(*few, replace(CELLS, **settings), device=device)
    X = digits.X_test[:40]
    honest = model.scores(X)
    assert honest.shape == (40, 3, 10)
    assert honest.dtype == np.float32
    for t in range(3):
        attacked = X.copy()
        attacked[:, SETS[t]] = 255 - attacked[:, SETS[t]]
        changed = (model.scores(attacked) != honest).any(axis=(0, 2))
        assert changed.tolist() == [other == t for other in range(3)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_row_s_scores_do_not_depend_on_what_the_other_rows_hold(few, digits, device):
    model = trained_cells(*few, device=device)
    honest = model.scores(digits.X_test[:8])
    mixed = digits.X_test[:8].copy()
    mixed[1:] = 255 - mixed[1:]
    assert np.array_equal(model.scores(mixed)[0], honest[0])


def test_images_hold_the_submodel_s_pixels_and_say_which_they_are():
    shape, own = (3, 4, 2), [[0, 5, 11], [1, 2, 3, 4, 6, 7, 8, 9, 10]]
    model = CellSets(own, shape, 2, replace(CELLS, erase=0), [0, 1])
    for t, pixels in enumerate(own):
        masked = model.masked(torch.full((2, len(pixels), 2), 255, dtype=torch.uint8), t)
        assert masked.shape == (2, 3, 4, 3)
        flat = masked.flatten(1, 2)
        assert (flat[:, pixels, :2] == (255 - 127.5) / 64).all()
        assert (flat[:, pixels, 2] == 1).all()
        assert masked.count_nonzero() == 2 * len(pixels) * 3


def test_members_and_views_are_averaged_as_probabilities(few, digits):
    """Views are the image as it is, mirrored, and shifted by a pixel each way."""
    model = trained_cells(*few, replace(CELLS, members=2, views=5))
    X = digits.X_test[:20]
    images = torch.from_numpy(as_images(X, SHAPE)[:, SETS[1]])
    masked = np.pad(model.masked(images, 1).numpy(), ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    shares = []
    for down, right in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
        view = masked[:, 1 - down : 9 - down, 1 - right : 9 - right]
        for seen in (view, view[:, :, ::-1].copy()):
            for network in model.networks[2:4]:
                with torch.no_grad():
                    logits = network.eval()(model.cells([torch.from_numpy(seen)]))
                shares.append(logits[0].softmax(dim=1).numpy())
    averaged = np.exp(model.scores(X)[:, 1])
    np.testing.assert_allclose(averaged, np.mean(shares, axis=0), rtol=1e-4)
    assert np.abs(averaged - shares[0]).max() > 1e-3
    assert averaged.sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_odd_sides_are_used_to_the_last_pixel():
    shape = (5, 7, 1)
    model = CellSets([[34], list(range(34))], shape, 3, replace(CELLS, shift=1), [0, 1])
    X = np.zeros((2, 35), dtype=np.uint8)
    X[1, 34] = 255
    scores = model.scores(X)
    assert not np.array_equal(scores[0, 0], scores[1, 0])
    assert np.array_equal(scores[0, 1], scores[1, 1])


def test_a_network_that_diverged_scores_every_label_alike(few, digits):
    model = trained_cells(*few)
    honest = model.scores(digits.X_test[:20])
    with torch.no_grad():
        model.networks[1].weights["stem"].fill_(torch.nan)
    scores = model.scores(digits.X_test[:20])
    assert (scores[:, 1] == np.float32(FLOOR)).all()
    assert np.array_equal(scores[:, [0, 2]], honest[:, [0, 2]])


def test_members_have_seeds_of_their_own():
    model = CellSets(SETS[:2], SHAPE, 10, replace(CELLS, members=3), [0, 1])
    stems = {tuple(one.weights["stem"].flatten().tolist()) for one in model.networks}
    assert len(stems) == len(model.networks) == 6
