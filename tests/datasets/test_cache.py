"""The cache folder: files are checked when they are read, and complete or not there at all."""

import hashlib
import subprocess
import sys
import time

import pytest

from partita import InputError
from partita.datasets._cache import cache_folder, local_file, read_cached, write_cached
from partita.datasets._fetch_limits import FetchError
from partita.datasets._table_data import KnownTable

CONTENT = b"a,b\n1,2\n"
KNOWN = KnownTable("known", hashlib.sha256(CONTENT).hexdigest())


def test_which_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTITA_CACHE", "")
    monkeypatch.setattr("partita.datasets._cache.user_cache_path", lambda *_, **__: tmp_path / "c")
    assert cache_folder(None) == tmp_path / "c"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PARTITA_CACHE", "~/mine")
    assert cache_folder(None) == tmp_path / "home" / "mine"
    assert cache_folder(str(tmp_path)) == tmp_path
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file: name a folder"):
        cache_folder(tmp_path / "file")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where Linux has caches")
def test_on_linux_the_folder_is_where_it_has_always_been(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PARTITA_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder(None) == tmp_path / "home" / ".cache" / "partita"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder(None) == tmp_path / "xdg" / "partita"


def test_what_is_cached_comes_back(cache, capsys):
    assert read_cached(cache, KNOWN) is None
    write_cached(cache / "new", KNOWN, CONTENT)
    assert f"known is cached in {cache / 'new' / 'known.csv'}" in capsys.readouterr().err
    assert read_cached(cache / "new", KNOWN) == CONTENT
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("damage", [CONTENT[:-1], b"", CONTENT + b"x", CONTENT.replace(b"1", b"7")])
def test_a_damaged_file_is_noticed(damage, cache, capsys):
    (cache / "known.csv").write_bytes(damage)
    assert read_cached(cache, KNOWN) is None
    assert f"{cache / 'known.csv'} is damaged" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_no_reason_to_refuse_the_data(tmp_path, capsys):
    (tmp_path / "file").touch()
    write_cached(tmp_path / "file" / "below", KNOWN, CONTENT)
    assert "known could not be cached in" in capsys.readouterr().err


def test_a_crash_leaves_nothing(cache, monkeypatch):
    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr("partita._support.atomic.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_cached(cache, KNOWN, CONTENT)
    assert not list(cache.iterdir())


def test_a_local_file_must_have_a_size_that_can_be_right(cache):
    (cache / "a.gz").write_bytes(b"12345")
    assert local_file(cache, "a.gz", 5) == cache / "a.gz"
    with pytest.raises(FetchError, match=r"a\.gz has 5 bytes, more than the 4 expected"):
        local_file(cache, "a.gz", 4)


READ_AND_WRITE = """
import hashlib, sys, time
from pathlib import Path
from partita.datasets._cache import read_cached, write_cached
from partita.datasets._table_data import KnownTable
CONTENT = bytes(100_000)
KNOWN = KnownTable("known", hashlib.sha256(CONTENT).hexdigest())
folder, ready, go = map(Path, sys.argv[1:])
ready.touch()
while not go.exists():
    time.sleep(0.001)
for _ in range(15):
    assert read_cached(folder, KNOWN) in (None, CONTENT)
    write_cached(folder, KNOWN, CONTENT)
    assert read_cached(folder, KNOWN) == CONTENT
"""


def test_several_processes_at_once(cache, tmp_path):
    ready = [tmp_path / f"ready {k}" for k in range(2)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", READ_AND_WRITE, str(cache), str(file), str(tmp_path / "go")],
            stderr=subprocess.PIPE,
            text=True,
        )
        for file in ready
    ]
    while not all(file.exists() for file in ready):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    (tmp_path / "go").touch()
    messages = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], messages
    assert not any("damaged" in text for text in messages)
    assert [file.name for file in cache.iterdir()] == ["known.csv"]
