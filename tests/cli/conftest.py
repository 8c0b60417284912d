"""Tables and models for the commands' tests; commands that are tested run in their tests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from tests.selection.conftest import rare, swept_rare

from .tables import NINE, UNITS, fit_model

__all__ = ["rare", "swept_rare"]


@pytest.fixture(scope="session")
def cancer(tmp_path_factory):
    """Breast cancer in files, with ids, a units.toml and a table without the target."""
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.assign(
        id=[f"patient {k}" for k in range(len(X))], diagnosis=np.where(y, "benign", "malignant")
    )
    frame[::2].to_csv(folder / "train.csv", index=False)
    frame[1::2].to_parquet(folder / "test.parquet", index=False)
    frame[1::2].to_csv(folder / "test.csv", index=False)
    frame[1::2].drop(columns=["diagnosis", "id"]).to_parquet(
        folder / "unlabelled.parquet", index=False
    )
    (folder / "units.toml").write_text(UNITS)
    return folder


@pytest.fixture(scope="session")
def model(cancer):
    """A model of it."""
    return fit_model(cancer / "train.csv", "diagnosis", cancer / "model", 9, cancer / "units.toml")


@pytest.fixture(scope="session")
def numbers(tmp_path_factory):
    """A table with numbers to predict, and a model of it."""
    folder = tmp_path_factory.mktemp("diabetes")
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame[::2].to_parquet(folder / "train.parquet", index=False)
    frame[1::2].to_parquet(folder / "test.parquet", index=False)
    fit_model(
        folder / "train.parquet",
        "target",
        folder / "model.zip",
        5,
        estimator="ridge",
        stretch=1.2,
    )
    return folder


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """One digit in ten is a nine, and a pixel alone never says so: weak submodels all answer no."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(64)]).assign(
        **{NINE: np.where(y == 9, "yes", "no")}
    )
    frame[:900].to_csv(folder / "train.csv", index=False)
    frame[900:].to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def constant(digits):
    """A model of it that is nearly a constant."""
    return fit_model(
        digits / "train.csv",
        NINE,
        digits / "constant",
        63,
        rule="plurality",
        estimator="logistic",
        full_model=True,
    )
