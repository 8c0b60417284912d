"""Programs that download packages: watched, and stopped with their children."""

import time
from pathlib import Path

import pytest

from partita.datasets._fetch_limits import FetchError, FetchLimits
from partita.datasets._package_client import only_file, run_client, temporary_folder


def run(folder, script, most_bytes=10**6, seconds=30, env=None):
    command = ["/bin/sh", "-c", script]
    return run_client("npm", command, folder, FetchLimits("npm", most_bytes, seconds), env)


def test_status_and_output(tmp_path):
    assert run(tmp_path, "echo out; echo err >&2; exit 3") == (3, "out\nerr\n")
    assert run(tmp_path, "pwd")[1].strip() == str(tmp_path)
    assert run(tmp_path, "echo $SOME", env={"SOME": "value"}) == (0, "value\n")
    assert run(tmp_path, "cat") == (0, "")  # nothing to read on standard input


def test_a_program_that_cannot_be_run(tmp_path):
    with pytest.raises(FetchError, match="npm cannot be run"):
        run_client("npm", [str(tmp_path / "no")], tmp_path, FetchLimits("npm", 1000, 1))


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


def test_a_temporary_folder_goes_away(cache):
    with temporary_folder("npm") as folder:
        (folder / "file").touch()
    assert not folder.exists()
