"""A real server on a loopback port: every answer is what certify says, every bad request is refused
in one sentence."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    MissingExtraError,
    SubmodelWarning,
    criticality,
    store,
)
from partita.rules import TopK
from partita.serve import _app as serve
from partita.store import _store
from partita.tables._open import open_file

CANCER, TUMOUR = load_breast_cancer(return_X_y=True, as_frame=True)
DIABETES, PROGRESSION = load_diabetes(return_X_y=True, as_frame=True)
FIRST = CANCER.columns[0]
TOKEN = "s3cret"
LARGEST = 500_000
FIRST_PORT = 1023  # of those that users have no right to
RUN = """
import json, sys
from partita.serve import _app as serve
serve.SECONDS_TO_FINISH = 2
serve.run(sys.argv[1], port=0, **json.loads(sys.argv[2]))
"""


def rows_of(frame):
    return frame.to_dict("records")


def start(model, log, **settings):
    with log.open("w") as out:
        return subprocess.Popen(
            [sys.executable, "-c", RUN, str(model), json.dumps(settings)], stdout=out, stderr=out
        )


def address_of(process, log):
    """Where the server listens, once it says so."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"running on (http://\S+)", log.read_text()):
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def classifier():
    """Its submodels cannot take gaps, and cast a fixed vote instead."""
    submodel = make_pipeline(StandardScaler(), LogisticRegression())
    sizes = {"size": ["mean radius", "mean area"]}
    return FeaturePartitionClassifier(
        submodel, n_submodels=11, units=sizes, trusted=["mean texture"], on_failure="vote"
    ).fit(CANCER, np.where(TUMOUR == 1, "benign", "malignant"))


@pytest.fixture(scope="module")
def regressor():
    return FeaturePartitionRegressor(n_submodels=5).fit(DIABETES, PROGRESSION)


@pytest.fixture(scope="module")
def labels(classifier, folder):
    model = store.save(classifier, folder / "cancer")
    with server(
        model, folder / "labels.log", token=TOKEN, max_bytes=LARGEST, max_rows=600
    ) as running:
        running[0].headers["Authorization"] = f"Bearer {TOKEN}"
        yield running


def strict(answer):
    """A body, read by somebody who knows no NaN."""
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
        {"prediction": str(label), "radius": int(radius), "rival": str(rival)}
        for label, radius, rival in zip(
            proof.prediction, proof.radius, proof.runner_up, strict=True
        )
    ]


def test_labels_are_what_certify_says(labels, classifier):
    answer = strict(labels[0].post("/certify", json={"rows": rows_of(CANCER)}))
    assert answer["counts"] == {
        "what": classifier.counts_.what,
        "total": 28,
        "trusted": ["mean texture"],
    }
    assert answer["proves"] == "the prediction stays the same"
    expected = told_of_labels(classifier, CANCER)
    assert [{name: row[name] for name in expected[0]} for row in answer["rows"]] == expected
    assert {row["radius"] for row in answer["rows"]} >= {0, 1, 2, 3}
    alone = criticality(
        classifier.ballots(CANCER), classifier.rule_, classifier.partition_.incidence()
    )
    for i, row in enumerate(answer["rows"]):
        assert row["hangs_on"] == [
            name
            for name, breaks in zip(classifier.units_.names, alone[:, i], strict=True)
            if breaks
        ]
        assert (row["hangs_on"] == []) == (row["radius"] > 0)
        assert row["intervals"] is None
    assert any("size" in row["hangs_on"] for row in answer["rows"])


