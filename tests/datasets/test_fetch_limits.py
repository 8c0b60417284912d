"""Limits on downloads."""

import urllib.error

import pytest

from partita.datasets import _fetch_limits
from partita.datasets._fetch_limits import FetchError, FetchLimits, reason


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_fetch_limits.time, "monotonic", lambda: now[0])
    return now


def test_too_many_bytes_stop_a_download(clock):
    limits = FetchLimits("a.gz", 1000, 60)
    limits.check(1000)
    with pytest.raises(FetchError, match="more than the 1,000 bytes expected at most"):
        limits.check(1001)


def test_too_much_time_stops_a_download(clock):
    limits = FetchLimits("a.gz", 1000, 60)
    clock[0] += 60
    limits.check(0)
    clock[0] += 0.1
    with pytest.raises(FetchError, match="not finished after 60 s"):
        limits.check(0)


def test_a_long_download_is_logged_every_two_seconds(clock, capsys):
    limits = FetchLimits("a.gz", 10**9, 60)
    for size in range(12):
        limits.check(size * 10**6)
        clock[0] += 0.5
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "partita:   a.gz: 4 MB after 2 s",
        "partita:   a.gz: 8 MB after 4 s",
    ]


def test_a_reason_is_one_line_without_wrapping():
    error = urllib.error.URLError(OSError("Name or service not known"))
    assert reason(error) == "Name or service not known"
    assert reason(ValueError("one\ntwo")) == "one"
    assert reason(TimeoutError()) == "TimeoutError"
