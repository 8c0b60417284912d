"""Augmentation of masked images, beside the obvious way to do it."""

import itertools

import numpy as np
import torch

from partita.vision._images import augment, moved
from partita.vision._paper_networks import recipe_for


def test_shifts_and_flips_are_padding_and_cutting():
    """Reflected at the edge, by up to two pixels each way, and flipped: all ways, and no other."""
    shape = (8, 9, 2)
    image = np.random.default_rng(0).random(shape, dtype=np.float32)
    recipe = recipe_for("resnet9", shape, shift=2, erase=0)
    padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), mode="reflect")
    ways = [
        padded[down : down + 8, right : right + 9][:, ::step]
        for down, right, step in itertools.product(range(5), range(5), (1, -1))
    ]
    copies = torch.from_numpy(image).expand(600, *shape)
    augmented = augment(copies, recipe, torch.Generator().manual_seed(0)).numpy()
    found = [[k for k, way in enumerate(ways) if np.array_equal(way, own)] for own in augmented]
    assert all(len(matches) == 1 for matches in found)
    assert {matches[0] for matches in found} == set(range(50))


def test_a_square_is_erased_anywhere():
    shape = (8, 8, 1)
    recipe = recipe_for("resnet9", shape, shift=0, flip=False, erase=3)
    augmented = augment(torch.ones(400, *shape), recipe, torch.Generator().manual_seed(0))
    erased = augmented[..., 0] == 0
    assert (erased.sum(dim=(1, 2)) == 9).all()
    assert (erased.any(dim=1).sum(dim=1) == 3).all()
    assert erased.any(dim=0).all()  # corners too


def test_without_augmentation_nothing_changes():
    image = torch.rand(3, 8, 8, 1, generator=torch.Generator().manual_seed(0))
    recipe = recipe_for("network_in_network", (8, 8, 1))
    assert torch.equal(augment(image, recipe, torch.Generator().manual_seed(0)), image)


def test_a_view_is_padding_and_cutting():
    images = torch.rand(2, 5, 6, 3, generator=torch.Generator().manual_seed(0))
    padded = np.pad(images.numpy(), ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    for down, right, mirror in itertools.product((-1, 0, 1), (-1, 0, 1), (False, True)):
        expected = padded[:, 1 - down : 6 - down, 1 - right : 7 - right]
        view = moved(images, down, right, mirror).numpy()
        assert np.array_equal(view, expected[:, :, ::-1] if mirror else expected)
