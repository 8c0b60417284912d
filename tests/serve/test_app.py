"""Every answer is what certify says, whatever other requests there are."""

import asyncio
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    SubmodelWarning,
    criticality,
    serve,
    store,
)
from partita.serve import _certifier
from partita.serve._rows import Certified, Health

from .client import (
    CANCER,
    DIABETES,
    FIRST,
    HOSTILE,
    PROGRESSION,
    TUMOUR,
    ask,
    refused,
    rows_of,
    server,
    strict,
    told_of_labels,
)


@pytest.mark.long
def test_models_that_leave_units_out_are_served(folder):
    """The real service: labels, radii, and the units each of which could change a row alone."""
    units = [name.split()[-1] for name in CANCER]
    model = LeaveOutClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()),
        units=units,
        n_groups=6,
        on_failure="vote",
    ).fit(CANCER[::2], np.where(TUMOUR[::2] == 1, "benign", "malignant"))
    path, rows = store.save(model, folder / "left out"), CANCER[1::2]
    with server(path, folder / "left_out.log", max_rows=300) as (client, _, _):
        answer = strict(client.post("/certify", json={"rows": rows_of(rows)}))
        health = strict(client.get("/health"))
        refused(client.post("/certify", json={"rows": rows_of(CANCER)}), 413, "the limit is 300")
        refused(client.post("/certify", json={"rows": [{}]}), 422, row=0, column=FIRST)
        hostile = strict(client.post("/certify", content=json.dumps({"rows": [HOSTILE]})))
    assert health["submodels"] == len(model.partition_) == 16
    assert answer["counts"] == {"what": "units", "total": len(set(units)), "trusted": []}
    expected = told_of_labels(model, rows)
    assert [{name: row[name] for name in expected[0]} for row in answer["rows"]] == expected
    assert {row["radius"] for row in answer["rows"]} == {0, 1}
    assert hostile["rows"][0]["radius"] in (0, 1)
    votes = model.rule_.model_votes(model.ballots(rows))
    pairs, groups = list(combinations(range(6), 2)), model.rule_.unit_groups()
    for row, said in zip(answer["rows"], votes, strict=True):
        alone = [
            name
            for name, group in zip(model.units_.names, groups, strict=True)
            if len({vote for vote, pair in zip(said, pairs, strict=True) if group in pair}) > 1
        ]
        assert row["critical_units"] == alone
        assert (not alone) == (row["radius"] == 1)


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
        assert row["critical_units"] == [
            name
            for name, breaks in zip(classifier.units_.names, alone[:, i], strict=True)
            if breaks
        ]
        assert (row["critical_units"] == []) == (row["radius"] > 0)
        assert row["intervals"] is None
        assert "label_sets" not in row
    assert any("size" in row["critical_units"] for row in answer["rows"])


def test_label_sets_are_the_models_own(classifier, folder):
    """From a real server, and described in its schema."""
    path, rows = store.save(classifier, folder / "sets"), CANCER[:80]
    with server(path, folder / "sets.log", label_sets=2) as (client, *_):
        answer = strict(client.post("/certify", json={"rows": rows_of(rows)}))
        schema = strict(client.get("/openapi.json"))["components"]["schemas"]["Row"]
    sizes = set()
    for radius in (1, 2):
        for row, own in zip(answer["rows"], classifier.prediction_set(rows, radius), strict=True):
            assert list(row["label_sets"]) == ["1", "2"]
            assert row["label_sets"][str(radius)] == classifier.classes_[own].tolist()
            sizes.add(int(own.sum()))
    assert sizes == {1, 2}
    assert "label_sets" in schema["properties"]
    assert "label_sets" not in schema["required"]


def test_label_sets_that_are_no_use_are_refused(classifier, regressor):
    with pytest.raises(InputError, match="label_sets is for labels, and the predictions are num"):
        serve.make_app(regressor, label_sets=1)
    with pytest.raises(InputError, match="label_sets is 29, and there are 28 units"):
        serve.make_app(classifier, label_sets=29)


