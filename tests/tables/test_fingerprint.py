"""Telling one table from another by its files."""

import gzip
import hashlib
import os

import pyarrow as pa
import pyarrow.parquet as pq

from partita.tables._files import changes_of, footers_of, sha256_of


def test_a_hash_is_that_of_the_content_and_for_a_folder_of_all_names_and_contents(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"a\n1\n"))
    alone = sha256_of(tmp_path / "a.csv")
    assert alone == hashlib.sha256(b"a\n1\n").hexdigest()
    assert alone != sha256_of(tmp_path / "b.csv.gz")
    whole = sha256_of(tmp_path)
    (tmp_path / "a.csv").rename(tmp_path / "c.csv")
    renamed = sha256_of(tmp_path)
    (tmp_path / "c.csv").write_text("a\n2\n")
    assert len({whole, renamed, sha256_of(tmp_path)}) == 3


def test_footers_tell_tables_apart_without_reading_them(tmp_path):
    one, same, other = (tmp_path / f"{name}.parquet" for name in ("one", "same", "other"))
    pq.write_table(pa.table({"a": [1.0, 2.0]}), one)
    pq.write_table(pa.table({"a": [1.0, 3.0]}), other)  # other values: another range
    same.write_bytes(one.read_bytes())
    assert footers_of(one) != footers_of(other)
    assert footers_of(one) != footers_of(same)  # names count
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "1.parquet").write_bytes(one.read_bytes())
    before = footers_of(folder)
    (folder / "2.parquet").write_bytes(one.read_bytes())
    assert footers_of(folder) != before


def test_every_file_of_a_folder_says_when_it_changed(tmp_path):
    """Also an older one, into which content was copied with its times."""
    for name, seconds in (("1.parquet", 100), ("2.parquet", 200), ("_log", 300)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (seconds, seconds))
    before = changes_of(tmp_path)
    os.utime(tmp_path / "_log", (400, 400))  # which is no part of the table
    assert changes_of(tmp_path) == before
    os.utime(tmp_path / "1.parquet", (150, 150))
    assert changes_of(tmp_path) != before
    os.utime(tmp_path / "1.parquet", (100, 100))
    assert changes_of(tmp_path) == before
    os.truncate(tmp_path / "1.parquet", 1)
    os.utime(tmp_path / "1.parquet", (100, 100))
    assert changes_of(tmp_path) != before
