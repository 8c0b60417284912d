"""Asking: whatever one party does, the others count, and nothing takes longer than allowed."""

import asyncio
import gc
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from partita.serve import Party
from partita.serve.federation import _client
from partita.serve.federation._client import PartyClient, ask_all

from .strangers import dripping, endless, hangs_up, late, plain, says, stranger, strangers

GOOD = says(plain(b"good"))
SECONDS = 1.0


def ask(addresses, seconds=SECONDS, most=1000, **settings):
    lines = [PartyClient(Party(f"{k}", one, **settings)) for k, one in enumerate(addresses)]
    return asyncio.run(ask_all(lines, b'{"keys": ["a"]}', most, seconds))


@pytest.mark.parametrize(
    ("speak", "reason"),
    [
        (late(30, GOOD), "no answer within 1 seconds"),
        (dripping(plain(b"good")), "no answer within 1 seconds"),
        (endless, "headers that do not end"),
        (hangs_up, "the connection was closed early"),
        (says(b""), "the connection was closed early"),
        (says(b"SSH-2.0\r\n\r\n"), "an answer that is not HTTP"),
        (says(plain(b"x", "401 Unauthorized")), "an answer with status 401"),
        (says(plain(b"x", "302 Found", "Location: /\r\n")), "an answer with status 302"),
        (says(plain(b"x" * 1001)), "an answer that is too large"),
        (says(plain(b"x", extra="Content-Length: 2\r\n")), "an answer that is not HTTP"),
        (says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx"), "without a length"),
        (says(b"HTTP/1.1 200 OK\r\n\r\nx"), "an answer without a length"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), "an answer that is not HTTP"),
        (says(b"HTTP/1.1 20\r\nContent-Length: 1\r\n\r\nx"), "an answer that is not HTTP"),
        (says(b"\r\n\r\n"), "an answer that is not HTTP"),
    ],
)
def test_a_bad_party_is_silent_and_the_others_are_heard(speak, reason):
    with strangers(GOOD, speak, GOOD) as addresses:
        start = time.monotonic()
        replies = ask(addresses)
        assert time.monotonic() - start < SECONDS + 5
    assert [reply.content for reply in replies] == [b"good", None, b"good"]
    assert reason in replies[1].reason
    assert not replies[0].reason
    assert not replies[2].reason


def test_a_connection_that_is_refused():
    with socket.socket() as deaf:  # the port is taken, so that no other test listens there
        deaf.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        assert ask([address])[0].reason == "the connection was refused"


def test_parties_are_asked_at_the_same_time():
    """Each waits until all have been asked."""
    together = threading.Barrier(3, timeout=20)

    def wait(connection, head, keys):
        together.wait()
        GOOD(connection, head, keys)

    with strangers(wait, wait, wait) as addresses:
        assert [reply.content for reply in ask(addresses, seconds=20)] == [b"good"] * 3


def test_a_late_answer_is_not_taken_for_the_next_one():
    """The first answer arrives while the second question waits for its own."""
    asked = []

    def speak(connection, head, keys):
        asked.append(keys)
        time.sleep(1.0 if len(asked) == 1 else 1.2)
        connection.sendall(plain(b"first" if keys == ["1"] else b"second"))

    async def twice(line):
        first = await line.ask(b'{"keys": ["1"]}', 100, 0.5)
        return first, await line.ask(b'{"keys": ["2"]}', 100, 10)

    with stranger(speak) as address:
        first, second = asyncio.run(twice(PartyClient(Party("A", address))))
    assert first.content is None
    assert second.content == b"second"


def test_a_slow_name_server_delays_nobody_else(monkeypatch):
    free = threading.Event()
    monkeypatch.setattr(_client.socket, "getaddrinfo", lambda *_, **__: free.wait(20))
    try:
        with stranger(GOOD) as address:
            replies = ask([*(f"http://slow-{k}.example" for k in range(40)), address])
    finally:
        free.set()
    assert {reply.reason for reply in replies[:-1]} == {"no answer within 1 seconds"}
    assert replies[-1].content == b"good"


def test_a_name_is_resolved():
    with stranger(GOOD) as address:
        assert ask([address.replace("127.0.0.1", "localhost")], 10)[0].content == b"good"


def test_the_key_goes_along_and_a_new_one_takes_effect(tmp_path):
    heads = []

    def speak(connection, head, keys):
        heads.append(head)
        GOOD(connection, head, keys)

    file = tmp_path / "key"
    file.write_text("first-key")
    with stranger(speak) as address:
        line = PartyClient(Party("A", address, key_file=file))
        for change in (
            lambda: None,
            lambda: file.write_text("second-key"),
            lambda: file.unlink(),  # the last one stays in force
        ):
            change()
            asyncio.run(ask_all([line], b'{"keys": []}', 100, 10))
    keys = [head.partition("Bearer ")[2].split("\r\n")[0] for head in heads]
    assert keys == ["first-key", "second-key", "second-key"]


def test_a_party_that_speaks_no_tls_is_silent():
    with stranger(GOOD) as address:
        reply = ask([address.replace("http:", "https:")], 2)[0]
    assert reply.content is None
    assert reply.reason
    gc.collect()  # a connection that was left open is an error here


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_party_must_have_a_certificate_that_is_trusted(tmp_path):
    """A server with another certificate is not the party."""
    for name in ("own", "other"):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
                *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
                *("-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.pem"),
            ],
            check=True,
            capture_output=True,
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem", tmp_path / "own.key")
    with stranger(GOOD, context) as address:
        place = address.replace("http:", "https:")
        by_name = place.replace("127.0.0.1", "localhost")
        assert ask([by_name], 10, ca=tmp_path / "own.pem")[0].content == b"good"
        for where, settings in [
            (by_name, {"ca": tmp_path / "other.pem"}),
            (by_name, {}),
            (place, {"ca": tmp_path / "own.pem"}),  # the certificate is for another name
        ]:
            reply = ask([where], 10, **settings)[0]
            assert reply.content is None
            assert reply.reason == "no trusted TLS connection"


def test_a_failure_of_our_own_is_one_party_only(monkeypatch):
    async def fail(body, most_bytes):
        raise RuntimeError("secret")

    with strangers(GOOD, GOOD) as addresses:
        lines = [PartyClient(Party(f"{k}", one)) for k, one in enumerate(addresses)]
        monkeypatch.setattr(lines[0], "_exchange", fail)
        replies = asyncio.run(ask_all(lines, b'{"keys": []}', 100, 10))
    assert replies[0].reason == "it cannot be asked (RuntimeError)"
    assert replies[1].content == b"good"
