"""Many settings on held-out rows."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split

import partita.ensemble._base
from partita import (
    EmptyProofWarning,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
)
from partita.cli._sweep_screen import show_sweep
from partita.metrics import (
    certified_accuracy,
    certified_balanced_accuracy,
    certified_recall,
    envelope,
)
from partita.partition._units_file import UnitsFile
from partita.rules import Median, Plurality, RunOff, Tournament
from partita.workflow._recipes import code_of, named_estimator
from partita.workflow._recommend import (
    Score,
    is_nearly_constant,
    recommended,
    reference,
    why_no_more,
)
from partita.workflow._sweep import (
    Grid,
    Trial,
    best,
    in_words,
    read_sweep,
    sweep,
    sweep_file,
)
from partita.workflow._sweep_figure import sweep_figure
from partita.workflow._workflow import open_training

ROOT = Path(__file__).resolve().parents[2]
WEATHER = ROOT.parent / "shared" / "data" / "weather_europe.parquet"  # not part of the project
BALANCED, ACCURACY = Score("balanced"), Score("accuracy")
ONE_RULE = {"rules": ("tournament",), "margins": (0.5,), "priors": (0.9,)}
NAIVE = "sklearn.naive_bayes:GaussianNB"  # the quickest


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.parquet"
    pd.DataFrame(X[:500], columns=[f"p{k}" for k in range(64)]).assign(digit=y[:500]).to_parquet(
        path, index=False
    )
    return path


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """One label of ten percent, and 15 columns of which each says a little about it: weak submodels
    all answer with the other."""
    rng = np.random.default_rng(0)
    label = rng.random(1200) < 0.1
    frame = pd.DataFrame({f"c{k}": rng.normal(size=1200) + 1.2 * label for k in range(15)})
    frame["label"] = np.where(label, "yes", "no")
    folder = tmp_path_factory.mktemp("rare")
    frame[:800].to_csv(folder / "rare.csv", index=False)
    frame[800:].to_csv(folder / "later.csv", index=False)
    return folder / "rare.csv"


@pytest.fixture(scope="module")
def swept_rare(rare):
    return sweep(open_training(rare, "label"), Grid(submodels=(1, 3, 15)), Trial(estimator=NAIVE))


def setting(submodels, curve, balanced=None, **more):
    """What a sweep keeps of a setting."""
    options = {"rule": "tournament", "margin": 0.5, "prior": 0.9}
    return {
        "submodels": submodels,
        "options": options,
        "curve": curve,
        "balanced": balanced,
        "nearly_constant": False,
        **more,
    }


CONSTANT = {"answer": "no", "accuracy": 0.8, "balanced": 0.5}


# ---- what is measured ----


def test_every_setting_is_what_python_gives(digits):
    """Fit by hand on the same rows: the same curves, recalls and envelope."""
    grid = Grid(submodels=(5, 9), margins=(0.0, 1.0), priors=(0.3,))
    found = sweep(open_training(digits, "digit"), grid, Trial(estimator=NAIVE))
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
                named_estimator(NAIVE, False), n_submodels=size, rule=rule, on_failure="vote"
            )
            proofs[size, name] = clf.fit(X.iloc[learn], y[learn]).certify(X.iloc[held])
    assert len(found["settings"]) == len(proofs)
    for one, proof in zip(found["settings"], proofs.values(), strict=True):
        assert one["curve"] == [
            certified_accuracy(y[held], proof, r) for r in range(len(one["curve"]))
        ]
        for r, mean in enumerate(one["balanced"]):
            assert mean == pytest.approx(certified_balanced_accuracy(y[held], proof, r))
            by_label = {
                str(label): share for label, share in certified_recall(y[held], proof, r).items()
            }
            assert {label: shares[r] for label, shares in one["recall"].items()} == pytest.approx(
                by_label
            )
        labels, counts = np.unique(proof.prediction, return_counts=True)
        assert one["predicted"] == {
            "label": int(labels[counts.argmax()]),
            "share": counts.max() / 125,
        }
    highest = envelope(y[held], proofs)
    assert [at["accuracy"] for at in best(found["settings"])] == highest.accuracy[
        highest.accuracy > 0
    ].tolist()
    assert (found["held_out"], found["learnt_from"], found["split"]) == (
        125,
        375,
        {"kind": "random", "share": 0.25},
    )
    assert found["best"][0]["fit"].startswith("--submodels ")


def test_numbers(tmp_path):
    frame = load_diabetes(as_frame=True).frame
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = sweep(
        open_training(tmp_path / "d.csv", "target"),
        Grid(submodels=(3,), stretches=(1.0, 1.4)),
        Trial(relative=0.4),
    )
    learn, held = (
        np.sort(part)
        for part in train_test_split(np.arange(len(frame)), test_size=0.25, random_state=0)
    )
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    for one, stretch in zip(found["settings"], (1.0, 1.4), strict=True):
        reg = FeaturePartitionRegressor(n_submodels=3, rule=Median(stretch=stretch)).fit(
            X.iloc[learn], y[learn]
        )
        proof = reg.certify(X.iloc[held], around=y[held], relative=0.4)
        assert one["curve"] == [
            certified_accuracy(y[held], proof, r) for r in range(len(one["curve"]))
        ]
    assert found["settings"][1]["options"] == {"rule": "median", "stretch": 1.4}
    assert in_words(found["settings"][1]) == "--submodels 3 --stretch 1.4"
    middle = np.median(y[learn])
    assert found["constant"] == {
        "answer": middle,
        "accuracy": np.mean(abs(y[held] - middle) <= 0.4 * y[held]),
        "balanced": None,
    }
    assert all(at["accuracy"] > found["constant"]["accuracy"] for at in found["best"])
    with pytest.raises(
        InputError, match="score is 'balanced', which is for labels, and the target holds numbers"
    ):
        sweep(
            open_training(tmp_path / "d.csv", "target"),
            Grid(submodels=(3,)),
            Trial(relative=0.4, score="balanced"),
        )
    with pytest.raises(InputError, match="offsets are for labels"):
        sweep(
            open_training(tmp_path / "d.csv", "target"),
            Grid(submodels=(3,), offsets=(1.0,)),
            Trial(relative=0.4),
        )


def test_every_submodel_is_fitted_once_whatever_the_number_of_rules(rare, monkeypatch):
    fits = []
    fit = partita.ensemble._base.fit_one
    monkeypatch.setattr(
        partita.ensemble._base, "fit_one", lambda *arguments: (fits.append(1), fit(*arguments))[1]
    )
    counted = {}
    for name, grid in (
        ("one rule", Grid(submodels=(1, 3), **ONE_RULE)),
        ("all", Grid(submodels=(1, 3), offsets=(0, 1))),
    ):
        fits.clear()
        found = sweep(open_training(rare, "label"), grid, Trial(estimator=NAIVE))
        counted[name] = (len(fits), len(found["settings"]))
    again = 2  # for each number of submodels one is fitted again, to see that it is the same
    assert counted == {"one rule": (1 + 3 + again, 2), "all": (1 + 3 + again, 2 * 32)}


def test_the_usual_settings():
    assert Grid().sizes(100) == [1, 3, 5, 11, 21, 31, 51]
    assert Grid().sizes(30) == [1, 3, 5, 11, 21, 29]
    assert Grid().sizes(4) == [1, 3]
    assert Grid().sizes(1) == [1]
    with pytest.raises(InputError, match="between 1 and 4"):
        Grid(submodels=(5,)).sizes(4)
    options = Grid().options(of_values=False)
    assert options[:2] == [{"rule": "plurality"}, {"rule": "runoff"}]
    assert {(one["margin"], one["prior"]) for one in options[2:]} == {
        (m, p) for m in (0, 0.5, 2) for p in (0, 0.5, 0.9, 0.99, 1)
    }
    assert not any("offset" in one for one in options)
    heads = Grid.of(None, "tournament", "0.5", "1", None, "0,0.5,1").options(of_values=False)
    assert [one.get("offset") for one in heads] == [None, 0.5, 1.0]


def test_settings_that_fit_would_refuse_are_not_tried(rare, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_models.py").write_text(
        "from sklearn.ensemble import VotingClassifier\nfrom sklearn.linear_model import "
        "LogisticRegression\n"
        "from sklearn.naive_bayes import GaussianNB\nVotes = VotingClassifier([('one', "
        "GaussianNB())])\n"
        "Weighing = LogisticRegression(class_weight='balanced')\n"
    )
    found = sweep(
        open_training(rare, "label"), Grid(submodels=(3,)), Trial(estimator="own_models:Votes")
    )
    assert [one["options"] for one in found["settings"]] == [{"rule": "plurality"}]
    assert "left out for 'own_models:Votes': rules that compare scores" in capsys.readouterr().err
    found = sweep(
        open_training(rare, "label"),
        Grid(submodels=(3,), priors=(0.0, 0.9)),
        Trial(estimator="own_models:Weighing"),
    )
    assert {one["options"].get("prior", 0) for one in found["settings"]} == {0}
    with pytest.raises(
        InputError, match="goes with none of the settings: it does not take priors above 0"
    ):
        sweep(
            open_training(rare, "label"),
            Grid(submodels=(3,), **ONE_RULE),
            Trial(estimator="own_models:Weighing"),
        )


# ---- what is recommended ----


def test_a_radius_at_which_the_constant_wins_is_not_listed():
    settings = [setting(5, [0.9, 0.79, 0.1, 0.0], [0.8, 0.6, 0.5, 0.0])]
    assert [at["radius"] for at in recommended(settings, ACCURACY, CONSTANT)] == [0]
    assert recommended(settings, ACCURACY, CONSTANT | {"accuracy": 0.9}) == []
    assert [at["radius"] for at in recommended(settings, BALANCED, CONSTANT)] == [
        0,
        1,
    ]  # as much as a constant is not more
    assert "always answering 'no' scores as much or more (80.0 %)" in why_no_more(
        settings, ACCURACY, CONSTANT, 1
    )
    assert "always answering 'no' scores as much or more (50.0 %)" in why_no_more(
        settings, BALANCED, CONSTANT, 2
    )
    assert why_no_more(settings, BALANCED, None, 3) is None  # nothing is certified there


def test_by_recall_of_a_label_a_setting_must_beat_the_constant_some_other_way():
    always = setting(3, [0.2, 0.2, 0.2], [0.5, 0.5, 0.5], recall={"yes": [1.0, 1.0, 1.0]})
    better = setting(5, [0.7, 0.6, 0.2], [0.8, 0.6, 0.3], recall={"yes": [0.9, 0.6, 0.4]})
    found = recommended([always, better], Score("recall:yes"), CONSTANT)
    assert [(at["radius"], at["score"], at["submodels"]) for at in found] == [
        (0, 0.9, 5),
        (1, 0.6, 5),
    ]
    assert "by accuracy or by mean recall" in why_no_more(
        [always, better], Score("recall:yes"), CONSTANT, 2
    )


def test_neither_one_model_nor_a_near_constant_is_recommended():
    one_model = setting(
        1, [0.99, 0.98, 0.0], [0.99, 0.98, 0.0]
    )  # an offset may certify a constant even there
    constant = setting(7, [0.95, 0.95, 0.9], [0.9, 0.9, 0.9], nearly_constant=True)
    model = setting(5, [0.9, 0.1, 0.0], [0.7, 0.1, 0.0])
    found = recommended([one_model, constant, model], BALANCED, CONSTANT)
    assert [(at["radius"], at["submodels"]) for at in found] == [(0, 5)]
    assert "nearly constants" in why_no_more([one_model, constant, model], BALANCED, CONSTANT, 1)
    assert reference([constant, one_model], BALANCED)["accuracy"] == 0.99
    assert reference([constant], BALANCED) is None
    assert recommended([one_model], BALANCED, CONSTANT) == []
    assert "more than one submodel" in why_no_more([one_model], BALANCED, CONSTANT, 0)


def test_a_model_of_a_very_rare_label_is_no_constant():
    assert is_nearly_constant(predicted=0.992, true=0.9)
    assert not is_nearly_constant(predicted=0.99, true=0.9)
    assert not is_nearly_constant(predicted=0.998, true=0.998)  # as rare as it is
    assert is_nearly_constant(predicted=0.9995, true=0.998)


def test_best_takes_the_first_of_equals():
    settings = [
        {"submodels": k, "options": {"rule": "plurality"}, "curve": curve}
        for k, curve in ((3, [0.5, 0.25, 0.0]), (5, [0.5, 0.5]))
    ]
    assert [(at["accuracy"], at["fit"].split()[1]) for at in best(settings)] == [
        (0.5, "3"),
        (0.5, "5"),
    ]


def test_a_setting_in_words_leaves_nothing_for_fit_to_fill_in():
    """Without them fit would take a margin of 0.5 and a prior of 0.9."""
    assert (
        in_words(setting(5, []) | {"options": {"rule": "tournament", "margin": 0.0, "prior": 0.0}})
        == "--submodels 5 --margin 0 --prior 0"
    )
    odd = {"rule": "tournament", "margin": 0.123456789, "prior": 0.99, "offset": 0.5}
    assert (
        in_words({"submodels": 5, "options": odd})
        == "--submodels 5 --margin 0.123456789 --prior 0.99 --offset 0.5"
    )
    assert (
        in_words({"submodels": 5, "options": {"rule": "runoff"}}) == "--submodels 5 --rule runoff"
    )


def test_a_constant_with_a_proof_is_not_what_a_sweep_recommends(swept_rare):
    """By accuracy alone the old choice at r = 3 was a model that never says yes."""
    assert swept_rare["score"] == "balanced"
    by_accuracy = max(
        swept_rare["settings"], key=lambda one: one["curve"][3] if len(one["curve"]) > 3 else 0
    )
    assert by_accuracy["nearly_constant"]
    assert by_accuracy["curve"][3] > 0.8
    assert swept_rare["nearly_constant"] > 1
    assert swept_rare["best"]
    for at in swept_rare["best"]:
        assert at["balanced"] == at["score"] > 0.5
        assert at["submodels"] > 1
    first = next(
        one for one in swept_rare["settings"] if in_words(one) == swept_rare["best"][0]["fit"]
    )
    assert first["recall"]["yes"][0] > 0.5
    assert swept_rare["full_model"]["submodels"] == 1
    assert swept_rare["full_model"]["score"] >= swept_rare["best"][0]["score"]
    assert "always answering 'no'" in swept_rare["no_more"]


def test_scores_that_are_none(rare):
    training = open_training(rare, "label")
    with pytest.raises(
        InputError,
        match="score is 'recall:maybe', but no held-out row has that label: give one of no, yes",
    ):
        sweep(training, Grid(submodels=(3,)), Trial(score="recall:maybe"))
    for wrong in ("f1", "recall:", "recall"):
        with pytest.raises(InputError, match="give accuracy, balanced or recall:LABEL"):
            sweep(training, Grid(submodels=(3,)), Trial(score=wrong))


@pytest.mark.parametrize("score", ["accuracy", "balanced", "recall:yes"])
def test_fit_with_a_recommended_line_gives_what_was_promised(
    score, rare, tmp_path, partita, monkeypatch
):
    """Learnt from all of the table and certified on another, sweep and fit do the same."""
    monkeypatch.chdir(tmp_path)
    command = [
        "sweep",
        rare,
        "--target",
        "label",
        "--estimator",
        NAIVE,
        "--holdout",
        rare.parent / "later.csv",
        "--score",
        score,
    ]
    code, out, _ = partita(
        *command,
        "--submodels",
        "5,15",
        "--margins",
        "0,0.5",
        "--priors",
        "0,1",
        "--offsets",
        "0,0.5",
        "--out",
        "s",
    )
    assert code == 0
    found = json.loads(Path("s/sweep.json").read_text())
    line = shlex.split(re.search(r"^Next, for r = \d: partita (.*)$", out, re.MULTILINE)[1])
    promised = found["best"][min(1, len(found["best"]) - 1)]
    assert " ".join(line).endswith(f"{promised['fit']} --out model")
    assert partita(*line)[0] == 0
    certified = json.loads(partita("certify", "model", rare.parent / "later.csv", "--json")[1])
    assert certified["certified_accuracy"][promised["radius"]] == pytest.approx(
        promised["accuracy"]
    )
    assert certified["certified_balanced_accuracy"][promised["radius"]] == pytest.approx(
        promised["balanced"]
    )


# ---- which rows are held out ----


def test_the_last_rows_are_held_out(tmp_path):
    """The label changes its meaning late in the table: a random split does not notice, the last
    rows do."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 3))
    y = np.where((x.sum(axis=1) > 0) ^ (np.arange(600) >= 480), "a", "b")
    pd.DataFrame(x, columns=list("uvw")).assign(
        y=y, when=pd.date_range("2020-01-01", periods=600)
    ).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "units.toml").write_text('ignore = ["when"]\n')
    training = open_training(tmp_path / "t.parquet", "y", tmp_path / "units.toml")
    by_chance = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    by_time = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2))
    assert by_chance["settings"][0]["curve"][0] > 0.6 > 0.2 > by_time["settings"][0]["curve"][0]
    assert (by_time["held_out"], by_time["learnt_from"], by_time["best"]) == (120, 480, [])
    assert by_time["split"] == {"kind": "last", "share": 0.2}
    assert by_chance["warnings"] == [
        "Rows look ordered in time (by 'when'), and were held out at random: --last 0.2 tells "
        "more about later rows."
    ]
    assert by_time["warnings"] == []


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("saleDate", [20200101 + k for k in range(300)], "Rows look ordered in time"),
        ("datetime", [f"{2300 - k}-01-01" for k in range(300)], "Rows look ordered in time"),
        ("moment", pd.date_range("2020-01-01", periods=300)[::-1], "Rows look ordered in time"),
        (
            "moment",
            pd.date_range("2020-01-01", periods=300)[np.random.default_rng(0).permutation(300)],
            "sort the table by time",
        ),
        ("when time", np.random.default_rng(0).normal(size=300), "sort the table by time"),
        ("OverTime", ["yes", "no", "no"] * 100, None),
        ("lifetime", list(range(300)), None),
        ("update", list(range(300)), None),
    ],
)
def test_a_random_split_of_rows_in_time_is_told(name, values, message, tmp_path):
    x = np.random.default_rng(2).normal(size=300)
    pd.DataFrame({"x": x, "y": x > 0, name: values}).to_parquet(tmp_path / "t.parquet")
    training = open_training(tmp_path / "t.parquet", "y", UnitsFile(ignore=[name]))
    told = sweep(training, Grid(submodels=(1,), **ONE_RULE), Trial(estimator=NAIVE))["warnings"]
    assert len(told) == (message is not None)
    assert not told or (message in told[0] and repr(name) in told[0])


