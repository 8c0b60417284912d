"""A table to certify has the model's columns, and its target is a truth only if it is complete."""

import pytest

from partita import InputError
from partita.workflow._stored_model import WRITTEN, open_model, open_prediction_table

from .cancer import cancer, fit, table_without


@pytest.fixture
def stored(table, tmp_path):
    return open_model(fit(table, tmp_path / "m"))


def test_only_the_columns_that_are_needed_are_read(stored, table):
    source = open_prediction_table(stored, table)
    assert set(source.columns) == {*stored.schema.kinds, "part", "value", "y"}
    assert source.on_training
    assert not open_prediction_table(stored, table_without(table, "value")).on_training


def test_the_truth_is_the_target_as_it_was_learnt(stored, table):
    source = open_prediction_table(stored, table)
    assert source.truth(source.file).tolist() == cancer()["y"].tolist()


def test_a_target_with_missing_values_or_none_is_no_truth(stored, tmp_path):
    frame = cancer()
    frame.drop(columns="y").to_parquet(tmp_path / "none.parquet", index=False)
    source = open_prediction_table(stored, tmp_path / "none.parquet")
    assert source.truth(source.file) is None
    frame.assign(y=frame["y"].where(frame.index != 7)).to_parquet(tmp_path / "t.parquet")
    source = open_prediction_table(stored, tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="'y' has missing values, so nothing is said about being"):
        assert source.truth(source.file) is None


def test_an_ignored_column_must_not_look_like_an_output(table, tmp_path):
    frame = cancer().rename(columns={"value": "low_2"})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    stored = open_model(fit(tmp_path / "t.parquet", tmp_path / "m", ignore=["part", "low_2"]))
    with pytest.raises(InputError, match="'low_2' has the name of a column that certify writes"):
        open_prediction_table(stored, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("prediction", True),
        ("radius", True),
        ("runner_up", True),
        ("critical_units", True),
        ("high_12", True),
        ("high", False),
        ("my radius", False),
    ],
)
def test_the_columns_that_certify_writes(name, written):
    assert (WRITTEN.fullmatch(name) is not None) is written