def test_values_are_what_certify_says(regressor):
    answer = strict(ask(serve.make_app(regressor, tolerance=30.0), {"rows": rows_of(DIABETES)}))
    proof = regressor.certify(DIABETES, tolerance=30.0)
    assert answer["proves"] == "the prediction moves by at most 30.0"
    assert [row["prediction"] for row in answer["rows"]] == proof.prediction.tolist()
    assert [row["radius"] for row in answer["rows"]] == proof.radius.tolist()
    assert {row["runner_up"] for row in answer["rows"]} == {None}
    for radius in (1, 2):
        low, high = regressor.interval(DIABETES, radius)
        told = [row["intervals"][str(radius)] for row in answer["rows"]]
        assert told == [list(ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    assert all(list(row["intervals"]) == ["1", "2"] for row in answer["rows"])
    assert all((row["critical_units"] == []) == (row["radius"] > 0) for row in answer["rows"])


def test_hundreds_of_requests_at_once(regressor):
    """No answer is lost or goes to another request, and /health answers meanwhile."""
    rng = np.random.default_rng(0)
    chosen_rows = [rng.integers(len(DIABETES), size=rng.integers(1, 40)) for _ in range(80)]
    app = serve.make_app(regressor, tolerance=30.0)
    before = time.monotonic()
    answers, health = asyncio.run(load(app, chosen_rows, rows_of(DIABETES)))
    seconds = time.monotonic() - before
    for chosen, answer in zip(chosen_rows, answers, strict=True):
        rows = DIABETES.iloc[chosen]  # with others, a product of matrices may round otherwise
        proof, interval = regressor.certify(rows, tolerance=30.0), regressor.interval(rows, 1)
        columns = (proof.prediction, proof.radius, *interval)
        found = [
            (row["prediction"], row["radius"], *row["intervals"]["1"]) for row in answer["rows"]
        ]
        assert found == list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(health) >= 5
    assert max(health) < seconds / 2


def test_requests_beyond_the_limit_are_told_to_come_back(regressor):
    app, body = serve.make_app(regressor, max_waiting=2), {"rows": rows_of(DIABETES)}

    async def crowd():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            answers = await asyncio.gather(*(client.post("/certify", json=body) for _ in range(30)))
            return answers, await client.post("/certify", json=body)

    answers, later = asyncio.run(crowd())
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= 2
    refusal = answers[statuses.index(429)]
    refused(refusal, 429, "requests are waiting already: ask again in a moment")
    assert int(refusal.headers["retry-after"]) >= 1
    assert later.status_code == 200


async def load(app, chosen_rows, rows):
    """The answers to all of these, 64 at once, and how long /health took meanwhile."""
    at_once, health = asyncio.Semaphore(64), []
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:

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
                await asyncio.sleep(0.05)

        watching = asyncio.create_task(watch())
        answers = await asyncio.gather(*map(post, chosen_rows))
        assert not watching.done()
        watching.cancel()
    return answers, health


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


@pytest.mark.long
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


def test_health_says_what_is_served(labels):
    told = strict(labels[0].get("/health"))
    assert told["status"] == "ok"
    assert (told["model"], told["submodels"], told["counts"]["trusted"]) == (
        "cancer",
        11,
        ["mean texture"],
    )
    assert told["warnings"] == []
    Health.model_validate(told, strict=True)


def test_other_addresses_and_methods_are_refused(labels):
    client = labels[0]
    for path in ("/", "/redoc", "/certify/", "/../etc/passwd", "/%00"):
        refused(client.get(path), 404, "Not Found")
    refused(client.get("/certify"), 405, "Method Not Allowed")


def test_the_description_is_complete(labels, regressor):
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
        assert set(told["paths"]) == {"/certify", "/health", "/live", "/ready", "/metrics"}
        post = told["paths"]["/certify"]["post"]
        row = post["requestBody"]["content"]["application/json"]["schema"]["properties"]["rows"][
            "items"
        ]
        assert row["required"] == list(row["properties"]) == list(frame.columns)
        assert row["properties"][frame.columns[0]] == {"type": ["number", "null"]}
        assert set(post["responses"]) == {*("200", "408", "413", "422", "429", "500", "503")} | (
            {"401"} if token else set()
        )
        assert ("security" in post) == token
        schemas = told["components"]["schemas"]
        assert schemas["Refusal"]["required"] == ["error", "row", "column"]
        content = strict(answer)
        Certified.model_validate_json(answer.text, strict=True)
        for name, part in (
            ("Certified", content),
            ("Row", content["rows"][0]),
            ("RadiusCounts", content["counts"]),
        ):
            assert schemas[name]["required"] == list(part)


def test_a_fault_of_the_service_is_not_disclosed(classifier, monkeypatch):
    app = serve.make_app(classifier)

    def fails(*arguments, **more):
        raise RuntimeError("where the treasure lies")

    monkeypatch.setattr(_certifier.CertifiedTable, "of", fails)
    answer = ask(app, {"rows": rows_of(CANCER[:1])})
    refused(answer, 500, "its log says why")
    assert "treasure" not in answer.text


def test_a_submodel_that_fails_casts_a_fixed_vote(classifier):
    gap = rows_of(CANCER[:1])[0] | {FIRST: None}
    assert (
        ask(serve.make_app(classifier), {"rows": [gap]}).status_code == 200
    )  # although here every warning is an error


def test_a_submodel_that_may_not_fail_refuses_the_row():
    frame = CANCER.iloc[:, :3]
    app = serve.make_app(
        FeaturePartitionClassifier(LogisticRegression(), n_submodels=3).fit(frame, TUMOUR)
    )
    gap = rows_of(frame[:1])[0] | {FIRST: None}
    refused(ask(app, {"rows": [gap]}), 422, "could not predict: Input X contains NaN")
    assert ask(app, {"rows": rows_of(frame[:1])}).json()["rows"][0]["prediction"] == 0


def test_wrong_settings_are_found_at_once(classifier, regressor, folder):
    for settings, message in [
        ({"tolerance": 1.0}, "tolerance and relative are for numbers"),
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
        serve.make_app(
            FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(DIABETES.values, PROGRESSION)
        )
    with pytest.raises(InputError, match="port is 70000"):
        serve.run(folder, port=70000)
