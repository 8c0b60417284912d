"""Tables that are attacked, and audits of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from partita import FeaturePartitionClassifier
from partita.attacks import audit

from .leaky_estimators import LooksAtNeighbour, RemembersInRows, RemembersInTraining


@pytest.fixture(autouse=True)
def _forget():
    """Estimators that remember start every test without memories."""
    for kind in (RemembersInTraining, RemembersInRows, LooksAtNeighbour):
        kind.seen = kind.before = False


@pytest.fixture(scope="session")
def cancer():
    """Training rows, labels, test rows, labels; as frames."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return (
        X[::2].reset_index(drop=True),
        y[::2].to_numpy(),
        X[1::2].reset_index(drop=True),
        y[1::2].to_numpy(),
    )


@pytest.fixture(scope="session")
def arrays(cancer):
    """The same as arrays of ten columns, which take less time."""
    X, y, X_test, y_test = cancer
    return X.to_numpy()[:, 10:20], y, X_test.to_numpy()[:, 10:20], y_test


@pytest.fixture(scope="session")
def small(arrays):
    """The same with missing values."""
    X, y, X_test, y_test = arrays
    rng = np.random.default_rng(0)
    X, X_test = (np.where(rng.random(table.shape) < 0.1, np.nan, table) for table in (X, X_test))
    return X, y, X_test, y_test


def split(X, y, units, tolerance=None):
    return SimpleNamespace(
        X_train=X[::2], y_train=y[::2], X_test=X[3::4], y_test=y[3::4], units=units,
        tolerance=tolerance,
    )  # fmt: skip


@pytest.fixture(scope="session")
def tumours():
    """Labels, from ten sources of three columns."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = tuple(X.columns)
    return split(X, y.to_numpy(), {f"part {k}": names[k::10] for k in range(10)})


@pytest.fixture(scope="session")
def diabetes():
    """Values, from ten sources of a column each."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return split(X, y.to_numpy(), {name: (name,) for name in X.columns}, tolerance=60.0)


@pytest.fixture
def audited():
    """Fit and audit a model of five submodels on a few rows."""

    def run(estimator, data, **options):
        X, y, X_test, y_test = data
        settings = {"n_submodels": 5, "n_jobs": 1, **options.pop("model", {})}
        model = FeaturePartitionClassifier(estimator, **settings).fit(X, y)
        options = {"rows": 40, "most": 1, **options}
        return audit(model, X_test, y_test, X, y, **options)

    return run


@pytest.fixture
def failed():
    """The names of the failed checks of an audit."""
    return lambda found: [check.name for check in found.checks if check.problem]
