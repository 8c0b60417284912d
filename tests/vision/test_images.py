"""Flattened images and their pixels."""

import numpy as np
import pytest
import torch

from partita import InputError
from partita.vision._images import as_images, labelled_images, normalise, pixels_of


def test_images_are_rows_columns_channels():
    X = np.arange(24).reshape(1, 24)
    images = as_images(X, (2, 4, 3))
    assert images.shape == (1, 8, 3)
    assert images.dtype == np.uint8
    assert images[0, 5].tolist() == [15, 16, 17]
    assert np.array_equal(as_images(X.astype(float), (2, 4, 3)), images)


@pytest.mark.parametrize("value", [0.5, -1, 256, np.nan])
def test_values_that_are_not_bytes_are_refused(value):
    X = np.full((2, 4), float(value))
    with pytest.raises(InputError, match="not whole numbers from 0 to 255"):
        as_images(X, (2, 2, 1))


def test_another_shape_is_refused():
    with pytest.raises(InputError, match=r"needs \(images, 72\)"):
        as_images(np.zeros((2, 64), dtype=np.uint8), (8, 9, 1))


def test_labels_become_positions_among_the_sorted_classes():
    X = np.zeros((3, 4), dtype=np.uint8)
    _, classes, codes = labelled_images(X, ["b", "a", "b"], (2, 2, 1))
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="y has 2 labels for 3 images"):
        labelled_images(X, ["b", "a"], (2, 2, 1))


def test_normalisation_uses_fixed_numbers():
    values = torch.tensor([0, 255], dtype=torch.uint8)
    assert normalise(values).tolist() == [-127.5 / 64, 127.5 / 64]
    assert normalise(values[:1]).tolist() == [-127.5 / 64]  # whatever else is in the batch


def test_a_pixel_s_channels_stay_together():
    assert pixels_of([3, 4, 5, 0, 1, 2], (2, 2, 3)) == [0, 1]
    with pytest.raises(InputError, match="some channels of a pixel but not the others"):
        pixels_of([0, 1, 3], (2, 2, 3))
