"""Tables for the workflow's tests."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .cancer import cancer


@pytest.fixture
def table(tmp_path):
    """A folder of two Parquet files, of several row groups each."""
    folder = tmp_path / "table"
    folder.mkdir()
    frame = cancer()
    pq.write_table(pa.Table.from_pandas(frame[:300]), folder / "a.parquet", row_group_size=70)
    pq.write_table(pa.Table.from_pandas(frame[300:]), folder / "b.parquet", row_group_size=110)
    return folder
