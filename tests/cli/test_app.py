"""The application: help, bad input in one sentence, Ctrl-C."""

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
import pytest

from partita import InputError
from partita.__main__ import main

BAD = {
    "missing file": ("fit nowhere.csv --target y --out m", "data 'nowhere.csv' does not exist"),
    "unknown kind of file": ("fit units.toml --target y --out m", "neither .csv nor .parquet"),
    "target not in the table": (
        "fit train.csv --target price --out m",
        "target names the column 'price', which",
    ),
    "no target": ("fit train.csv --out m", "Missing option '--target'"),
    "unknown column in units": (
        "fit train.csv --target diagnosis --units bad.toml --out m",
        "names the column 'nothing'",
    ),
    "no toml": (
        "fit train.csv --target diagnosis --units train.csv --out m",
        "cannot be read as TOML",
    ),
    "no units": (
        "fit train.csv --target diagnosis --units nowhere.toml --out m",
        "units 'nowhere.toml' does not exist",
    ),
    "unknown entry": (
        "fit train.csv --target diagnosis --units entry.toml --out m",
        "the entry 'sources', which is not known",
    ),
    "empty table": ("fit empty.csv --target y --out m", "has no rows"),
    "one class": ("fit one.csv --target y --out m", "holds one label only, 'x'"),
    "only the target": ("fit target.csv --target y --out m", "no columns to learn from"),
    "text for regression": (
        "fit train.csv --target diagnosis --task regression --out m",
        "holds texts, and regression needs numbers",
    ),
    "fractions for classes": (
        "fit fractions.csv --target y --task classification --out m",
        "holds fractions, which are not labels",
    ),
    "missing values in the target": (
        "fit missing.csv --target y --out m",
        "has 1 missing value(s), the first in row 1",
    ),
    "rule of numbers": (
        "fit train.csv --target diagnosis --rule median --out m",
        "rule 'median' is for numbers",
    ),
    "unknown rule": ("fit train.csv --target diagnosis --rule best --out m", "rule is 'best'"),
    "wrong margin": ("fit train.csv --target diagnosis --margin -1 --out m", "margin is -1.0"),
    "unknown estimator": (
        "fit train.csv --target diagnosis --estimator forest --out m",
        "give one of blend, hgb, trees, lightgbm, logistic",
    ),
    "no such module": (
        "fit train.csv --target diagnosis --estimator no:Thing --out m",
        "estimator 'no:Thing' cannot be imported",
    ),
    "no estimator": (
        "fit train.csv --target diagnosis --estimator json:dumps --out m",
        "estimator 'json:dumps' cannot be made",
    ),
    "logistic for numbers": (
        "fit fractions.csv --target y --estimator logistic --out m",
        "'logistic' is for labels",
    ),
    "too many submodels": (
        "fit train.csv --target diagnosis --submodels 99 --out m",
        "n_submodels",
    ),
    "zero submodels": ("fit train.csv --target diagnosis --submodels 0 --out m", "--submodels"),
    "a place that is taken": (
        "fit train.csv --target diagnosis --out taken",
        "is not a stored model: choose another place",
    ),
    "no model": ("certify nowhere test.parquet", "'nowhere' does not exist"),
    "not a model": ("certify taken test.parquet", "manifest.json is missing"),
    "no data": ("certify model nowhere.parquet", "data 'nowhere.parquet' does not exist"),
    "a column less": ("certify model less.csv", "lacks the column 'mean radius'"),
    "text where a number is needed": (
        "certify model text.csv",
        "row 1, column 'mean radius' holds 'abc' where a number is needed",
    ),
    "no rows": ("certify model none.csv", "has no rows"),
    "tolerance for labels": (
        "certify model test.parquet --tolerance 3",
        "the model predicts labels",
    ),
    "a strange output": ("certify model test.parquet --out c.xlsx", "must end in .parquet or .csv"),
    "output in a file": ("certify model test.parquet --out train.csv/c.csv", "is not a folder"),
    "report elsewhere": ("report model test.parquet --out r.pdf", "must end in .html"),
    "no sweep": (
        "report model test.parquet --sweep nowhere.json --out r.html",
        "'nowhere.json' does not exist",
    ),
    "a strange sweep": (
        "report model test.parquet --sweep strange.json --out r.html",
        "is not a choice.json",
    ),
    "sweep without a tolerance": (
        "sweep fractions.csv --target y --out s",
        "say with tolerance or relative",
    ),
    "sweep of nonsense": (
        "sweep train.csv --target diagnosis --submodels many --out s",
        "submodels is 'many'",
    ),
    "sweep of too many": (
        "sweep train.csv --target diagnosis --submodels 99 --out s",
        "each must be from 1 to",
    ),
    "sweep of no rule": (
        "sweep train.csv --target diagnosis --rules best --out s",
        "rules names 'best'",
    ),
    "sweep over all": (
        "sweep train.csv --target diagnosis --holdout 1.5 --out s",
        "holdout is 1.5",
    ),
    "serve nothing": ("serve nowhere", "'nowhere' does not exist"),
    "no command": ("frobnicate", "No such command 'frobnicate'"),
    "no option": ("fit train.csv --speed 3", "No such option"),
}


