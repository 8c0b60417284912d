"""Host, token and size are checked before the body is read."""

import json
import re
import socket
from pathlib import Path

import httpx
import pytest

from partita import serve
from partita.serve._security import is_known_host

from .client import (
    CANCER,
    DIABETES,
    FIRST,
    FOREIGN,
    LARGEST,
    TOKEN,
    ask,
    raw,
    refused,
    rows_of,
    strict,
)


def test_rows_and_bytes_are_limited(labels):
    client, rows = labels[0], rows_of(CANCER)
    refused(client.post("/certify", json={"rows": [{}] * 601}), 413, "601 rows", "the limit is 600")
    refused(client.post("/certify", json={"rows": [{}] * 600}), 422, "lacks", row=0, column=FIRST)
    body = json.dumps({"rows": rows[:2]}).encode()
    assert client.post("/certify", content=body + b" " * (LARGEST - len(body))).status_code == 200
    refused(
        client.post("/certify", content=body + b" " * (LARGEST + 1 - len(body))),
        413,
        f"larger than {LARGEST} bytes",
    )


def most_memory(process):
    return (
        int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_body_without_a_length_is_counted_as_it_comes(labels):
    client, process, _ = labels
    before = most_memory(process)
    pieces = (b" " * 2**16 for _ in range(1000))
    refused(client.post("/certify", content=pieces), 413, f"larger than {LARGEST} bytes")
    assert most_memory(process) - before < 2**23  # of 62 MiB
    pieces = (piece.encode() for piece in ('{"rows": ', json.dumps(rows_of(CANCER[:3])), "}"))
    assert len(strict(client.post("/certify", content=pieces))["rows"]) == 3


def test_a_wrong_length_does_no_harm(labels):
    client, process, log = labels
    head = b"POST /certify HTTP/1.1\r\nHost: here\r\nAuthorization: bearer %s\r\n" % TOKEN.encode()
    assert b" 413 " in raw(
        client, head + b"Content-Length: 10000000\r\n\r\n{"
    )  # at once, without waiting for the rest
    assert b" 422 " in raw(client, head + b"Content-Length: 2\r\n\r\n{}{}{}")
    assert b" 400 " in raw(client, head + b"Content-Length: -5\r\n\r\n{}")
    raw(client, head + b"Content-Length: 100\r\n\r\n{", stay=False)
    assert client.get("/health").status_code == 200
    assert "Traceback" not in log.read_text()
    assert process.poll() is None


def test_only_the_token_opens(labels):
    client, rows = labels[0], rows_of(CANCER[:1])
    for header in (
        None,
        "Bearer",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        b"Bearer \xff",
    ):
        with httpx.Client(base_url=client.base_url) as other:
            answer = other.post(
                "/certify",
                json={"rows": rows},
                headers={} if header is None else {"Authorization": header},
            )
            refused(answer, 401, "the token is missing or wrong")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert other.get("/health").status_code == 200
    assert client.post("/certify", json={"rows": rows}).status_code == 200


@pytest.mark.parametrize(
    ("header", "listening", "known"),
    [
        ("localhost", "127.0.0.1", True),
        ("LOCALHOST.:8000", "127.0.0.1", True),
        ("app.localhost:8000", "127.0.0.1", True),
        ("127.0.0.1:8000", "127.0.0.1", True),
        ("127.9.9.9", "127.0.0.1", True),
        ("[::1]:8000", "127.0.0.1", True),
        ("[::1]", "::1", True),
        ("127.0.0.1:", "localhost", True),
        ("evil.example", "127.0.0.1", False),
        ("localhost.evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example:8000", "127.0.0.1", False),
        ("127.evil.example", "127.0.0.1", False),
        ("evil.example:127.0.0.1", "127.0.0.1", False),
        ("user@localhost", "127.0.0.1", False),
        ("localhost:80:80", "127.0.0.1", False),
        ("[localhost", "127.0.0.1", False),
        ("::1", "127.0.0.1", False),
        ("192.168.1.5", "127.0.0.1", False),
        ("0.0.0.0:8000", "127.0.0.1", False),
        ("2130706433", "127.0.0.1", False),
        ("\xff", "127.0.0.1", False),
        (socket.gethostname(), "127.0.0.1", False),
        ("192.168.1.5", "0.0.0.0", True),
        ("0.0.0.0:8000", "0.0.0.0", True),
        ("[fe80::1]:8000", "::", True),
        ("localhost", "0.0.0.0", True),
        (f"{socket.gethostname()}:8000", "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False),
        ("Models.Example:8000", "models.example", True),
        ("192.168.1.5", "192.168.1.5", True),
        ("evil.example", "192.168.1.5", False),
    ],
)
def test_which_hosts_are_known(header, listening, known):
    assert is_known_host(header, listening) == known


@pytest.mark.parametrize("listening", ["127.0.0.1", "0.0.0.0"])
def test_without_a_token_a_foreign_host_is_refused(listening, regressor):
    """As a page does that lets its own name lead here."""
    app, rows = serve.make_app(regressor, host=listening), {"rows": rows_of(DIABETES[:1])}
    for name in FOREIGN:
        for method, path in (
            ("POST", "/certify"),
            ("GET", "/health"),
            ("GET", "/openapi.json"),
            ("GET", "/nothing"),
        ):
            refused(ask(app, rows, path, method, name), 421, "is not known to this service")
    for name in ("127.0.0.1:8000", "localhost", "localhost:8000", "[::1]:80"):
        assert ask(app, rows, host=name).status_code == 200
    from_afar = ask(app, b"", "/health", "GET", "203.0.113.9")
    assert from_afar.status_code == (200 if listening == "0.0.0.0" else 421)
    description = strict(ask(app, b"", "/openapi.json", "GET", "localhost"))
    assert "421" in description["paths"]["/certify"]["post"]["responses"]


def test_a_request_without_a_host_is_answered(labels):
    """No browser leaves the header out."""
    assert b" 200 " in raw(labels[0], b"GET /health HTTP/1.0\r\n\r\n")


def test_with_a_token_any_host_is_answered(labels):
    for name in FOREIGN:
        assert (
            labels[0]
            .post("/certify", json={"rows": rows_of(CANCER[:1])}, headers={"Host": name})
            .status_code
            == 200
        )
