"""What an attacker wants, of labels and of values."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.attacks._claims import Claims

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def labels():
    names = np.array(["a", "b", "c"])[Y]
    return Claims(FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, names), X)


@pytest.fixture(scope="module")
def values():
    model = FeaturePartitionRegressor(Ridge(), n_submodels=3).fit(X[:, 1:], X[:, 0])
    return Claims(model, X[:, 1:], tolerance=0.5)


def test_an_attacker_wants_the_nearest_other_label_first(labels):
    goals = labels.goals.of_rows(labels.ballots)
    codes = np.searchsorted(["a", "b", "c"], labels.prediction)
    assert len(goals) == 2
    assert all((goal != codes).all() for goal in goals)
    near, far = (labels.goals.support(labels.ballots, goal).sum(axis=1) for goal in goals)
    assert (near <= far).all()


def test_support_is_largest_for_submodels_that_vote_for_the_claim(labels):
    goal = labels.goals.of_rows(labels.ballots)[0]
    support = labels.goals.support(labels.ballots, goal)
    votes = labels.ballots.argmax(axis=2)
    own = votes == np.searchsorted(["a", "b", "c"], labels.prediction)[:, None]
    assert support[own].min() > 0 > support[votes == goal[:, None]].max()


def test_values_are_pushed_up_or_down(values):
    up, down = values.goals.of_rows(values.ballots)
    assert (up == 1).all()
    assert (down == -1).all()
    far = values.ballots + 10.0
    assert (values.goals.support(far, up) < values.goals.support(values.ballots, up)).all()
    assert (values.goals.support(far, down) >= values.goals.support(values.ballots, down)).all()


def test_flipped_targets_are_others(labels, values):
    y = np.array(["a", "b", "c", "a"])
    assert labels.goals.flipped(y, [0, 2]).tolist() == ["b", "b", "a", "a"]
    assert y.tolist() == ["a", "b", "c", "a"]
    assert values.goals.flipped(np.array([1.0, 2.0, 9.0]), [0, 2]).tolist() == [9.0, 2.0, 1.0]


def test_triggers_ask_for_the_goal(labels, values):
    codes = labels.goals.codes(np.array(["b", "c"]))
    assert codes.tolist() == [1, 2]
    assert labels.goals.trigger_codes(np.array([2, 0]), codes).tolist() == [2, 0]
    codes = values.goals.codes(np.array([1.0, 5.0, 100.0]))
    far = values.goals.trigger_codes(np.ones(len(values)), codes)
    assert np.array_equal(far, np.where(values.prediction < 5.0, 100.0, 1.0))


def test_only_values_may_differ_by_rounding(labels, values):
    assert labels.goals.same(np.array(["a"]), np.array(["a"]), 0.1).all()
    assert values.goals.same(np.array([1.0, 2.0]), np.array([1.0, 2.1]), 0.1).all()
    assert not values.goals.same(np.array([1.0]), np.array([1.2]), 0.1).any()
    assert labels.goals.rounding_scale(np.array([0.5, 7.0])).tolist() == [0.5, 1.0]
    assert values.goals.rounding_scale(np.array([0.5, 7.0])).tolist() == [0.5, 7.0]
