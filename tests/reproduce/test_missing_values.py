"""Weather has missing values, and every model that reproduces the paper learns from it."""

import numpy as np
import pytest

from partita import FeaturePartitionRegressor
from partita.datasets import load_weather
from partita.reproduce._baseline_runs import _numeric_tables
from partita.reproduce._data import RunData
from partita.reproduce._submodels import boosting_regressor, linear_regressor
from tests.datasets.made_data import weather_frames


@pytest.fixture(scope="module")
def weather(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weather")
    for part, frame in weather_frames().items():
        frame.to_csv(folder / f"{part}.csv", index=False)
    data = load_weather(folder)
    return RunData(data.X_train, data.y_train, data.X_test, data.y_test, bounds=data.bounds)


@pytest.mark.parametrize(
    ("submodel", "settings"),
    [(boosting_regressor, {"n_estimators": 3}), (linear_regressor, {"alpha": 0.1})],
)
def test_submodels_learn_from_missing_values(submodel, settings, weather):
    pytest.importorskip("lightgbm")
    model = FeaturePartitionRegressor(submodel(settings), n_submodels=5)
    model.fit(weather.X_train, weather.y_train)
    assert np.isfinite(model.predict(weather.X_test)).all()


def test_what_ablation_learns_from_has_none(weather):
    assert all(np.isfinite(part).all() for part in _numeric_tables(weather))
