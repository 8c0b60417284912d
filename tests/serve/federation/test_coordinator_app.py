"""A coordinator: real processes on loopback, honest, killed, lying, slow and raving."""

import asyncio
import json

import httpx
import numpy as np
import pytest

from partita import store
from partita.serve import Federation, Party
from partita.serve._app import Service
from partita.serve._metrics import Metrics
from partita.serve._settings import ServeSettings
from partita.serve.federation._apps import COORDINATOR_PATHS, coordinator_app, party_families
from partita.serve.federation._federation import PartiesFile, read_parties

from ..client import CANCER, ask, refused, server, strict
from .federated import CLASSES, KEY, KEYS, fitted, parties, parties_toml
from .strangers import dripping, endless, late, says, strangers, votes

ILL, WELL = [0.0, -5.0], [-5.0, 0.0]
NOBODY = "http://127.0.0.1:9"


def app_of(addresses, settings=None, tolerance=None, relative=None, label_sets=0, **more):
    asked = Federation(
        [Party(f"clinic {k}", one) for k, one in enumerate(addresses)],
        **{"classes": ["ill", "well"], "rule": "plurality", "timeout": 1.0} | more,
    )
    metrics = Metrics(COORDINATOR_PATHS, further=party_families(asked.vote.names))
    service = Service("parties.toml", metrics, settings or ServeSettings())
    return coordinator_app(PartiesFile(asked, tolerance, relative, label_sets), service)


def certify(app, keys):
    told = ask(app, {"keys": keys})
    assert told.status_code == 200, told.content
    return strict(told)


def metric(app, name, **labels):
    shown = ",".join(f'{key}="{value}"' for key, value in labels.items())
    lines = ask(app, b"", "/metrics", "GET").text.splitlines()
    found = [line.split()[-1] for line in lines if line.startswith(f"{name}{{{shown}}} ")]
    return float(found[0]) if found else 0.0


@pytest.mark.long
def test_three_processes_one_killed_one_lying(tmp_path):
    """As one process has it, bit for bit; then two of three lose what is proven, and no more."""
    model = fitted(3)
    expected, shares = model.certify(CANCER), model.rule_.shares
    with parties(model, tmp_path, 3) as running:
        addresses = [str(client.base_url) for client, *_ in running]
        file = parties_toml(tmp_path / "parties.toml", addresses, shares, 30)
        federation = read_parties(file).federation
        ballots = federation.ballots(KEYS)
        assert np.array_equal(ballots.view(np.uint32), model.ballots(CANCER).scores.view(np.uint32))
        with server(None, tmp_path / "coordinator.log", parties=str(file)) as (client, *_):
            told = strict(client.post("/certify", json={"keys": KEYS}))
            assert [row["prediction"] for row in told["rows"]] == expected.prediction.tolist()
            assert [row["radius"] for row in told["rows"]] == expected.radius.tolist()
            assert told["counts"] == {"what": "parties", "total": 3, "trusted": []}
            assert {one["silent"] for one in told["parties"]} == {None}
            running[0][1].kill()
            running[0][1].wait()
            again = strict(client.post("/certify", json={"keys": KEYS}))
            health = strict(client.get("/health"))
        sure = expected.radius >= 1
        assert sure.any()
        predicted = np.array([row["prediction"] for row in again["rows"]])
        assert (predicted == expected.prediction)[sure].all()
        assert again["parties"][0] == {
            "name": "clinic 0",
            "silent": "the connection was refused",
            "same_as": None,
        }
        assert all(row["silent_units"] == ["clinic 0"] for row in again["rows"])
        assert health["proves"] == "the prediction stays the same"
        # a party that swaps its scores: what is certified holds, and the party stands out
        liar = votes(CLASSES, [0.0, -20.0])
        with strangers(liar) as (address,):
            lied = Federation(
                [Party("clinic 0", address), *federation.parties[1:]],
                classes=CLASSES,
                rule=federation.vote.rule,
                timeout=30,
            )
            answers = lied.ask(KEYS)
        assert answers.reasons == ("", "", "")
        proof = lied.vote.certify(answers.ballots)
        assert (proof.prediction == expected.prediction)[sure].all()
        n_votes, against = lied.vote.contradictions(answers.ballots, proof)
        assert (against / n_votes).argmax() == 0
        running[0][1].wait = lambda *_: 0  # others must end in peace, this one was killed


def test_a_slow_and_a_raving_party_are_silent_and_the_rest_is_proven():
    honest = votes(["ill", "well"], ILL)
    speakers = (honest, dripping(b"x" * 1000), says(b"garbage"), honest, endless, honest)
    with strangers(*speakers) as addresses:
        app = app_of([*addresses, NOBODY])
        told = certify(app, ["a", 7])
    assert [one["silent"] for one in told["parties"]] == [
        None,
        "no answer within 1 seconds",
        "the connection was closed early",
        None,
        "headers that do not end",
        None,
        "the connection was refused",
    ]
    for row in told["rows"]:
        assert row["prediction"] == "ill"
        assert row["radius"] == 1
        assert row["radius_without_silence"] == 3
        assert row["silent_units"] == ["clinic 1", "clinic 2", "clinic 4", "clinic 6"]
        assert row["critical_units"] == []
        assert row["intervals"] is None


def test_label_sets_are_what_lying_parties_bring_about():
    """Three say ill, two well: one liar makes it well, two tie it with a third label and lose."""
    ill, well = [0.0, -5.0, -9.0], [-5.0, 0.0, -9.0]
    labels = ["ill", "well", "gone"]
    speakers = [votes(labels, one) for one in (ill, ill, ill, well, well)]
    with strangers(*speakers) as addresses:
        told = certify(app_of(addresses, label_sets=3, classes=labels), ["a"])
    assert told["rows"][0]["label_sets"] == {
        "1": ["ill", "well"],
        "2": ["ill", "well"],
        "3": ["ill", "well", "gone"],
    }


