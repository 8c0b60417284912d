"""Models, and one server for many tests."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    store,
)

from .client import CANCER, DIABETES, LARGEST, PROGRESSION, TOKEN, TUMOUR, server


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="session")
def classifier():
    """Its submodels cannot take gaps, and cast a fixed vote instead."""
    submodel = make_pipeline(StandardScaler(), LogisticRegression())
    sizes = {"size": ["mean radius", "mean area"]}
    return FeaturePartitionClassifier(
        submodel, n_submodels=11, units=sizes, trusted=["mean texture"], on_failure="vote"
    ).fit(CANCER, np.where(TUMOUR == 1, "benign", "malignant"))


@pytest.fixture(scope="session")
def regressor():
    return FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(DIABETES, PROGRESSION)


@pytest.fixture(scope="session")
def labels(classifier, folder):
    model = store.save(classifier, folder / "cancer")
    with server(
        model, folder / "labels.log", token=TOKEN, max_bytes=LARGEST, max_rows=600
    ) as running:
        running[0].headers["Authorization"] = f"Bearer {TOKEN}"
        yield running
