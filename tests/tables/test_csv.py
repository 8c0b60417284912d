"""CSV files as the world writes them: separators, decimal signs, encodings."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from partita import InputError, store
from partita.tables._kinds import NUMBER, TEXT
from partita.tables._open import CsvOptions, open_file

KINDS = {"größe": NUMBER, "ort": TEXT, "y": NUMBER}
ROWS = "größe{s}ort{s}y\n1{d}5{s}Zürich{s}0\n-2{d}25{s}Köln{s}1\n{s}{s}1\n"

WRITTEN = {
    "usual": (",", ".", "utf-8", CsvOptions()),
    "byte order mark": (",", ".", "utf-8-sig", CsvOptions()),
    "semicolons": (";", ".", "utf-8", CsvOptions(sep=";")),
    "decimal commas": (";", ",", "utf-8", CsvOptions(sep=";", decimal=",")),
    "cp1252": (";", ",", "cp1252", CsvOptions(";", ",", "cp1252")),
    "latin-1": (",", ".", "latin-1", CsvOptions(encoding="latin-1")),
    "tabs in UTF-16": ("\t", ",", "utf-16", CsvOptions("\\t", ",", "utf-16")),
    "a real tab": ("\t", ".", "utf-8", CsvOptions("\t")),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("case", WRITTEN)
def test_however_it_is_written_the_table_is_the_same(case, zipped, tmp_path):
    sep, decimal, encoding, options = WRITTEN[case]
    content = ROWS.format(s=sep, d=decimal).encode(encoding)
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    for kinds in (None, KINDS):  # as a table to learn from, and as one to certify
        file = open_file(path, kinds=kinds, csv=options)
        assert {name: file.kind(name) for name in file.names} == KINDS
        frame = file.table(KINDS).take([0, 1, 2])
        assert frame["größe"].tolist()[:2] == [1.5, -2.25]
        assert frame["ort"].tolist()[:2] == ["Zürich", "Köln"]
        assert frame.iloc[2].isna().tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("written", "options", "message"),
    [
        (
            ("a;b;y\n1;2;3\n", "utf-8"),
            {},
            r"it has one column, 'a;b;y'; its columns look separated by ';': add --sep ';'$",
        ),
        (
            ("a;b;y\n1,5;2;3\n", "utf-8"),
            {},
            r"cannot be read as CSV: its columns look separated by ';': add --sep ';' --decimal "
            r"','$",
        ),
        (("a\tb\ty\n1\t2\t3\n", "utf-8"), {}, r"add --sep '\\t'$"),
        (("a|b|y\n1|2|3\n", "utf-8"), {}, r"add --sep '\|'$"),
        (("a,b,y\n1,2,3\n", "utf-8"), {"sep": ";"}, r"add --sep ','$"),
        (
            ("a,b,y\n1,2,3\n", "utf-8"),
            {"sep": ";", "decimal": ","},
            r"add --sep ',' --decimal '\.'$",
        ),
        (
            ("a,é,y\n1,2,3\n", "latin-1"),
            {},
            "it is not valid utf-8: add --encoding with the right one, such as --encoding cp1252",
        ),
        (("a,b,y\n1,é,3\n", "latin-1"), {}, "it is not valid utf-8: add --encoding"),
        (
            ("a,b,y\n1,é,3\n", "latin-1"),
            {"encoding": "ascii"},
            "it is not valid ascii: add --encoding",
        ),
        (("a,b,y\n1,é,3\n", "utf-16"), {}, "it is in UTF-16: add --encoding utf-16"),
        (("a b y\n1 2 3\n", "utf-8"), {}, "it has one column, 'a b y'$"),
    ],
)
def test_a_file_that_is_written_in_another_way_says_which_option_is_missing(
    written, options, message, tmp_path
):
    text, encoding = written
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=message):
        open_file(tmp_path / "t.csv", csv=CsvOptions(**options)).check_has("y", "target")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "sep is ';;': give one character"),
        ({"sep": ""}, "sep is '': give one character"),
        ({"sep": "\n"}, r"sep is '\\n': give one character"),
        ({"sep": "§"}, "sep is '§': give one character"),
        ({"decimal": "'"}, "decimal is \"'\": give '.' or ','"),
        (
            {"decimal": ","},
            "sep and decimal are both ',', so cells and fractions cannot be told apart",
        ),
        ({"encoding": "utf-9"}, "encoding is 'utf-9', which is not known: give one such as utf-8"),
        ({"encoding": "zip"}, "encoding is 'zip', which is not known"),
        ({"encoding": "punycode"}, "encoding is 'punycode', which is not known"),
        ({"encoding": "a\0b"}, "encoding is .*, which is not known"),
        ({"sep": 5, "decimal": [], "encoding": {}}, "sep is 5"),
        ({"encoding": {}}, "encoding is {}"),
    ],
)
def test_options_that_are_not_valid(options, message, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    with pytest.raises(InputError, match=message):
        open_file(tmp_path / "t.csv", csv=CsvOptions(**options))


def test_numbers_that_are_read_as_texts_for_their_commas_are_noticed(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;y\n1,5;x,1;1;0\n;y,2;2;1\n2,5;z;3;1\n")
    with pytest.warns(
        UserWarning,
        match="the column 'a' of .* is read as text, but holds numbers with decimal commas: add "
        "--decimal ','",
    ):
        open_file(tmp_path / "t.csv", csv=CsvOptions(sep=";"))
    open_file(tmp_path / "t.csv", csv=CsvOptions(sep=";", decimal="."))  # who says so means it
    open_file(
        tmp_path / "t.csv", csv=CsvOptions(sep=";"), kinds={"a": TEXT}
    )  # and it is settled then


def test_a_bad_cell_is_named_whatever_the_decimal_sign(tmp_path):
    (tmp_path / "t.csv").write_text("n;y\n1,5;1\n-2,5e3;1\n1.5;1\n")
    with pytest.raises(
        InputError, match=r"row 2, column 'n' holds '1\.5' where a number is needed"
    ):
        open_file(tmp_path / "t.csv", csv=CsvOptions(";", ","), kinds={"n": NUMBER})


def test_options_mean_nothing_to_parquet(tmp_path):
    pd.DataFrame({"a": [1.5], "y": ["Köln"]}).to_parquet(tmp_path / "t.parquet")
    file = open_file(tmp_path / "t.parquet", csv=CsvOptions(";", ",", "cp1252"))
    assert file.target("y").tolist() == ["Köln"]


# ---- the command line ----


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
    asked = {
        "plain": (plain, wine / "new.csv"),
        "remembered": (german, wine / "new_de.csv"),
        "told otherwise": (
            german,
            wine / "new.csv",
            "--sep",
            ",",
            "--decimal",
            ".",
            "--encoding",
            "utf-8",
        ),
        "told": (plain, wine / "new_de.csv", *GERMAN),
    }
    found = {}
    for case, arguments in asked.items():
        code, _, err = partita("certify", *arguments, "--out", tmp_path / "c.csv")
        assert code == 0, err
        found[case] = (tmp_path / "c.csv").read_bytes()
    assert len(set(found.values())) == 1
    assert "Südtirol".encode() in found["plain"]


def test_every_command_reads_the_table_as_it_is_written(partita, wine, tmp_path):
    model = fitted(partita, wine, tmp_path / "m", "train.csv")
    asked = {
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
    for name, arguments in asked.items():
        code, _, err = partita(*arguments)
        assert (code, "add --sep ';' --decimal ','" in err) == (2, True), name
        code, _, err = partita(*arguments, *GERMAN)
        assert code == 0, err
    assert json.loads((tmp_path / "s" / "sweep.json").read_bytes())["csv"] == {
        "sep": ";",
        "decimal": ",",
        "encoding": "cp1252",
    }


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
    assert err == (
        f"partita: data '{tmp_path}/new.csv' lacks the column 'alcohol', which the model was "
        "fitted with: its columns look separated by "
        "';': add --sep ';'\n"
    )


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
        found = json.loads((tmp_path / "s" / "sweep.json").read_bytes())
        keys.append(found["csv"])
    assert keys == [{"sep": ";", "decimal": ","}, {"sep": ";", "decimal": "."}]
