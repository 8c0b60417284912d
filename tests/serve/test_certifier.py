"""Requests certified together get the answers that they get alone, bit for bit."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
)
from partita.ensemble._one_pass import scores_rows_apart
from partita.serve import _certifier
from partita.serve._certifier import Certifier
from partita.serve._rows import RequestRefusedError

from .client import CANCER, DIABETES, FIRST, HOSTILE, PROGRESSION, TUMOUR, rows_of

SIZES = (1, 1, 7, 1, 30, 1, 2)


def bodies_of(frame, sizes=SIZES):
    rows, first, bodies = rows_of(frame), 0, []
    for size in sizes:
        bodies.append(json.dumps({"rows": rows[first : first + size]}).encode())
        first += size
    return bodies


@pytest.fixture(scope="module")
def trees():
    """The default ensemble of the service's benchmark."""
    return FeaturePartitionClassifier(n_submodels=15).fit(CANCER, TUMOUR)


def test_together_is_the_same_as_alone(trees):
    leaving_out = LeaveOutClassifier(n_groups=4).fit(CANCER.iloc[:, :8], TUMOUR)
    numbers = FeaturePartitionRegressor(n_submodels=5).fit(DIABETES, PROGRESSION)
    for model, frame, tolerance in (
        (trees, CANCER, None),
        (leaving_out, CANCER.iloc[:, :8], None),
        (numbers, DIABETES, 20.0),
    ):
        assert scores_rows_apart(model)
        certifier, bodies = Certifier(model, tolerance, None, 1000), bodies_of(frame)
        alone = [certifier.answers([body])[0] for body in bodies]
        assert certifier.answers(bodies) == alone
        told = [row for one in alone for row in json.loads(one.content)["rows"]]
        options = {} if tolerance is None else {"tolerance": tolerance}
        proof = model.certify(frame[: sum(SIZES)], **options)
        assert [row["radius"] for row in told] == proof.radius.tolist()
        assert [row["prediction"] for row in told] == proof.prediction.tolist()
        assert [radius for one in alone for radius in one.radii] == proof.radius.tolist()
        assert [one.n_rows for one in alone] == list(SIZES)


def test_ballots_of_a_request_are_those_of_the_slow_path(trees):
    """Whatever it is certified with."""
    certifier = Certifier(trees, None, None, 1000)
    bodies = bodies_of(CANCER)
    columns = [certifier._read(body) for body in bodies]
    table = _certifier.ColumnsTable(_certifier._joined(columns), certifier.kinds)
    slow = trees._scores_apart(trees.read(CANCER[:43]))
    np.testing.assert_array_equal(trees.ballots(table), slow)


def test_a_bad_request_fails_alone_with_its_own_message(trees):
    bodies = bodies_of(CANCER)
    certifier = Certifier(trees, None, None, 1000)
    fine = certifier.answers(bodies)
    wrong = rows_of(CANCER[:2])
    wrong[1][FIRST] = "large"
    bad = [b"{", json.dumps({"rows": wrong}).encode(), json.dumps({"rows": [{}]}).encode()]
    mixed = [bodies[0], bad[0], bodies[1], bad[1], *bodies[2:], bad[2]]
    answers = certifier.answers(mixed)
    assert [answers[0], answers[2], *answers[4:-1]] == fine
    refusals = [answers[1], answers[3], answers[-1]]
    assert all(isinstance(one, RequestRefusedError) for one in refusals)
    assert "not valid JSON" in refusals[0].detail
    assert (refusals[1].row, refusals[1].column) == (1, FIRST)
    assert "'large' where a number is needed" in refusals[1].detail
    assert (refusals[2].row, refusals[2].column) == (0, FIRST)


def test_a_fault_while_certifying_together_is_only_the_guilty_requests(trees, monkeypatch):
    certifier, bodies = Certifier(trees, None, None, 1000), bodies_of(CANCER)
    fine = certifier.answers(bodies)
    of, guilty = _certifier.CertifiedTable.of, CANCER[FIRST][5]  # in the third request

    def fails(model, table, *statement, **more):
        if guilty in table.read([0])[0]:
            raise RuntimeError("a bug")
        return of(model, table, *statement, **more)

    monkeypatch.setattr(_certifier.CertifiedTable, "of", fails)
    answers = certifier.answers(bodies)
    assert isinstance(answers[2], RuntimeError)
    assert [one for k, one in enumerate(answers) if k != 2] == [*fine[:2], *fine[3:]]


def test_models_whose_rows_may_depend_on_each_other_certify_requests_one_by_one(monkeypatch):
    """A matrix product is rounded by the number of its rows."""
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    frame = CANCER.iloc[:, :6]
    model = FeaturePartitionClassifier(linear, n_submodels=3, on_failure="vote").fit(frame, TUMOUR)
    behind = FeaturePartitionClassifier(n_submodels=3, fallback=linear).fit(frame, TUMOUR)
    assert not scores_rows_apart(model)
    assert not scores_rows_apart(behind)
    certifier, sizes = Certifier(model, None, None, 1000), []
    certified = certifier._certified
    monkeypatch.setattr(
        certifier,
        "_certified",
        lambda columns: sizes.append(len(columns[FIRST])) or certified(columns),
    )
    assert len(certifier.answers(bodies_of(frame))) == len(SIZES)
    assert sizes == list(SIZES)


@pytest.mark.filterwarnings("ignore")
def test_hostile_rows_beside_a_request_change_nothing(trees):
    certifier, bodies = Certifier(trees, None, None, 1000), bodies_of(CANCER)
    hostile = json.dumps({"rows": [HOSTILE] * 3}).encode()
    assert certifier.answers([hostile, *bodies, hostile])[1:-1] == certifier.answers(bodies)
