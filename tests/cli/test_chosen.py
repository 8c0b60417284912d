"""How settings were chosen, from the sweep through the model to everything that shows a radius."""

import json
import shlex

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from partita import store
from partita.workflow import CHOSEN, ON_REFERENCE, ON_TRAINING

NAIVE = "sklearn.naive_bayes:GaussianNB"
SWEEP = ("--target", "target", "--submodels", "3,5", "--estimator", NAIVE)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chosen")
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, 20:]
    for name, part in (("reference", frame[:120]), ("train", frame[120:400]), ("new", frame[400:])):
        part.to_parquet(folder / f"{name}.parquet", index=False)
    return folder


@pytest.mark.parametrize(
    ("options", "chosen"), [((), ON_TRAINING), (("--reference", "reference"), ON_REFERENCE)]
)
@pytest.mark.parametrize("kind", [("--rules", "plurality"), ("--radius", 1, "--groups", "5")])
def test_the_command_that_a_sweep_recommends_says_so(
    partita, tables, tmp_path, options, chosen, kind
):
    given = [tables / f"{one}.parquet" if one == "reference" else one for one in options]
    found = tmp_path / "found"
    code, text, _ = partita(
        "sweep", tables / "train.parquet", *SWEEP, *kind, *given, "--out", found
    )
    assert code == 0
    assert CHOSEN[chosen] in text.replace("\n", " ")
    content = json.loads(next(found.glob("*.json")).read_bytes())
    assert content["chosen"] == chosen
    assert content["depends"] == CHOSEN[chosen]
    command = shlex.split(text.replace("\n", " ").rpartition("partita fit ")[2])
    model = tmp_path / "model"
    command[-1] = str(model)
    code, text, error = partita("fit", *command, "--no-full-model")
    assert code == 0, error
    assert CHOSEN[chosen] in text.replace("\n", " ")
    assert store.manifest(model)["about"]["chosen"] == chosen


@pytest.mark.parametrize("chosen", [None, "beforehand", "on-training"])
def test_what_was_stated_is_repeated_wherever_a_radius_is_shown(partita, tables, tmp_path, chosen):
    model, new, page = tmp_path / "model", tables / "new.parquet", tmp_path / "report.html"
    options = () if chosen is None else ("--chosen", chosen)
    fit = ("fit", tables / "train.parquet", *SWEEP[:2], "--submodels", 3, *SWEEP[4:], *options)
    assert CHOSEN[chosen] in partita(*fit, "--out", model)[1].replace("\n", " ")
    for command in (("certify", model, new), ("report", model, new, "--out", page)):
        assert CHOSEN[chosen] in partita(*command)[1].replace("\n", " ")
        found = json.loads(partita(*command, "--json")[1])
        assert (found["chosen"], found["chosen_words"]) == (chosen, CHOSEN[chosen])
    assert CHOSEN[chosen] in page.read_text()


def test_no_model_of_ours_states_more_than_its_user_did(partita, tables, tmp_path):
    """A manifest with anything else counts as one that says nothing."""
    model = tmp_path / "model"
    fit = ("fit", tables / "train.parquet", *SWEEP[:2], "--submodels", 3, *SWEEP[4:])
    partita(*fit, "--out", model)
    manifest = json.loads((model / "manifest.json").read_bytes())
    for strange in ("trust me", 3, ["beforehand"], {"beforehand": 1}, True):
        manifest["about"]["chosen"] = strange
        (model / "manifest.json").write_text(json.dumps(manifest))
        code, text, _ = partita("certify", model, tables / "new.parquet")
        assert (code, CHOSEN[None] in text.replace("\n", " ")) == (0, True)


def test_what_cannot_be_is_refused_in_one_sentence(partita, tables, tmp_path):
    train = tables / "train.parquet"
    code, _, error = partita("fit", train, *SWEEP[:2], "--chosen", "well", "--out", tmp_path / "m")
    assert (code, "chosen is 'well': give beforehand, on-reference or on-train" in error) == (
        2,
        True,
    )
    small = tmp_path / "small.parquet"
    pd.read_parquet(tables / "reference.parquet")[:25].to_parquet(small, index=False)
    for reference, more, message in (
        (small, (), "reference has 25 rows, too few to learn from one part and judge by the other"),
        (tables / "reference.parquet", ("--last", 0.2), "last says which rows of the table"),
        (train, (), "is the training table itself"),
    ):
        given = ("--reference", reference, *more, "--out", tmp_path / "s")
        code, _, error = partita("sweep", train, *SWEEP, *given)
        assert (code, message in error) == (2, True)


@pytest.mark.long
@pytest.mark.parametrize("kind", [("--rules", "plurality"), ("--radius", 1, "--groups", "5")])
def test_only_rows_that_are_in_both_tables_are_warned_of(partita, tables, tmp_path, kind):
    parts = [pd.read_parquet(tables / f"{name}.parquet") for name in ("reference", "train")]
    both = tmp_path / "both.parquet"
    pd.concat([parts[0][:40], parts[1]]).to_parquet(both, index=False)
    for train, shared in ((tables / "train.parquet", 0), (both, 1)):
        given = ("--reference", tables / "reference.parquet", "--out", tmp_path / f"found {shared}")
        code, _, error = partita("sweep", train, *SWEEP, *kind, *given)
        assert code == 0
        assert error.count("rows of X_ref are rows of the training table") == shared
