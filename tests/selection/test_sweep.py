"""Every curve of a sweep is what Python gives, fitted once for all rules."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import partita.ensemble._base
from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    Informed,
    InputError,
)
from partita.metrics import (
    certified_accuracy,
    certified_accuracy_curve,
    certified_balanced_accuracy,
    certified_recall,
    envelope,
)
from partita.rules import Median, Plurality, RunOff, Tournament
from partita.selection import Grid, Objective, Trial
from partita.selection._choose import choose_table
from partita.selection._splits import reference_splits
from partita.workflow import TASKS
from partita.workflow._training_table import open_training

from .sweeps import NAIVE, ONE_RULE, lines, measured


def test_every_setting_is_what_python_gives(digits):
    """Fit by hand on the same rows: the same curves, recalls and envelope."""
    grid = Grid(submodels=(5, 9), margins=(0.0, 1.0), priors=(0.3,), offsets=(0.0,))
    trial = Trial(estimator=NAIVE, holdout=0.25)
    found = choose_table(open_training(digits, "digit"), grid, trial)
    frame = pd.read_parquet(digits)
    learn, held = train_test_split(
        np.arange(500), test_size=0.25, random_state=0, stratify=frame["digit"]
    )
    learn, held = np.sort(learn), np.sort(held)
    X, y = frame.drop(columns="digit").astype(float), frame["digit"].to_numpy()
    proofs = {}
    for size in (5, 9):
        for name, rule in (
            ("plurality", Plurality()),
            ("runoff", RunOff()),
            ("0", Tournament(margin=0.0, prior=0.3)),
            ("1", Tournament(margin=1.0, prior=0.3)),
        ):
            clf = FeaturePartitionClassifier(
                GaussianNB(), n_submodels=size, rule=rule, on_failure="vote"
            )
            proofs[size, name] = clf.fit(X.iloc[learn], y[learn]).certify(X.iloc[held])
    assert len(found.settings) == len(proofs)
    for one, proof in zip(found.settings, proofs.values(), strict=True):
        assert one.curve == [certified_accuracy(y[held], proof, r) for r in range(len(one.curve))]
        for r, mean in enumerate(one.balanced_curve):
            assert mean == pytest.approx(certified_balanced_accuracy(y[held], proof, r))
            by_label = {
                str(label): share for label, share in certified_recall(y[held], proof, r).items()
            }
            assert {label: shares[r] for label, shares in one.recall.items()} == pytest.approx(
                by_label
            )
        labels, counts = np.unique(proof.prediction, return_counts=True)
        assert one.predicted == {
            "label": int(labels[counts.argmax()]),
            "share": counts.max() / 125,
        }
    highest = envelope(y[held], proofs)
    assert (
        Objective("accuracy").envelope(found.settings)
        == highest.accuracy[highest.accuracy > 0].tolist()
    )
    assert (found.rows, found.about["learnt_from"], found.about["split"]) == (
        125,
        375,
        {"kind": "random", "share": 0.25},
    )
    assert lines(found)[0]["fit"].startswith("--submodels ")


def test_numbers(tmp_path):
    frame = load_diabetes(as_frame=True).frame
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = choose_table(
        open_training(tmp_path / "d.csv", "target"),
        Grid(submodels=(3,), stretches=(1.0, 1.4), learners=("auto",)),
        Trial(relative=0.4),
    )
    learn, held = (
        np.sort(part)
        for part in train_test_split(np.arange(len(frame)), test_size=0.25, random_state=0)
    )
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    for one, stretch in zip(found.settings, (1.0, 1.4), strict=True):
        reg = FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=stretch)).fit(
            X.iloc[learn], y[learn]
        )
        proof = reg.certify(X.iloc[held], around=y[held], relative=0.4)
        assert one.curve == [certified_accuracy(y[held], proof, r) for r in range(len(one.curve))]
    assert found.settings[1].options == {"submodels": 3, "stretch": 1.4}
    assert found.settings[1].fit_options == "--submodels 3 --stretch 1.4"
    middle = np.median(y[learn])
    assert found.constant == {
        "answer": middle,
        "accuracy": np.mean(abs(y[held] - middle) <= 0.4 * y[held]),
        "balanced": None,
    }
    assert all(at["accuracy"] > found.constant["accuracy"] for at in lines(found))
    with pytest.raises(
        InputError, match="want is 'balanced', which is for labels, and the target holds numbers"
    ):
        choose_table(
            open_training(tmp_path / "d.csv", "target"),
            Grid(submodels=(3,)),
            Trial(relative=0.4, want="balanced"),
        )
    with pytest.raises(InputError, match="offsets are for labels"):
        choose_table(
            open_training(tmp_path / "d.csv", "target"),
            Grid(submodels=(3,), offsets=(1.0,)),
            Trial(relative=0.4),
        )


def test_every_submodel_is_fitted_once_whatever_the_number_of_rules(rare, monkeypatch):
    fits = []
    fit = partita.ensemble._base.fit_one
    monkeypatch.setattr(
        partita.ensemble._base,
        "fit_one",
        lambda *arguments: (fits.append(1), fit(*arguments))[1],
    )
    counted = {}
    for name, grid in (
        ("one rule", Grid(submodels=(1, 3), **ONE_RULE)),
        ("all", Grid(submodels=(1, 3), offsets=(0, 1))),
    ):
        fits.clear()
        found = choose_table(open_training(rare, "label"), grid, Trial(estimator=NAIVE))
        counted[name] = (len(fits), len(found.settings))
    ordinary = 4  # the three models on all columns to compare with, and the user's own
    again = 2 + ordinary  # of every ensemble one is fitted again, to see that it is the same
    fitted = 1 + 3 + ordinary + again
    assert counted == {"one rule": (fitted, 2), "all": (fitted, 2 * 42)}


def test_settings_that_fit_would_refuse_are_not_tried(rare, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_models.py").write_text(
        "from sklearn.ensemble import VotingClassifier\nfrom sklearn.linear_model import "
        "LogisticRegression\n"
        "from sklearn.naive_bayes import GaussianNB\nVotes = VotingClassifier([('one', "
        "GaussianNB())])\n"
        "Weighing = LogisticRegression(class_weight='balanced')\n"
    )
    found = choose_table(
        open_training(rare, "label"), Grid(submodels=(3,)), Trial(estimator="own_models:Votes")
    )
    assert [one.options for one in found.settings] == [{"submodels": 3, "rule": "plurality"}]
    assert "left out for 'own_models:Votes': rules that compare scores" in capsys.readouterr().err
    found = choose_table(
        open_training(rare, "label"),
        Grid(submodels=(3,), priors=(0.0, 0.9)),
        Trial(estimator="own_models:Weighing"),
    )
    assert {one.options.get("prior", 0) for one in found.settings} == {0}
    with pytest.raises(
        InputError, match="goes with none of the settings: it does not take priors above 0"
    ):
        choose_table(
            open_training(rare, "label"),
            Grid(submodels=(3,), **ONE_RULE),
            Trial(estimator="own_models:Weighing"),
        )


def test_a_constant_with_a_proof_is_not_what_a_sweep_recommends(swept_rare):
    """By accuracy alone the old choice at r = 3 was a model that never says yes."""
    assert swept_rare.want == "balanced"
    by_accuracy = max(
        swept_rare.settings, key=lambda one: one.curve[3] if len(one.curve) > 3 else 0
    )
    assert by_accuracy.nearly_constant
    assert by_accuracy.curve[3] > 0.8
    assert swept_rare.nearly_constant > 1
    assert lines(swept_rare)
    for at in lines(swept_rare):
        assert at["balanced"] == at["score"] > 0.5
        assert "--submodels 1 " not in at["fit"]
    first = next(
        one for one in swept_rare.settings if one.fit_options == lines(swept_rare)[0]["fit"]
    )
    assert first.recall["yes"][0] > 0.5
    assert "--submodels 1 " in swept_rare.one_model["fit"]
    assert swept_rare.one_model["score"] >= lines(swept_rare)[0]["score"]
    assert "always answering 'no'" in swept_rare.no_more


def test_scores_that_are_none(rare):
    training = open_training(rare, "label")
    with pytest.raises(
        InputError,
        match="want is 'recall:maybe', but no held-out row has that label: give one of no, yes",
    ):
        choose_table(training, Grid(submodels=(3,)), Trial(want="recall:maybe"))
    for wrong in ("f1", "recall:", "recall"):
        with pytest.raises(InputError, match="or the like, or recall:LABEL"):
            choose_table(training, Grid(submodels=(3,)), Trial(want=wrong))


def test_settings_of_models_that_learnt_from_the_table_hold_given_these_settings(rare, swept_rare):
    """However clean the rows are that settings are judged by."""
    later = Trial(estimator=NAIVE, holdout=rare.parent / "later.csv")
    by_file = choose_table(open_training(rare, "label"), Grid(submodels=(3,), **ONE_RULE), later)
    for found in (swept_rare, by_file):
        assert found.chosen == "on-training"
        assert found.depends.startswith(
            "Settings were chosen on the training table: proofs hold given these settings."
        )


@pytest.fixture(scope="module")
def swept_reference(rare):
    training = open_training(rare, "label").with_reference(rare.parent / "later.csv")
    grid = Grid(submodels=(1, 5), rules=("plurality", "tournament"), margins=(0.5,))
    return choose_table(training, grid, Trial(estimator=NAIVE), verbose=0)


def test_a_reference_is_learnt_and_judged_in_its_own_splits(rare, swept_reference):
    found = swept_reference
    assert found.chosen == "on-reference"
    assert found.depends.startswith("Settings were chosen on a trusted sample alone")
    assert (found.about["learnt_from"], found.rows) == (266, 134)
    assert found.about["reference"]["rows"] == 400
    frame = pd.read_csv(rare.parent / "later.csv")
    A, y = frame.drop(columns="label"), frame["label"].to_numpy()
    one = next(
        one for one in found.settings if one.options == {"submodels": 5, "rule": "plurality"}
    )
    curves = np.zeros((5, 4))
    for k, (learn, held) in enumerate(reference_splits(y, TASKS["classification"], 0)):
        clf = FeaturePartitionClassifier(
            GaussianNB(),
            n_submodels=5,
            rule="plurality",
            partition=Informed(A.iloc[learn], y[learn]),
            random_state=0,
        )
        with warnings.catch_warnings():  # the partition is informed by the rows it is fitted on
            warnings.simplefilter("ignore")
            proof = clf.fit(A.iloc[learn], y[learn]).certify(A.iloc[held])
        curve = certified_accuracy_curve(y[held], proof).accuracy
        curves[k, : len(curve)] = curve
    assert np.allclose(curves.mean(axis=0)[: len(one.curve)], one.curve, atol=1e-12)


def test_nothing_in_the_table_moves_a_sweep_on_a_reference(rare, swept_reference, tmp_path):
    frame = pd.read_csv(rare)
    rng = np.random.default_rng(0)
    grid = Grid(submodels=(1, 5), rules=("plurality", "tournament"), margins=(0.5,))
    for column in frame.columns[:2]:
        attacked = frame.assign(**{column: rng.normal(size=len(frame)) + (frame.label == "yes")})
        attacked.to_csv(tmp_path / "attacked.csv", index=False)
        training = open_training(tmp_path / "attacked.csv", "label")
        training = training.with_reference(rare.parent / "later.csv")
        found = choose_table(training, grid, Trial(estimator=NAIVE), verbose=0)
        assert measured(found) == measured(swept_reference)
        assert lines(found) == lines(swept_reference)


def test_a_reference_leaves_no_rows_of_the_table_to_hold_out(rare):
    training = open_training(rare, "label").with_reference(rare.parent / "later.csv")
    for option, value in (("holdout", 0.3), ("last", 0.2), ("group", "c0")):
        with pytest.raises(InputError, match=f"{option} says which rows of the table to hold out"):
            choose_table(training, Grid(submodels=(3,)), Trial(estimator=NAIVE, **{option: value}))


@pytest.fixture(scope="module")
def one_percent(tmp_path_factory):
    """Handwritten digits of which one in a hundred is an eight."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    eights = rng.permutation(np.flatnonzero(y == 8))[:16]
    rows = rng.permutation(np.concatenate([np.flatnonzero(y != 8), eights]))
    frame = pd.DataFrame(X[rows], columns=[f"p{k}" for k in range(64)])
    frame["label"] = np.where(y[rows] == 8, "eight", "other")
    path = tmp_path_factory.mktemp("rare") / "eights.parquet"
    frame.to_parquet(path, index=False)
    return path


