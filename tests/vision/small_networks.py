"""Networks that are trained in milliseconds, for several test files."""

import pytest
import torch
from torch import nn

from partita.vision import MaskedImageClassifier
from partita.vision._cell_sets import CellConfig, CellSets, train_cells
from partita.vision._images import as_images
from partita.vision._paper_networks import GhostBatchNorm
from partita.vision._pixel_sets import PixelSetConfig, PixelSets, train

SHAPE = (8, 8, 1)
SETS = [list(range(t, 64, 7)) for t in range(7)]  # of 9 and 10 pixels
SMALL = PixelSetConfig(width=8, blocks=1, heads=2, epochs=2, batch_size=64, shift=1)
MASKED_SETS = [list(range(t, 64, 3)) for t in range(3)]
CELLS = CellConfig(width=4, epochs=1, batch_size=32, shift=1, erase=2)
# where there is a GPU, submodels are shown to be isolated there too, compiled as in real training
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
    ),
]


def trained(X, y, config=SMALL, sets=SETS, device="cpu", **options):
    """Pixel-set networks, trained quietly."""
    model = PixelSets(sets, SHAPE, 10, config, list(range(len(sets))))
    return train(model, X, y, device=device, verbose=0, **options)


def weights(model, t):
    """All weights of submodel t."""
    members = model.config.members
    return {
        name: value[t * members : (t + 1) * members].clone()
        for name, value in model.networks.state_dict().items()
    }


def same(a, b):
    """Whether two dictionaries of weights are equal, bit for bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def tiny_network(channels, classes, height, width):
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3, padding=1),
        GhostBatchNorm(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(4 * height * width, classes),
    )


def masked(network="tiny", **settings):
    """A MaskedImageClassifier that is trained soon, with every augmentation."""
    quick = {
        "epochs": 1,
        "batch_size": 32,
        "learning_rate": 0.01,
        "flip": True,
        "shift": 2,
        "erase": 2,
        "device": "cpu",
        "verbose": 0,
    }
    return MaskedImageClassifier(SHAPE, network, **{**quick, **settings})


def trained_cells(X, y, config=CELLS, sets=MASKED_SETS, device="cpu", **options):
    """Networks over cells, trained quietly."""
    model = CellSets(sets, SHAPE, 10, config, list(range(10, 10 + len(sets))))
    return train_cells(model, as_images(X, SHAPE), y, device=device, verbose=0, **options)


def cell_weights(model, t):
    """All weights and statistics of submodel t."""
    members = model.config.members
    return {
        f"{member} {name}": value.clone()
        for member, network in enumerate(model.networks[t * members : (t + 1) * members])
        for name, value in network.state_dict().items()
    }