def test_values_are_what_certify_says(regressor):
    answer = strict(ask(serve.make_app(regressor, tolerance=30.0), {"rows": rows_of(DIABETES)}))
    proof = regressor.certify(DIABETES, tolerance=30.0)
    assert answer["proves"] == "the prediction moves by at most 30.0"
    assert [row["prediction"] for row in answer["rows"]] == proof.prediction.tolist()
    assert [row["radius"] for row in answer["rows"]] == proof.radius.tolist()
    assert {row["rival"] for row in answer["rows"]} == {None}
    for radius in (1, 2):
        low, high = regressor.interval(DIABETES, radius)
        told = [row["intervals"][str(radius)] for row in answer["rows"]]
        assert told == [list(ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    assert all(list(row["intervals"]) == ["1", "2"] for row in answer["rows"])
    assert all((row["hangs_on"] == []) == (row["radius"] > 0) for row in answer["rows"])


def test_hundreds_of_requests_at_once(regressor, folder):
    """No answer is lost, none goes to another request (every row has a value of its own), and
    /health answers meanwhile."""
    rng = np.random.default_rng(0)
    asked = [rng.integers(len(DIABETES), size=rng.integers(1, 40)) for _ in range(400)]
    proof, interval = regressor.certify(DIABETES, tolerance=30.0), regressor.interval(DIABETES, 1)
    expected = list(
        zip(
            proof.prediction.tolist(),
            proof.radius.tolist(),
            *(end.tolist() for end in interval),
            strict=True,
        )
    )
    with server(
        store.save(regressor, folder / "diabetes"), folder / "values.log", tolerance=30.0
    ) as (client, process, _):
        before = time.monotonic()
        answers, health = asyncio.run(load(client.base_url, asked, rows_of(DIABETES)))
        took = time.monotonic() - before
        assert process.poll() is None
    print(
        f"{len(asked)} requests, {sum(map(len, asked))} rows in {took:.1f} s; /health "
        f"{len(health)} times, at worst {max(health):.2f} s"
    )
    for chosen, answer in zip(asked, answers, strict=True):
        told = [
            (row["prediction"], row["radius"], *row["intervals"]["1"]) for row in answer["rows"]
        ]
        assert told == [expected[i] for i in chosen]
    assert len(health) >= 5
    assert max(health) < took / 2


async def load(address, asked, rows):
    """The answers to all of these, 64 of them under way at once; and how long /health took
    meanwhile."""
    at_once, health = asyncio.Semaphore(64), []
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:

        async def post(chosen):
            async with at_once:
                return strict(
                    await client.post("/certify", json={"rows": [rows[i] for i in chosen]})
                )

        async def watch():
            while True:
                before = time.monotonic()
                assert (await client.get("/health")).json()["status"] == "ok"
                health.append(time.monotonic() - before)
                await asyncio.sleep(0.1)

        watching = asyncio.create_task(watch())
        answers = await asyncio.gather(*map(post, asked))
        assert not watching.done()
        watching.cancel()
    return answers, health


HOSTILE = {
    name: [None, 1e999, -1e308, 0, float("nan")][j % 5] for j, name in enumerate(CANCER.columns)
}


def test_rows_do_not_change_each_other(labels, classifier):
    """Gaps and infinities, on which submodels fail, change nothing for the rows beside them; and
    nobody is told of every failure."""
    client, process, log = labels
    rows = rows_of(CANCER[:40])
    alone = strict(client.post("/certify", json={"rows": rows}))["rows"]
    body = json.dumps(
        {"rows": [row for fine in rows for row in (HOSTILE, fine)]}
    )  # NaN and Infinity as Python writes them
    between = strict(client.post("/certify", content=body))["rows"]
    assert between[1::2] == alone
    assert all(row == between[0] for row in between[::2])
    with pytest.warns(SubmodelWarning):
        assert (
            between[0]["radius"]
            == told_of_labels(classifier, pd.DataFrame([HOSTILE], dtype=float))[0]["radius"]
        )
    assert "Warning" not in log.read_text()
    assert process.poll() is None


def test_health_answers_during_a_long_request(labels):
    """Rows on which every submodel fails are asked one by one, which takes a while."""
    client = labels[0]
    with ThreadPoolExecutor(1) as other:
        before = time.monotonic()
        long = other.submit(client.post, "/certify", content=json.dumps({"rows": [HOSTILE] * 120}))
        waited = []
        while not long.done():
            asked = time.monotonic()
            client.get("/health")
            waited.append(time.monotonic() - asked)
            time.sleep(0.02)
        took = time.monotonic() - before
    assert len(strict(long.result())["rows"]) == 120
    assert max(waited) < took / 2, (max(waited), took)
    assert len(waited) >= 5


def test_gaps(labels):
    row = rows_of(CANCER[:1])[0]
    answers = [
        strict(labels[0].post("/certify", content=cell_of(row, gap)))["rows"]
        for gap in ("null", "NaN")
    ]
    assert answers[0] == answers[1]


def cell_of(row, text, column=FIRST):
    """A request with one row, in which one cell is written as ``text``."""
    cells = ", ".join(
        f"{json.dumps(name)}: {text if name == column else json.dumps(value)}"
        for name, value in row.items()
    )
    return '{"rows": [{' + cells + "}]}"


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "false",
        '"12.5"',
        '""',
        "[]",
        "{}",
        "[1]",
        "[" * 800 + "]" * 800,
        '"\\ud83d\\ude00"',
        '"' + "x" * 10**5 + '"',
    ],
)
def test_a_cell_of_the_wrong_kind(labels, text):
    refused(
        labels[0].post("/certify", content=cell_of(rows_of(CANCER[:1])[0], text)),
        422,
        "a number is needed",
        row=0,
        column=FIRST,
    )


