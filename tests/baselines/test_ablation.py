"""RandomizedAblationClassifier: its confidence, and attackers who try everything."""

import inspect
import itertools
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier

from partita import InputError
from partita._support import clopper_pearson
from partita.baselines import RandomizedAblationClassifier
from partita.baselines._ablation import abstentions
from partita.certificates import Counts
from partita.metrics import certified_accuracy, median_radius
from partita.partition import Units

from .exact_ablation import METHODS, Function, at_most, fitted, plain_radius
from .small_problem import CORNERS, DISTANCE, GRID, PAIRS, all_predictions


def three_way(kept, values):
    return (kept @ np.array([1, 2, 4, 8, 16, 32, 64, 128]) // 3) % 7 % 3


@pytest.fixture(scope="module")
def votes_of_500_seeds():
    """The exact shares of a vote over all ablations, and the votes of 500 seeds."""
    everything = np.array(
        [[k in some for k in range(8)] for some in itertools.combinations(range(8), 3)]
    )
    shares = np.bincount(three_way(everything, None), minlength=3) / len(everything)
    clf = fitted(three_way, 8, 3, keep=3, n_select=10, n_certify=150)
    votes = []
    for clf.seed_ in range(500):
        votes.append(clf.votes(np.zeros((1, 8)))[0])
    return shares, np.array(votes)


@pytest.mark.parametrize("label", range(3))
def test_each_bound_is_wrong_as_rarely_as_it_says(votes_of_500_seeds, label):
    shares, votes = votes_of_500_seeds
    assert (votes.sum(axis=1) == 150).all()
    lower, upper = clopper_pearson(votes[:, label], 150, 0.2)
    for wrong in (lower > shares[label], upper < shares[label]):
        assert (
            0.05 < wrong.mean() < at_most(0.2, 500)
        )  # and no rarer than counting in whole numbers makes it


def test_all_bounds_together_are_wrong_as_rarely_as_they_say(votes_of_500_seeds):
    shares, votes = votes_of_500_seeds
    label = int(shares.argmax())
    lower, upper = clopper_pearson(votes, 150, 0.2 / 3)
    wrong = (lower[:, label] > shares[label]) | (
        np.delete(upper, label, axis=1) < np.delete(shares, label)
    ).any(axis=1)
    assert 0.02 < wrong.mean() < at_most(0.2, 500)


@pytest.mark.parametrize("method", METHODS)
def test_a_tie_is_certified_as_rarely_as_alpha_allows(method):
    """Half of all ablations vote 0, half 1, so any radius but -1 is false.

    A label chosen on the draws of the proof would be false twice as often.
    """
    clf = fitted(
        lambda kept, values: kept.argmax(axis=1) % 2,
        8,
        2,
        keep=1,
        n_select=51,
        n_certify=301,
        alpha=0.2,
        method=method,
    )
    false = []
    for clf.seed_ in range(600):
        false.append(not abstentions(clf.certify(np.zeros((1, 8))))[0])
    allowed = (
        0.2 if method == "levine-feizi" else 0.1
    )  # jia: 0.2 is shared by two labels, whose bounds are the same event
    assert allowed / 3 < np.mean(false) < at_most(allowed, 600)


@pytest.mark.parametrize("keep", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("base", [BernoulliNB(), MLPClassifier((8,), learning_rate_init=0.01)])
def test_no_change_of_radius_columns_changes_the_smoothed_label(small_problem, keep, method, base):
    X, total = small_problem
    clf = RandomizedAblationClassifier(
        base, keep=keep, low=0, high=1, method=method, n_select=200, n_certify=4000, alpha=0.05
    )
    clf.fit(X, np.digitize(total, [2, 5]))
    predictions = all_predictions(clf, keep)
    shares = np.stack([(predictions == label).mean(axis=1) for label in range(3)], axis=1)
    ordered = np.sort(shares, axis=1)
    exact = np.where(
        ordered[:, -1] > ordered[:, -2], shares.argmax(axis=1), -1
    )  # a tie is nobody's
    proof, votes = clf.certify(GRID[CORNERS]), clf.votes(GRID[CORNERS])
    lower, upper = clopper_pearson(votes, 4000, 0.05 if method == "levine-feizi" else 0.05 / 3)
    hold = (lower <= shares[CORNERS]).all(axis=1) & (upper >= shares[CORNERS]).all(axis=1)
    assert hold.mean() > 0.7
    for row in np.flatnonzero(hold & ~abstentions(proof)):
        reached = DISTANCE[CORNERS[row]] <= proof.radius[row]
        assert (exact[reached] == proof.prediction[row]).all()
    assert (proof.radius >= (2 if keep == 1 else 1)).any() or keep == 3
    assert np.mean(proof.radius >= 0) > 0.3


def test_a_radius_is_not_one_too_large_where_the_attacker_has_the_worst_case():
    """A model that turns wherever it sees a changed column.

    About an eighth of the ablations are against it from the start.
    """

    def turning(kept, values):
        return ((values * kept) > 0).any(axis=1) | ((kept @ (1 << np.arange(6))) % 8 == 1)

    kept = np.array([[k in some for k in range(6)] for some in itertools.combinations(range(6), 1)])
    for method in METHODS:
        clf = fitted(
            lambda *seen: turning(*seen).astype(int),
            6,
            2,
            keep=1,
            n_select=100,
            n_certify=20_000,
            alpha=1e-4,
            method=method,
        )
        proof = clf.certify(np.zeros((1, 6)))
        against = [
            max(
                turning(kept, np.isin(np.arange(6), attack) * 1.0).sum()
                for attack in itertools.combinations(range(6), rho)
            )
            for rho in range(7)
        ]
        assert proof.radius[0] == max(rho for rho in range(7) if 2 * against[rho] < len(kept)) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_radius_counts_units(method):
    """The attacker takes whole units, and every ablation keeps or hides whole units."""
    masks = []

    def turning(kept, values):
        masks.append(kept)
        return ((values * kept) > 0).any(axis=1).astype(int)

    clf = RandomizedAblationClassifier(
        Function(turning),
        low=0,
        high=1,
        epochs=1,
        units=PAIRS,
        keep=2,
        n_select=100,
        n_certify=20_000,
        alpha=1e-4,
        method=method,
    )
    proof = clf.fit(np.zeros((4, 12)), [0, 1, 0, 1]).certify(np.zeros((1, 12)))
    kept = np.concatenate(masks)
    assert (kept[:, :6] == kept[:, 6:]).all()
    assert (kept.sum(axis=1) == 4).all()
    everything = np.array(
        [[k in some for k in range(6)] * 2 for some in itertools.combinations(range(6), 2)]
    )
    against = [
        turning(everything, np.tile(np.arange(6) < rho, 2) * 1.0).sum() for rho in range(7)
    ]  # every set of rho units is as good
    assert (
        proof.radius[0] == max(rho for rho in range(7) if 2 * against[rho] < len(everything)) == 1
    )
    assert str(proof.counts) == "units (6 in all, out of reach: the training table)"


def test_trusted_columns_are_seen_in_every_ablation():
    units = Units(((0,), (1, 3)), ("a", "b"), "units", trusted=(2,))
    masks = []
    clf = RandomizedAblationClassifier(
        Function(lambda kept, values: masks.append(kept) or np.zeros(len(kept), int)),
        low=0,
        high=1,
        epochs=1,
        units=units,
        keep=1,
        n_certify=200,
    )
    clf.fit(np.zeros((4, 4)), [0, 1, 0, 1])
    assert clf.certify(np.zeros((1, 4))).counts == Counts("units", 2, ("2", "the training table"))
    assert np.unique(np.concatenate(masks), axis=0).tolist() == [
        [False, True, True, True],
        [True, False, True, False],
    ]


def test_certified_accuracy_on_digits(ablated_digits):
    data, clf = ablated_digits
    X, y = data.X_test[:150], data.y_test[:150]
    tight = clf.certify(X)
    loose = clone(clf).set_params(method="levine-feizi")
    loose.__dict__.update(
        {name: value for name, value in clf.__dict__.items() if name.endswith("_")}
    )
    loose = loose.certify(X)
    assert str(tight.counts) == "columns (64 in all, out of reach: the training table)"
    assert np.array_equal(tight.prediction, loose.prediction)
    assert certified_accuracy(y, tight, 0) > 0.8
    assert 0.5 < certified_accuracy(y, tight, 1) <= certified_accuracy(y, tight, 0)
    assert certified_accuracy(y, loose, 0) < certified_accuracy(
        y, tight, 0
    )  # more than half is more than was needed
    assert tight.radius.max() == plain_radius(1, 0, 64, 16, "jia") == 2
    assert (tight.runner_up != tight.prediction).all()
    assert median_radius(y, tight) == 1


def test_an_abstention_is_not_certified(ablated_digits):
    data, clf = ablated_digits
    X, y = data.X_test[:150], data.y_test[:150]
    proof = clf.certify(X)
    none = abstentions(proof)
    assert 0 < none.mean() < 0.3
    assert (proof.radius[none] == -1).all()
    assert certified_accuracy(y, proof, 0) == np.mean((proof.prediction == y) & ~none)
    assert np.array_equal(proof.prediction, clf.predict(X))


def test_frames_names_and_indices(small_problem):
    X, total = small_problem
    names = [f"c{k}" for k in range(6)]
    clf = RandomizedAblationClassifier(keep=1, low=0, high=1, epochs=2, n_select=10, n_certify=100)
    proof = clf.fit(pd.DataFrame(X, columns=names), np.where(total > 3, "many", "few")).certify(
        pd.DataFrame(X[:3], columns=names, index=[7, 8, 9])
    )
    assert proof.to_frame().index.tolist() == [7, 8, 9]
    assert set(proof.prediction) <= {"many", "few"}
    assert clf.feature_names_in_.tolist() == names


def test_a_network_in_pytorch_as_in_the_docstring(ablated_digits):
    torch = pytest.importorskip("torch")
    data, _ = ablated_digits
    notes = (
        inspect.getdoc(RandomizedAblationClassifier)
        .split("A PyTorch network::")[1]
        .split("References\n")[0]
    )
    names = {
        "BaseEstimator": BaseEstimator,
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
    }
    exec(textwrap.dedent(notes), names)
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # rows this short are slower on two
    clf = RandomizedAblationClassifier(
        names["Network"](), keep=16, epochs=6, n_select=20, n_certify=100, alpha=0.05
    )
    proof = clf.fit(data.X_train, data.y_train).certify(data.X_test[:40])
    torch.set_num_threads(threads)
    assert certified_accuracy(data.y_test[:40], proof, 0) > 0.35


def test_bad_data(small_problem):
    X, total = small_problem
    clf = RandomizedAblationClassifier(keep=2, low=0, high=1, epochs=1)
    with pytest.raises(InputError, match="y has 5 values for 200 rows"):
        clf.fit(X, [0, 1, 0, 1, 0])
    with pytest.raises(InputError, match="y holds one class, 3"):
        clf.fit(X, np.full(200, 3))
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(np.where(X > 0, np.nan, X), total > 3)
    with pytest.raises(ValueError, match="expecting 6 features"):
        clf.fit(X, total > 3).predict(X[:, :5])
    with pytest.raises(InputError, match="something other than the labels 0 to 1"):
        fitted(lambda kept, values: kept.argmax(axis=1), 6, 2, keep=1).votes(X[:2])
