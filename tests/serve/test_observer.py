"""Every answer has an id; faults are logged with it and not shown."""

import asyncio
import logging

import httpx
import pytest

from partita import serve
from partita.serve import _certifier
from partita.serve._app import request_id

from .client import CANCER, ask, refused, rows_of


@pytest.mark.parametrize("given", ["abc-123", "a" * 100, "0/1+2=:._"])
def test_a_plain_id_is_kept(given):
    assert request_id([(b"x-request-id", given.encode())]) == given.encode()


@pytest.mark.parametrize("given", [b"", b"a" * 101, b"a b", b"a\xff", b'"', b"a\r\nSet-Cookie: b"])
def test_any_other_id_is_replaced(given):
    first, second = (request_id([(b"x-request-id", given)]) for _ in range(2))
    assert first != second
    assert len(first) == 16
    assert first.isalnum()


def test_every_answer_echoes_the_id(classifier):
    app = serve.make_app(classifier, host="127.0.0.1", max_rows=2)

    async def several():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for path, rows, host in [
                ("/certify", 1, "localhost"),
                ("/certify", 3, "localhost"),
                ("/nothing", 1, "localhost"),
                ("/certify", 1, "evil.example"),
            ]:
                answer = await client.post(
                    path,
                    json={"rows": rows_of(CANCER[:rows])},
                    headers={"X-Request-ID": "mine", "Host": host},
                )
                assert answer.headers.get_list("x-request-id") == ["mine"]

    asyncio.run(several())


def test_a_fault_is_logged_with_the_id_and_counted(classifier, monkeypatch, caplog):
    app = serve.make_app(classifier)

    def fails(*arguments, **more):
        raise RuntimeError("where the treasure lies")

    monkeypatch.setattr(_certifier.CertifiedTable, "of", fails)
    with caplog.at_level(logging.ERROR, "partita.serve"):
        answer = ask(app, {"rows": rows_of(CANCER[:1])})
    refused(answer, 500, "its log says why")
    assert f"request {answer.headers['x-request-id']} failed" in caplog.text
    assert "where the treasure lies" in caplog.text
    metrics = ask(app, b"", "/metrics", "GET").text
    assert 'partita_requests_total{path="/certify",status="500"} 1' in metrics
    assert "partita_requests_in_flight 1\n" in metrics
