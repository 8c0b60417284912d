"""``stress`` attacks models of other libraries as they are."""

import numpy as np
import pandas as pd
import pytest

from partita import stress

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 3)), columns=list("abc"))
X["kind"] = pd.Categorical(RNG.choice(["x", "y"], 200))
Y = ((X["a"] + 0.2 * X["b"]) > 0).to_numpy().astype(int)


def first(model, **more):
    found = stress(model, X[100:], Y[100:], rows=40, radius=2, seconds=600, **more)
    assert found.shares[0] > 0.8 > 0.3 > found.shares[1]
    return found.sources[0]["source"]


def test_xgboost():
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True, n_jobs=1)
    model.fit(X[:100], Y[:100])
    assert first(model, X_train=X[:100], y_train=Y[:100], compare=False) == "a"


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=10, num_leaves=4, n_jobs=1, verbose=-1)
    assert first(model.fit(X[:100], Y[:100])) == "a"


def test_catboost():
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=10, cat_features=["kind"], verbose=0, thread_count=1, allow_writing_files=False
    )
    assert first(model.fit(X[:100], Y[:100])) == "a"


def test_a_torch_module_behind_a_function():
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(2, 2)
    with torch.no_grad():
        module.weight[:] = torch.tensor([[-1.0, -0.2], [1.0, 0.2]])
        module.bias[:] = 0

    def predict(rows):
        with torch.no_grad():
            numbers = torch.tensor(rows[["a", "b"]].to_numpy(), dtype=torch.float32)
            return module(numbers).argmax(dim=1).numpy()

    assert first(predict) == "a"
