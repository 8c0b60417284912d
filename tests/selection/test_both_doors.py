"""Python and the command line give the same answer on the same table."""

import json

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import choose
from partita._support import json_value
from partita.selection import sweep

from .sweeps import NAIVE

RIDGE = "sklearn.linear_model:Ridge"
OF_A_FILE = {"key": None, "fallback": None, "fit": None, "seconds": None}  # names, and the time


def plain(found):
    """The answer as JSON, without what depends on a clock or on an estimator's name."""
    if isinstance(found, dict):
        return {name: plain(value) for name, value in found.items() if name not in OF_A_FILE}
    return [plain(one) for one in found] if isinstance(found, list) else found


@pytest.mark.parametrize("command", ["choose", "sweep"])
@pytest.mark.parametrize(
    ("load", "estimators", "judged"),
    [
        (load_breast_cancer, (GaussianNB(), NAIVE), {}),
        (load_diabetes, (Ridge(), RIDGE), {"relative": 0.4}),
        (load_diabetes, (None, "auto"), {"relative": 0.4, "learners": ["trees-4", "ridge"]}),
    ],
)
def test_both_doors_lead_to_the_same_choice(command, load, estimators, judged, partita, tmp_path):
    X, y = load(return_X_y=True, as_frame=True)
    frame = X.assign(target=y)
    for name, rows in (("train", slice(0, None, 2)), ("valid", slice(1, None, 2))):
        frame[rows].to_parquet(tmp_path / f"{name}.parquet", index=False)
    sizes = {"submodels": [3, 5]} | ({"radius": 1, "groups": [5]} if command == "choose" else {})
    rows = X[::2], y[::2].to_numpy(), X[1::2], y[1::2].to_numpy()
    door = choose if command == "choose" else sweep
    in_python = json_value(door(*rows, estimator=estimators[0], **sizes, **judged).as_dict())
    given = sizes | judged | {"estimator": estimators[1]}
    options = [
        word
        for name, value in given.items()
        for word in (f"--{name}", ",".join(map(str, value)) if isinstance(value, list) else value)
    ]
    code, out, error = partita(
        *(command, tmp_path / "train.parquet", "--target", "target"),
        *("--holdout", tmp_path / "valid.parquet", "--out", tmp_path / "s", "--json", *options),
    )
    assert code == 0, error
    on_the_command_line = json.loads(out)
    assert len(in_python["settings"]) > 5
    assert in_python["by_radius"]
    for name, value in in_python.items():
        assert plain(on_the_command_line[name]) == plain(value), name
    assert json.loads((tmp_path / "s" / "choice.json").read_bytes()) == on_the_command_line


@pytest.mark.long
@pytest.mark.parametrize("command", ["choose", "sweep"])
def test_both_doors_judge_by_the_same_kinds_of_rows(command, partita, tmp_path, monkeypatch):
    """Digits are in the order of their writers: without rows to judge by, the last ones count."""
    X, y = (part[:500] for part in load_digits(return_X_y=True, as_frame=True))
    X.assign(target=y).to_parquet(tmp_path / "digits.parquet", index=False)
    sizes = {"submodels": [3, 5], "rules": ["plurality"]}
    sizes |= {"groups": [3]} if command == "choose" else {}
    door = choose if command == "choose" else sweep
    found = door(X, y.to_numpy(), estimator=GaussianNB(), **sizes)
    in_python = json_value(found.as_dict())
    assert list(found.splits) == ["random", "last"]
    worst = found.about["split"]["kind"]
    assert {"kind": worst, "share": 0.25} == found.about["split"]
    options = ["--submodels", "3,5", "--rules", "plurality", "--estimator", NAIVE]
    options += ["--radius", 1, "--groups", 3] if command == "choose" else []
    arguments = [command, tmp_path / "digits.parquet", "--target", "target", *options]
    code, out, error = partita(*arguments, "--out", tmp_path / "s", "--json")
    assert code == 0, error
    assert "judging by the last 25 % of the rows, in the order of the table (2 of 2" in error
    on_the_command_line = json.loads(out)
    for name, value in in_python.items():
        assert plain(on_the_command_line[name]) == plain(value), name
    kinds = on_the_command_line["splits"]
    assert [kinds[kind]["split"]["kind"] for kind in kinds] == ["random", "last"]
    assert plain(kinds[worst]["settings"]) == plain(on_the_command_line["settings"])
    monkeypatch.setenv("COLUMNS", "200")
    code, out, error = partita(*arguments, "--out", tmp_path / "s", "--quiet")
    fits = [one["fit"] for one in on_the_command_line["settings"]]
    line = next(line for line in out.splitlines() if line[:2] == "  " and "--rule plur" in line)
    number = next(number for number, fit in enumerate(fits) if fit in line)
    for kind in ("random", "last"):
        share = kinds[kind]["settings"][number]["accuracy"]
        assert f" {100 * share:.1f} " in line
    assert "held-out rows: 25 % of the rows, drawn at random" in out
    assert out.count("; settings are compared by these. A radius") == 1
