"""units.toml."""

import pytest

from partita import InputError
from partita.partition._units_file import read_units

NAMES = ["BASEL_temp", "BASEL_wind", "ROMA_temp", "month", "id", "odd*name", "oddxname"]


def read(text, tmp_path):
    (tmp_path / "units.toml").write_text(text)
    return read_units(tmp_path / "units.toml", NAMES)


def test_names_and_patterns(tmp_path):
    found = read(
        'trusted = ["month"]\nignore = ["i?"]\n[units]\nBASEL = ["BASEL_*"]\n"Roma, IT" = '
        '["ROMA_temp"]\n',
        tmp_path,
    )
    assert found.units == {"BASEL": ["BASEL_temp", "BASEL_wind"], "Roma, IT": ["ROMA_temp"]}
    assert (found.trusted, found.ignore) == (["month"], ["id"])


def test_brackets_have_no_meaning(tmp_path):
    """Column names such as x[1] are common; a class of letters in their place would leave columns
    out of their source."""
    (tmp_path / "units.toml").write_text('[units]\nA = ["x[1]*"]\n')
    assert read_units(tmp_path / "units.toml", ["x[1]a", "x[1]b", "x1a", "q"]).units == {
        "A": ["x[1]a", "x[1]b"]
    }


def test_nothing_said(tmp_path):
    found = read("", tmp_path)
    assert (found.units, found.trusted, found.ignore) == (None, [], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[units]\na = ['PARIS_*']",
            "'PARIS_\\*', which is not among the table's features",
        ),
        ("[units]\na = 'month'", "must be a list of column names"),
        ("trusted = [1]", "trusted must be a list of column names"),
        ("units = 3", r"\[units\] must be a table"),
        ("trust = []", "the entry 'trust', which is not known: it may have trusted, ignore, units"),
        ("[units", "cannot be read as TOML"),
        (
            "[units]\na = ['odd*name']",
            "which is a column and a pattern for others: rename the column",
        ),
    ],
)
def test_bad_files(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(text, tmp_path)
