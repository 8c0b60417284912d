"""What every application of the service has, whatever it answers."""

import pytest
from fastapi import Response

from partita import InputError, serve
from partita.serve._app import Service, new_app
from partita.serve._metrics import Metrics
from partita.serve._settings import ServeSettings

from .client import CANCER, ask, refused, rows_of, strict

OWN = "of-another-kind"


def test_an_application_of_another_kind_can_be_made():
    """One that does not certify: limits, keys, hosts, metrics and probes come with it."""
    paths = ("/ballots", "/live")
    service = Service("one submodel", Metrics(paths), ServeSettings(host="127.0.0.1"))
    app = new_app(service)

    @app.post("/ballots", dependencies=service.key_needed)
    async def ballots() -> Response:
        return Response(OWN)

    assert ask(app, b"", "/ballots", host="localhost").text == OWN
    assert ask(app, b"", "/ready", "GET", "localhost").status_code == 200
    refused(ask(app, b"", "/ballots", host="evil.example"), 421, "is not known to this service")
    metrics = ask(app, b"", "/metrics", "GET", "localhost").text
    assert 'partita_requests_total{path="/ballots",status="200"} 1' in metrics
    assert 'partita_requests_total{path="/ballots",status="421"} 1' in metrics


def test_hosts_that_are_allowed_are_known_beside_this_machine(classifier):
    for settings in ({}, {"token": "s3cret"}, {"host": "127.0.0.1"}, {"host": "0.0.0.0"}):
        app = serve.make_app(classifier, allowed_hosts=["Models.Example"], **settings)
        for host in ("models.example", "MODELS.example:8443", "localhost", "127.0.0.1:80"):
            assert ask(app, b"", "/health", "GET", host).status_code == 200, (settings, host)
        for host in ("evil.example", "models.example.evil"):
            refused(ask(app, b"", "/health", "GET", host), 421, "is not known to this service")
    for wrong in ("https://models.example", "a/b", ""):
        with pytest.raises(InputError, match=r"allowed_hosts holds .*, which is not a host"):
            serve.make_app(classifier, allowed_hosts=[wrong])


def test_first_ready_fails_then_new_requests_are_refused(classifier):
    app, rows = serve.make_app(classifier), {"rows": rows_of(CANCER[:1])}
    life = app.state.service

    def probes():
        return [ask(app, b"", path, "GET").status_code for path in ("/live", "/ready", "/health")]

    assert probes() == [200, 200, 200]
    assert strict(ask(app, b"", "/ready", "GET")) == {"status": "ready"}
    life.ready = False
    assert probes() == [200, 503, 200]
    still = ask(app, rows)
    assert (still.status_code, still.headers["connection"]) == (200, "close")
    life.refuses_new = True
    answer = ask(app, rows)
    refused(answer, 503, "the service is stopping")
    assert answer.headers.get_list("connection") == ["close"]
    assert int(answer.headers["retry-after"]) >= 1
    assert probes() == [200, 503, 200]
    assert ask(app, b"", "/metrics", "GET").status_code == 200
