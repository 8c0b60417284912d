"""Where the files of UCI's tables are looked for, and that only the known bits are believed."""

import numpy as np
import pytest

from partita import InputError
from partita.datasets import _uci
from partita.datasets._image_data import array_sha256
from partita.datasets._known_arrays import KnownArrays
from partita.datasets._uci import UciTable

NUMBERS = np.arange(4, dtype=np.float32)


def read(start):
    return lambda content: {"x": NUMBERS + start + len(content) - 5}


@pytest.fixture
def table(server, offline, monkeypatch):
    """Files of five bytes hold the numbers; Parquet files start with PAR1."""
    known = KnownArrays("four", {"x": array_sha256(NUMBERS)})
    monkeypatch.setattr(_uci, "SITES", (server.url,))
    return UciTable(known, "the four numbers", 7, "f.parquet", "f.zip", read(0), read(0))


def test_a_file_in_the_cache_comes_before_a_download(table, cache, server):
    server.pages["/7/f.zip"] = b"12345"
    (cache / "f.parquet").write_bytes(b"PAR1!")
    assert np.array_equal(table.load(None)["x"], NUMBERS)


def test_other_bits_are_not_believed(table, cache, server, tmp_path):
    server.pages["/7/f.zip"] = b"123456"
    with pytest.raises(
        InputError, match=r"put f\.zip \(from UCI's data set 7\) or f\.parquet into"
    ):
        table.load(None)
    (tmp_path / "f").write_bytes(b"123456")
    with pytest.raises(InputError, match=r"is not the four numbers .*the sha256 of x differs"):
        table.load(tmp_path / "f")
    server.pages["/7/f.zip"] = b"12345"
    assert np.array_equal(table.load(None)["x"], NUMBERS)
