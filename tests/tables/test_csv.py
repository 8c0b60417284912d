"""CSV files as the world writes them: separators, decimal signs, encodings."""

import gzip
import warnings

import pytest

from partita import InputError
from partita.tables import CsvOptions, open_file
from partita.tables._table import BOOLEAN, NUMBER, TEXT, TIME

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
    for kinds in (None, KINDS):  # as a training table, and as one to certify
        file = open_file(path, kinds=kinds, csv=options)
        assert {name: file.kind(name) for name in file.names} == KINDS
        frame = file.table(KINDS).take([0, 1, 2])
        assert frame["größe"].tolist()[:2] == [1.5, -2.25]
        assert frame["ort"].tolist()[:2] == ["Zürich", "Köln"]
        assert frame.iloc[2].isna().tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("text", "encoding", "options", "message"),
    [
        (
            "a;b;y\n1;2;3\n",
            "utf-8",
            {},
            r"it has one column, 'a;b;y'; its columns look separated by ';': add --sep ';'$",
        ),
        (
            "a;b;y\n1,5;2;3\n",
            "utf-8",
            {},
            r"cannot be read as CSV: its columns look separated by ';': add --sep ';' --decimal "
            r"','$",
        ),
        ("a;b, in m;y\n1;2;3\n4;5;6\n", "utf-8", {}, r"separated by ';': add --sep ';'$"),
        ("a\tb\ty\n1\t2\t3\n", "utf-8", {}, r"add --sep '\\t'$"),
        ("a|b|y\n1|2|3\n", "utf-8", {}, r"add --sep '\|'$"),
        ("a,b,y\n1,2,3\n", "utf-8", {"sep": ";"}, r"add --sep ','$"),
        (
            "a,b,y\n1,2,3\n",
            "utf-8",
            {"sep": ";", "decimal": ","},
            r"add --sep ',' --decimal '\.'$",
        ),
        (
            "a,é,y\n1,2,3\n",
            "latin-1",
            {},
            "it is not valid utf-8: add --encoding with the right one, such as --encoding cp1252",
        ),
        ("a,b,y\n1,é,3\n", "latin-1", {}, "it is not valid utf-8: add --encoding"),
        (
            "a,b,y\n1,é,3\n",
            "latin-1",
            {"encoding": "ascii"},
            "it is not valid ascii: add --encoding",
        ),
        ("a,b,y\n1,é,3\n", "utf-16", {}, "it is in UTF-16: add --encoding utf-16"),
        ("a b y\n1 2 3\n", "utf-8", {}, "it has one column, 'a b y'$"),
    ],
)
def test_a_file_that_is_written_in_another_way_suggests_the_option(
    text, encoding, options, message, tmp_path
):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=message):
        open_file(tmp_path / "t.csv", csv=CsvOptions(**options)).check_column("y", "target")


