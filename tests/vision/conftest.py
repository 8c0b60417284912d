"""Fixtures of the vision tests."""

import os
import sys

import pytest
import torch

from partita.datasets import load_digits
from partita.vision import _paper_networks as recipes

from .small_networks import tiny_network

if sys.version_info < (3, 12):
    # torch.compile imports setuptools, which refuses to be imported after Python's own distutils
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Matrices this small are slower on two threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def digits():
    return load_digits()


@pytest.fixture(scope="session")
def few(digits):
    """A few images, for what does not depend on how well a network learns."""
    return digits.X_train[:64], digits.y_train[:64]


@pytest.fixture(autouse=True, scope="session")
def _tiny_recipe():
    """A network that is trained in milliseconds, beside the paper's."""
    recipes.PAPER["tiny"] = recipes.Recipe(tiny_network, False, 1, 32, 0.01, 0, 0.0, True, 2, 2)
    yield
    del recipes.PAPER["tiny"]