@pytest.fixture
def visits(tmp_path):
    """Four visits of each of 60 patients, whose number gives the answer away."""
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(60), 4)
    sick = rng.permutation(np.arange(60) % 2)[patient]
    frame = pd.DataFrame(
        {
            "patient": patient,
            "a": rng.normal(size=240),
            "b": rng.normal(size=240),
            "y": np.where(sick, "sick", "well"),
        }
    )
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def test_rows_of_a_group_are_never_split(visits, monkeypatch):
    fitted = []
    fit = FeaturePartitionClassifier.fit
    monkeypatch.setattr(
        FeaturePartitionClassifier, "fit", lambda self, X, y: (fitted.append(X), fit(self, X, y))[1]
    )
    grid, trial = Grid(submodels=(1,), **ONE_RULE), Trial(estimator=NAIVE, group="patient")
    found = sweep(open_training(visits, "y"), grid, trial)
    patients = pd.read_csv(visits)["patient"].to_numpy()
    learnt = set(patients[fitted[0].rows])
    assert (len(learnt), found["held_out"], found["learnt_from"]) == (
        45,
        60,
        180,
    )  # 15 patients with all their visits
    assert fitted[0].names == ["a", "b"]
    assert found["split"] == {
        "kind": "group",
        "column": "patient",
        "groups": 60,
        "held_groups": 15,
        "ignored_before": [],
    }
    assert found["warnings"] == [
        "'patient' is not a feature in this sweep. List it under ignore in units.toml, or partita "
        "fit takes it for one."
    ]
    assert found["ignore"] == ["patient"]
    ignored = sweep(open_training(visits, "y", UnitsFile(ignore=["patient"])), grid, trial)
    assert (ignored["warnings"], fitted[1].names, ignored["settings"]) == (
        [],
        ["a", "b"],
        found["settings"],
    )
    trusted = sweep(open_training(visits, "y", UnitsFile(trusted=["patient"])), grid, trial)
    assert (trusted["warnings"], fitted[2].names) == ([], ["patient", "a", "b"])


