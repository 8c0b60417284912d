"""Networks over cells: cells as they should be, and networks side by side that never meet."""

import math

import numpy as np
import pytest
import torch

from partita.vision._cell_sets import CellNetworks, fold, weight_shapes, weights_per_network

INPUTS, CLASSES, WIDTH = 8, 3, 4


def networks(seeds, blocks=1):
    return CellNetworks(seeds, INPUTS, CLASSES, WIDTH, blocks)


@pytest.mark.parametrize(("height", "width", "cell"), [(4, 6, 2), (5, 3, 2), (7, 7, 3), (3, 2, 1)])
def test_a_cell_s_pixels_become_channels(height, width, cell):
    """Beside a loop over pixels; odd sides are filled up with zeros."""
    images = torch.rand(2, height, width, 2, generator=torch.Generator().manual_seed(0))
    folded = fold(images, cell)
    expected = np.zeros((2, 2, cell, cell, math.ceil(height / cell), math.ceil(width / cell)))
    for row in range(height):
        for column in range(width):
            expected[:, :, row % cell, column % cell, row // cell, column // cell] = images[
                :, row, column
            ]
    assert np.array_equal(folded.numpy(), expected.reshape(folded.shape).astype(np.float32))


@pytest.mark.parametrize("blocks", [1, 2])
def test_side_by_side_is_one_after_the_other(blocks):
    """In training, so with the statistics of the batch, and afterwards with those it has seen."""
    x = torch.randn(6, 2 * INPUTS, 4, 5, generator=torch.Generator().manual_seed(0))
    both = networks([5, 6], blocks)
    single = [networks([5], blocks), networks([6], blocks)]
    for mode in (True, False):
        scores = both.train(mode)(x)
        assert scores.shape == (2, 6, CLASSES)
        for k, one in enumerate(single):
            own = one.train(mode)(x[:, k * INPUTS : (k + 1) * INPUTS])
            torch.testing.assert_close(scores[k], own[0])


@pytest.mark.parametrize("value", [1e4, torch.inf, torch.nan])
def test_another_network_s_input_changes_no_bit(value):
    x = torch.randn(6, 2 * INPUTS, 4, 4, generator=torch.Generator().manual_seed(0))
    attacked = x.clone()
    attacked[:, INPUTS:] = value
    results = []
    for given in (x, attacked):
        both = networks([5, 6])
        scores = both(given)
        scores[0].square().sum().backward()
        results.append(
            [scores[0].detach(), both.weights["stem"].grad[:WIDTH], both.mean_stem[:WIDTH]]
        )
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_a_network_starts_the_same_whatever_is_beside_it():
    alone, beside = networks([6]).state_dict(), networks([5, 6]).state_dict()
    assert all(torch.equal(alone[name], beside[name].chunk(2)[1]) for name in alone)


def test_shapes_are_those_of_the_weights():
    built = {name: tuple(value.shape) for name, value in networks([0], 2).weights.items()}
    assert weight_shapes(INPUTS, CLASSES, WIDTH, 2) == built
    assert built["second_2_1"] == (16, 16, 3, 3)
    assert built["head"] == (16, 3)
    size = sum(map(math.prod, built.values()))
    assert weights_per_network(INPUTS, CLASSES, WIDTH, 2) == size


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 5)])
def test_small_images_are_not_pooled_away(shape):
    assert networks([0])(torch.zeros(2, INPUTS, *shape)).shape == (1, 2, CLASSES)
