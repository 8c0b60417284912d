"""Tables in Parquet files and folders."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError
from partita.tables import open_file
from partita.tables._arrow import ARROW_COLUMNS
from partita.tables._table import NUMBER


def test_a_submodel_reads_its_own_columns_alone(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    file = open_file(tmp_path / "t.parquet")
    reads: list[list[str]] = []
    arrow = type(file).arrow
    monkeypatch.setattr(
        type(file), "arrow", lambda self, names: reads.append(list(names)) or arrow(self, names)
    )
    table = file.table(dict.fromkeys(("whole", "y"), NUMBER) | {"flag": "boolean"})
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=2, trusted=["flag"])
    clf.fit(table, frame["y"]).certify(table)
    assert {tuple(names) for names in reads} == {("whole", "flag"), ("y", "flag")}


def test_an_index_without_a_name_is_no_column(frame, tmp_path):
    shuffled = frame.sample(frac=1, random_state=0)
    shuffled.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "t.parquet").names
    assert open_file(tmp_path / "t.parquet").names == list(frame.columns)


@pytest.mark.parametrize("name", ARROW_COLUMNS)
def test_a_column_that_arrow_would_hide_is_refused(name, tmp_path):
    """If Arrow comes to read such columns, or to add others, this is to be looked at again."""
    pq.write_table(pa.table({"n": [1, 2], name: [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(
        InputError,
        match=f"has a column '{name}', a name that the Parquet reader uses itself: rename it",
    ):
        open_file(tmp_path / "a.parquet")
    pq.write_table(pa.table({"n": [1, 2], f"{name}_": [1, 2]}), tmp_path / "a.parquet")
    assert open_file(tmp_path / "a.parquet").names == ["n", f"{name}_"]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0]}, "the column 'b' is nothing in '2.parquet', elsewhere double: give all"),
        (
            {"a": [1.0], "b": [2.0], "c": [3.0]},
            "the column 'c' is double in '2.parquet', elsewhere nothing",
        ),
        ({"a": [1.0], "b": [True]}, "the column 'b' is bool in .*, elsewhere double"),
        (
            {"a": pa.array([1.0], pa.float32()), "b": [2.0]},
            "the column 'a' is float in .*, elsewhere double",
        ),
        ({"a": pa.nulls(1), "b": [2.0]}, "the column 'a' is null in .*, elsewhere double"),
    ],
)
def test_files_of_a_folder_need_the_same_columns(second, message, tmp_path):
    """What one file lacks would be read as missing values, another type would be converted."""
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table(second), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=message):
        open_file(tmp_path)


def test_the_order_of_columns_in_a_folder_does_not_matter(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [4.0], "a": [3.0]}), tmp_path / "2.parquet")
    assert open_file(tmp_path).table({"a": NUMBER}).take([0])["a"].tolist() == [1.0, 3.0]


def test_hidden_files_are_no_part_of_a_folder(tmp_path):
    (tmp_path / "_metadata").write_text("not Parquet")
    (tmp_path / ".part").mkdir()
    (tmp_path / ".part" / "x.parquet").write_text("not Parquet")
    with pytest.raises(InputError, match="has no files: give a folder of Parquet files"):
        open_file(tmp_path)
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
    assert open_file(tmp_path).n_rows == 1


def test_a_damaged_file_is_an_error_and_not_other_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.arange(1000.0)})
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        open_file(path).table({"a": NUMBER}).take([0])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(open_file(path).batches(["a"], 100))
