"""One sentence for every reason why the service cannot listen."""

import os
import socket
import subprocess
import sys

import pytest

from partita import InputError, serve, store
from partita.serve import _run
from partita.serve._run import bind_sockets

FIRST_PORT = 1023  # of those that users have no right to


def test_a_port_in_use_is_one_sentence(regressor, folder, partita):
    model = store.save(regressor, folder / "twice")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for host in ("127.0.0.1", "0.0.0.0"):
            message = (
                f"partita: port {port} of {host} is in use: stop the program that listens there, "
                "or choose another port\n"
            )
            assert partita("serve", model, "--host", host, "--port", port) == (2, "", message)


def test_a_port_taken_while_the_model_was_loaded_is_one_sentence(regressor, folder, monkeypatch):
    """Two services may both begin on a port; the second one to listen is refused."""
    model = store.save(regressor, folder / "late")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        load = _run.open_model
        monkeypatch.setattr(_run, "open_model", lambda *given: (other.listen(), load(*given))[1])
        with pytest.raises(InputError, match=rf"port {port} of 127\.0\.0\.1 is in use"):
            serve.run(model, port=port)


def test_an_address_that_is_not_here_is_one_sentence(folder, partita):
    done = partita("serve", folder, "--host", "192.0.2.7")
    told = (
        "partita: host is '192.0.2.7', which is not an address of this machine: give 127.0.0.1, or "
        "0.0.0.0 for all of its addresses\n"
    )
    assert done == (2, "", told)
    for host, message in [
        (
            "no.such.host.invalid",
            r"host is 'no\.such\.host\.invalid', which is not an address that can be found \(",
        ),
        ("x" * 100, r"which is not an address that can be found \("),
        ("", "host is empty: give an address of this machine"),
    ]:
        with pytest.raises(InputError, match=message):
            serve.run(folder, host=host)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="another user is needed, who may not use all ports",
)
def test_a_port_of_the_administrator_is_one_sentence():
    """The socket alone: another user may not be able to read what is installed here."""
    code = f"""
import encodings.idna, os, socket
from partita.serve import _run
os.setgroups([])
os.setuid(65534)
try:
    socket.socket().bind(("127.0.0.1", {FIRST_PORT}))
except PermissionError:
    _run.bind_sockets("127.0.0.1", {FIRST_PORT})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode == 0:
        pytest.skip("everybody may use all ports here")
    assert (
        f"InputError: port {FIRST_PORT} of 127.0.0.1 is not open to this user: choose a port of "
        "1024 or above" in done.stderr
    )


def test_all_addresses_of_a_name_are_listened_on_at_one_port():
    bound = bind_sockets("localhost", 0)
    try:
        assert len({one.getsockname()[1] for one in bound}) == 1
        assert len(bound) == len({one.getsockname()[0] for one in bound})
    finally:
        for one in bound:
            one.close()