def test_groups_that_are_none(visits, tmp_path):
    grid = Grid(submodels=(1,), **ONE_RULE)
    table = pd.read_csv(visits)
    table.assign(same=1, gap=np.where(table["patient"] == 7, np.nan, table["patient"])).to_parquet(
        tmp_path / "t.parquet"
    )
    for group, message in (
        ("nobody", "group names the column 'nobody', which .* does not have"),
        ("y", "group names the target 'y'"),
        ("same", "which has one value in all rows"),
        ("gap", "which has missing values, the first in row"),
    ):
        with pytest.raises(InputError, match=message):
            sweep(
                open_training(tmp_path / "t.parquet", "y"),
                grid,
                Trial(estimator=NAIVE, group=group),
            )
    units = UnitsFile(units={"clinic": ["patient", "a"]})
    with pytest.raises(InputError, match="group names the column 'patient' of the unit 'clinic'"):
        sweep(open_training(visits, "y", units), grid, Trial(estimator=NAIVE, group="patient"))
    with pytest.raises(
        InputError,
        match="last and group are given, and each says which rows to hold out: choose one",
    ):
        sweep(open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=0.2, group="patient"))
    for last in (0, 1, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"last is .*: it must lie between 0 and 1"):
            sweep(open_training(visits, "y"), grid, Trial(estimator=NAIVE, last=last))


