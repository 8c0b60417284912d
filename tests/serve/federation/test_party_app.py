"""A party's application: ballots for keys, and nothing of its rows."""

import json

import numpy as np
import pytest

from partita.serve._app import Service
from partita.serve._metrics import Metrics
from partita.serve._settings import ServeSettings
from partita.serve.federation._apps import PARTY_PATHS, PartyBallots, party_app

from ..client import ask, refused, strict

SCORES = np.array([[0.1, -2.0], [-3.0, 0.25]], np.float32)


def app_of(failure="", secret=None, **settings):
    own = PartyBallots(["ill", "well"], {"a": 0, "7": 1}, SCORES, failure)
    service = Service("clinic", Metrics(PARTY_PATHS), ServeSettings(**settings))
    return party_app(own, service, ["nearly a constant"], secret)


def test_ballots_are_in_the_order_of_the_keys():
    told = strict(ask(app_of(), {"keys": [7, "none", "a", "7"]}, "/ballot"))
    first, second = SCORES.tolist()
    assert told == {
        "classes": ["ill", "well"],
        "ballots": [second, None, first, second],
        "identity": None,
    }


def test_asking_does_not_change_what_is_stored():
    app = app_of()
    for _ in range(2):
        told = strict(ask(app, {"keys": ["none", "7"]}, "/ballot"))
        assert told["ballots"] == [None, SCORES[1].tolist()]


def test_bad_requests_are_refused():
    app = app_of(max_rows=2)
    refused(ask(app, {"keys": []}, "/ballot"), 422, "keys is empty")
    refused(ask(app, {"keys": ["a"] * 3}, "/ballot"), 413, "the limit is 2")
    refused(ask(app, {"keys": ["a"]}), 404, "use POST /ballot or GET /health")


def test_equal_identities_mean_one_secret_and_nothing_else():
    def identity(app, challenge):
        body = {"keys": ["a"], "challenge": challenge}
        return strict(ask(app, body, "/ballot"))["identity"]

    apps = [app_of(), app_of(), app_of(secret=b"x" * 32), app_of(secret=b"x" * 32)]
    first, again = "0" * 64, "9f" * 32
    told = [identity(app, first) for app in apps]
    assert told[2] == told[3]
    assert len(set(told)) == 3
    assert told[0] == identity(apps[0], first)
    assert {identity(app, again) for app in apps}.isdisjoint(told)  # no answer can be kept
    assert b"x".hex() * 32 not in "".join(told)


@pytest.mark.parametrize("challenge", [None, 5, "", "0" * 63, "0" * 65, "G" * 64, "A" * 64, [1]])
def test_other_challenges_are_refused(challenge):
    body = {"keys": ["a"], "challenge": challenge}
    refused(ask(app_of(), body, "/ballot"), 422, "the challenge is not 64 hexadecimal digits")


def test_health_says_nothing_of_rows():
    """Why a submodel failed may quote a cell."""
    app = app_of(failure="could not predict: 'secret cell'")
    health = ask(app, b"", "/health", "GET")
    assert strict(health)["warnings"] == ["nearly a constant"]
    assert app.state.warnings == ["nearly a constant", "could not predict: 'secret cell'"]
    for path in ("/metrics", "/openapi.json", "/health"):
        assert "secret" not in ask(app, b"", path, "GET").text


def test_openapi_describes_the_answer():
    schema = app_of().openapi()
    assert "BallotAnswer" in schema["components"]["schemas"]
    assert '"keys"' in json.dumps(schema["paths"]["/ballot"])
