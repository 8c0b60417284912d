"""Python and the command line give the same answer on the same table."""

import json

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import choose
from partita._support import json_value
from partita.selection import sweep

from .sweeps import NAIVE

RIDGE = "sklearn.linear_model:Ridge"
OF_A_FILE = {"fallback": None, "fit": None, "seconds": None}  # names of estimators, and the time


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
