"""partita sweep --radius, as a user meets it: the command it prints makes the model it promised."""

import json
import shlex

import pytest
from sklearn.datasets import load_wine

NAIVE = "sklearn.naive_bayes:GaussianNB"


@pytest.fixture
def wine(tmp_path):
    place = tmp_path / "wine.parquet"
    load_wine(as_frame=True).frame.to_parquet(place, index=False)
    return place


@pytest.mark.long
def test_the_recommended_command_works(partita, wine, tmp_path):
    sizes = ("--submodels", "3,5", "--groups", "5,6", "--estimator", NAIVE)
    out = tmp_path / "s"
    code, text, _ = partita(
        "sweep", wine, "--target", "target", "--radius", 1, "--out", out, *sizes
    )
    assert code == 0
    assert "one model on all columns: " in text
    assert "always answering 1" in text
    assert ("the price of the proof is" in text) != ("the proof costs no accuracy" in text)
    command = shlex.split(text.rpartition("Next, for r = 1: ")[2])
    assert command[:2] == ["partita", "fit"]
    command[-1] = str(tmp_path / "model")
    code, text, error = partita(*command[1:])
    assert (code, "Stored in" in text) == (0, True), error


def test_json_has_the_frontier_and_a_wish_moves_the_point(partita, wine, tmp_path):
    arguments = ["sweep", wine, "--target", "target", "--radius", 1, "--estimator", NAIVE, "--json"]
    arguments += ["--submodels", "3,5", "--groups", "5"]
    found = {}
    for want in ("certified", "accuracy=0.97"):
        code, text, _ = partita(*arguments, "--want", want, "--out", tmp_path / want)
        assert code == 0
        found[want] = json.loads(text)
        assert found[want]["want"] == want
    frontiers = [[one["fit"] for one in content["frontier"]] for content in found.values()]
    assert frontiers[0] == frontiers[1]
    certified = [one["certified"] for one in found["certified"]["settings"]]
    assert found["certified"]["best"]["certified"] == max(certified)
    assert found["accuracy=0.97"]["best"]["accuracy"] >= 0.97


@pytest.mark.parametrize("radius", [(), ("--radius", 1, "--groups", "5")])
def test_one_model_that_fails_is_unknown(radius, partita, wine, tmp_path, monkeypatch):
    monkeypatch.setattr("partita.selection._search._ordinary", lambda *_: iter(()))
    arguments = ["choose", wine, "--target", "target", "--estimator", NAIVE, "--submodels", "3"]
    for out in ("first", "second"):
        code, text, _ = partita(*arguments, *radius, "--out", tmp_path / out)
        assert code == 0
        (line,) = (line for line in text.splitlines() if "one model on all columns: fail" in line)
        assert set(line.split("one")[0].split()) <= {"0", "-"}
        assert "every ordinary model failed, so the price is not known" in text
    content = json.loads((tmp_path / "first" / "choice.json").read_bytes())
    assert content["one_model"]["accuracy"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--groups", "5"), "groups goes with --radius"),
        (("--radius", 1, "--want", "all"), "want is 'all'"),
        (("--radius", 7), "radius is 7, which needs at least 15 units"),
    ],
)
def test_options_that_do_not_go_together_are_refused(partita, wine, tmp_path, options, message):
    arguments = ("--target", "target", "--out", tmp_path / "s", "--estimator", NAIVE)
    code, _, error = partita("sweep", wine, *arguments, *options)
    assert code == 2
    assert message in error
