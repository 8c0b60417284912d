"""A sweep is resumed only with the same settings, and a damaged sweep.json is refused."""

import json

import pandas as pd
import pytest

from partita import (
    FeaturePartitionClassifier,
    InputError,
)
from partita.selection import sweep
from partita.selection._recommend import (
    Score,
)
from partita.selection._sweep_file import read_sweep, sweep_file
from partita.selection._sweep_grid import Grid, Trial
from partita.workflow._training_table import open_training

from .sweeps import CONSTANT, NAIVE, setting

BALANCED, ACCURACY = Score("balanced"), Score("accuracy")


def test_an_interrupted_sweep_resumes(rare, tmp_path, capsys, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3, 5), rules=("plurality",))
    out, trial = tmp_path / "s", Trial(estimator=NAIVE)
    fits = []
    fit = FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(self.n_submodels)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    with pytest.raises(KeyboardInterrupt):
        sweep_file(training, grid, out, trial)
    assert [path.name.split("-")[1] for path in out.iterdir()] == ["0003"]
    found = sweep_file(training, grid, out, trial)
    assert fits == [3, 5, 5]  # the first was not done again
    assert sorted(path.name for path in out.iterdir()) == ["sweep.json", "sweep.png"]
    assert (out / "sweep.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads((out / "sweep.json").read_text()) == json.loads(json.dumps(found))
    assert read_sweep(out) == read_sweep(out / "sweep.json")
    assert read_sweep(out)["settings"] == found["settings"]
    assert (read_sweep(out)["best"], read_sweep(out)["constant"]) == (
        found["best"],
        found["constant"],
    )
    assert read_sweep(out)["score"] == BALANCED


@pytest.mark.long
@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"holdout": 0.3}, {"last": 0.25}, {"group": "c1"}, {"holdout": "file"}]
)
def test_a_sweep_with_other_settings_does_not_resume(other, rare, tmp_path, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3, 5), rules=("plurality",))
    if other == {"holdout": "file"}:
        pd.read_csv(rare)[:100].to_parquet(tmp_path / "h.parquet", index=False)
        other = {"holdout": tmp_path / "h.parquet"}
    fresh = sweep(training, grid, Trial(NAIVE, **other))["settings"]
    with monkeypatch.context() as patch:
        patch.setattr(
            "partita.selection._sweep_file.plot_sweep",
            lambda found: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            sweep_file(training, grid, tmp_path / "s", Trial(NAIVE))
    assert len(list((tmp_path / "s").iterdir())) == 2  # both numbers of submodels are kept
    assert sweep_file(training, grid, tmp_path / "s", Trial(NAIVE, **other))["settings"] == fresh


def test_another_score_does_not_fit_again(rare, tmp_path, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3,), rules=("plurality",))
    with monkeypatch.context() as patch:
        patch.setattr(
            "partita.selection._sweep_file.plot_sweep",
            lambda found: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            sweep_file(training, grid, tmp_path / "s", Trial(NAIVE))
    monkeypatch.setattr(FeaturePartitionClassifier, "fit", None)
    found = sweep_file(training, grid, tmp_path / "s", Trial(NAIVE, score="recall:yes"))
    assert found["best"][0]["score"] == found["settings"][0]["recall"]["yes"][0]


def test_an_infinite_number_of_rows_is_refused(tmp_path):
    (tmp_path / "sweep.json").write_text(
        '{"held_out": 1e999, "target": "y", "settings": [{"submodels": 3, "options": {}, "curve": '
        "[1]}]}"
    )
    with pytest.raises(InputError, match=r"is not a sweep.json of partita sweep: OverflowError"):
        read_sweep(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"settings": []},
        {"score": "best"},
        {"score": "recall:yes"},  # no setting has it
        {"constant": {"answer": 1}},
        {"constant": {"answer": 1, "accuracy": 7, "balanced": None}},
        {"settings": [setting(3, [0.5, 0.6])]},
        {"settings": [setting(3, [0.5], [0.1, 0.2])]},
        {"settings": [setting(3, [0.5], [0.2], recall={"a": [2]})]},
        {"settings": [setting("3", [0.5])]},
        {"settings": [[1]]},
    ],
)
def test_a_damaged_sweep_json_is_refused(wrong, tmp_path):
    good = {
        "held_out": 9,
        "target": "y",
        "score": "balanced",
        "constant": CONSTANT,
        "settings": [setting(3, [0.9], [0.6])],
    }
    (tmp_path / "sweep.json").write_text(json.dumps(good))
    assert read_sweep(tmp_path)["best"][0]["balanced"] == 0.6
    (tmp_path / "sweep.json").write_text(json.dumps(good | wrong))
    with pytest.raises(InputError, match=r"is not a sweep.json of partita sweep"):
        read_sweep(tmp_path)


def test_the_sweep_json_of_an_earlier_version_is_read(tmp_path):
    old = [{"submodels": 3, "options": {"rule": "plurality"}, "curve": [0.9, 0.4, 0.0]}]
    (tmp_path / "sweep.json").write_text(
        json.dumps({"held_out": 9, "target": "y", "settings": old})
    )
    assert [at["accuracy"] for at in read_sweep(tmp_path)["best"]] == [0.9, 0.4]