def test_a_few_words_among_numbers_are_noticed(tmp_path):
    """One bad cell turns a whole sensor into text."""
    cells = [str(k / 7) for k in range(199)]
    lines = [f"{cell},{k % 2}" for k, cell in enumerate([*cells[:3], "n.d.", *cells[3:]])]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]))
    with pytest.warns(
        UserWarning,
        match=r"the column 'a' of .* is read as text, but 199 of 200 cells are numbers; the first "
        r"other cell is 'n\.d\.': leave such cells empty",
    ):
        open_file(tmp_path / "t.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_file(tmp_path / "t.csv", kinds={"a": TEXT})  # who says so means it
        codes = "\n".join(["a,y", *(f"{k}A,0" if k % 10 else f"{k},1" for k in range(100))])
        (tmp_path / "codes.csv").write_text(codes)
        open_file(tmp_path / "codes.csv")


def test_a_string_that_is_not_utf_8_is_refused_where_text_is_expected(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"t,y\ncaf\xe9,2\n")
    with pytest.raises(InputError, match="cannot be read as CSV: it is not valid utf-8"):
        open_file(tmp_path / "t.csv", kinds={"t": TEXT})


def test_numbers_that_are_read_as_text_for_their_commas_are_noticed(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;y\n1,5;x,1;1;0\n;y,2;2;1\n2,5;z;3;1\n")
    with pytest.warns(
        UserWarning,
        match="the column 'a' of .* is read as text, but holds numbers with decimal commas: add "
        "--decimal ','",
    ):
        open_file(tmp_path / "t.csv", csv=CsvOptions(sep=";"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_file(tmp_path / "t.csv", csv=CsvOptions(sep=";", decimal="."))  # who says so means it
        open_file(tmp_path / "t.csv", csv=CsvOptions(sep=";"), kinds={"a": TEXT})


# ---- types ----


def test_types_are_guessed_for_a_training_table(tmp_path):
    (tmp_path / "t.csv").write_text(
        "n,b,t,at,w,nothing\n1,true,2020-01-01,10:30:00,x,\n2,false,2020-01-02,11:00:00,y,\n"
    )
    file = open_file(tmp_path / "t.csv")
    assert {name: file.kind(name) for name in file.names} == {
        "n": NUMBER,
        "b": BOOLEAN,
        "t": TIME,
        "at": TEXT,  # a time of day is no moment
        "w": TEXT,
        "nothing": NUMBER,
    }
    assert file.table({"at": TEXT}).take([0])["at"][0] == "10:30:00"


def test_a_cell_cannot_change_how_other_rows_are_read(tmp_path):
    """The types are those of the training table: a word in one row must not turn others' numbers
    into words."""
    kinds = {"whole": NUMBER, "code": TEXT}
    (tmp_path / "a.csv").write_text("whole,code\n1,01\n2,02\n")
    (tmp_path / "b.csv").write_text("whole,code\n1,01\n2,abc\n")
    first, second = (
        open_file(tmp_path / f"{name}.csv", kinds=kinds).table(kinds).take([0, 1]) for name in "ab"
    )
    assert first.iloc[0].tolist() == second.iloc[0].tolist() == [1.0, "01"]


def test_a_column_without_values_can_be_of_any_kind(tmp_path):
    (tmp_path / "a.csv").write_text("n,y\n,1\n,0\n")
    for kind in (NUMBER, BOOLEAN, TIME, TEXT):
        table = open_file(tmp_path / "a.csv", kinds={"n": kind}).table({"n": kind})
        assert table.take([0])["n"].isna().all()


def test_times_are_read_the_same_way_when_fitted_and_later(tmp_path):
    (tmp_path / "a.csv").write_text(
        "t,y\n2020-01-01T00:00:00.123456789,1\n2020-01-01T01:00:00+01:00,1\n"
    )
    first = open_file(tmp_path / "a.csv")
    later = open_file(tmp_path / "a.csv", kinds={"t": TIME})
    kind = first.kind("t")
    assert first.table({"t": kind}).take([0]).equals(later.table({"t": kind}).take([0]))


@pytest.mark.parametrize(
    ("text", "kinds", "message"),
    [
        ("n\n1\nabc\n", {"n": NUMBER}, "row 1, column 'n' holds 'abc' where a number is needed"),
        ("n\n1\ntrue\n", {"n": NUMBER}, "row 1, column 'n' holds 'true' where a number is needed"),
        ("n,y\n 0.37,1\n1,1\nabc,2\n", {"n": NUMBER}, "row 2, column 'n' holds 'abc'"),
        (
            "b\ntrue\n7\n",
            {"b": BOOLEAN},
            "row 1, column 'b' holds '7' where true or false is needed",
        ),
        ("t\n2020-01-01\nsoon\n", {"t": TIME}, "row 1, column 't' holds 'soon' where a time"),
    ],
)
def test_a_cell_of_another_kind_is_named(text, kinds, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        open_file(tmp_path / "a.csv", kinds=kinds).table(kinds).take([0])


def test_a_cell_of_another_kind_is_named_whatever_the_decimal_sign(tmp_path):
    (tmp_path / "t.csv").write_text("n;y\n1,5;1\n-2,5e3;1\n1.5;1\n")
    with pytest.raises(
        InputError, match=r"row 2, column 'n' holds '1\.5' where a number is needed"
    ):
        open_file(tmp_path / "t.csv", csv=CsvOptions(";", ","), kinds={"n": NUMBER})