@pytest.mark.parametrize(
    "text", ["1e999", "9" * 400, "9" * 10_000, "Infinity", "1" + "0" * 400 + ".5"]
)
def test_a_number_too_large_is_infinite(labels, text):
    row = rows_of(CANCER[:1])[0]
    answers = [
        strict(labels[0].post("/certify", content=cell_of(row, written)))
        for written in (text, "1e400")
    ]
    assert answers[0] == answers[1]
    assert answers[0]["rows"]


def test_rows_and_columns_are_named(labels):
    client, rows = labels[0], rows_of(CANCER[:5])
    lacking = {name: value for name, value in rows[3].items() if name != "mean area"}

    def post(row):
        return client.post("/certify", json={"rows": [*rows[:3], row, rows[4]]})

    refused(post(lacking), 422, "row 3 lacks the column 'mean area'", row=3, column="mean area")
    refused(
        post(rows[3] | {"price": 1}),
        422,
        "row 3 has the column 'price', which the model was not",
        row=3,
        column="price",
    )
    refused(
        post(rows[3] | {"mean area": "big"}),
        422,
        "row 3",
        "'big' where a number is needed",
        row=3,
        column="mean area",
    )
    refused(post(rows[3] | {"mean\0area": 1}), 422, r"'mean\x00area'", row=3, column="mean\0area")
    refused(post([1, 2]), 422, "row 3 is no object", row=3)
    twice = json.dumps({"rows": [rows[0], rows[1]]})[:-3] + ', "mean area": 0}]}'
    refused(
        client.post("/certify", content=twice),
        422,
        "row 1 has the column 'mean area' twice",
        row=1,
        column="mean area",
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b'{"rows": [{}]} and more', "no JSON"),
        (b"\x1f\x8b\x08\x00", "UTF-8"),
        (b'{"rows": [{"\xed\xa0\x80": 1}]}', "UTF-8"),
        (b'{"rows": [{"\\ud800": 1}]}', "UTF-8"),
        (b"null", "the body must be"),
        (b"[]", "the body must be"),
        (b"{}", "the body must be"),
        (b'{"rows": {}}', "the body must be"),
        (b'{"rows": [{}], "tolerance": 5}', "the body must be"),
        (b'{"rows": [], "rows": []}', "the body must be"),
        (b'{"rows": []}', "rows is empty"),
        (b"[" * 10**5, "nested too deep"),
        (b'{"rows":' * 50_000, "nested too deep"),
        (b'{"rows": [{"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}]}", "nested too deep"),
    ],
)
def test_a_body_that_cannot_be_read(labels, body, words):
    refused(labels[0].post("/certify", content=body), 422, words)