@pytest.fixture
def desk(cancer, model, tmp_path, monkeypatch):
    """A folder with everything that the bad commands mention."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.csv", "test.parquet", "units.toml", "model"):
        Path(name).symlink_to(cancer / name)
    test = pd.read_csv(cancer / "test.csv")
    test.drop(columns="mean radius").to_csv("less.csv", index=False)
    test.assign(extra="new").to_csv("more.csv", index=False)
    test[:0].to_csv("none.csv", index=False)
    strange = test[:3].astype({"mean radius": object})
    strange.loc[1, "mean radius"] = "abc"
    strange.to_csv("text.csv", index=False)
    Path("bad.toml").write_text('[units]\na = ["nothing"]\n')
    Path("entry.toml").write_text('[sources]\na = ["mean radius"]\n')
    Path("empty.csv").write_text("a,y\n")
    Path("one.csv").write_text("a,y\n1,x\n2,x\n")
    Path("target.csv").write_text("y\n1\n2\n")
    Path("missing.csv").write_text("a,y\n1,x\n2,\n")
    Path("fractions.csv").write_text("a,b,y\n" + "".join(f"{k},{-k},{k / 7}\n" for k in range(50)))
    Path("strange.json").write_text("[]")
    Path("taken").mkdir()
    Path("taken/notes.txt").write_text("mine")
    return tmp_path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(case, partita, desk):
    command, message = BAD[case]
    before = sorted(path.name for path in desk.iterdir())
    code, out, err = partita(*command.split())
    assert code == 2, err
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("partita: ")
    assert sorted(path.name for path in desk.iterdir()) == before  # nothing is half-written


def test_a_column_that_the_model_does_not_know_is_ignored_with_a_note(partita, desk):
    code, told, error = partita("certify", "model", "more.csv", "--json")
    assert code == 0
    assert "ignored in 'more.csv', since the model does not know it: ['extra']" in error
    found, expected = (
        json.loads(told),
        json.loads(partita("certify", "model", "test.parquet", "--json")[1]),
    )
    assert found["certified_accuracy"] == expected["certified_accuracy"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["fit", "train.csv", "--target", "diagnosis", "--seed", "-1", "--out", "m"], "--seed"),
        (["certify", "numbers.zip", "numbers.parquet", "--tolerance", "inf"], "tolerance is inf"),
        (["certify", "numbers.zip", "numbers.parquet", "--relative", "-1"], "relative is -1.0"),
    ],
)
def test_numbers_out_of_range(options, message, partita, desk, numbers):
    Path("numbers.zip").symlink_to(numbers / "model.zip")
    Path("numbers.parquet").symlink_to(numbers / "test.parquet")
    code, _, err = partita(*options)
    assert (code, message in err) == (2, True)


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["partita", "--debug", "fit", "nowhere.csv", "--target", "y", "--out", "m"]
    )
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() changes it
    with pytest.raises(InputError, match=r"nowhere\.csv' does not exist"):
        main()


def test_help_and_version(partita):
    code, out, _ = partita("--help")
    assert code == 0
    for command in ("demo", "fit", "certify", "choose", "sweep", "report", "data", "serve"):
        assert command in out
        assert partita(command, "--help")[0] == 0
    assert partita("--version")[:2] == (0, "0.1.0\n")


def test_without_the_extra(partita, monkeypatch):
    """Where typer is missing the command says how to install it."""
    monkeypatch.setitem(sys.modules, "typer", None)
    code, _, err = partita()
    assert code == 2
    assert err == (
        "partita: the command line needs typer, which is not installed: pip install "
        "'partita[cli]'\n"
    )


HELD = """
import time
from pathlib import Path

from sklearn.tree import DecisionTreeClassifier


class Held(DecisionTreeClassifier):
    '''One of few columns notes that it has begun, and waits while a file is there.'''

    def fit(self, X, y):
        if X.shape[1] < 4 and Path("hold").exists():
            Path("begun").touch()
            while Path("hold").exists():
                time.sleep(0.02)
        return super().fit(X, y)
"""


@pytest.fixture
def held(cancer, tmp_path, monkeypatch):
    """A folder whose estimator is at work for as long as a test wants it to be."""
    monkeypatch.chdir(tmp_path)
    pd.read_csv(cancer / "train.csv").drop(columns="id").to_csv("train.csv", index=False)
    Path("held.py").write_text(HELD)
    Path("hold").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("held", None)


def interrupt(command, folder):
    """Start a command, press Ctrl-C when a submodel is being fitted: the exit code, and what it
    said on standard error."""
    running = subprocess.Popen(
        [sys.executable, "-m", "partita", *command], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "begun").exists():
            assert time.monotonic() < deadline, "no submodel was begun"
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.02)
        time.sleep(0.5)  # by then the main thread waits for the submodels
        running.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, err = running.communicate(timeout=60)
        assert time.monotonic() - started < 20
    finally:
        running.kill()
    return running.returncode, err


FIT_HELD = [
    "fit",
    "train.csv",
    "--target",
    "diagnosis",
    "--estimator",
    "held:Held",
    "--submodels",
    "10",
]
SWEEP_HELD = [
    "sweep",
    "train.csv",
    "--target",
    "diagnosis",
    "--estimator",
    "held:Held",
    "--submodels",
    "3,10",
    "--rules",
    "plurality",
]


def test_an_interrupted_fit_leaves_nothing(held):
    before = sorted(held.iterdir())
    code, err = interrupt([*FIT_HELD, "--out", "model"], held)
    assert (code, err.splitlines()[-1]) == (130, "partita: interrupted; nothing is half-written")
    assert "Traceback" not in err
    assert sorted(set(held.iterdir()) - {held / "begun", held / "__pycache__"}) == before


@pytest.mark.long
def test_an_interrupted_sweep_resumes(held, partita):
    code, err = interrupt([*SWEEP_HELD, "--out", "s"], held)
    assert (code, "partita: 10 submodels (2 of 2)" in err) == (130, True)
    assert [path.suffix for path in (held / "s").iterdir()] == [".json"]
    (held / "hold").unlink()
    code, _, err = partita(*SWEEP_HELD, "--out", "s")
    assert code == 0
    assert "3 submodels (1 of 2, finished by an earlier run)" in err
    assert sorted(path.name for path in (held / "s").iterdir()) == ["choice.json", "choice.png"]
