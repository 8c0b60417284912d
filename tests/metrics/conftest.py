"""Certificates written down by hand."""

import numpy as np
import pytest

from partita.certificates import Certificates, Counts


@pytest.fixture(scope="session")
def proof_of():
    """Certificates with these predictions and radii."""

    def make(prediction, radius):
        prediction = np.array(prediction)
        return Certificates(prediction, np.array(radius), prediction, Counts("columns", 9))

    return make


@pytest.fixture(scope="session")
def five(proof_of):
    """Five rows and their true labels; the third is wrong."""
    return [0, 1, 0, 0, 2], proof_of([0, 1, 1, 0, 2], [3, 0, 2, 5, 1])
