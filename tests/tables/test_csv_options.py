"""How a CSV file is written."""

import pytest

from partita import InputError
from partita.tables import CsvOptions


def test_the_usual_is_commas_points_and_utf_8():
    assert CsvOptions().resolve() == (",", ".", "utf-8")
    assert CsvOptions("\\t", ",", "cp1252").resolve() == ("\t", ",", "cp1252")
    assert CsvOptions("\t").resolve()[0] == "\t"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "sep is ';;': give one character"),
        ({"sep": ""}, "sep is '': give one character"),
        ({"sep": "\n"}, r"sep is '\\n': give one character"),
        ({"sep": '"'}, "sep is '\"': give one character"),
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
def test_options_that_are_not_valid_are_named(options, message):
    with pytest.raises(InputError, match=message):
        CsvOptions(**options).resolve()


def test_a_model_remembers_the_options_that_were_given():
    assert CsvOptions().to_dict() is None
    assert CsvOptions(sep=";").to_dict() == {"sep": ";"}


def test_given_options_win_over_remembered_ones():
    stored = CsvOptions(";", ",", "cp1252").to_dict()
    assert CsvOptions(encoding="utf-8").with_fallback(stored) == CsvOptions(";", ",", "utf-8")
    assert CsvOptions(";").with_fallback(None) == CsvOptions(";")
    assert CsvOptions(";").with_fallback("a damaged manifest") == CsvOptions(";")
