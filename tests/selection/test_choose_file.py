"""partita choose writes what it found and resumes after an interruption, with the same settings."""

import json
import warnings

import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
    LeaveOutClassifier,
    SoundnessWarning,
)
from partita.selection import Choice, Evaluation, Grid, Trial, choose_file, read_choice
from partita.selection._choose import choose_table
from partita.selection._grid import candidates
from partita.selection._search import ResultCache
from partita.workflow import TASKS
from partita.workflow._training_table import open_training

from .sweeps import CONSTANT, NAIVE, lines, measured, setting

GRID = Grid(submodels=[3, 5], groups=[5])
TRIAL = Trial(estimator=NAIVE, radius=1)


@pytest.fixture
def wine(tmp_path):
    load_wine(as_frame=True).frame.to_parquet(tmp_path / "wine.parquet", index=False)
    return open_training(tmp_path / "wine.parquet", "target")


@pytest.mark.long
def test_an_interrupted_choice_resumes(wine, tmp_path, monkeypatch):
    fits, fit = [], FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(self.n_submodels)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    whole = choose_file(wine, GRID, tmp_path / "whole", TRIAL, verbose=0)
    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    out = tmp_path / "s"
    with pytest.raises(KeyboardInterrupt):
        choose_file(wine, GRID, out, TRIAL, verbose=0)
    assert [path.name[:13] for path in out.iterdir()] == ["candidate-001"]
    fits[:] = [0, 0]
    found = choose_file(wine, GRID, out, TRIAL, verbose=0)
    assert [one for one in fits if one != 1] == [0, 0, 5]  # 3 were judged before the interruption
    assert sorted(path.name for path in out.iterdir()) == ["choice.json", "choice.png"]
    assert measured(found) == measured(whole)
    content = json.loads((out / "choice.json").read_bytes())
    assert content["best"]["fit"] == found.best.fit_options
    assert content["held_out_how"] == "25 % of the rows, drawn at random"


@pytest.mark.long
def test_every_kind_of_split_resumes(digits, tmp_path, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3, 5), rules=("plurality",))
    out, trial = tmp_path / "s", Trial(estimator=NAIVE)
    whole = choose_file(training, grid, tmp_path / "whole", trial, verbose=0)
    fits, fit = [], FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(self.n_submodels)
        if len(fits) == 8:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    with pytest.raises(KeyboardInterrupt):
        choose_file(training, grid, out, trial, verbose=0)
    keys = sorted(path.stem.split("-")[1:] for path in out.iterdir())
    assert [int(number) for number, _ in keys] == [1, 1, 2, 3, 4, 5, 6]
    assert len({key for _, key in keys}) == 2
    found = choose_file(training, grid, out, trial, verbose=0)
    ordinary = [1, 1, 1, 1]
    assert fits == [3, 5, *ordinary, 3, 5, 5, *ordinary]
    assert [measured(one) for one in found.splits.values()] == [
        measured(one) for one in whole.splits.values()
    ]
    assert sorted(path.name for path in out.iterdir()) == ["choice.json", "choice.png"]


def test_an_interrupted_sweep_resumes(rare, tmp_path, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3, 5), rules=("plurality",))
    out, trial = tmp_path / "s", Trial(estimator=NAIVE)
    fits, fit = [], FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(self.n_submodels)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    with pytest.raises(KeyboardInterrupt):
        choose_file(training, grid, out, trial)
    assert [path.name[:13] for path in out.iterdir()] == ["candidate-001"]
    found = choose_file(training, grid, out, trial)
    assert fits[:3] == [3, 5, 5]  # the first was not done again
    assert fits[3:] == [1] * 4  # ordinary models of all columns
    assert sorted(path.name for path in out.iterdir()) == ["choice.json", "choice.png"]
    assert (out / "choice.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads((out / "choice.json").read_text()) == json.loads(json.dumps(found.as_dict()))
    for place in (out, out / "choice.json"):
        again = read_choice(place)
        assert [one.as_dict() for one in again.settings] == [
            one.as_dict() for one in found.settings
        ]
        assert (lines(again), again.constant) == (lines(found), found.constant)
        assert again.want == "balanced"


def interrupted(monkeypatch, *arguments):
    """Choose, but stop before anything is written."""
    with monkeypatch.context() as patch:
        patch.setattr(Choice, "png", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            choose_file(*arguments)


@pytest.mark.long
@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"holdout": 0.3}, {"last": 0.25}, {"group": "c1"}, {"holdout": "file"}]
)
def test_a_sweep_with_other_settings_does_not_resume(other, rare, tmp_path, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3, 5), rules=("plurality",))
    if other == {"holdout": "file"}:
        pd.read_csv(rare)[:100].to_parquet(tmp_path / "h.parquet", index=False)
        other = {"holdout": tmp_path / "h.parquet"}
    fresh = measured(choose_table(training, grid, Trial(NAIVE, **other)))
    interrupted(monkeypatch, training, grid, tmp_path / "s", Trial(NAIVE))
    # both numbers of submodels are kept, and four models on all columns
    assert len(list((tmp_path / "s").iterdir())) == 6
    again = choose_file(training, grid, tmp_path / "s", Trial(NAIVE, **other))
    assert measured(again) == fresh


