"""Many clients at once, and models whose submodels are no flat trees: nobody meets another's rows.

A real server; each answer must be the model's own about the rows of that request alone, bit for
bit, whatever stands beside it: huge values, gaps, silent sources, requests that are refused.
"""

import json
import random
import socket
import threading
from collections import Counter
from contextlib import contextmanager

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    SubmodelError,
    certify,
)
from partita._support import json_value
from partita.ensemble._one_pass import scores_rows_apart
from partita.serve._app import PATHS, Service, certifying_app
from partita.serve._metrics import Metrics
from partita.serve._run import Server
from partita.serve._settings import ServeSettings

from .client import CANCER, DIABETES, PROGRESSION, TUMOUR

X, Y = CANCER.iloc[:150, :10], np.where(TUMOUR[:150] == 1, "benign", "malignant")
D, V = DIABETES.iloc[:150], PROGRESSION[:150]
ODD = [0.0, -0.0, 1e308, -1e308, 1e38, 1e-8, 5e-324, 7, -3, 2**53, float("nan"), float("inf")]
CLIENTS, REQUESTS = 16, 8
TOLERANCE = 40.0

scaled = StandardScaler()
linear = make_pipeline(SimpleImputer(), scaled, LogisticRegression())
ESTIMATORS = {
    "neighbours": make_pipeline(scaled, KNeighborsClassifier(4)),
    "neighbours by distance": KNeighborsClassifier(4, algorithm="brute", weights="distance"),
    "vectors": make_pipeline(scaled, SVC()),
    "process": make_pipeline(scaled, GaussianProcessClassifier(random_state=0)),
    "network": make_pipeline(scaled, MLPClassifier((9,), max_iter=20, random_state=0)),
    "imputed": linear,
    "histograms": HistGradientBoostingClassifier(max_iter=5),
    "gaussian": GaussianNB(),
}