def test_labels_of_held_out_rows_alone_are_told(tmp_path):
    x = np.random.default_rng(4).normal(size=100)
    labels = np.where(np.arange(100) >= 90, "new", np.where(x > 0, "a", "b"))
    pd.DataFrame({"x": x, "z": x, "y": labels}).to_csv(tmp_path / "t.csv", index=False)
    found = sweep(
        open_training(tmp_path / "t.csv", "y"),
        Grid(submodels=(1,), **ONE_RULE),
        Trial(estimator=NAIVE, last=0.5),
    )
    assert found["warnings"] == [
        "1 of the labels, 'new' among them, occur in held-out rows only: no setting can be right "
        "there."
    ]
    assert found["constant"]["balanced"] == 1 / 3


def test_a_table_of_its_own_is_certified(rare):
    later = rare.parent / "later.csv"
    found = sweep(
        open_training(rare, "label"),
        Grid(submodels=(3,), **ONE_RULE),
        Trial(estimator=NAIVE, holdout=later),
    )
    X, y = pd.read_csv(rare).drop(columns="label"), pd.read_csv(rare)["label"].to_numpy()
    new = pd.read_csv(later)
    rule = Tournament(margin=0.5, prior=0.9)
    proof = (
        FeaturePartitionClassifier(named_estimator(NAIVE, False), n_submodels=3, rule=rule)
        .fit(X, y)
        .certify(new.drop(columns="label"))
    )
    curve = found["settings"][0]["curve"]
    assert curve == [
        certified_accuracy(new["label"].to_numpy(), proof, r) for r in range(len(curve))
    ]
    assert (found["learnt_from"], found["held_out"]) == (800, 400)
    assert (found["split"]["kind"], found["split"]["name"]) == ("file", "later.csv")


