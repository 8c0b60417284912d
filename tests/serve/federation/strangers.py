"""Parties of every kind, honest or not, as small servers in threads."""

import hashlib
import hmac
import json
import secrets
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress


def plain(body, status="200 OK", extra=""):
    """A response with this body."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def answer(classes, ballots, identity=None):
    """An answer of a party of its own, unless there is an identity."""
    identity = secrets.token_hex(32) if identity is None else identity
    content = {"classes": classes, "ballots": ballots, "identity": identity}
    return plain(json.dumps(content).encode())


def request_of(connection):
    """A whole request as text, and the keys that it asks for."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(2**16)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(2**16)
    return f"{head.decode()}\r\n\r\n{body.decode()}", json.loads(body)["keys"]


@contextmanager
def stranger(speak, tls=None):
    """A server that calls ``speak(connection, request, keys)`` for each request; its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def serve(raw):
        with (
            suppress(OSError),  # the other side has gone
            raw if tls is None else tls.wrap_socket(raw, server_side=True) as connection,
        ):
            speak(connection, *request_of(connection))

    def accept():
        while not stopped.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        stopped.set()
        listening.close()


@contextmanager
def strangers(*speakers):
    """The addresses of several servers."""
    with ExitStack() as stack:
        yield [stack.enter_context(stranger(speak)) for speak in speakers]


def says(content):
    """Always send these bytes."""
    return lambda connection, head, keys: connection.sendall(content)


def party(secret, classes, ballot):
    """An honest party: one ballot for every key, and its own identity."""

    def speak(connection, request, keys):
        challenge = json.loads(request.partition("\r\n\r\n")[2])["challenge"]
        identity = hmac.new(secret, bytes.fromhex(challenge), hashlib.sha256).hexdigest()
        connection.sendall(answer(classes, [ballot] * len(keys), identity))

    return speak


def redirects(address):
    """Redirect to another address."""
    return says(plain(b"", "307 Temporary Redirect", f"Location: {address}/ballot\r\n"))


@contextmanager
def relay(address):
    """A second address of a server: every byte passes, as through a proxy."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source, sink):
        with suppress(OSError):
            while data := source.recv(2**16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def join(near):
        with near, socket.create_connection((host, int(port))) as far:
            back = threading.Thread(target=pump, args=(far, near), daemon=True)
            back.start()
            pump(near, far)
            back.join()

    def accept():
        with suppress(OSError):
            while True:
                threading.Thread(target=join, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


def votes(classes, ballot):
    """Have one ballot for every key."""
    return lambda connection, head, keys: connection.sendall(answer(classes, [ballot] * len(keys)))


def late(seconds, speak):
    def speak_late(connection, head, keys):
        time.sleep(seconds)
        speak(connection, head, keys)

    return speak_late


def dripping(content, pause=0.05):
    """Send a byte now and then, each well within any time-out for one read."""

    def drip(connection, head, keys):
        for k in range(len(content)):
            connection.sendall(content[k : k + 1])
            time.sleep(pause)

    return drip


def endless(connection, head, keys):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")


def hangs_up(connection, head, keys):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