def test_nobody_answers_and_nothing_is_proven():
    told = certify(app_of([NOBODY, "http://127.0.0.1:10"], default="well"), ["a"])
    (row,) = told["rows"]
    assert (row["prediction"], row["radius"]) == ("well", 0)


def test_metrics_name_those_who_contradict_and_those_who_are_silent():
    honest, liar = votes(["ill", "well"], ILL), votes(["ill", "well"], WELL)
    with strangers(honest, honest, honest, honest, liar) as addresses:
        app = app_of([*addresses, NOBODY])
        certify(app, ["a", "b"])
        certify(app, ["c"])
    assert metric(app, "partita_party_requests_total", party="clinic 5", outcome="silent") == 2
    assert metric(app, "partita_party_requests_total", party="clinic 4", outcome="answered") == 2
    assert metric(app, "partita_party_silent_rows_total", party="clinic 5") == 3
    assert metric(app, "partita_party_votes_total", party="clinic 4") == 3
    assert metric(app, "partita_party_contradictions_total", party="clinic 4") == 3
    assert metric(app, "partita_party_contradictions_total", party="clinic 0") == 0
    assert metric(app, "partita_party_votes_total", party="clinic 5") == 0


def test_values_with_and_without_a_tolerance():
    with strangers(*(votes(None, value) for value in (1.0, 2.0, 2.5, 9.0, 2.1))) as addresses:
        by_value = {"classes": None, "rule": None}
        plain = certify(app_of(addresses, **by_value), ["a"])
        close = certify(app_of(addresses, tolerance=0.5, **by_value), ["a"])
    assert plain["proves"] is None
    assert plain["rows"][0]["radius"] is None
    assert close["proves"] == "the prediction moves by at most 0.5"
    assert close["rows"][0]["radius"] == 1
    for told in (plain, close):
        assert told["rows"][0]["prediction"] == 2.1
        assert told["rows"][0]["intervals"]["1"] == [2.0, 2.5]


def test_requests_that_are_refused():
    app = app_of([NOBODY], ServeSettings(max_rows=2))
    for body, status, word in [
        ({"keys": []}, 422, "keys is empty: give at least one key"),
        ({"rows": [{}]}, 422, 'the body must be {"keys": [key, ...]} and nothing else'),
        ({"keys": ["a", "b", "c"]}, 413, "keys holds 3 keys, and the limit is 2"),
        ({"keys": [1.5]}, 422, "key 0 is 1.5"),
        (b"{", 422, "not valid JSON"),
    ]:
        refused(ask(app, body), status, word)
    refused(ask(app, {}, "/ballot"), 404, "use POST /certify or GET /health")
    refused(ask(app_of([NOBODY], ServeSettings(max_waiting=1)), {"keys": "a"}), 422)


def test_too_many_requests_at_once_are_told_to_come_back():
    async def at_once(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            asked = (client.post("/certify", json={"keys": ["a"]}, timeout=60) for _ in range(5))
            return await asyncio.gather(*asked)

    with strangers(late(0.5, votes(["ill", "well"], ILL))) as addresses:
        app = app_of(addresses, ServeSettings(max_waiting=2), timeout=30.0)
        answers = asyncio.run(at_once(app))
        assert certify(app, ["a"])["rows"][0]["prediction"] == "ill"  # there is room again
    assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 429, 429]
    assert {answer.headers.get("Retry-After") for answer in answers} == {None, "1"}


@pytest.mark.long
def test_several_workers_count_together(tmp_path):
    honest, liar = votes(CLASSES, ILL), votes(CLASSES, WELL)
    with strangers(honest, honest, honest, liar) as addresses:
        file = parties_toml(tmp_path / "parties.toml", addresses)
        log = tmp_path / "coordinator.log"
        with server(None, log, parties=str(file), workers=2) as (client, *_):
            for i in range(20):
                told = httpx.post(f"{client.base_url}/certify", json={"keys": [i]}, timeout=60)
                assert told.status_code == 200
            lines = client.get("/metrics").text.splitlines()
    assert 'partita_party_contradictions_total{party="clinic 3"} 20' in lines


def test_a_party_without_tls_elsewhere_is_warned_of():
    told = strict(ask(app_of([NOBODY, "http://192.0.2.1"]), b"", "/health", "GET"))
    assert told["warnings"] == [
        "the party 'clinic 1' is asked without TLS: others on the way can read its key and "
        "write its ballots"
    ]


def test_a_party_answers_with_its_key_only(tmp_path):
    model = fitted(3)
    with parties(model, tmp_path, 1) as [(client, *_)]:
        body = {"keys": [KEYS[5], "nobody", KEYS[0]]}
        refused(client.post("/ballot", json=body), 401, "token is missing or wrong")
        refused(client.post("/certify", json=body), 404, "use POST /ballot")
        client.headers["Authorization"] = f"Bearer {KEY}"
        told = strict(client.post("/ballot", json=body))
        assert told["classes"] == CLASSES
        own = model.ballots(CANCER).scores[:, 0].tolist()
        assert told["ballots"] == [own[5], None, own[0]]
        assert httpx.get(f"{client.base_url}/ready").status_code == 200
        assert "partita_rows_total 3" in client.get("/metrics").text
        assert json.loads(client.get("/health").content)["classes"] == CLASSES
        assert "/ballot" in client.get("/openapi.json").json()["paths"]
    assert store.load(tmp_path / "model") is not None
