"""Shares of certified rows, what stands beside them, and loud warnings; pieces add up."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.certificates import Counts
from partita.ensemble import FixedVote
from partita.ensemble._base import fit_full_model
from partita.metrics import certified_accuracy, certified_recall
from partita.workflow import CertifiedTable
from partita.workflow._certified_table import TRAINING_ROWS, Summary

COUNTS = Counts("columns", 9)


def counted(truth, prediction, radius, full=None):
    """A summary, counted the slow way."""
    radii = np.where(truth == prediction, radius, -1)
    return Summary(
        COUNTS,
        n_submodels=9,
        n_failed=0,
        rows=len(truth),
        radii=Counter(radius.tolist()),
        right=Counter(radii.tolist()),
        full_model_right=full,
        pairs=Counter(zip(truth.tolist(), prediction.tolist(), radius.tolist(), strict=True)),
    )


@pytest.fixture(scope="module")
def random_rows():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 200), rng.integers(0, 3, 200), rng.integers(0, 5, 200)


def test_pieces_add_up_to_the_whole(random_rows):
    def part(rows):
        truth, prediction, radius = (column[rows] for column in random_rows)
        return counted(truth, prediction, radius, int(np.sum(truth == 1)))

    whole = part(slice(None))
    pieces = part(slice(7)) + part(slice(7, 120)) + part(slice(120, None))
    assert pieces == whole
    assert pieces.to_dict() == whole.to_dict()
    truth, prediction, radius = random_rows
    for one in whole.recall():
        own = truth == one["label"]
        assert one["share"] == [
            np.mean((prediction == truth)[own] & (radius[own] >= r))
            for r in range(len(one["share"]))
        ]


def test_a_piece_without_a_truth_makes_all_of_it_unknown(random_rows):
    known = counted(*random_rows)
    unknown = Summary(COUNTS, 9, 0, 5, Counter({0: 5}))
    assert "certified_accuracy" not in (known + unknown).to_dict()
    assert (known + unknown).to_dict()["rows"] == 205


def test_a_summary_of_labels_is_what_the_metrics_say():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 6)) + 0.8 * y[:, None]
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X[:150], y[:150])
    clf.full_model_ = fit_full_model(clf, X[:150], y[:150])
    new, truth = X[150:], y[150:]
    found = Summary.of(CertifiedTable.of(clf, new, truth=truth)).to_dict("c.parquet")
    proof = clf.certify(new)
    for r, share in enumerate(found["certified_accuracy"]):
        assert share == certified_accuracy(truth, proof, r)
    for label, shares in found["certified_recall"].items():
        assert shares[0] == pytest.approx(certified_recall(truth, proof, 0)[int(label)])
    assert found["certified"] == [
        np.mean(proof.radius >= r) for r in range(len(found["certified"]))
    ]
    assert found["median_radius"] == np.median(proof.radius)
    labels, counts = np.unique(truth, return_counts=True)
    assert found["constant_answer"] == labels[counts.argmax()]
    assert found["constant_accuracy"] == counts.max() / 150
    full = GaussianNB().fit(X[:150], y[:150]).predict(new)
    assert found["full_model_accuracy"] == np.mean(full == truth)
    assert (found["out"], found["on_training"]) == ("c.parquet", False)


def test_a_summary_of_values_is_compared_with_the_training_median():
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(X[::2], y[::2])
    certified = CertifiedTable.of(reg, X[1::2], relative=0.3, truth=y[1::2])
    found = Summary.of(certified).to_dict()
    proof = reg.certify(X[1::2], around=y[1::2], relative=0.3)
    assert found["certified_accuracy"] == [
        np.mean(proof.radius >= r) for r in range(proof.radius.max() + 1)
    ]
    middle = np.median(y[::2])
    assert found["constant_answer"] == middle
    assert found["constant_accuracy"] == np.mean(np.abs(y[1::2] - middle) <= 0.3 * y[1::2])
    assert "certified_recall" not in found
    widths = Summary.of(CertifiedTable.of(reg, X[1::2], truth=y[1::2]))
    low, high = reg.interval(X[1::2], 1)
    assert widths.widths[1] == pytest.approx(np.sum(high - low))
    assert "certified" not in widths.to_dict()


def rows_of(truth, prediction, radius):
    return np.array(truth), np.array(prediction), np.array(radius)


def test_a_model_that_is_nearly_a_constant_is_warned_of():
    summary = counted(*rows_of([0] * 90 + [1] * 10, [0] * 100, [3] * 100))
    (constant, beaten) = summary.warnings()
    assert "100.0 % of the predictions are 0: this model is nearly a constant" in constant
    assert (
        "At r = 0 this model is certified right in 90.0 % of rows, and always answering 0 is"
        in (beaten)
    )
    few = counted(*rows_of([0] * 9 + [1], [0] * 10, [3] * 10))
    assert few.warnings() == []  # too few rows to judge by


def test_a_model_that_is_ahead_in_recall_is_told_so():
    truth, prediction = [0] * 90 + [1] * 10, [0] * 75 + [1] * 25
    (beaten,) = counted(*rows_of(truth, prediction, [1] * 100)).warnings()
    assert "By the mean of the classes' recalls it is ahead (91.7 % against 50.0 %)" in beaten


def test_failed_submodels_and_training_rows_are_warned_of(random_rows):
    summary = counted(*random_rows)
    summary.n_failed, summary.on_training = 2, True
    assert summary.warnings()[:2] == [
        TRAINING_ROWS,
        "2 of 9 submodels failed to fit; each casts a fixed vote, whatever its columns say.",
    ]
    assert (summary + counted(*random_rows)).on_training
    model = FeaturePartitionClassifier()
    model.estimators_ = [GaussianNB(), FixedVote("no memory")]
    assert model.failures_ == ["no memory"]


@pytest.mark.parametrize("radii", [[0, 1, 5], [0, 1, 1, 4], [2], [0, 0, 3, 3]])
def test_the_median_is_counted_without_the_rows(radii):
    summary = Summary(COUNTS, 9, 0, len(radii), Counter(radii))
    assert summary.to_dict()["median_radius"] == np.median(radii)


def test_a_rare_label_of_which_nothing_is_certified_is_warned_of():
    """One row in a hundred: a model that finds them, and proves only the others."""
    truth, prediction = [0] * 990 + [1] * 10, [0] * 990 + [1] * 8 + [0] * 2
    summary = counted(*rows_of(truth, prediction, [3] * 990 + [0] * 8 + [3] * 2))
    (majority, _) = summary.warnings()
    assert majority.startswith(
        "FROM r = 1 ON, NEARLY ALL THAT IS CERTIFIED IS 0: of the 10 rows that have another label, "
        "0 are right and certified there."
    )
    later = counted(*rows_of(truth, prediction, [3] * 990 + [1] * 8 + [3] * 2))
    assert later.warnings()[0].startswith("FROM r = 2 ON, NEARLY ALL THAT IS CERTIFIED IS 0")
    found = summary.to_dict()
    assert found["certified_recall"]["1"] == [0.8, 0.0, 0.0, 0.0]
    assert found["worst_case_precision"]["1"] == [1.0, 0.0, 0.0, 0.0]
    assert found["kept_predictions"] == {"0": [992] * 4, "1": [8, 0, 0, 0]}
    proven = counted(*rows_of(truth, prediction, [3] * 1000))
    assert proven.warnings() == []  # 99.2 % of predictions are 0, and so they should be


def test_without_the_truth_the_warning_is_about_predictions():
    summary = Summary(
        COUNTS,
        n_submodels=9,
        n_failed=0,
        rows=100,
        radii=Counter({2: 95, 0: 5}),
        pairs=Counter({(None, 0, 2): 95, (None, 1, 0): 5}),
    )
    (majority,) = summary.warnings()
    assert "of the 5 rows that are predicted otherwise, 0 are certified there" in majority
    summary.pairs = Counter({(None, 0, 2): 998, (None, 1, 0): 2})
    summary.rows = 1000
    assert "nearly a constant" in summary.warnings()[0]
    summary.common = 0.998  # as in training
    assert "nearly a constant" not in "".join(summary.warnings())
