"""Every method is run as the full size runs it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from partita import FeaturePartitionRegressor
from partita.certificates import Certificates, Counts
from partita.datasets import load_weather
from research.data import RunData, load_run_data
from research.measure import (
    _numeric_tables,
    correct_radii,
    machine,
    measure,
    new_ensemble,
    patch_shares,
    run_ablation,
    run_partition,
    run_smoothing,
)
from research.runs import LABEL_RULES, VALUE_RULES, Run, Setting, radius_counts
from research.submodels import boosting_regressor, linear_regressor
from research.tables import rules_beyond
from tests.datasets.made_data import weather_frames

from .smoke import smoke_run


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "details"),
    [
        (
            Setting("mnist", "partition", 8, "strided", patches=True),
            {
                "submodel": "network",
                "settings": {
                    "width": 8,
                    "blocks": 1,
                    "epochs": 1,
                    "flip": False,
                    "shift": 0,
                    "verbose": 0,
                },
            },
        ),
        (
            Setting("mnist", "partition", 1, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "partition", 3, "strided"),
            {
                "submodel": "network",
                "settings": {"network": "network_in_network", "epochs": 1, "verbose": 0},
            },
        ),
        (
            Setting("mnist", "ablation", 16),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
        (
            Setting("mnist", "smoothing", 4),
            {
                "model": "network",
                "draws": 50,
                "settings": {"network": "network_in_network", "epochs": 1},
            },
        ),
    ],
    ids=["sets of pixels", "one network", "few networks", "ablation", "smoothing"],
)
def test_networks_are_run_as_the_full_size_does(setting, details, tmp_path):
    run = Run(setting, {"stand_in": "digits", "train_rows": 60, "test_rows": 10, **details}, 0)
    found = measure(run, load_run_data(run, None), tmp_path / "unfinished")
    assert found["rows"] == {"train": 60, "test": 10}
    assert all(sum(count for _, count in radii) == 10 for radii in found["radii"].values())
    assert (
        set(found["radii"])
        == {
            "partition": {"plurality", "run-off", *rules_beyond("mnist")},
            "ablation": {"LF'20b", "Jia'22b"},
            "smoothing": set(),
        }[setting.method]
    )
    for shares in found.get("patches", {}).values():
        assert 0 <= shares["worst"] <= shares["best"] <= 100


def test_a_result_says_on_how_many_rows_and_where_it_was_found(tmp_path):
    setting = Setting("mnist", "constant")
    run = Run(setting, {"stand_in": "digits", "train_rows": 60, "test_rows": 10}, 0)
    result = measure(run, load_run_data(run, None), tmp_path)
    assert result["rows"] == {"train": 60, "test": 10}
    assert result["machine"] == machine()
    assert "cores" in machine()
    assert sum(count for _, count in result["radii"]["always"]) == 10


def proof(prediction, radius):
    return Certificates(np.asarray(prediction), np.asarray(radius), None, Counts("columns", 9))


def test_a_wrong_prediction_has_radius_minus_one():
    labels = RunData(None, np.empty(0), None, np.array([0, 1, 1]))
    assert correct_radii(proof([0, 0, 1], [3, 3, -5]), labels).tolist() == [3, -1, -1]
    values = RunData(None, np.empty(0), None, np.array([0.0, 1.0]), bounds=lambda y: (y, y))
    assert correct_radii(proof([0.0, 5.0], [2, -1]), values).tolist() == [2, -1]


def test_the_worst_and_the_best_rectangle_are_of_all_rectangles():
    data = RunData(None, np.empty(0), None, np.array([0, 0, 0, 0]))
    proofs = [proof([0, 0, 0, 1], radius) for radius in ([1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0])]
    assert patch_shares(proofs[0], proofs[1:], data) == {
        "square": 75.0,
        "worst": 25.0,
        "best": 50.0,
    }


def test_tables_become_numbers_by_the_training_rows_alone():
    train = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", None]})
    test = pd.DataFrame({"a": [np.nan, 9.0], "b": ["y", "z"]})
    X_train, X_test, low, high = _numeric_tables(RunData(train, None, test, None))
    assert X_train.tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, -1.0]]
    assert X_test.tolist() == [[2.0, 1.0], [9.0, -1.0]]
    assert (low.tolist(), high.tolist()) == ([1.0, -1.0], [3.0, 1.0])


@pytest.mark.parametrize("data", ["mnist", "weather"])
def test_ablation_has_both_conditions(data, tmp_path):
    run = smoke_run(Setting(data, "ablation", 5))
    result = run_ablation(run, load_run_data(run, None), tmp_path)
    assert set(result["radii"]) == {"LF'20b", "Jia'22b"}
    assert all(sum(count for _, count in own) == 100 for own in result["radii"].values())


def test_smoothing_is_certified_against_patches_alone(tmp_path):
    run = smoke_run(Setting("cifar10", "smoothing", 4))
    result = run_smoothing(run, load_run_data(run, None), tmp_path)
    shares = result["patches"]["columns"]
    assert result["radii"] == {}
    assert 0 <= shares["worst"] <= shares["best"] <= 100


def test_the_stretch_is_chosen_without_the_rows_to_certify(tmp_path):
    run = smoke_run(Setting("ames_raw", "partition", 5))
    data = load_run_data(run, None)
    result = run_partition(run, data, tmp_path)
    blind = replace(data, X_test=data.X_train[:20], y_test=data.y_train[:20] * 0)
    assert run_partition(run, blind, tmp_path)["chosen_stretch"] == result["chosen_stretch"]


@pytest.mark.parametrize("name", ["mnist", "weather"])
@pytest.mark.parametrize("spread", [1, 2])
def test_a_run_certifies_what_the_model_itself_does(name, spread, tmp_path):
    """Under every rule, and counting columns where sets overlap: one column may turn two."""
    run = smoke_run(Setting(name, "partition", 9, spread=spread))
    assert run.setting.spread == spread
    data = load_run_data(run, None)
    radii = run_partition(run, data, tmp_path)["radii"]
    bounds = {}
    if data.bounds is not None:
        bounds = dict(zip(("lower", "upper"), data.bounds(data.y_test), strict=True))
    for rule_name, rule in (LABEL_RULES if data.bounds is None else VALUE_RULES).items():
        model = new_ensemble(run, data, tmp_path).set_params(rule=rule)
        proof = model.fit(data.X_train, data.y_train).certify(data.X_test, **bounds)
        assert model.spread == spread
        assert radii[rule_name] == radius_counts(correct_radii(proof, data)), rule_name


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
