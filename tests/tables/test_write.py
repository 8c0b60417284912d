"""Tables that are written to files."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from partita import InputError
from partita.tables._files import check_writable, table_writer, write_table


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "T.CSV"])
def test_batches_become_one_file(name, tmp_path):
    path = tmp_path / "new" / name
    with table_writer(path) as write:
        write({"n": [1, 2], "w": ["a", None]})
        assert not path.exists()
        write({"n": np.array([3]), "w": ["c"]})
    if name.lower().endswith(".csv"):
        assert path.read_text() == '"n","w"\n1,"a"\n2,\n3,"c"\n'
    else:
        assert pq.read_table(path).to_pydict() == {"n": [1, 2, 3], "w": ["a", None, "c"]}


@pytest.mark.parametrize(
    ("lists", "joined"),
    [
        ([["A", "B"], [], None], ["A; B", "", None]),
        ([[], [], []], ["", "", ""]),
        ([[1, 2], [3], []], ["1; 2", "3", ""]),
    ],
)
def test_lists_stay_lists_in_parquet_and_are_joined_in_csv(lists, joined, tmp_path):
    import pandas as pd

    columns = {"row": [0, 1, 2], "critical_units": lists}
    write_table(columns, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == columns
    write_table(columns, tmp_path / "t.csv")
    found = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert found["critical_units"].tolist() == ["" if cell is None else cell for cell in joined]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_failure_leaves_nothing_behind(name, tmp_path):
    def fail():
        with table_writer(tmp_path / name) as write:
            write({"n": [1]})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not list(tmp_path.iterdir())


def test_columns_that_a_file_cannot_hold_are_refused_with_the_reason(tmp_path):
    with pytest.raises(InputError, match=r"t.csv' cannot hold these columns \(.*\): write .parq"):
        write_table({"n": [{"a": 1}]}, tmp_path / "t.csv")
    with pytest.raises(InputError, match="cannot hold these columns"):
        write_table({"n": [1], "m": [1, 2]}, tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_to_is_refused_before_any_work(tmp_path):
    with pytest.raises(InputError, match=r"out '.*t.txt' must end in .parquet or .csv"):
        check_writable(tmp_path / "t.txt")
    with pytest.raises(InputError, match=r"must end in \.html"):
        check_writable(tmp_path / "t.csv", (".html",))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder.csv' is a folder: give a file"):
        check_writable(tmp_path / "folder.csv")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be written: '.*file' is not a folder"):
        check_writable(tmp_path / "file" / "below" / "t.csv")
    check_writable(tmp_path / "not" / "yet" / "t.csv")


def test_a_disk_that_is_full_is_one_sentence(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("partita._support.values.os.fsync", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\): make"):
        write_table({"n": [1]}, tmp_path / "t.csv")
