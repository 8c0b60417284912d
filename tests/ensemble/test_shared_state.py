"""What must not be shared: between submodels, between rows of a batch, between a fit and its
resumption."""

import numpy as np
import pytest
import scipy.optimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    certify,
    fit_parquet,
)
from partita.rules import Median
from partita.rules import _overlap as cover
from partita.store._unfinished import Unfinished
from tests.exhaustive import attacker

CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


class Scribbles(GaussianNB):
    """Works in place, as an estimator may: it leaves its own columns behind in the weights it was
    given."""

    def fit(self, X, y, sample_weight=None):
        fitted = super().fit(X, y, sample_weight)
        sample_weight += np.abs(X[:, 0])
        return fitted


def test_sample_weights_of_one_submodel_are_its_own():
    clf = FeaturePartitionClassifier(Scribbles(), n_submodels=9, n_jobs=1)
    weights = np.ones(len(TUMOUR))
    before = clf.fit(CANCER, TUMOUR, sample_weight=weights).ballots(CANCER)
    assert np.all(weights == 1)
    rewritten = CANCER.copy()
    rewritten[:, clf.partition_[0][0]] = 1000.0 * TUMOUR
    after = clone(clf).fit(rewritten, TUMOUR, sample_weight=weights).ballots(CANCER)
    assert np.flatnonzero((after != before).any(axis=(0, 2))).tolist() == [0]


class SaysNoNumber(GaussianNB):
    """Its scores are no numbers in some rows, by what the row holds."""

    def predict_proba(self, X):
        scores = super().predict_proba(X)
        scores[X[:, 0] > np.median(CANCER, axis=0).min()] = np.nan
        return scores


def test_a_score_that_is_no_number_does_not_depend_on_the_batch():
    clf = FeaturePartitionClassifier(SaysNoNumber(), n_submodels=5).fit(CANCER, TUMOUR)
    batch = clf.ballots(CANCER[:60])
    assert np.array_equal(
        np.concatenate([clf.ballots(CANCER[i : i + 1]) for i in range(60)]), batch
    )
    assert np.array_equal(clf.ballots(CANCER[30:60]), batch[30:])


def test_flipped_labels_reach_no_constant_of_a_regression():
    """Under label attacks neither the centre nor the fixed vote may be learnt from the labels."""
    X, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3), n_submodels=5, label_attacks="rows", on_failure="vote"
    )
    honest = reg.fit(X, y)
    settled = (repr(honest.rule_), honest.fixed_ballot_.tolist())
    flipped = np.where(np.arange(len(y)) % 2, 1e6, y)
    attacked = clone(reg).fit(X, flipped)
    assert (repr(attacked.rule_), attacked.fixed_ballot_.tolist()) == settled
    assert honest.rule_.centre is None
    given = clone(reg).set_params(rule=Median(stretch=1.5, centre=150.0)).fit(X, flipped)
    assert given.rule_.centre == 150.0


def test_a_program_that_stops_early_proves_its_bound_and_no_more(monkeypatch):
    """A solver with a gap left: its best attack is larger than the smallest one, and only its dual
    bound is proven."""
    honest = scipy.optimize.milp

    def hasty(*arguments, options, **rest):
        found = honest(*arguments, options=options | {"mip_rel_gap": 0.0}, **rest)
        if found.x is not None:  # as if it had stopped at a worse attack, with the same bound
            found.fun = found.fun + 2
            found.x = np.ones_like(found.x)
        return found

    monkeypatch.setattr(scipy.optimize, "milp", hasty)
    monkeypatch.setattr(
        cover, "_greedy_attack", lambda losses, budget, reach: len(reach) + 1
    )  # leaves all to the program
    rng = np.random.default_rng(7)
    solved = 0
    for _ in range(40):
        row = np.eye(2)[(rng.random(9) < 0.1).astype(int)]
        reach = rng.random((6, 9)) < 0.15
        reach[:, :3] = True  # all units meet in three submodels, which the bound counts six times
        exact = certify(row[None], "plurality", reach=reach, cover="exact").radius[0]
        assert exact <= attacker.truth(row, attacker.plurality, reach=reach)
        solved += exact > certify(row[None], "plurality", reach=reach).radius[0]
    assert solved > 0  # it does improve on the bound


@pytest.mark.filterwarnings("ignore:random_state=")
def test_a_fit_does_not_go_on_with_another_seed(tmp_path, monkeypatch):
    """A generator leaves no number behind that could be compared: the seed that was drawn must
    be."""
    load_breast_cancer(as_frame=True).frame.to_parquet(tmp_path / "table.parquet")
    finish = Unfinished.finish
    monkeypatch.setattr(Unfinished, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, partition="strided")
    with pytest.raises(KeyboardInterrupt):
        fit_parquet(
            clf.set_params(random_state=np.random.RandomState(0)),
            tmp_path / "table.parquet",
            "target",
            tmp_path / "model",
        )
    monkeypatch.setattr(Unfinished, "finish", finish)
    with pytest.raises(InputError, match="holds the beginning of another fit"):
        fit_parquet(
            clf.set_params(random_state=np.random.RandomState(1)),
            tmp_path / "table.parquet",
            "target",
            tmp_path / "model",
        )
    fit_parquet(
        clf.set_params(random_state=np.random.RandomState(0)),
        tmp_path / "table.parquet",
        "target",
        tmp_path / "model",
    )