def test_limits(labels):
    client, rows = labels[0], rows_of(CANCER)
    refused(client.post("/certify", json={"rows": [{}] * 601}), 413, "601 rows", "at most 600")
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


def test_lies_about_the_length(labels):
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


def test_the_token(labels):
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


def test_health(labels):
    told = strict(labels[0].get("/health"))
    assert told["status"] == "ok"
    assert (told["model"], told["submodels"], told["counts"]["trusted"]) == (
        "cancer",
        11,
        ["mean texture"],
    )
    assert told["warnings"] == []
    serve.Health.model_validate(told, strict=True)


def test_what_is_not_there(labels):
    client = labels[0]
    for path in ("/", "/docs", "/redoc", "/certify/", "/../etc/passwd", "/%00"):
        refused(client.get(path), 404, "Not Found")
    refused(client.get("/certify"), 405, "Method Not Allowed")


def test_the_description_is_whole(labels, regressor):
    app = serve.make_app(regressor)
    values = ask(app, b"", "/openapi.json", "GET"), ask(app, {"rows": rows_of(DIABETES[:20])})
    described = (
        labels[0].get("/openapi.json"),
        labels[0].post("/certify", json={"rows": rows_of(CANCER[:20])}),
    )
    for (description, answer), frame, token in (
        (described, CANCER, True),
        (values, DIABETES, False),
    ):
        assert "http://" not in description.text
        assert "https://" not in description.text
        told = description.json()
        assert told["openapi"].startswith("3.1")
        for reference in re.findall(r'"\$ref": ?"#/([^"]+)"', description.text):
            place = told
            for step in reference.split("/"):
                place = place[step]
        assert set(told["paths"]) == {"/certify", "/health"}
        post = told["paths"]["/certify"]["post"]
        row = post["requestBody"]["content"]["application/json"]["schema"]["properties"]["rows"][
            "items"
        ]
        assert row["required"] == list(row["properties"]) == list(frame.columns)
        assert row["properties"][frame.columns[0]] == {"type": ["number", "null"]}
        assert set(post["responses"]) == {"200", "413", "422", "500", "503"} | (
            {"401"} if token else set()
        )
        assert ("security" in post) == token
        schemas = told["components"]["schemas"]
        assert schemas["Refusal"]["required"] == ["error", "row", "column"]
        content = strict(answer)
        serve.Certified.model_validate_json(answer.text, strict=True)
        for name, part in (
            ("Certified", content),
            ("Row", content["rows"][0]),
            ("Counted", content["counts"]),
        ):
            assert schemas[name]["required"] == list(part)


def test_other_addresses_are_not_listened_at(labels):
    """The whole of 127.0.0.0/8 would answer, were the server bound to all addresses."""
    address = labels[0].base_url
    assert address.host == "127.0.0.1"
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        socket.create_connection(("127.0.0.2", address.port), timeout=5).close()


def test_stopping(regressor, folder):
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


def ask(app, content, path="/certify", method="POST"):
    """Ask without a network."""

    async def once():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(
                method, path, content=content if isinstance(content, bytes) else json.dumps(content)
            )

    return asyncio.run(once())


def test_a_fault_of_the_service_is_not_told(classifier, monkeypatch):
    app = serve.make_app(classifier)

    def fails(*arguments):
        raise RuntimeError("where the treasure lies")

    monkeypatch.setattr(serve, "Answers", fails)
    answer = ask(app, {"rows": rows_of(CANCER[:1])})
    refused(answer, 500, "its log says why")
    assert "treasure" not in answer.text


def test_a_submodel_that_fails_votes(classifier):
    gap = rows_of(CANCER[:1])[0] | {FIRST: None}
    assert (
        ask(serve.make_app(classifier), {"rows": [gap]}).status_code == 200
    )  # although here every warning is an error


