"""Packages through pip."""

import os
import time

import pytest

from partita.datasets import _pip
from partita.datasets._fetch_limits import FetchError


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
def test_a_client_that_brings_nothing_good(script, message, offline, stand_in, cache, monkeypatch):
    stand_in("pip", script)
    monkeypatch.setattr(_pip, "WHOLE_SECONDS", 0.5 if "sleep" in script else 60)
    with pytest.raises(FetchError, match=message), _pip.download_wheel("made==1.0", 10_000):
        pass


def test_a_wheel_is_there_while_the_block_lasts_and_no_code_of_the_package_runs(
    offline, stand_in, cache
):
    stand_in("pip", "echo $@ $TMPDIR > made.whl")
    with _pip.download_wheel("made==1.0", 10_000) as file:
        command = file.read_text().split()
    assert not file.exists()
    assert command[:3] == ["download", "--no-deps", "--only-binary=:all:"]
    assert command[-2:] == ["made==1.0", str(file.parent)]


def test_without_pip(offline):
    with pytest.raises(FetchError, match="pip is not installed"), _pip.download_wheel("made", 10):
        pass


def test_the_real_client_without_a_network(cache, monkeypatch):
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")  # nobody listens there
    started = time.monotonic()
    with (
        pytest.raises(
            FetchError, match=r"pip download failed \(No matching distribution found for made==1"
        ),
        _pip.download_wheel("made==1.0", 10_000),
    ):
        pass
    assert time.monotonic() - started < 30
