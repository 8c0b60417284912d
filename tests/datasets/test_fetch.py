"""Known content: cached undamaged or not at all, else from the first source that has it."""

import hashlib
import subprocess
import sys
import time

import pytest

from partita import InputError, MissingExtraError
from partita.datasets._content import FetchError, KnownTable
from partita.datasets._fetch import (
    Edition,
    KnownDataSet,
    Source,
    cache_folder,
    fetch,
    read_cached,
    shared_file,
    write_cached,
)

CONTENT = b"a,b\n1,2\n"
KNOWN = KnownTable("known", hashlib.sha256(CONTENT).hexdigest())


# ---- sources ----


def fails(message):
    def read():
        raise message if isinstance(message, Exception) else FetchError(message)

    return read


def fetch_from(cache, *sources):
    return fetch(KNOWN, cache, sources, f"put it into {cache}")


def test_the_first_source_with_the_known_bits_wins(cache, capsys):
    later = []
    content = fetch_from(
        cache,
        Source("one.org", fails("no response")),
        Source("two.org", lambda: b"other bits"),
        Source("three.org", lambda: CONTENT),
        Source("four.org", lambda: later.append(1)),
    )
    assert content == CONTENT
    assert not later
    assert capsys.readouterr().err.splitlines() == [
        "partita: known: trying one.org",
        "partita: known: could not use one.org: no response",
        "partita: known: trying two.org",
        "partita: known: could not use two.org: the sha256 of its content differs from that of "
        "the original",
        "partita: known: trying three.org",
        f"partita: known is cached in {cache / 'known.csv'}",
    ]


def test_what_is_cached_needs_no_source(cache, capsys):
    fetch_from(cache, Source("one.org", lambda: CONTENT))
    capsys.readouterr()
    assert fetch_from(cache, Source("one.org", fails("never asked"))) == CONTENT
    assert capsys.readouterr().err == ""


def test_an_error_of_the_system_is_one_more_failure(cache):
    source = Source("disk", fails(PermissionError(13, "Permission denied")))
    assert fetch_from(cache, source, Source("good", lambda: CONTENT)) == CONTENT


def test_if_all_fail_the_error_says_why_and_what_to_do(cache):
    with pytest.raises(InputError) as caught:
        fetch_from(cache, Source("one.org", fails("404")), Source("two.org", fails("timed out")))
    assert str(caught.value) == (
        "known is not in the cache and could not be downloaded (one.org: 404; two.org: timed "
        f"out): put it into {cache}"
    )
    assert not list(cache.iterdir())


def test_a_missing_library_is_an_error_only_if_no_other_source_does_without(cache):
    needs = Source("sheets", fails(MissingExtraError("PIL", "reading PNG", "pillow")))
    with pytest.raises(MissingExtraError, match="pip install pillow"):
        fetch_from(cache, needs, Source("one.org", fails("404")))
    assert fetch_from(cache, needs, Source("good", lambda: CONTENT)) == CONTENT


def test_other_errors_are_bugs_and_come_through(cache):
    with pytest.raises(ZeroDivisionError):
        fetch_from(cache, Source("one.org", fails(ZeroDivisionError())))


# ---- the cache folder ----


def test_which_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTITA_CACHE", "")
    monkeypatch.setattr("partita.datasets._fetch.user_cache_path", lambda *_, **__: tmp_path / "c")
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

    monkeypatch.setattr("partita._support.values.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_cached(cache, KNOWN, CONTENT)
    assert not list(cache.iterdir())


def test_a_local_file_must_have_a_size_that_can_be_right(cache):
    (cache / "a").write_bytes(CONTENT)
    for most_bytes, message in ((8, ""), (7, "a has 8 bytes, more than the 7 expected")):
        edition = Edition(("a",), bytes, most_bytes=most_bytes)
        data = KnownDataSet("known", (1, 1), 2, "", "", "", KNOWN, (edition,), "it")
        if not message:
            assert data.fetch(cache) == CONTENT
            (cache / "known.csv").unlink()
            continue
        with pytest.raises(InputError, match=message):
            data.fetch(cache)


READ_AND_WRITE = """
import hashlib, sys, time
from pathlib import Path
from partita.datasets._content import KnownTable
from partita.datasets._fetch import read_cached, write_cached
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


def test_a_shared_folder_above_the_working_directory_is_looked_into(tmp_path, monkeypatch):
    inside = tmp_path / "project" / "docs"
    inside.mkdir(parents=True)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert shared_file("table.parquet") is None
    (tmp_path / "shared" / "data" / "table.parquet").touch()
    assert shared_file("table.parquet") == tmp_path / "shared" / "data" / "table.parquet"
