"""What is taken where nothing is searched: a rule on counts, and what it keeps on held-out rows."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, LeaveOutClassifier, LeaveOutRegressor
from partita.errors import InputError
from partita.partition import choose_members, left_out_size
from partita.selection import default_ensemble, training_order
from partita.selection._default import MOST_FITS, default_options, try_default
from partita.selection._splits import RowOrder
from partita.workflow import open_training


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("method", [None, "partition", "leave-out"])
def test_every_default_can_prove_its_radius_within_few_fits(method, task):
    sizes = set()
    for radius in (1, 2, 3, 5, 9):
        for n_units in [*range(2 * radius + 1, 60), 100, 784, 5000]:
            found = default_options(n_units, radius, task, 1000, method)
            if "submodels" in found:
                assert 2 * radius < found["submodels"] <= min(n_units, MOST_FITS)
                assert found["submodels"] % 2
            else:
                assert 2 * radius < found["groups"] <= n_units
                sizes.add((found["groups"], radius, found["max-models"]))
    assert bool(sizes) == (method != "partition")
    for groups, radius, most in sizes:  # or an error: so many fits cannot cover the groups
        left_out = left_out_size("auto", radius, groups)
        assert len(choose_members(groups, radius, left_out, most, 0)) <= MOST_FITS


@pytest.mark.parametrize(
    ("counts", "leave_out"),
    [
        ((10, 1, "regression", 50_000), True),
        ((9, 1, "regression", 50_000), False),
        ((3, 1, "classification", 50_000), True),
        ((3, 1, "classification", 50_001), False),
        ((9, 4, "classification", 50_000), False),
    ],
)
def test_where_leaving_out_is_the_default(counts, leave_out):
    assert ("groups" in default_options(*counts)) == leave_out


def test_the_rule_sees_counts_alone():
    """What it returns may depend on nothing that an attacker writes."""
    assert [*inspect.signature(default_options).parameters] == [
        "n_units",
        "radius",
        "task",
        "n_rows",
        "method",
    ]


def test_too_few_units_for_the_radius_are_refused():
    with pytest.raises(InputError, match="needs at least 7 units, but there are 6: lower radius"):
        default_options(6, 3, "classification", 1000)
    with pytest.raises(InputError, match="task is 'labels': give one of classification"):
        default_ensemble(np.zeros((9, 9)), task="labels")


def test_python_gets_the_same_rule():
    X, y = load_breast_cancer(return_X_y=True)
    sources = [column % 10 for column in range(30)]
    clf = default_ensemble(X, units=sources, estimator=GaussianNB(), random_state=3)
    assert isinstance(clf, LeaveOutClassifier)
    assert (clf.n_groups, clf.radius, clf.random_state) == (10, 1, 3)
    assert clf.fit(X[::2], y[::2]).certify(X[1::2]).counts.total == 10


def _table(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    return open_training(tmp_path / "t.parquet", "target")


def test_a_trial_says_what_rows_it_did_not_see_lose(tmp_path):
    """Memorizing helps nothing: the trial judges by other rows than it learnt from."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 5)), columns=list("abcde"))
    frame["target"] = rng.choice(["no", "yes"], p=[0.7, 0.3], size=600)
    training = _table(frame, tmp_path)
    model = LeaveOutClassifier(n_groups=5)
    found = try_default(training, model, 1, training_order(training))
    assert found["certified"] <= found["now"] < 0.75
    assert found["rows"] == 150
    assert "partita choose DATA --target COLUMN --radius 1" in found["warnings"][-1]
    signal = rng.normal(size=600)
    frame["target"] = np.where(signal > 0, "yes", "no")
    for name in "abcde":
        frame[name] = signal + 0.1 * rng.normal(size=600)
    training = _table(frame, tmp_path)
    found = try_default(training, model, 1, training_order(training))
    assert min(found["certified"], found["ordinary"]) > 0.9 > found["constant"]
    assert found["warnings"] == []


def test_numbers_are_judged_without_a_tolerance(tmp_path):
    frame = load_diabetes(as_frame=True).frame
    training = _table(frame, tmp_path)
    model = LeaveOutRegressor(n_groups=10, max_models=45)
    found = try_default(training, model, 1, training_order(training))
    assert 0 < found["ordinary"] < found["now"] < found["certified"]
    assert f"half of the predictions within {found['now']:.4g}" in found["sentence"]
    assert (found["certified"] >= found["constant"]) == bool(found["warnings"])


def test_a_few_rows_are_not_spared_for_a_trial(tmp_path):
    frame = load_breast_cancer(as_frame=True).frame
    for rows, tried in ((190, False), (210, True)):
        training = _table(frame[:rows], tmp_path)
        model = FeaturePartitionClassifier(GaussianNB(), 3)
        found = try_default(training, model, 1, training_order(training))
        assert (found is not None) == tried


def test_the_trial_that_comes_out_worst_counts(tmp_path):
    """Rows of one hour know their neighbours' answers, and later rows do not."""
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.normal(size=(800, 6)), axis=0)
    frame = pd.DataFrame(walks[:, :5]).rename(columns=str).assign(target=walks[:, 5])
    training = _table(frame, tmp_path)
    order, model = training_order(training), LeaveOutRegressor(n_groups=5)
    assert order.alike
    found = try_default(training, model, 1, order)
    by_chance = try_default(training, model, 1, RowOrder(np.arange(800)))
    assert "the last 25 % of the rows" in found["sentence"]
    assert "drawn at random" in by_chance["sentence"]
    assert found["certified"] > by_chance["certified"]
