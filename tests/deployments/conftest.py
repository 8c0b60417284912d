"""Small deployments of real data."""

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from partita.deployments import Deployment


def split(X, y, units, **settings):
    return Deployment(
        "small", "A small table", "?", X[::2], y[::2], X[1::4], y[1::4], X[3::4], y[3::4], units,
        **settings,
    )  # fmt: skip


@pytest.fixture(scope="session")
def cancer():
    """Labels, from ten sources of three columns."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = tuple(X.columns)
    return split(X, y.to_numpy(), {f"part {k}": names[k::10] for k in range(10)})


@pytest.fixture(scope="session")
def diabetes():
    """Values, from ten sources of a column each."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    units = {name: (name,) for name in X.columns}
    return split(X, y.to_numpy(), units, tolerance=60.0)
