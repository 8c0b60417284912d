"""First /ready fails, then new requests are refused."""

from partita import serve

from .client import CANCER, ask, refused, rows_of, strict


def test_probes_and_requests_follow_them(classifier):
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
