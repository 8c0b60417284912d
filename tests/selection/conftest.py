"""Tables for the searches' tests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from partita.selection import Grid, Trial
from partita.selection._choose import choose_table
from partita.workflow._training_table import open_training

from .sweeps import NAIVE


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.parquet"
    pd.DataFrame(X[:500], columns=[f"p{k}" for k in range(64)]).assign(digit=y[:500]).to_parquet(
        path, index=False
    )
    return path


@pytest.fixture(scope="session")
def rare(tmp_path_factory):
    """One label of ten percent, and 15 columns of which each says a little about it.

    Weak submodels all answer with the other label.
    """
    rng = np.random.default_rng(0)
    label = rng.random(1200) < 0.1
    frame = pd.DataFrame({f"c{k}": rng.normal(size=1200) + 1.2 * label for k in range(15)})
    frame["label"] = np.where(label, "yes", "no")
    folder = tmp_path_factory.mktemp("rare")
    frame[:800].to_csv(folder / "rare.csv", index=False)
    frame[800:].to_csv(folder / "later.csv", index=False)
    return folder / "rare.csv"


@pytest.fixture(scope="session")
def swept_rare(rare):
    """A sweep of it; tests must not change it."""
    return choose_table(
        open_training(rare, "label"), Grid(submodels=(1, 3, 15)), Trial(estimator=NAIVE)
    )
