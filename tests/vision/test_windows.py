"""Windows: every patch lies inside the window of its position."""

from itertools import product

import numpy as np
import pytest

from partita import InputError
from partita.vision._windows import check_patches, choose_grid, left_out_sets


def grid_of(shape, patch, windows, n_patches=1):
    return choose_grid(shape, check_patches(patch, shape), windows, n_patches)


@pytest.mark.parametrize(
    ("windows", "grid", "window"),
    [(49, (7, 7), (8, 8)), (25, (5, 5), (10, 10)), (9, (3, 3), (14, 14))],
)
def test_squares_on_cifar10(windows, grid, window):
    chosen = grid_of((32, 32, 3), (5, 5), windows)
    assert (chosen.shape, chosen.window, len(chosen)) == (grid, window, windows)


@pytest.mark.parametrize(
    ("shape", "patches", "windows"),
    [
        ((8, 8), (3, 3), 4),
        ((8, 8), (3, 3), 6),
        ((7, 12), (2, 4), 9),
        ((12, 7), (5, 1), 16),
        ((6, 9), [(1, 4), (3, 2)], 10),
        ((5, 5), [(5, 1), (1, 5), (2, 2)], 3),
        ((5, 6), (1, 1), 100),
    ],
)
def test_a_patch_is_inside_the_window_of_its_position_and_of_no_smaller_grid(
    shape, patches, windows
):
    shapes = check_patches(patches, shape)
    if shapes[0] == (5, 1) and len(shapes) == 3:
        with pytest.raises(InputError, match=r"grid of 1 x 1 .* needs at least 3 windows"):
            choose_grid(shape, shapes, windows, 1)
        return
    grid = choose_grid(shape, shapes, windows, 1)
    masks = grid.masks().reshape(-1, *shape)
    assert 3 <= len(grid) == len(masks) <= windows
    needed = np.zeros_like(masks)
    for tall, wide in shapes:
        for top, left in product(range(shape[0] - tall + 1), range(shape[1] - wide + 1)):
            window = grid.window_of(top, left)
            assert masks[window, top : top + tall, left : left + wide].all()
            needed[window, top : top + tall, left : left + wide] = True
    if len(shapes) == 1:
        assert np.array_equal(masks, needed)
    assert (masks.any(axis=2).sum(axis=1).max(), masks.any(axis=1).sum(axis=1).max()) == grid.window


def test_windows_are_as_small_as_their_number_allows():
    assert grid_of((32, 32), (5, 5), 14).shape == (4, 3)
    assert grid_of((32, 32), (5, 5), 48).shape == (7, 6)
    assert grid_of((8, 20), (2, 2), 12).shape == (2, 5)


def test_models_leave_out_every_set_once():
    found = [np.flatnonzero(one).tolist() for one in left_out_sets(4, 2)]
    assert found == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert left_out_sets(6, 4).shape == (15, 6)
    assert (left_out_sets(6, 4).sum(axis=1) == 4).all()


@pytest.mark.parametrize(
    ("patch", "windows", "n_patches", "message"),
    [
        ((5, 5), 0, 1, "windows is 0: it must be a whole number"),
        ((5, 5), 2.5, 1, "windows is 2.5: it must be a whole number"),
        ((5, 5), 4, 2, "windows is 4, .* needs at least 5 windows: give more"),
        ((1, 1), 1024, 2, "give fewer windows"),
        ((5,), 9, 1, r"patches holds \(5,\): give \(height, width\)"),
        ((0, 5), 9, 1, r"patches holds \(0, 5\): give \(height, width\)"),
        ((33, 5), 9, 1, "patches holds 33 x 5, larger than the image of 32 x 32"),
        ([], 9, 1, r"patches is \[\]: give \(height, width\)"),
        ("ab", 9, 1, "patches is 'ab': give"),
        ([(5, 5), 3], 9, 1, "patches holds 3: give"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(patch, windows, n_patches, message):
    with pytest.raises(InputError, match=message):
        grid_of((32, 32), patch, windows, n_patches)