def test_another_score_does_not_fit_again(rare, tmp_path, monkeypatch):
    training, grid = open_training(rare, "label"), Grid(submodels=(3,), rules=("plurality",))
    interrupted(monkeypatch, training, grid, tmp_path / "s", Trial(NAIVE))
    monkeypatch.setattr(FeaturePartitionClassifier, "fit", None)
    monkeypatch.setattr("partita.selection._search.fit_full_model", None)
    found = choose_file(training, grid, tmp_path / "s", Trial(NAIVE, want="recall:yes"))
    assert lines(found)[0]["score"] == found.settings[0].recall["yes"][0]
    again = choose_file(training, grid, tmp_path / "s", Trial(NAIVE, want="certified"))
    assert measured(again) == measured(found)  # from choice.json, after the search was finished
    more = Grid(submodels=(5,), rules=("plurality",))
    with pytest.raises(TypeError, match="not callable"):  # another setting is fitted
        choose_file(training, more, tmp_path / "s", Trial(NAIVE))


def test_results_go_and_come_back(tmp_path):
    pair = FeaturePartitionClassifier(GaussianNB()), LeaveOutClassifier(GaussianNB())
    task = TASKS["classification"]
    variants = Grid().variants(task, None, "auto", 1, 0)
    first, second = list(candidates(Grid(), variants, *pair, 10, 1, task))[:2]
    found = [
        Evaluation(first.method, first.options | variant, 1, [0.9, 0.8], 1.5, None, [0.7, 0.6])
        for variant in first.variants
    ]
    cache = ResultCache(tmp_path, "0123456789abcdef")
    assert cache.read(1, first) is None
    cache.write(1, first, found)
    again = cache.read(1, first)
    assert [one.as_dict() for one in again] == [one.as_dict() for one in found]
    assert cache.read(1, second) is None
    assert ResultCache(tmp_path, "another key").read(1, first) is None
    (tmp_path / "candidate-001-notes.json").write_text("{}")
    cache.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["candidate-001-notes.json"]


def test_a_reference_is_all_that_is_chosen_on(wine, tmp_path):
    frame = load_wine(as_frame=True).frame
    frame[1::2].to_parquet(tmp_path / "reference.parquet", index=False)
    frame[::2].assign(alcohol=0.0).to_parquet(tmp_path / "attacked.parquet", index=False)
    found = []
    for name in ("wine.parquet", "attacked.parquet"):
        training = open_training(tmp_path / name, "target")
        with warnings.catch_warnings():  # of rows in both
            warnings.simplefilter("ignore", SoundnessWarning)
            training = training.with_reference(tmp_path / "reference.parquet")
            grid = Grid(submodels=[3], groups=[])
            choice = choose_file(training, grid, tmp_path / name[:4], TRIAL, verbose=0)
        found.append([(one.accuracy, one.certified) for one in choice.settings])
    assert found[0] == found[1]
    content = json.loads((tmp_path / "atta" / "choice.json").read_bytes())
    assert content["chosen"] == choice.chosen == "on-reference"
    assert content["reference"]["rows"] == 89
    assert "in each of 5 random splits" in choice.about["held_out_how"]


def test_out_must_be_a_folder(wine, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file: give a folder"):
        choose_file(wine, GRID, tmp_path / "file", TRIAL, verbose=0)


def plain(**settings):
    """A choice.json, with some of its content changed."""
    one = setting(3, [0.9], [0.6]).as_dict()
    return {
        "radius": None,
        "task": "classification",
        "rows": 9,
        "counts": "3 columns",
        "target": "y",
        "want": "balanced",
        "constant": CONSTANT,
        "settings": [one],
    } | settings


def test_an_infinite_number_of_rows_is_refused(tmp_path):
    text = json.dumps(plain(rows="many")).replace('"many"', "1e999")
    (tmp_path / "choice.json").write_text(text)
    with pytest.raises(InputError, match=r"is not a choice.json of partita choose: OverflowError"):
        read_choice(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"settings": []},
        {"want": "best"},
        {"want": "recall:yes"},  # no setting has it
        {"constant": {"answer": 1}},
        {"constant": {"answer": 1, "accuracy": 7, "balanced": None}},
        {"constant": None},
        {"radius": "all"},
        {"settings": [setting(3, [0.5, 0.6]).as_dict()]},
        {"settings": [setting(3, [0.5], [0.1, 0.2]).as_dict()]},
        {"settings": [setting(3, [0.5], [0.2], recall={"a": [2]}).as_dict()]},
        {"settings": [setting("3", [0.5]).as_dict()]},
        {"settings": [setting(3, [0.5]).as_dict() | {"options": [3]}]},
        {"settings": [setting(3, [0.5]).as_dict() | {"radius": "1"}]},
        {"settings": [[1]]},
        {"settings": [{"submodels": 3, "options": {}, "curve": [0.9]}]},
    ],
)
def test_a_damaged_choice_json_is_refused(wrong, tmp_path):
    (tmp_path / "choice.json").write_text(json.dumps(plain()))
    assert lines(read_choice(tmp_path))[0]["balanced"] == 0.6
    (tmp_path / "choice.json").write_text(json.dumps(plain(**wrong)))
    with pytest.raises(InputError, match=r"is not a choice.json of partita choose"):
        read_choice(tmp_path)