def test_a_submodel_that_may_not_fail():
    frame = CANCER.iloc[:, :3]
    app = serve.make_app(
        FeaturePartitionClassifier(LogisticRegression(), n_submodels=3).fit(frame, TUMOUR)
    )
    gap = rows_of(frame[:1])[0] | {FIRST: None}
    refused(ask(app, {"rows": [gap]}), 422, "could not predict: Input X contains NaN")
    assert ask(app, {"rows": rows_of(frame[:1])}).json()["rows"][0]["prediction"] == 0


@pytest.mark.parametrize(
    "names",
    [
        ["no", "yes"],
        [False, True],
        [3, 4],
        [1.0, 2.0],
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]"),
    ],
    ids=["texts", "booleans", "integers", "floats", "dates"],
)
def test_labels_of_any_type(names):
    frame = CANCER.iloc[:, :4]
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(
        frame, np.asarray(names)[TUMOUR]
    )
    told = strict(ask(serve.make_app(model), {"rows": rows_of(frame)}))["rows"]
    plain = [str(name) for name in names] if isinstance(names, np.ndarray) else names
    position = {str(name): plain[k] for k, name in enumerate(model.classes_)}
    assert [row["prediction"] for row in told] == [
        position[str(label)] for label in model.predict(frame)
    ]
    assert (
        {type(row["prediction"]) for row in told}
        == {type(row["rival"]) for row in told}
        == {type(plain[0])}
    )


def test_what_is_proven_is_said(regressor):
    frame = CANCER.iloc[:, :4]
    top = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=TopK(1)).fit(frame, TUMOUR)
    with pytest.raises(InputError, match="the model's rule is TopK"):
        serve.make_app(top)
    without = ask(serve.make_app(regressor), {"rows": rows_of(DIABETES[:1])}).json()
    row = without["rows"][0]
    assert (without["proves"], row["radius"], row["hangs_on"]) == (None, None, None)
    assert list(row["intervals"]) == ["1", "2"]
    within = ask(serve.make_app(regressor, relative=0.2), {"rows": rows_of(DIABETES)}).json()
    assert within["proves"] == "the prediction moves by at most 0.2 times its absolute value"
    assert [row["radius"] for row in within["rows"]] == regressor.certify(
        DIABETES, relative=0.2
    ).radius.tolist()


def test_an_interval_without_an_end():
    model = FeaturePartitionRegressor(n_submodels=4).fit(DIABETES, PROGRESSION)
    row = strict(ask(serve.make_app(model), {"rows": rows_of(DIABETES[:1])}))["rows"][0]
    low, high = row["intervals"]["2"]
    assert low is None
    assert high == model.interval(DIABETES[:1], 2)[1][0]


def test_every_kind_of_column(tmp_path):
    """Texts, times and booleans, as they are read from a file; each cell by itself, whatever its
    neighbours hold."""
    place = tmp_path / "table.csv"
    times = pd.date_range("2026-01-01", periods=len(CANCER)).strftime("%Y-%m-%d")
    CANCER.iloc[:, :3].assign(
        grade=np.where(TUMOUR == 1, "low", "high"), seen=times, known=TUMOUR == 1
    ).to_csv(place, index=False)
    file = open_file(place)
    kinds = {name: file.kind(name) for name in file.names}
    assert set(kinds.values()) == {"number", "text", "time", "boolean"}
    model = FeaturePartitionClassifier(n_submodels=6, on_failure="vote").fit(
        file.table(kinds), TUMOUR
    )
    app = serve.make_app(model)
    rows = [
        dict(zip(kinds, [*values, grade, time_, bool(known)], strict=True))
        for values, grade, time_, known in zip(
            CANCER.iloc[:50, :3].values.tolist(),
            np.where(TUMOUR, "low", "high"),
            times,
            TUMOUR,
            strict=False,
        )
    ]
    told = strict(ask(app, {"rows": rows}))["rows"]
    assert [row["radius"] for row in told] == model.certify(
        file.table(kinds).only(np.arange(50))
    ).radius.tolist()
    gaps = dict.fromkeys(kinds)
    assert [strict(ask(app, {"rows": [row, gaps]}))["rows"][0] for row in rows[:10]] == told[:10]
    for column, cell, words in [
        ("grade", 5, "a text"),
        ("seen", "yesterday", "a time"),
        ("seen", 5, "a time"),
        ("known", 2, "true or false"),
        ("mean radius", True, "a number"),
    ]:
        refused(
            ask(app, {"rows": [rows[0], rows[1] | {column: cell}]}),
            422,
            words,
            row=1,
            column=column,
        )
    refused(ask(app, {"rows": [rows[0] | {"grade": "\ud800"}]}), 422, "UTF-8")
    assert ask(app, {"rows": [rows[0] | {"grade": "\0 \U0001f600"}]}).status_code == 200
    as_numbers = [row | {"known": int(row["known"])} for row in rows]
    assert strict(ask(app, {"rows": as_numbers}))["rows"] == told


