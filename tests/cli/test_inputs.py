"""Options as the workflow takes them."""

import json

import pytest
import typer

from partita import InputError
from partita.cli._options import (
    csv_options,
    local_path,
    parse_offset,
    parse_split,
    print_json,
    share_or_table,
    with_reference,
)


@pytest.fixture
def ctx():
    """A command's context, which closes what it opened."""
    with typer.Context(typer.main.get_command(typer.Typer(callback=lambda: None))) as opened:
        yield opened


def test_a_split_is_a_column_and_a_value():
    assert parse_split(None) is None
    assert parse_split("part=train") == ("part", "train")
    assert parse_split("part=a=b") == ("part", "a=b")
    for wrong in ("part", "=train", ""):
        with pytest.raises(InputError, match="give COLUMN=VALUE"):
            parse_split(wrong)


def test_an_offset_is_one_number_or_votes_for_labels():
    assert parse_offset(None) is None
    assert parse_offset([]) is None
    assert parse_offset(["0.5"]) == 0.5
    assert parse_offset(["a=b=2", "c=-1"]) == {"a=b": 2.0, "c": -1.0}
    for wrong in (["fraud"], ["=2"], ["fraud=many"], ["0.5", "1"]):
        with pytest.raises(InputError, match="give LABEL=VOTES, such as fraud=2, or one number"):
            parse_offset(wrong)


def test_a_holdout_is_a_share_or_a_table(ctx, tmp_path):
    assert share_or_table(ctx, None) is None
    assert share_or_table(ctx, "0.2") == 0.2
    assert share_or_table(ctx, str(tmp_path / "h.csv")) == tmp_path / "h.csv"


def test_a_path_stays_as_it_is_and_an_address_of_a_file_becomes_one(ctx, tmp_path):
    assert local_path(ctx, str(tmp_path)) == tmp_path
    assert local_path(ctx, f"file://{tmp_path}/t.csv") == tmp_path / "t.csv"


def test_csv_options_are_those_that_were_given():
    assert csv_options(None, None, None).to_dict() is None
    assert csv_options(";", ",", None).to_dict() == {"sep": ";", "decimal": ","}


def test_exchanges_need_a_reference(ctx):
    training = object()
    assert with_reference(ctx, training, None, None) is training
    with pytest.raises(InputError, match="exchanges goes with reference"):
        with_reference(ctx, training, None, 10)


def test_json_is_one_line_without_nan(capsys):
    print_json({"a": [1, None]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, None]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"a": float("nan")})
