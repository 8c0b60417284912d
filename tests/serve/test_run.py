"""Stopping, and what is logged."""

import json
import signal
import socket
import time

import httpx
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from partita import (
    FeaturePartitionRegressor,
    SubmodelWarning,
    serve,
    store,
)
from partita.ensemble import FixedVote
from partita.serve import _run

from .client import DIABETES, PROGRESSION, TOKEN, address_of, ask, rows_of, start, strict


def test_only_the_given_address_is_listened_on(labels):
    """The whole of 127.0.0.0/8 would answer, were the server bound to all addresses."""
    address = labels[0].base_url
    assert address.host == "127.0.0.1"
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        socket.create_connection(("127.0.0.2", address.port), timeout=5).close()


@pytest.mark.long
def test_stopping_answers_requests_under_way(regressor, folder):
    """A request under way is answered first, one that never ends is not waited for, and nobody sees
    a traceback."""
    body = json.dumps({"rows": rows_of(DIABETES)}).encode()
    request = (
        b"POST /certify HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        + body[:-1]
    )
    log = folder / "stopped.log"
    process = start(store.save(regressor, folder / "stopped"), log)
    try:
        url = httpx.URL(address_of(process, log))
        place = (url.host, url.port)
        with (
            socket.create_connection(place, timeout=30) as busy,
            socket.create_connection(place, timeout=30) as endless,
        ):
            busy.sendall(request)
            endless.sendall(request)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            busy.sendall(body[-1:])
            answers = [
                everything(connection).partition(b"\r\n\r\n") for connection in (busy, endless)
            ]
        assert process.wait(20) in (0, -signal.SIGINT)
    finally:
        process.kill()
        process.wait()
    assert answers[0][0].startswith(b"HTTP/1.1 200")
    assert len(json.loads(answers[0][2])["rows"]) == len(DIABETES)
    assert answers[1][0].startswith(b"HTTP/1.1 503")
    assert "is stopping" in json.loads(answers[1][2])["error"]
    assert "Traceback" not in log.read_text()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def everything(connection):
    told = b""
    while piece := connection.recv(2**16):
        told += piece
    return told


def test_a_service_open_to_everybody_is_warned_of(classifier, folder, monkeypatch, capsys):
    model = store.save(classifier, folder / "open")
    monkeypatch.setattr(_run.Server, "run", lambda self, sockets: None)
    for host, token, warned in [
        ("0.0.0.0", None, True),
        ("0.0.0.0", TOKEN, False),
        ("127.0.0.1", None, False),
        ("localhost", None, False),
    ]:
        serve.run(model, host=host, port=0, token=token)
        assert ("there is no token" in capsys.readouterr().err) == warned, host


def test_warnings_about_the_model_are_logged_and_in_health(folder, monkeypatch, capsys):
    missing = DIABETES.assign(sex=np.nan)
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionRegressor(Ridge(), n_submodels=5, on_failure="vote").fit(
            missing, PROGRESSION
        )
    quality = {"warnings": ["nearly all rows get\none label", "\x1b[2Jred", 5], "failed": 1}
    path = store.save(model, folder / "poor", {"quality": quality})
    apps = []
    monkeypatch.setattr(_run.Server, "run", lambda self, sockets: apps.append(self.config.app))
    serve.run(path, port=0)
    expected = [
        "nearly all rows get one label",
        "[2Jred",
        "1 of 5 submodels failed to fit; each casts a fixed vote, whatever its columns say",
    ]
    health = ask(apps[0], b"", "/health", "GET", "localhost")
    assert strict(health)["warnings"] == expected
    page = ask(apps[0], b"", "/docs", "GET", "localhost").text
    assert all(f"<p>Warning: {one}.</p>" in page for one in expected)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:-1] == [f"partita: warning: {one}" for one in expected]
    assert "poor is running on http://127.0.0.1:" in lines[-1]
    missing.assign(key=range(len(missing))).to_csv(folder / "own.csv", index=False)
    for t, submodel in enumerate(model.estimators_):  # a party's health too
        serve.run(path, port=0, table=str(folder / "own.csv"), key="key", submodel=t)
        health = ask(apps[-1], b"", "/health", "GET", "localhost")
        assert expected[-1] in strict(health)["warnings"]
        failed = isinstance(submodel, FixedVote)
        assert ("Ridge, could not be fitted" in capsys.readouterr().err) == failed
    for strange in ({"quality": 5}, {"quality": {"warnings": "all"}}, {"quality": None}, {}):
        assert _run._stored_warnings(strange) == []
    (chosen,) = _run._stored_warnings({"chosen": "on-training"})
    assert chosen.startswith("Settings were chosen on the training table: proofs hold given these")
