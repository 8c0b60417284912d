"""Many settings on held-out rows."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError
from partita.metrics import certified_accuracy, envelope
from partita.recipes import code_of, named_estimator
from partita.rules import Median, Plurality, RunOff, Tournament
from partita.sweep import Grid, Trial, best, in_words, read_sweep, sweep, sweep_file
from partita.workflow import open_training


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.parquet"
    pd.DataFrame(X[:500], columns=[f"p{k}" for k in range(64)]).assign(digit=y[:500]).to_parquet(path, index=False)
    return path


def test_every_setting_is_what_python_gives(digits):
    """Fit by hand on the same rows: the same curves, and the same envelope."""
    grid = Grid(submodels=(5, 9), margins=(0.0, 1.0), priors=(0.3,))
    found = sweep(open_training(digits, "digit"), grid, Trial(estimator="logistic"))
    frame = pd.read_parquet(digits)
    learn, held = train_test_split(np.arange(500), test_size=0.25, random_state=0, stratify=frame["digit"])
    learn, held = np.sort(learn), np.sort(held)
    X, y = frame.drop(columns="digit").astype(float), frame["digit"].to_numpy()
    proofs = {}
    for size in (5, 9):
        for name, rule in (
            ("plurality", Plurality()),
            ("runoff", RunOff()),
            ("0", Tournament(prior=0.3)),
            ("1", Tournament(margin=1.0, prior=0.3)),
        ):
            clf = FeaturePartitionClassifier(named_estimator("logistic", False), n_submodels=size, rule=rule, on_failure="vote")
            proofs[size, name] = clf.fit(X.iloc[learn], y[learn]).certify(X.iloc[held])
    assert len(found["settings"]) == len(proofs)
    for one, proof in zip(found["settings"], proofs.values(), strict=True):
        assert one["curve"] == [certified_accuracy(y[held], proof, r) for r in range(len(one["curve"]))]
    highest = envelope(y[held], proofs)
    assert [at["accuracy"] for at in found["best"]] == highest.accuracy[highest.accuracy > 0].tolist()
    assert (found["held_out"], found["learnt_from"]) == (125, 375)
    assert found["best"][0]["fit"].startswith("--submodels ")


def test_numbers(tmp_path):
    frame = load_diabetes(as_frame=True).frame
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = sweep(open_training(tmp_path / "d.csv", "target"), Grid(submodels=(3,), stretches=(1.0, 1.4)), Trial(relative=0.4))
    learn, held = (np.sort(part) for part in train_test_split(np.arange(len(frame)), test_size=0.25, random_state=0))
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    for one, stretch in zip(found["settings"], (1.0, 1.4), strict=True):
        reg = FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=stretch)).fit(X.iloc[learn], y[learn])
        proof = reg.certify(X.iloc[held], around=y[held], relative=0.4)
        assert one["curve"] == [certified_accuracy(y[held], proof, r) for r in range(len(one["curve"]))]
    assert found["settings"][1]["options"] == {"rule": "median", "stretch": 1.4}
    assert in_words(found["settings"][1]) == "--submodels 3 --stretch 1.4"


def test_files_and_going_on(digits, tmp_path, capsys, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3, 5), rules=("plurality",))
    out = tmp_path / "s"
    fits = []
    fit = FeaturePartitionClassifier.fit

    def failing(self, *arguments, **settings):
        fits.append(self.n_submodels)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    monkeypatch.setattr(FeaturePartitionClassifier, "fit", failing)
    with pytest.raises(KeyboardInterrupt):
        sweep_file(training, grid, out)
    assert [path.name.split("-")[1] for path in out.iterdir()] == ["0003"]
    found = sweep_file(training, grid, out)
    assert fits == [3, 5, 5]  # the first was not done again
    assert sorted(path.name for path in out.iterdir()) == ["sweep.json", "sweep.png"]
    assert (out / "sweep.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads((out / "sweep.json").read_text()) == json.loads(json.dumps(found))
    assert read_sweep(out) == read_sweep(out / "sweep.json")
    assert read_sweep(out)["settings"] == found["settings"]


def test_what_was_done_with_other_settings_does_not_count(digits, tmp_path, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3, 5), rules=("plurality",))
    fresh = sweep(training, grid, Trial(seed=1))["settings"]
    with monkeypatch.context() as patch:
        patch.setattr("partita.plot.plot_sweep", lambda found: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sweep_file(training, grid, tmp_path / "s", Trial(seed=0))
    assert len(list((tmp_path / "s").iterdir())) == 2  # both numbers of submodels are kept
    assert sweep_file(training, grid, tmp_path / "s", Trial(seed=1))["settings"] == fresh


def test_the_usual_numbers_of_submodels():
    assert Grid().sizes(100) == [5, 11, 21, 31, 51]
    assert Grid().sizes(30) == [5, 11, 21, 29]
    assert Grid().sizes(4) == [3]
    assert Grid().sizes(1) == [1]
    with pytest.raises(InputError, match="between 1 and 4"):
        Grid(submodels=(5,)).sizes(4)


def test_best_takes_the_first_of_equals():
    settings = [{"submodels": k, "options": {"rule": "plurality"}, "curve": curve} for k, curve in ((3, [0.5, 0.25, 0.0]), (5, [0.5, 0.5]))]
    assert [(at["accuracy"], at["fit"].split()[1]) for at in best(settings)] == [(0.5, "3"), (0.5, "5")]


def test_too_few_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,x\n2,3,y\n")
    with pytest.raises(InputError, match="rows to learn from hold one label only"):
        sweep(open_training(tmp_path / "a.csv", "y"), Grid())


def test_other_code_is_another_estimator(digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "changing.py").write_text("from sklearn.naive_bayes import GaussianNB as Mine\n")
    first = code_of("changing:Mine")
    (tmp_path / "changing.py").write_text("from sklearn.naive_bayes import GaussianNB as Mine  # and more\n")
    assert first != code_of("changing:Mine")
    assert code_of("hgb") is None


def test_numbers_that_are_none(tmp_path):
    (tmp_path / "sweep.json").write_text('{"held_out": 1e999, "target": "y", "settings": [{"submodels": 3, "options": {}, "curve": [1]}]}')
    with pytest.raises(InputError, match=r"is no sweep.json of partita sweep: OverflowError"):
        read_sweep(tmp_path)
