"""Downloads from URLs: servers that misbehave are left soon."""

import threading
import time

import pytest

from partita.datasets import _fetch_limits, _http
from partita.datasets._fetch_limits import FetchError
from partita.datasets._http import download


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


def trickling(handler):
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.done.wait(0.05):
        handler.wfile.write(b"0")


def silent(handler):
    handler.server.done.wait(30)


def test_the_content_of_a_url(server):
    server.pages["/a.gz"] = b"content"
    assert download(f"{server.url}/a.gz", 100) == b"content"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (None, "HTTP Error 404: Not Found"),
        (endless, "more than the 100,000 bytes expected at most"),
        (halting, "timed out"),
        (trickling, r"not finished after 0\.4 s"),
        (silent, r"no response within 0\.3 s"),
    ],
)
def test_bad_servers_are_left_soon(page, message, server, monkeypatch):
    monkeypatch.setattr(_http, "CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(_http, "STALL_SECONDS", 0.3 if page is halting else 5)
    monkeypatch.setattr(_http, "WHOLE_SECONDS", 0.4)
    server.pages["/a.gz"] = page
    started = time.monotonic()
    with pytest.raises(FetchError, match=message):
        download(f"{server.url}/a.gz", 100_000)
    assert time.monotonic() - started < 5
    assert len(server.requests) == 1


def test_a_response_that_comes_too_late_is_hung_up(server, monkeypatch):
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

    monkeypatch.setattr(_http, "CONNECT_SECONDS", 0.1)
    server.pages["/a.gz"] = late
    with pytest.raises(FetchError, match=r"no response within 0\.1 s"):
        download(f"{server.url}/a.gz", 100)
    assert noticed.wait(3)


def test_a_name_that_leads_nowhere_fails_fast():
    assert 2 * _http.CONNECT_SECONDS < 10
    started = time.monotonic()
    with pytest.raises(FetchError):
        download("https://one.invalid/a.gz", 100)
    assert time.monotonic() - started < 6


def test_a_long_download_is_logged(server, monkeypatch, capsys):
    monkeypatch.setattr(_fetch_limits, "SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(_http, "WHOLE_SECONDS", 0.5)
    server.pages["/a.gz"] = trickling
    with pytest.raises(FetchError):
        download(f"{server.url}/a.gz", 100)
    assert 2 <= capsys.readouterr().err.count("a.gz: 0 MB after") <= 5
