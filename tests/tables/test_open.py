"""Opening files: which reader, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from partita import FeaturePartitionClassifier, InputError
from partita.tables import CsvOptions, open_file
from partita.tables._table import NUMBER

from .conftest import KINDS


def test_every_format_gives_the_same_table(path, frame):
    file = open_file(path)
    assert {name: file.kind(name) for name in file.names if name != "y"} == KINDS
    table = file.table(KINDS)
    got = table.take(list(range(6)))
    assert np.array_equal(got["whole"], frame["whole"])
    assert np.array_equal(got["gapped"], frame["gapped"], equal_nan=True)
    assert np.array_equal(got["flag"], frame["flag"].astype(float))
    assert got["when"][1] - got["when"][0] == 3600
    assert got["when"][0] == pd.Timestamp("2020-01-01", tz="UTC").timestamp()
    assert got["word"].tolist() == frame["word"].tolist()
    assert np.array_equal(file.target("y"), frame["y"])


def test_fit_and_certify_from_a_file_as_from_memory(path):
    file = open_file(path)
    table = file.table(KINDS)
    in_memory = table.take(list(range(6)))
    from_file = FeaturePartitionClassifier(n_submodels=3).fit(table, file.target("y"))
    from_memory = FeaturePartitionClassifier(n_submodels=3).fit(in_memory, file.target("y"))
    assert np.array_equal(from_file.ballots(table), from_memory.ballots(in_memory))
    assert from_file.feature_names_in_.tolist() == list(KINDS)
    assert from_file.kinds_ == KINDS


def test_a_split_keeps_the_rows_with_a_value(path, frame):
    file = open_file(path, split=("code", "02x"))
    assert file.n_rows == 15
    rows = file.table({"whole": NUMBER}).take([0])["whole"].tolist()
    assert rows == frame["whole"][frame["code"] == "02x"].tolist()
    assert open_file(path, split=("y", 1)).n_rows == 30


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (
            ("nothing", 1),
            "split names the column 'nothing', which .* does not have",
        ),
        (("code", "zz"), "split asks for 'zz' in the column 'code', which no row of .* has"),
        (("whole", "many"), "split asks for 'many' in the column 'whole', which holds int64"),
    ],
)
def test_a_split_that_leaves_nothing_is_refused(split, message, path):
    with pytest.raises(InputError, match=message):
        open_file(path, split=split)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "cannot be read as CSV"),
        ("a.csv", b"a,a\n1,2\n", "two columns named 'a'"),
        ("a.csv", b"a,b\n1\n", "cannot be read as CSV"),
        ("a.csv", b"a\n\xff\xfe\n", "cannot be read as CSV|holds binary, which is not supported"),
        ("a.parquet", b"PAR1nonsense", "cannot be read as Parquet"),
        ("a.csv.gz", b"no gzip", "cannot be read as CSV"),
        ("a.xlsx", b"", "training 'a.xlsx' is neither .csv nor .parquet"),
        ("empty", None, "cannot be read as Parquet|has no"),
    ],
)
def test_what_is_no_table_is_refused(name, content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        open_kinds(name)


def open_kinds(place):
    file = open_file(place, "training")
    return {column: file.kind(column) for column in file.names}


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"data 'nowhere.csv' does not exist"):
        open_file("nowhere.csv")


def test_csv_options_mean_nothing_to_parquet(tmp_path):
    pd.DataFrame({"a": [1.5], "y": ["Köln"]}).to_parquet(tmp_path / "t.parquet")
    file = open_file(tmp_path / "t.parquet", csv=CsvOptions(";", ",", "cp1252"))
    assert file.target("y").tolist() == ["Köln"]
