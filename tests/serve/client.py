"""Servers to ask, requests to send, and what every refusal looks like."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

CANCER, TUMOUR = load_breast_cancer(return_X_y=True, as_frame=True)
DIABETES, PROGRESSION = load_diabetes(return_X_y=True, as_frame=True)
FIRST = CANCER.columns[0]
TOKEN = "s3cret"
LARGEST = 500_000
FOREIGN = ("evil.example", "evil.example:80", "127.0.0.1.evil.example")
HOSTILE = {
    name: [None, 1e999, -1e308, 0, float("nan")][j % 5] for j, name in enumerate(CANCER.columns)
}
RUN = """
import json, sys
from partita.serve import run
if __name__ == "__main__":
    quick = {"port": 0, "drain_seconds": 0, "finish_seconds": 2}
    run(sys.argv[1] or None, **quick | json.loads(sys.argv[2]))
"""


def wait_for(condition, seconds=60):
    """Wait until something has happened."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def rows_of(frame):
    return frame.to_dict("records")


def start(model, log, **settings):
    with log.open("w") as out:
        return subprocess.Popen(
            [sys.executable, "-c", RUN, str(model or ""), json.dumps(settings)],
            stdout=out,
            stderr=out,
        )


def address_of(process, log):
    """Where the server listens, once it says so."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"running on (https?://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise AssertionError(log.read_text())


@contextmanager
def server(model, log, **settings):
    """A client of a server; the process; and its log, in which no test leaves a traceback, nor does
    the end."""
    process = start(model, log, **settings)
    try:
        with httpx.Client(base_url=address_of(process, log), timeout=60) as client:
            yield client, process, log
        process.terminate()
        assert process.wait(20) in (0, -signal.SIGTERM)
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.wait()


def strict(answer):
    """Read a body strictly: without NaN."""
    return json.loads(
        answer.content, parse_constant=lambda token: pytest.fail(f"{token} is no JSON")
    )


def refused(answer, status, *words, row=None, column=None):
    """The request was refused with these words, naming this row and column, in the one shape of all
    refusals."""
    told = strict(answer)
    assert answer.status_code == status, told
    assert answer.headers["content-type"] == "application/json"
    assert list(told) == ["error", "row", "column"]
    assert (told["row"], told["column"]) == (row, column), told
    for word in words:
        assert word in told["error"]
    assert "Traceback" not in told["error"]
    assert "\n" not in told["error"]


def told_of_labels(model, frame):
    """What /certify must say, from the model's own certificates."""
    proof = model.certify(frame)
    return [
        {"prediction": str(label), "radius": int(radius), "runner_up": str(runner_up)}
        for label, radius, runner_up in zip(
            proof.prediction, proof.radius, proof.runner_up, strict=True
        )
    ]


def cell_of(row, text, column=FIRST):
    """A request with one row, in which one cell is written as ``text``."""
    cells = ", ".join(
        f"{json.dumps(name)}: {text if name == column else json.dumps(value)}"
        for name, value in row.items()
    )
    return '{"rows": [{' + cells + "}]}"


def raw(client, request, stay=True):
    """What the server says to these bytes."""
    with socket.create_connection(
        (client.base_url.host, client.base_url.port), timeout=20
    ) as connection:
        connection.sendall(request)
        if stay:
            return connection.recv(2**16)
        time.sleep(0.2)  # the server waits for the rest by now
        return b""


def ask(app, content, path="/certify", method="POST", host="here"):
    """Ask without a network."""

    async def once():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(
                method, path, content=content if isinstance(content, bytes) else json.dumps(content)
            )

    return asyncio.run(once())