def test_tables_that_cannot_be_held_out(rare, tmp_path):
    def refused(path, message):
        with pytest.raises(InputError, match=message):
            sweep(
                open_training(rare, "label"),
                Grid(submodels=(3,)),
                Trial(estimator=NAIVE, holdout=path),
            )

    table = pd.read_csv(rare)
    refused(rare, "is the table to learn from, and a model knows the answers there")
    shutil.copy(rare, tmp_path / "copy.csv")
    refused(tmp_path / "copy.csv", "is the table to learn from")
    refused(tmp_path / "nothing.csv", "does not exist: give a table, or the share of rows")
    table.drop(columns="c3").to_csv(tmp_path / "less.csv", index=False)
    refused(tmp_path / "less.csv", "lacks the column 'c3'")
    table.drop(columns="label").to_csv(tmp_path / "no_target.csv", index=False)
    refused(tmp_path / "no_target.csv", "lacks the column 'label'")
    table.assign(more=1).to_csv(tmp_path / "more.csv", index=False)
    refused(tmp_path / "more.csv", "has the column 'more', which the table to learn from lacks")
    table.assign(label=1).to_parquet(tmp_path / "numbers.parquet")
    refused(
        tmp_path / "numbers.parquet", "holds numbers, but the table to learn from holds texts there"
    )


