"""partita sweep --radius writes what it found, and resumes after an interruption."""

import json
import warnings

import pytest
from sklearn.datasets import load_wine

from partita import FeaturePartitionClassifier, InputError, SoundnessWarning
from partita.selection._choose_file import Objective, choose_file
from partita.selection._sweep_grid import Trial
from partita.workflow._training_table import open_training

from .sweeps import NAIVE

WISH = Objective(1, submodels=[3, 5], groups=[5])
TRIAL = Trial(estimator=NAIVE)


@pytest.fixture
def wine(tmp_path):
    load_wine(as_frame=True).frame.to_parquet(tmp_path / "wine.parquet", index=False)
    return open_training(tmp_path / "wine.parquet", "target")


@pytest.mark.long
def test_an_interrupted_choice_resumes(wine, tmp_path, monkeypatch):
    fits, fit = [], FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(getattr(self, "n_submodels", None))
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    whole, _ = choose_file(wine, WISH, tmp_path / "whole", TRIAL, verbose=0)
    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    out = tmp_path / "s"
    with pytest.raises(KeyboardInterrupt):
        choose_file(wine, WISH, out, TRIAL, verbose=0)
    assert [path.name[:13] for path in out.iterdir()] == ["candidate-001"]
    fits[:] = [0, 0]
    found, rows = choose_file(wine, WISH, out, TRIAL, verbose=0)
    assert fits == [0, 0, 5, None]  # three submodels were judged before the interruption
    assert sorted(path.name for path in out.iterdir()) == ["choice.json", "choice.png"]
    shares = [(one.accuracy, one.certified, one.options) for one in found.settings]
    assert shares == [(one.accuracy, one.certified, one.options) for one in whole.settings]
    content = json.loads((out / "choice.json").read_bytes())
    assert content["best"]["fit"] == found.best.fit_options
    assert content["held_out_how"] == rows.words


def test_a_reference_is_all_that_is_chosen_on(wine, tmp_path):
    frame = load_wine(as_frame=True).frame
    frame[1::2].to_parquet(tmp_path / "reference.parquet", index=False)
    frame[::2].assign(alcohol=0.0).to_parquet(tmp_path / "attacked.parquet", index=False)
    objective = Objective(1, submodels=[3], groups=[])
    found = []
    for name in ("wine.parquet", "attacked.parquet"):
        training = open_training(tmp_path / name, "target")
        with warnings.catch_warnings():  # of rows in both
            warnings.simplefilter("ignore", SoundnessWarning)
            training = training.with_reference(tmp_path / "reference.parquet")
            choice, rows = choose_file(training, objective, tmp_path / name[:4], TRIAL, verbose=0)
        found.append([(one.accuracy, one.certified) for one in choice.settings])
    assert found[0] == found[1]
    content = json.loads((tmp_path / "atta" / "choice.json").read_bytes())
    assert content["chosen"] == choice.chosen == "on-reference"
    assert content["reference"]["rows"] == 89
    assert "in each of 5 random splits" in rows.words


def test_out_must_be_a_folder(wine, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file: give a folder"):
        choose_file(wine, WISH, tmp_path / "file", TRIAL, verbose=0)
