"""What every application of the service has, whatever it answers."""

import pytest
from fastapi import Response

from partita import InputError, serve
from partita.serve._app import Service, new_app
from partita.serve._metrics import Metrics
from partita.serve._settings import Settings

from .client import ask, refused

OWN = "of-another-kind"


def test_an_application_of_another_kind_can_be_made():
    """One that does not certify: limits, keys, hosts, metrics and probes come with it."""
    paths = ("/ballots", "/live")
    service = Service("one submodel", Metrics(paths), Settings(host="127.0.0.1"))
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