class ByBatch(ClassifierMixin, BaseEstimator):
    """It compares rows with those beside them, the worst that batching can meet."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        X = np.nan_to_num(np.asarray(X, dtype=np.float64), posinf=1e9, neginf=-1e9).clip(-1e9, 1e9)
        share = 1 / (1 + np.exp(-np.clip(X.sum(axis=1) - X.mean() * X.shape[1] + len(X), -9, 9)))
        return np.stack([share, 1 - share], axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def classifier(estimator, **settings):
    ensemble = FeaturePartitionClassifier(
        estimator, **{"n_submodels": 5, "on_failure": "vote"} | settings
    )
    return ensemble.fit(X, Y)


MODELS = {name: lambda own=own: classifier(own) for name, own in ESTIMATORS.items()} | {
    "refusing": lambda: classifier(GaussianNB(), on_failure="raise"),
    "plurality": lambda: classifier(linear, rule="plurality"),
    "overlapping": lambda: classifier(linear, spread=2),
    "fallback": lambda: classifier(None, fallback=linear),
    "leaving out": lambda: LeaveOutClassifier(linear, n_groups=4, on_failure="vote").fit(X, Y),
    "values": lambda: FeaturePartitionRegressor(
        make_pipeline(SimpleImputer(), Ridge()), n_submodels=5, on_failure="vote"
    ).fit(D, V),
    "neighbouring values": lambda: FeaturePartitionRegressor(
        make_pipeline(scaled, KNeighborsRegressor()), n_submodels=5, on_failure="vote"
    ).fit(D, V),
}
SILENT = {"imputed", "vectors", "values", "leaving out"}  # served with silent="detect", too


@contextmanager
def served(model, silent):
    """The address of a real server of a model, and its metrics."""
    settings = ServeSettings(
        max_waiting=1000,
        tolerance=TOLERANCE if model.task == "regression" else None,
        silent=silent,
        header_seconds=30,
        drain_seconds=0,
        finish_seconds=5,
    )
    service = Service("model", Metrics(PATHS), settings)
    own = Server(certifying_app(model, service), service)
    listening = socket.create_server(("127.0.0.1", 0), backlog=200)
    thread = threading.Thread(target=own.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", service.metrics
    finally:
        own.should_exit = True
        thread.join(30)
        listening.close()


def request(frame, rng, silent):
    """Rows of a request, some of them odd, and what is wrong with it, if anything is."""
    size = rng.choice([1, 1, 1, 2, 3, 17])
    rows = frame.sample(size, random_state=rng.randrange(2**31)).to_dict("records")
    hostile = rng.random() < 0.2
    for row in rows:
        for name in row:
            if rng.random() < (0.9 if hostile else 0.03):
                row[name] = rng.choice(ODD)
    if silent and rng.random() < 0.5:
        for name in list(frame)[:: rng.choice([2, 3])]:
            rows[0][name] = float("nan")
    wrong = rng.choice([None] * 6 + ["text", "column"])
    if wrong == "text":
        rows[-1] = rows[-1] | {frame.columns[0]: "large"}
    elif wrong:
        rows[-1] = rows[-1] | {"colour": 1.0}
    return rows, wrong


def expected(model, rows, wrong, silent):
    """The status and the rows of an answer, from the model alone."""
    if wrong:
        return 422, None
    frame = pd.DataFrame(rows, dtype=np.float64)
    tolerance = {"tolerance": TOLERANCE} if model.task == "regression" else {}
    try:
        proof = model.certify(frame, silent=silent, **tolerance)
    except SubmodelError:
        return 422, None
    return 200, [
        (
            json_value(proof.prediction[i]),
            int(proof.radius[i]),
            None if proof.runner_up is None else json_value(proof.runner_up[i]),
        )
        for i in range(len(rows))
    ]


def asked(address, requests):
    """What the server says to all requests, asked by several clients at the same time."""
    answers = [None] * len(requests)
    ready = threading.Barrier(CLIENTS)

    def ask(k):
        with httpx.Client(base_url=address, timeout=300) as client:
            ready.wait()
            for i in range(k, len(requests), CLIENTS):
                content = json.dumps({"rows": requests[i]})
                answers[i] = client.post("/certify", content=content)

    clients = [threading.Thread(target=ask, args=(k,)) for k in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    return answers


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "silent"),
    [*((name, None) for name in MODELS), *((name, "detect") for name in sorted(SILENT))],
)
def test_each_client_gets_the_models_own_answer(name, silent):
    check_answers(MODELS[name](), random.Random(name), silent)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("silent", [None, "detect"])
def test_requests_are_apart_even_if_rows_are_not(silent):
    check_answers(classifier(ByBatch(), rule="plurality"), random.Random(0), silent)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [ByBatch(), linear], ids=["by batch", "linear"])
def test_label_and_radius_come_from_the_same_ballots(estimator):
    """Not the label of one batch and the radius of another."""
    model, rng = classifier(estimator, rule="plurality"), np.random.default_rng(0)
    rows = X.sample(1000, replace=True, random_state=0) * 10.0 ** rng.choice([0, 8, 16], (1000, 1))
    for part in np.split(np.arange(1000), np.sort(rng.integers(0, 1000, 60))):
        if len(part):
            frame = rows.iloc[part]
            proof, again = model.certify(frame), certify(model.ballots(frame).scores, "plurality")
            assert (proof.prediction == model.classes_[again.prediction]).all()
            assert (proof.radius == again.radius).all()
            assert (proof.prediction == model.predict(frame)).all()


def check_answers(model, rng, silent):
    assert not scores_rows_apart(model)
    frame = D if model.task == "regression" else X
    questions = [request(frame, rng, silent) for _ in range(CLIENTS * REQUESTS)]
    truth = [expected(model, rows, wrong, silent) for rows, wrong in questions]
    with served(model, silent) as (address, metrics):
        answers = asked(address, [rows for rows, _ in questions])
        batches = metrics.text()
    for answer, (status, rows) in zip(answers, truth, strict=True):
        assert answer.status_code == status, answer.content
        if rows is not None:
            told = [
                (row["prediction"], row["radius"], row["runner_up"])
                for row in answer.json()["rows"]
            ]
            assert told == rows
    statuses = Counter(status for status, _ in truth)
    assert statuses[200] > 20
    assert statuses[422] > 5
    # requests did wait for one another, or nothing was tried
    alone = next(
        x for x in batches.splitlines() if x.startswith('partita_batch_requests_bucket{le="1"')
    )
    assert int(alone.split()[-1]) < len(questions)