def test_a_sweep_shows_what_is_certified_of_a_rare_label(one_percent):
    grid = Grid(submodels=(1, 5, 9), margins=(0.5,), priors=(0.0, 0.9))
    trial = Trial(estimator="logistic", holdout=0.5)
    found = choose_table(open_training(one_percent, "label"), grid, trial)
    assert found.constant["accuracy"] > 0.985
    assert found.nearly_constant > 0
    for one in found.settings:
        assert set(one.precision) == {"eight", "other"}
        assert len(one.precision["eight"]) == len(one.curve)
        assert (np.diff(one.precision["eight"]) <= 0).all()
    for entry in lines(found):  # what is recommended certifies some of the rare rows
        assert entry["lowest"] > 0
        recall = next(one.recall for one in found.settings if one.fit_options == entry["fit"])
        assert entry["lowest"] == min(curve[entry["radius"]] for curve in recall.values())
    first = found.one_label_from
    assert first >= len(lines(found))
    several = [one for one in found.settings if one.options["submodels"] > 1]
    for r, any_left in ((first, False), (first - 1, True)):
        left = [one.recall["eight"][r] for one in several if r < len(one.curve)]
        assert any(share > 0 for share in left) == any_left


def test_thresholds_of_a_label_are_tried(one_percent):
    grid = Grid.parse("5", None, "tournament", "0.5", "0.9", "0,eight=-1,eight=2")
    trial = Trial(estimator="logistic", holdout=0.5, want="recall:eight")
    found = choose_table(open_training(one_percent, "label"), grid, trial)
    recalls = [one.recall["eight"][0] for one in found.settings]
    assert recalls[1] <= recalls[0] <= recalls[2]
    for entry in lines(found):
        curves = {one.fit_options: one.precision for one in found.settings}
        assert entry["precision"] == curves[entry["fit"]]["eight"][entry["radius"]]
    assert found.settings[2].fit_options == (
        "--submodels 5 --margin 0.5 --prior 0.9 --offset eight=2"
    )
    with pytest.raises(InputError, match="offset names the label 'nine'"):
        choose_table(
            open_training(one_percent, "label"),
            Grid.parse("5", None, "tournament", "0.5", "0.9", "nine=1"),
            trial,
        )


def test_the_picture_shows_the_constant_and_one_model(swept_rare):
    ax = swept_rare.plot()
    drawn = {line.get_label().split("\n")[0]: line for line in ax.get_lines()}
    assert set(drawn) == {
        "3 submodels",
        "15 submodels",
        "one model on all columns",
        "always answering 'no'",
    }
    assert set(drawn["always answering 'no'"].get_ydata()) == {0.5}
    assert drawn["one model on all columns"].get_ydata().tolist() == [swept_rare.one_model["score"]]
    assert ax.get_ylabel() == "mean certified recall"
    about = swept_rare.about | {"target": "$a_{"}  # no mathematics
    ax = replace(swept_rare, objective=Objective("recall:yes"), about=about).plot()
    ax.figure.canvas.draw()
    assert "certified recall of 'yes'" in ax.get_ylabel()
