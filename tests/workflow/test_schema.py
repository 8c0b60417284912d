"""Other tables are read as the training table was, never as they look."""

import numpy as np
import pandas as pd
import pytest

from partita import InputError
from partita.tables import CsvOptions
from partita.workflow import TASKS
from partita.workflow._schema import Schema
from partita.workflow._training_table import open_training


@pytest.fixture
def schema():
    kinds = {"a": "number", "word": "text"}
    return Schema(kinds, ["id"], "y", "number", TASKS["classification"])


def write(path, **columns):
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_kinds_come_from_the_schema_and_not_from_the_cells(schema, tmp_path):
    path = write(tmp_path / "t.csv", a=["1", "2"], word=["007", "8"], id=["01", "02"], y=[0, 1])
    file = schema.open(path)
    assert (file.kind("word"), file.kind("id")) == ("text", "text")
    assert file.table(schema.kinds).take([1])["word"].tolist() == ["007", "8"]
    assert file.arrow(["id"]).column("id").to_pylist() == ["01", "02"]


def test_columns_that_are_ignored_may_be_left_out_and_others_not(schema, tmp_path):
    good = {"a": [1.0], "word": ["x"], "y": [1]}
    schema.open(write(tmp_path / "t.csv", **good))
    less = {name: cells for name, cells in good.items() if name != "word"}
    with pytest.raises(InputError, match=r"data .*t\.csv' lacks the column 'word', which the"):
        schema.open(write(tmp_path / "t.csv", **less))
    with pytest.raises(InputError, match=r"holdout .* has the column 'more', which the training"):
        schema.open(write(tmp_path / "t.csv", **good, more=[1]), "holdout")


def test_the_target_is_needed_only_where_it_is_asked_for(schema, tmp_path):
    path = write(tmp_path / "t.csv", a=[1.0], word=["x"])
    schema.open(path)
    with pytest.raises(InputError, match="lacks the column 'y'"):
        schema.open(path, needs_target=True)


def test_csv_options_of_the_training_table_hold_unless_others_are_given(tmp_path):
    (tmp_path / "t.csv").write_text("a;y\n1,5;0\n2;1\n")
    (tmp_path / "other.csv").write_text("a|y\n1,5|0\n2|1\n")
    training = CsvOptions(sep=";", decimal=",")
    schema = Schema({"a": "number"}, [], "y", "number", TASKS["classification"], training)
    for name, csv in (("t.csv", None), ("other.csv", CsvOptions(sep="|"))):
        table = schema.open(tmp_path / name, csv=csv).table(schema.kinds)
        assert table.take([0])["a"].tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("cells", "expected"), [([0, 1], [0, 1]), ([0.0, 1.0], [0, 1]), ([0.0, 1.5], [0.0, 1.5])]
)
def test_labels_are_read_as_they_are_learnt_and_never_rounded(cells, expected, tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": cells}).to_parquet(path)
    schema = Schema({"a": "number"}, [], "y", "number", TASKS["classification"])
    assert schema.read_target(schema.open(path)).tolist() == expected


def test_a_target_of_another_kind_is_refused_but_booleans_are_numbers(schema, tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]})
    frame.assign(y=[True, False]).to_parquet(path)
    assert schema.read_target(schema.open(path)).tolist() == [True, False]
    frame.assign(y=["0", "1"]).to_parquet(path)
    with pytest.raises(
        InputError, match=r"'y' of data .* holds texts, but that of the training table numbers"
    ):
        schema.read_target(schema.open(path))


def test_an_infinite_value_is_refused_where_everything_would_be_meaningless(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": [0.5, np.inf]}).to_parquet(path)
    schema = Schema({"a": "number"}, [], "y", "number", TASKS["regression"])
    assert schema.read_target(schema.open(path)).tolist() == [0.5, np.inf]
    with pytest.raises(InputError, match=r"of holdout .* holds an infinity"):
        schema.read_finite_target(schema.open(path), "holdout")


def test_the_schema_of_a_training_table_reads_that_table(tmp_path):
    path = write(tmp_path / "t.csv", a=[1, 2, 3], id=["x", "y", "z"], y=["u", "v", "u"])
    (tmp_path / "units.toml").write_text('ignore = ["id"]')
    training = open_training(path, "y", tmp_path / "units.toml")
    schema = training.schema
    assert (dict(schema.kinds), schema.ignore, schema.target_kind) == (
        {"a": "number"},
        ["id"],
        "text",
    )
    assert schema.read_target(schema.open(path)).tolist() == training.y.tolist()
