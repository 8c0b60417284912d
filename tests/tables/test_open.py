"""Tables in files."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita import FeaturePartitionClassifier, InputError
from partita.tables._kinds import BOOLEAN, NUMBER, TEXT, TIME
from partita.tables._open import FileTable, open_file, sha256_of

ROWS = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "whole": np.arange(ROWS),
            "gapped": np.where(np.arange(ROWS) % 7, rng.normal(size=ROWS), np.nan),
            "flag": rng.random(ROWS) > 0.5,
            "when": pd.date_range("2020-01-01", periods=ROWS, freq="h"),
            "word": np.where(np.arange(ROWS) % 5, "a,b", 'qu"ote\nd'),
            "code": [f"{k % 4:02d}x" for k in range(ROWS)],
            "y": np.arange(ROWS) % 2,
        }
    )


@pytest.fixture(params=["t.csv", "t.csv.gz", "t.parquet", "folder"])
def path(request, frame, tmp_path):
    place = tmp_path / request.param
    if request.param == "folder":
        place.mkdir()
        frame[:25].to_parquet(place / "1.parquet", index=False)
        frame[25:].to_parquet(place / "2.parquet", index=False)
    elif request.param.startswith("t.csv"):
        frame.to_csv(place, index=False)
    else:
        frame.to_parquet(place, index=False)
    return place


def test_every_format_gives_the_same_table(path, frame):
    file = open_file(path)
    kinds = {name: file.kind(name) for name in file.names if name != "y"}
    assert kinds == {
        "whole": NUMBER,
        "gapped": NUMBER,
        "flag": BOOLEAN,
        "when": TIME,
        "word": TEXT,
        "code": TEXT,
    }
    table = file.table(kinds)
    got = table.take(list(range(6)))
    assert np.array_equal(got["whole"], frame["whole"])
    assert np.array_equal(got["gapped"], frame["gapped"], equal_nan=True)
    assert np.array_equal(got["flag"], frame["flag"].astype(float))
    assert got["when"][1] - got["when"][0] == 3600
    assert got["when"][0] == pd.Timestamp("2020-01-01", tz="UTC").timestamp()
    assert got["word"].tolist() == frame["word"].tolist()
    assert np.array_equal(file.target("y"), frame["y"])
    part = table.only(np.arange(10, 20)).take([0], np.array([1, 3]))
    assert part["whole"].tolist() == [11, 13]


def test_fit_and_certify_from_a_file_as_from_memory(path):
    file = open_file(path)
    kinds = {name: file.kind(name) for name in file.names if name != "y"}
    table = file.table(kinds)
    in_memory = table.take(list(range(6)))
    from_file = FeaturePartitionClassifier(n_submodels=3).fit(table, file.target("y"))
    from_memory = FeaturePartitionClassifier(n_submodels=3).fit(in_memory, file.target("y"))
    assert np.array_equal(from_file.ballots(table), from_memory.ballots(in_memory))
    assert from_file.feature_names_in_.tolist() == list(kinds)
    assert from_file.kinds_ == kinds


def test_a_submodel_reads_its_own_columns_alone(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    file = open_file(tmp_path / "t.parquet")
    reads: list[list[str]] = []
    arrow = type(file).arrow
    monkeypatch.setattr(
        type(file), "arrow", lambda self, names: reads.append(list(names)) or arrow(self, names)
    )
    table = file.table({name: file.kind(name) for name in file.names if name != "y"})
    clf = FeaturePartitionClassifier(n_submodels=3, trusted=["flag"]).fit(table, frame["y"])
    clf.certify(table)
    own = [[table.names[column] for column in clf._columns(t)] for t in range(3)]
    assert {tuple(names) for names in reads} == {tuple(names) for names in own}
    assert all(
        "flag" in names and len(names) <= 3 for names in own
    )  # one or two of its own, and the trusted one


def test_a_cell_cannot_change_how_other_rows_are_read(frame, tmp_path):
    """Types are those of the training table: a text in one row of a CSV must not turn the others'
    numbers into texts."""
    kinds = {"whole": NUMBER, "code": TEXT}
    (tmp_path / "a.csv").write_text("whole,code\n1,01\n2,02\n")
    (tmp_path / "b.csv").write_text("whole,code\n1,01\n2,abc\n")
    first, second = (
        open_file(tmp_path / f"{name}.csv", kinds=kinds).table(kinds).take([0, 1]) for name in "ab"
    )
    assert first.iloc[0].tolist() == second.iloc[0].tolist() == [1.0, "01"]


@pytest.mark.parametrize(
    ("text", "kinds", "message"),
    [
        ("n\n1\nabc\n", {"n": NUMBER}, "row 1, column 'n' holds 'abc' where a number is needed"),
        (
            "b\ntrue\n7\n",
            {"b": BOOLEAN},
            "row 1, column 'b' holds '7' where true or false is needed",
        ),
        ("t\n2020-01-01\nsoon\n", {"t": TIME}, "row 1, column 't' holds 'soon' where a time"),
    ],
)
def test_a_bad_cell_is_named(text, kinds, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        open_file(tmp_path / "a.csv", kinds=kinds).table(kinds).take([0])


def test_parquet_of_another_type_is_named(tmp_path):
    pq.write_table(pa.table({"n": ["1", "x"], "t": [1, 2], "b": [0, 2]}), tmp_path / "a.parquet")
    file = open_file(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 0, column 'n' holds '1' where a number is needed"):
        file.table({"n": NUMBER}).take([0])
    with pytest.raises(
        InputError, match="column 't' holds int64 where the model was fitted with texts"
    ):
        file.table({"t": TEXT}).take([0])
    with pytest.raises(
        InputError, match=r"row 1, column 'b' holds 2.0 where true or false is needed"
    ):
        file.table({"b": BOOLEAN}).take([0])


@pytest.mark.parametrize(
    "name", ["__filename", "__fragment_index", "__batch_index", "__last_in_fragment"]
)
def test_parquet_with_a_column_that_arrow_adds_itself_is_named(name, tmp_path):
    pq.write_table(pa.table({"n": [1, 2], name: [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(
        InputError,
        match=f"has a column '{name}', a name that the library that reads Parquet uses itself: "
        "rename it",
    ):
        open_file(tmp_path / "a.parquet")
    pq.write_table(pa.table({"n": [1, 2], f"{name}_": [1, 2]}), tmp_path / "a.parquet")
    assert open_file(tmp_path / "a.parquet").names == ["n", f"{name}_"]


def test_a_column_of_gaps(tmp_path):
    (tmp_path / "a.csv").write_text("n,y\n,1\n,0\n")
    file = open_file(tmp_path / "a.csv")
    assert file.kind("n") == NUMBER
    assert file.table({"n": NUMBER}).take([0])["n"].isna().all()
    for kind in (NUMBER, BOOLEAN, TIME, TEXT):
        given = open_file(tmp_path / "a.csv", kinds={"n": kind})
        assert given.table({"n": kind}).take([0])["n"].isna().all()


def test_a_time_of_day_is_a_text(tmp_path):
    (tmp_path / "a.csv").write_text("at,y\n10:30:00,1\n11:00:00,0\n")
    file = open_file(tmp_path / "a.csv")
    assert file.kind("at") == TEXT
    assert file.table({"at": TEXT}).take([0])["at"][0] == "10:30:00"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "cannot be read as CSV"),
        ("a.csv", b"a,a\n1,2\n", "two columns named 'a'"),
        ("a.csv", b"a,b\n1\n", "cannot be read as CSV"),
        ("a.csv", b"a\n\xff\xfe\n", "cannot be read as CSV|holds binary, which is not read"),
        ("a.parquet", b"PAR1nonsense", "cannot be read as Parquet"),
        ("a.csv.gz", b"no gzip", "cannot be read as CSV"),
        ("a.xlsx", b"", "neither .csv nor .parquet"),
        ("empty", None, "cannot be read as Parquet|has no"),
    ],
)
def test_what_is_no_table(name, content, message, tmp_path):
    place = tmp_path / name
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    with pytest.raises(InputError, match=message):
        _table_of(place)


def _table_of(place):
    file = open_file(place)
    return file.table({column: file.kind(column) for column in file.names})


def test_missing_and_empty(tmp_path):
    with pytest.raises(InputError, match=r"data 'nowhere.csv' does not exist"):
        open_file("nowhere.csv")
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="has no rows"):
        open_file(tmp_path / "a.csv").table({"a": NUMBER})
    (tmp_path / "b.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="no columns to learn from"):
        open_file(tmp_path / "b.csv").table({})


def test_lists_in_a_column_are_refused(tmp_path):
    pq.write_table(pa.table({"l": [[1], [2]]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"column 'l' of .* holds list.*, which is not read"):
        open_file(tmp_path / "a.parquet").kind("l")


def test_a_target_with_gaps_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,x\n2,\n")
    with pytest.raises(InputError, match=r"target 'y' has 1 gap\(s\), the first in row 1"):
        open_file(tmp_path / "a.csv").target("y")


def test_hashes(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"a\n1\n"))
    alone = sha256_of(tmp_path / "a.csv")
    assert alone != sha256_of(tmp_path / "b.csv.gz")
    whole = sha256_of(tmp_path)
    (tmp_path / "a.csv").write_text("a\n2\n")
    assert sha256_of(tmp_path) != whole
    assert isinstance(open_file(tmp_path / "a.csv").table({"a": NUMBER}), FileTable)


# ---- folders whose files differ ----


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0]}, "the column 'b' is nothing, elsewhere double in '2.parquet'"),
        ({"a": [1.0], "b": [2.0], "c": [3.0]}, "the column 'c' is double, elsewhere nothing"),
        ({"a": [1.0], "b": [True]}, "the column 'b' is bool, elsewhere double"),
        (
            {"a": pa.array([1.0], pa.float32()), "b": [2.0]},
            "the column 'a' is float, elsewhere double",
        ),
        ({"a": pa.nulls(1), "b": [2.0]}, "the column 'a' is null, elsewhere double"),
    ],
)
def test_files_of_a_folder_must_be_alike(second, message, tmp_path):
    """What one file lacks would be read as gaps, what has another type would be changed."""
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table(second), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=message):
        open_file(tmp_path)


def test_the_order_of_columns_in_a_folder_does_not_matter(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [4.0], "a": [3.0]}), tmp_path / "2.parquet")
    assert open_file(tmp_path).table({"a": NUMBER}).take([0])["a"].tolist() == [1.0, 3.0]


# ---- encodings and blame ----


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "header.csv").write_bytes(b"caf\xe9,y\n1,2\n")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        open_file(tmp_path / "header.csv")
    (tmp_path / "cell.csv").write_bytes(b"t,y\ncaf\xe9,2\n")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        open_file(tmp_path / "cell.csv", kinds={"t": TEXT})
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xe9")]
    )
    pq.write_table(pa.table({"t": bad}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="column 't' holds bytes that are no text"):
        open_file(tmp_path / "a.parquet").table({"t": TEXT}).take([0])


def test_the_right_cell_is_blamed(tmp_path):
    (tmp_path / "a.csv").write_text("n,y\n 0.37,1\n1,1\nabc,2\n")
    with pytest.raises(InputError, match="row 2, column 'n' holds 'abc'"):
        open_file(tmp_path / "a.csv", kinds={"n": NUMBER})


def test_times_are_read_the_same_way_when_fitted_and_later(tmp_path):
    (tmp_path / "a.csv").write_text(
        "t,y\n2020-01-01T00:00:00.123456789,1\n2020-01-01T01:00:00+01:00,1\n"
    )
    first = open_file(tmp_path / "a.csv")
    later = open_file(tmp_path / "a.csv", kinds={"t": TIME})
    kind = first.kind("t")
    assert first.table({"t": kind}).take([0]).equals(later.table({"t": kind}).take([0]))


def test_dates_far_away(tmp_path):
    far = pa.array([10**6], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"t": far}), tmp_path / "a.parquet")
    assert open_file(tmp_path / "a.parquet").table({"t": TIME}).take([0])["t"].tolist() == [
        86400.0 * 10**6
    ]
