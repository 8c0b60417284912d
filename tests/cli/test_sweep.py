"""``partita sweep``: its options, its advice, and that fit does what it promises."""

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import (
    EmptyProofWarning,
)
from partita.selection import Grid, Trial
from partita.selection._choose import choose_table
from partita.workflow._training_table import open_training
from tests.selection.sweeps import NAIVE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
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
    found = json.loads(Path("s/choice.json").read_text())
    line = shlex.split(re.search(r"^Next, for r = \d: partita (.*)$", out, re.MULTILINE)[1])
    promised = found["by_radius"][min(1, len(found["by_radius"]) - 1)]
    assert " ".join(line).endswith(f"{promised['fit']} --out model")
    assert partita(*line)[0] == 0
    certified = json.loads(partita("certify", "model", rare.parent / "later.csv", "--json")[1])
    assert certified["certified_accuracy"][promised["radius"]] == pytest.approx(
        promised["accuracy"]
    )
    assert certified["certified_balanced_accuracy"][promised["radius"]] == pytest.approx(
        promised["balanced"]
    )


def test_a_sweep_without_advice_says_so_loudly(tmp_path, partita, monkeypatch):
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
    assert json.loads(Path("s/choice.json").read_text())["by_radius"] == []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error", EmptyProofWarning
        )  # fit would warn; here a constant is one of many that are tried
        training, grid = open_training("t.csv", "y"), Grid(submodels=(3,))
        assert choose_table(training, grid, Trial("logistic")).nearly_constant


def test_wrong_options_are_one_sentence(rare, tmp_path, partita, monkeypatch):
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
        (["--score", "auc"], "want is 'auc'"),
        (["--offsets", "x"], "offsets is 'x'"),
        (["--group", "g"], "group names the column 'g'"),
    ):
        code, _, err = partita(*command, *options)
        assert (code, message in err) == (2, True), err
    code, out, err = partita(*command, "--last", "0.2", "--quiet", "--jobs", "1", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["split"] == {"kind": "last", "share": 0.2}


@pytest.mark.long
def test_the_advice_of_the_page_is_what_its_sweep_recommends(tmp_path):
    """docs/guide/choosing.md shows the table that its sweep prints, and fits with a line of it."""
    page = (ROOT / "docs" / "guide" / "choosing.md").read_text()
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
        for line in code.replace("\\\n    ", "").splitlines()
        if line.startswith("partita fit")
    )
    assert f"Next, for r = 1: {fitted}" in table
