"""Slow clients are not waited for; a service that is told to stop loses no request; TLS."""

import json
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import httpx
import pytest

from partita import store

from .client import CANCER, DIABETES, address_of, rows_of, server, start, wait_for


@pytest.fixture(scope="module")
def impatient(regressor, folder):
    """A server that waits a second for headers, and for bodies."""
    model = store.save(regressor, folder / "impatient")
    settings = {"header_seconds": 1.0, "body_seconds": 1.0, "max_bytes": 10_000}
    with server(model, folder / "impatient.log", **settings) as running:
        yield running


def connect(client):
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=20)


def drip(connection, pieces, pause=0.3):
    """Send piece after piece; return what came back and how long it took to be closed."""
    before, told = time.monotonic(), b""
    connection.settimeout(pause)
    for piece in pieces:
        try:
            connection.sendall(piece)
            while part := connection.recv(2**16):
                told += part
            break  # closed
        except TimeoutError:
            continue
        except OSError:
            break
    return told, time.monotonic() - before


def test_slow_headers_are_not_waited_for(impatient):
    client = impatient[0]
    with connect(client) as connection:
        head = b"POST /certify HTTP/1.1\r\n"
        told, seconds = drip(connection, [head, *(b"X-A: b\r\n" for _ in range(30))])
    assert told.startswith(b"HTTP/1.1 408")
    assert 0.8 < seconds < 8
    with connect(client) as connection:  # says nothing at all
        connection.settimeout(10)
        assert connection.recv(100) == b""
    assert client.get("/health").status_code == 200


def test_headers_of_a_second_request_are_not_waited_for_either(impatient):
    with connect(impatient[0]) as connection:
        connection.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.2)
        assert b" 200 " in connection.recv(2**16)
        time.sleep(1.5)  # between two requests there is more time
        told, seconds = drip(connection, [b"GET /live HTTP/1.1\r\n", *(b"A: b\r\n",) * 30])
    assert told.startswith(b"HTTP/1.1 408")
    assert seconds < 8


def test_a_slow_body_is_not_waited_for(impatient):
    head = b"POST /certify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
    with connect(impatient[0]) as connection:
        told, seconds = drip(connection, [head, *(b" " for _ in range(60))])
    assert told.startswith(b"HTTP/1.1 408")
    assert b"was not complete within 1 seconds" in told
    assert 0.8 < seconds < 8


def test_the_rest_of_a_refused_body_is_not_waited_for(impatient):
    head = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
    with connect(impatient[0]) as connection:
        told, seconds = drip(connection, [head, *(b" " for _ in range(60))])
    assert told.startswith(b"HTTP/1.1 404")
    assert seconds < 8


def test_slow_clients_keep_nobody_waiting(impatient):
    client = impatient[0]
    slow = [connect(client) for _ in range(100)]
    try:
        for connection in slow:
            connection.sendall(b"POST /certify HTTP/1.1\r\nHost: localhost\r\nContent-Le")
        before = time.monotonic()
        answer = client.post("/certify", json={"rows": rows_of(DIABETES[:1])})
        assert answer.status_code == 200
        assert time.monotonic() - before < 5
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.long
def test_sigterm_drains(classifier, folder):
    """/ready fails while requests are still answered; then new ones are refused, and those under
    way are answered; the exit code is 0."""
    model, log = store.save(classifier, folder / "drained"), folder / "drained.log"
    process = start(model, log, drain_seconds=3, finish_seconds=30)
    body = json.dumps({"rows": rows_of(CANCER[:1])}).encode()
    head = b"POST /certify HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    try:
        url = httpx.URL(address_of(process, log))
        with (
            httpx.Client(base_url=url) as client,
            socket.create_connection((url.host, url.port), timeout=20) as under_way,
        ):
            under_way.sendall(head + body[:-1])
            assert client.get("/ready").status_code == 200
            process.send_signal(signal.SIGTERM)
            wait_for(lambda: client.get("/ready").status_code == 503, 20)
            assert client.post("/certify", content=body).status_code == 200
            assert client.get("/live").status_code == 200
            wait_for(lambda: client.post("/certify", content=body).status_code == 503, 20)
            late = client.post("/certify", content=body)
            assert "is stopping" in late.json()["error"]
            assert client.get("/ready").status_code == 503
            assert process.poll() is None
            under_way.sendall(body[-1:])
            assert under_way.recv(2**16).startswith(b"HTTP/1.1 200")
        assert process.wait(10) == 0
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_stopping_under_load_loses_no_answer(classifier, folder):
    """Clients are answered until they are refused, and none is cut off."""
    model, log = store.save(classifier, folder / "loaded"), folder / "loaded.log"
    process = start(model, log, drain_seconds=1)
    body = json.dumps({"rows": rows_of(CANCER[:1])}).encode()
    statuses, failures = [], []
    try:
        url = address_of(process, log)

        def ask_until_refused():
            with httpx.Client(base_url=url, timeout=20) as client:
                try:
                    while not statuses or statuses[-1] == 200:
                        statuses.append(client.post("/certify", content=body).status_code)
                except httpx.HTTPError as exc:
                    failures.append(exc)

        threads = [threading.Thread(target=ask_until_refused) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(statuses) > 20)
        process.terminate()
        for thread in threads:
            thread.join(20)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
    assert failures == []
    assert set(statuses) == {200, 503}
    assert 1 <= statuses.count(503) <= len(threads)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_https_with_a_certificate(regressor, folder, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    model, log = store.save(regressor, folder / "https"), folder / "https.log"
    with server(model, log, tls_cert=str(cert), tls_key=str(key)) as (client, _, _):
        assert client.base_url.scheme == "https"
        trusting = ssl.create_default_context(cafile=cert)
        with httpx.Client(base_url=client.base_url, verify=trusting) as known:
            body = {"rows": rows_of(DIABETES[:2])}
            assert len(known.post("/certify", json=body).json()["rows"]) == 2
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            client.get("/health")