def test_wrong_settings_are_found_at_once(classifier, regressor, folder):
    for settings, message in [
        ({"tolerance": 1.0}, "tolerance and relative are for models of numbers"),
        ({"token": ""}, "token is empty"),
        ({"token": "two words"}, "token is empty or holds a space"),
        ({"max_rows": 0}, "max_rows is 0"),
        ({"max_bytes": 0}, "max_bytes is 0"),
    ]:
        with pytest.raises(InputError, match=message):
            serve.make_app(classifier, **settings)
    with pytest.raises(InputError, match="it must be a finite number, 0 or above"):
        serve.make_app(regressor, tolerance=-1.0)
    with pytest.raises(InputError, match="fitted on an array without column names"):
        serve.make_app(FeaturePartitionRegressor(n_submodels=3).fit(DIABETES.values, PROGRESSION))
    with pytest.raises(InputError, match="port is 70000"):
        serve.run(folder, port=70000)


def test_open_to_everybody_is_warned_of(classifier, folder, monkeypatch, capsys):
    model = store.save(classifier, folder / "open")
    monkeypatch.setattr(serve.uvicorn.Server, "run", lambda self, sockets: None)
    for host, token, warned in [
        ("0.0.0.0", None, True),
        ("0.0.0.0", TOKEN, False),
        ("127.0.0.1", None, False),
        ("localhost", None, False),
    ]:
        serve.run(model, host=host, port=0, token=token)
        assert ("there is no token" in capsys.readouterr().err) == warned, host


# ---- where it listens ----