def test_a_label_of_one_and_a_half_is_not_one(tmp_path):
    x = np.random.default_rng(5).normal(size=200)
    pd.DataFrame({"x": x, "z": x, "y": (x > 0).astype(int)}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"x": x[:40], "z": x[:40], "y": np.where(x[:40] > 0, 1.5, 0.0)}).to_csv(
        tmp_path / "b.csv", index=False
    )
    trial = Trial(estimator=NAIVE, holdout=tmp_path / "b.csv")
    found = sweep(open_training(tmp_path / "a.csv", "y"), Grid(submodels=(1,), **ONE_RULE), trial)
    assert list(found["settings"][0]["recall"]) == ["0.0", "1.5"]
    assert found["settings"][0]["recall"]["1.5"][0] == 0


def test_too_few_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,x\n2,3,y\n")
    with pytest.raises(InputError, match="rows to learn from hold one label only"):
        sweep(open_training(tmp_path / "a.csv", "y"), Grid())


@pytest.mark.skipif(not WEATHER.exists(), reason="the weather table is not part of the project")
def test_days_of_a_weather_table_are_seen_to_be_ordered(tmp_path):
    table = pd.read_parquet(WEATHER).iloc[:800]
    columns = [name for name in table.columns if name.endswith("_temp_mean")]
    warm = table["BASEL_temp_mean"].shift(-1) > 12
    table[["DATE", *columns]].assign(warm=warm)[:-1].to_parquet(tmp_path / "w.parquet", index=False)
    training = open_training(tmp_path / "w.parquet", "warm", UnitsFile(ignore=["DATE"]))
    found = sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE))
    assert "Rows look ordered in time (by 'DATE')" in found["warnings"][0]
    assert (
        sweep(training, Grid(submodels=(3,), **ONE_RULE), Trial(estimator=NAIVE, last=0.2))[
            "warnings"
        ]
        == []
    )


# ---- what is written and printed ----


def test_that_settings_were_tuned_on_attackable_rows_is_disclosed(rare, swept_rare):
    assert swept_rare["tuned"] == (
        "The settings were chosen on rows of the table itself. If an attacker could write there, "
        "a radius holds given these choices, and "
        "does not cover an attacker who made you choose others."
    )
    later = Trial(estimator=NAIVE, holdout=rare.parent / "later.csv")
    found = sweep(open_training(rare, "label"), Grid(submodels=(3,), **ONE_RULE), later)
    assert found["tuned"].startswith(
        "The settings were chosen on the rows of later.csv. If an attacker could write there"
    )
    assert found["tuned"].endswith("'settings tuned on a trusted reference, later.csv'.")


