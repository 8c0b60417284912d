"""Every command reads CSV files as they are written, and a model remembers how."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from partita import store


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """The same table written in two ways."""
    folder = tmp_path_factory.mktemp("wine")
    frame = load_wine(as_frame=True).frame.iloc[:, [0, 1, 6, 9, 12, 13]]
    frame = frame.assign(target=np.array(["Südtirol", "Pfalz", "Baden"])[frame["target"]])
    for name, part in (("train", frame[::2]), ("new", frame[1::2])):
        part.to_csv(folder / f"{name}.csv", index=False)
        part.to_csv(folder / f"{name}_de.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    return folder


GERMAN = ("--sep", ";", "--decimal", ",", "--encoding", "cp1252")


def fitted(partita, wine, out, table, *options):
    code, _, err = partita(
        "fit",
        wine / table,
        "--target",
        "target",
        "--submodels",
        3,
        "--estimator",
        "logistic",
        *options,
        "--out",
        out,
    )
    assert code == 0, err
    return out


def test_a_model_remembers_how_its_table_was_written(partita, wine, tmp_path):
    plain = fitted(partita, wine, tmp_path / "plain", "train.csv")
    german = fitted(partita, wine, tmp_path / "german", "train_de.csv", *GERMAN)
    assert store.manifest(german)["about"]["csv"] == {
        "sep": ";",
        "decimal": ",",
        "encoding": "cp1252",
    }
    assert store.manifest(plain)["about"]["csv"] is None
    commands = {
        "plain": (plain, wine / "new.csv"),
        "remembered": (german, wine / "new_de.csv"),
        "given otherwise": (
            german,
            wine / "new.csv",
            "--sep",
            ",",
            "--decimal",
            ".",
            "--encoding",
            "utf-8",
        ),
        "given": (plain, wine / "new_de.csv", *GERMAN),
    }
    found = {}
    for case, arguments in commands.items():
        code, _, err = partita("certify", *arguments, "--out", tmp_path / "c.csv")
        assert code == 0, err
        found[case] = (tmp_path / "c.csv").read_bytes()
    assert len(set(found.values())) == 1
    assert "Südtirol".encode() in found["plain"]


@pytest.mark.long
def test_every_command_reads_the_table_as_it_is_written(partita, wine, tmp_path):
    model = fitted(partita, wine, tmp_path / "m", "train.csv")
    commands = {
        "certify": ("certify", model, wine / "new_de.csv"),
        "report": ("report", model, wine / "new_de.csv", "--out", tmp_path / "r.html"),
        "audit": (
            "audit",
            model,
            wine / "new_de.csv",
            "--training",
            wine / "train.csv",
            "--rows",
            3,
            "--attacks",
            "evasion,poisoning",
        ),
        "sweep": (
            "sweep",
            wine / "train_de.csv",
            "--target",
            "target",
            "--submodels",
            3,
            "--rules",
            "plurality",
            "--out",
            tmp_path / "s",
        ),
    }
    for name, arguments in commands.items():
        code, _, err = partita(*arguments)
        assert (code, "add --sep ';' --decimal ','" in err) == (2, True), name
        code, _, err = partita(*arguments, *GERMAN)
        assert code == 0, err
    assert json.loads((tmp_path / "s" / "choice.json").read_bytes())["csv"] == {
        "sep": ";",
        "decimal": ",",
        "encoding": "cp1252",
    }


@pytest.mark.long
def test_an_audit_reads_the_training_table_as_fit_did(partita, wine, tmp_path):
    model = fitted(partita, wine, tmp_path / "m", "train_de.csv", *GERMAN)
    audit = (
        "audit",
        model,
        wine / "new.csv",
        "--training",
        wine / "train_de.csv",
        "--rows",
        3,
        "--attacks",
        "poisoning",
    )
    code, out, err = partita(*audit, "--sep", ",", "--decimal", ".", "--encoding", "utf-8")
    assert code == 0, err
    assert "Passed" in out


def test_a_table_to_certify_with_other_separators_suggests_the_option(partita, wine, tmp_path):
    model = fitted(partita, wine, tmp_path / "m", "train.csv")
    pd.read_csv(wine / "new.csv").to_csv(tmp_path / "new.csv", sep=";", index=False)
    code, _, err = partita("certify", model, tmp_path / "new.csv")
    assert code == 2
    assert err.startswith(f"partita: data '{tmp_path}/new.csv' lacks the column 'alcohol', which ")
    assert err.endswith(": its columns look separated by ';': add --sep ';'\n")


def test_a_sweep_of_the_same_file_read_in_another_way_is_another_sweep(partita, tmp_path):
    """What an interrupted sweep left behind is not taken for the sweep of a table that is read in
    another way."""
    (tmp_path / "t.csv").write_text(
        "a;b;y\n" + "".join(f"{k},5;{(7 * k) % 20},25;{int(k > 20)}\n" for k in range(40))
    )
    sweep = (
        "sweep",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--submodels",
        1,
        "--rules",
        "plurality",
        "--out",
        tmp_path / "s",
        "--sep",
        ";",
    )
    keys = []
    for decimal in (",", "."):
        assert partita(*sweep, "--decimal", decimal)[0] == 0
        found = json.loads((tmp_path / "s" / "choice.json").read_bytes())
        keys.append(found["csv"])
    assert keys == [{"sep": ";", "decimal": ","}, {"sep": ";", "decimal": "."}]