def serve_by_hand(*arguments, **settings):
    command = [sys.executable, "-m", "partita", "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **settings)


def test_a_port_in_use_is_one_sentence(regressor, folder):
    model = store.save(regressor, folder / "twice")
    with server(model, folder / "twice.log") as (client, _, _):
        port = client.base_url.port
        for host in ("127.0.0.1", "0.0.0.0"):
            done = serve_by_hand(model, "--host", host, "--port", port)
            told = f"partita: port {port} of {host} is in use: stop the program that listens there, or choose another port\n"
            assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
        assert client.get("/health").status_code == 200


def test_a_port_taken_while_the_model_was_loaded_is_one_sentence(regressor, folder, monkeypatch):
    """Two services may both begin on a port; the second one to listen is refused."""
    model = store.save(regressor, folder / "late")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        load = store.load
        monkeypatch.setattr(_store, "load", lambda *given: (other.listen(), load(*given))[1])
        with pytest.raises(InputError, match=rf"port {port} of 127\.0\.0\.1 is in use"):
            serve.run(model, port=port)


def test_an_address_that_is_not_here_is_one_sentence(folder):
    done = serve_by_hand(folder, "--host", "192.0.2.7")
    told = "partita: host is '192.0.2.7', which is not an address of this machine: give 127.0.0.1, or 0.0.0.0 for all of its addresses\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    for host, message in [
        (
            "no.such.host.invalid",
            r"host is 'no\.such\.host\.invalid', which is no address that can be found \(",
        ),
        ("x" * 100, r"which is no address that can be found \("),
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
    become = "import encodings.idna, os, socket; from partita import serve; os.setgroups([]); os.setuid(65534)"
    bind = f"socket.socket().bind(('127.0.0.1', {FIRST_PORT}))"
    if "PermissionError" not in run_python(f"{become}; {bind}"):
        pytest.skip("everybody may use all ports here")
    told = f"InputError: port {FIRST_PORT} of 127.0.0.1 is not open to this user: choose a port of 1024 or above"
    assert told in run_python(f"{become}; serve._bound('127.0.0.1', {FIRST_PORT})")


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr


def test_all_addresses_of_a_name_are_listened_on_at_one_port():
    bound = serve._bound("localhost", 0)
    try:
        assert len({one.getsockname()[1] for one in bound}) == 1
        assert len(bound) == len({one.getsockname()[0] for one in bound})
    finally:
        for one in bound:
            one.close()


# ---- whom it answers ----


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
def test_whose_host_is_known(header, listening, known):
    assert serve.is_known_host(header, listening) == known


FOREIGN = ("evil.example", "evil.example:80", "127.0.0.1.evil.example")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_without_a_token_a_foreign_host_is_refused(host, regressor, folder):
    """As a page does that lets its own name lead here."""
    rows = rows_of(DIABETES[:1])
    with server(store.save(regressor, folder / "rebound"), folder / "rebound.log", host=host) as (
        client,
        _,
        _,
    ):
        port = client.base_url.port
        for name in FOREIGN:
            for method, path in (
                ("POST", "/certify"),
                ("GET", "/health"),
                ("GET", "/openapi.json"),
                ("GET", "/nothing"),
            ):
                answer = client.request(method, path, json={"rows": rows}, headers={"Host": name})
                refused(answer, 421, f"the host {name!r} is not known to this service")
        for name in (f"127.0.0.1:{port}", "localhost", f"localhost:{port}", "[::1]:80"):
            assert (
                client.post("/certify", json={"rows": rows}, headers={"Host": name}).status_code
                == 200
            )
        assert client.get("/health", headers={"Host": "203.0.113.9"}).status_code == (
            200 if host == "0.0.0.0" else 421
        )
        assert b" 200 " in raw(
            client, b"GET /health HTTP/1.0\r\n\r\n"
        )  # no browser leaves the header out
        responses = strict(client.get("/openapi.json"))["paths"]["/certify"]["post"]["responses"]
        assert "421" in responses


def test_with_a_token_any_host_is_answered(labels):
    for name in FOREIGN:
        assert (
            labels[0]
            .post("/certify", json={"rows": rows_of(CANCER[:1])}, headers={"Host": name})
            .status_code
            == 200
        )


# ---- what speaks against the model ----


def test_what_speaks_against_the_model_is_told_at_the_start_and_by_health(folder):
    gaps = DIABETES.assign(sex=np.nan)
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionRegressor(Ridge(), n_submodels=5, on_failure="vote").fit(
            gaps, PROGRESSION
        )
    quality = {"warnings": ["nearly all rows get\none label", "\x1b[2Jred", 5], "failed": 1}
    path = store.save(model, folder / "poor", {"quality": quality})
    told = [
        "nearly all rows get one label",
        "[2Jred",
        "1 of 5 submodels could not be fitted and cast a fixed vote",
    ]
    with server(path, folder / "poor.log") as (client, _, log):
        assert strict(client.get("/health"))["warnings"] == told
        lines = log.read_text().splitlines()
        assert [line for line in lines if "warning" in line] == [
            f"partita: warning: {one}" for one in told
        ]
    for strange in ({"quality": 5}, {"quality": {"warnings": "all"}}, {"quality": None}, {}):
        assert serve._quality_warnings(strange) == []


def test_without_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "partita.serve._app")
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(
        MissingExtraError,
        match=r"serving a model needs fastapi, which is not installed: pip install "
        r"'partita\[serve\]'",
    ):
        import_module("partita.serve._app")