def test_files_and_going_on(digits, tmp_path, capsys, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3, 5), rules=("plurality",))
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


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"holdout": 0.3}, {"last": 0.25}, {"group": "p10"}, {"holdout": "file"}]
)
def test_what_was_done_with_other_settings_does_not_count(other, digits, tmp_path, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3, 5), rules=("plurality",))
    if other == {"holdout": "file"}:
        pd.read_parquet(digits)[:100].to_parquet(tmp_path / "h.parquet", index=False)
        other = {"holdout": tmp_path / "h.parquet"}
    fresh = sweep(training, grid, Trial(NAIVE, **other))["settings"]
    with monkeypatch.context() as patch:
        patch.setattr(
            "partita.workflow._sweep_figure.plot_sweep",
            lambda found: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            sweep_file(training, grid, tmp_path / "s", Trial(NAIVE))
    assert len(list((tmp_path / "s").iterdir())) == 2  # both numbers of submodels are kept
    assert sweep_file(training, grid, tmp_path / "s", Trial(NAIVE, **other))["settings"] == fresh


def test_another_score_does_not_fit_again(digits, tmp_path, monkeypatch):
    training, grid = open_training(digits, "digit"), Grid(submodels=(3,), rules=("plurality",))
    with monkeypatch.context() as patch:
        patch.setattr(
            "partita.workflow._sweep_figure.plot_sweep",
            lambda found: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            sweep_file(training, grid, tmp_path / "s", Trial(NAIVE))
    monkeypatch.setattr(FeaturePartitionClassifier, "fit", None)
    found = sweep_file(training, grid, tmp_path / "s", Trial(NAIVE, score="recall:7"))
    assert found["best"][0]["score"] == found["settings"][0]["recall"]["7"][0]


def test_other_code_is_another_estimator(digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "changing.py").write_text("from sklearn.naive_bayes import GaussianNB as Mine\n")
    first = code_of("changing:Mine")
    (tmp_path / "changing.py").write_text(
        "from sklearn.naive_bayes import GaussianNB as Mine  # and more\n"
    )
    assert first != code_of("changing:Mine")
    assert code_of("hgb") is None


def test_numbers_that_are_none(tmp_path):
    (tmp_path / "sweep.json").write_text(
        '{"held_out": 1e999, "target": "y", "settings": [{"submodels": 3, "options": {}, "curve": '
        "[1]}]}"
    )
    with pytest.raises(InputError, match=r"is no sweep.json of partita sweep: OverflowError"):
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
def test_a_sweep_json_that_is_none_is_refused(wrong, tmp_path):
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
    with pytest.raises(InputError, match=r"is no sweep.json of partita sweep"):
        read_sweep(tmp_path)


def test_the_sweep_json_of_an_earlier_version_is_read(tmp_path):
    old = [{"submodels": 3, "options": {"rule": "plurality"}, "curve": [0.9, 0.4, 0.0]}]
    (tmp_path / "sweep.json").write_text(
        json.dumps({"held_out": 9, "target": "y", "settings": old})
    )
    assert [at["accuracy"] for at in read_sweep(tmp_path)["best"]] == [0.9, 0.4]


def printed(found, monkeypatch, capsys, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    show_sweep(found, "s", ["partita", "fit", "t.csv"])
    return capsys.readouterr().out


def test_the_table_fits_a_terminal_of_80_columns(swept_rare, monkeypatch, capsys):
    entry = swept_rare["best"][0] | {
        "radius": 12,
        "fit": "--submodels 101 --margin 0.5 --prior 0.99 --offset 0.125",
    }
    found = swept_rare | {
        "best": [entry],
        "score": "recall:yes",
        "constant": swept_rare["constant"] | {"answer": "a label " * 9},
    }
    text = printed(found, monkeypatch, capsys)
    table = text.split("in %\n")[1].split("Measured on")[0]
    assert max(map(len, table.splitlines())) <= 80
    for number in (
        "101",
        "0.5",
        "0.99",
        "0.125",
        f"{100 * entry['score']:.1f}",
        f"{100 * entry['accuracy']:.1f}",
    ):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", table), number
    assert table.splitlines()[0].split() == [
        "r",
        "recall",
        "accuracy",
        "mean",
        "recall",
        "options",
        "of",
        "partita",
        "fit",
    ]


def test_what_to_compare_with_stands_in_the_table(swept_rare, monkeypatch, capsys):
    text = printed(swept_rare, monkeypatch, capsys)
    constant, full = swept_rare["constant"], swept_rare["full_model"]
    assert "Best mean certified recall at each radius r" in text
    assert re.search(
        rf"^  any +50\.0 +{100 * constant['accuracy']:.1f}  always answering 'no'",
        text,
        re.MULTILINE,
    )
    assert re.search(
        rf"^  0 +{100 * full['balanced']:.1f} +{100 * full['accuracy']:.1f}  one model on all "
        r"columns, which proves",
        text,
        re.M,
    )
    for at in swept_rare["best"]:
        assert re.search(
            rf"^  {at['radius']} +{100 * at['balanced']:.1f} +{100 * at['accuracy']:.1f}  "
            rf"{at['fit']}",
            text,
            re.MULTILINE,
        )
    listed = len(swept_rare["best"])
    assert (
        f"Not listed, from r = {listed} on: always answering 'no' scores as much or more (50.0 %)"
        in text
    )
    assert f"Left out as nearly constant: {swept_rare['nearly_constant']} settings" in text
    assert swept_rare["tuned"] in text
    assert "200 held-out rows: 25 % of the rows, drawn at random." in text


def test_nothing_to_recommend_is_told_loudly(tmp_path, partita, monkeypatch):
    """Labels by chance: whatever is certified, a constant is as good."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc")).assign(
        y=rng.choice(["u", "v"], 300, p=[0.9, 0.1])
    ).to_csv("t.csv")
    code, out, _ = partita(
        "sweep",
        "t.csv",
        "--target",
        "y",
        "--estimator",
        "logistic",
        "--score",
        "accuracy",
        "--out",
        "s",
        "--quiet",
    )
    assert code == 0
    assert "WARNING  NO SETTING IS RECOMMENDED: always answering 'u' scores as much or more" in out
    assert "Next" not in out
    assert json.loads(Path("s/sweep.json").read_text())["best"] == []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error", EmptyProofWarning
        )  # fit would warn; here a constant is one of many that are tried
        assert sweep(open_training("t.csv", "y"), Grid(submodels=(3,)), Trial("logistic"))[
            "nearly_constant"
        ]


def test_options_of_the_command_line(rare, tmp_path, partita, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [
        "sweep",
        rare,
        "--target",
        "label",
        "--estimator",
        NAIVE,
        "--submodels",
        "3",
        "--out",
        "s",
    ]
    for options, message in (
        (["--holdout", "1.5"], "holdout is 1.5"),
        (["--holdout", "no.csv"], "holdout 'no.csv' does not exist"),
        (["--holdout", rare], "is the table to learn from"),
        (["--holdout", "0.2", "--last", "0.2"], "holdout and last are given"),
        (["--score", "auc"], "score is 'auc'"),
        (["--offsets", "x"], "offsets is 'x'"),
        (["--group", "g"], "group names the column 'g'"),
    ):
        code, _, err = partita(*command, *options)
        assert (code, message in err) == (2, True), err
    code, out, err = partita(*command, "--last", "0.2", "--quiet", "--jobs", "1", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["split"] == {"kind": "last", "share": 0.2}


def test_the_picture_shows_the_constant_and_one_model(swept_rare):
    figure = sweep_figure(swept_rare)
    (ax,) = figure.axes
    lines = {line.get_label().split("\n")[0]: line for line in ax.get_lines()}
    assert set(lines) == {
        "3 submodels",
        "15 submodels",
        "one model on all columns",
        "always answering 'no'",
    }
    assert set(lines["always answering 'no'"].get_ydata()) == {0.5}
    assert lines["one model on all columns"].get_ydata().tolist() == [
        swept_rare["full_model"]["score"]
    ]
    assert ax.get_ylabel() == "mean certified recall"
    by_name = sweep_figure(swept_rare | {"target": "$a_{", "score": "recall:yes"})  # no mathematics
    by_name.canvas.draw()
    assert "certified recall of 'yes'" in by_name.axes[0].get_ylabel()


def test_the_advice_of_the_page_is_what_its_sweep_recommends(tmp_path):
    """docs/choosing.md shows the table that its sweep prints, and fits with a line of it."""
    page = (ROOT / "docs" / "choosing.md").read_text()
    blocks = re.findall(r"^```(python|sh|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    first = {
        kind: next(code for found, code in blocks if found == kind)
        for kind in ("python", "sh", "text")
    }
    (tmp_path / "data.py").write_text(first["python"])
    search = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    command = f"{shlex.quote(sys.executable)} data.py && {first['sh']}"
    done = subprocess.run(
        ["bash", "-c", command],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=search,
        timeout=120,
    )
    table = [line.rstrip() for line in done.stdout.splitlines()]
    assert first["text"].splitlines() == table[: len(first["text"].splitlines())]
    fitted = next(
        line
        for kind, code in blocks
        if kind == "sh"
        for line in code.splitlines()
        if line.startswith("partita fit")
    )
    assert f"Next, for r = 1: {fitted}" in table
