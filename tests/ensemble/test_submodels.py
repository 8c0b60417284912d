"""One submodel: its ballots, whatever it answers, and its fixed vote where it fails."""

import errno
import subprocess
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SubmodelError,
    SubmodelWarning,
)
from partita.rules import TopK, Tournament

X, Y = load_wine(return_X_y=True)


def test_scores_are_log_probabilities_or_decision_values():
    proba = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y)
    own = proba.estimators_[1].predict_proba(X[:, proba.partition_[1]])
    assert proba.ballots(X).dtype == np.float32
    assert np.array_equal(proba.ballots(X)[:, 1], np.log(np.maximum(own, 1e-9)).astype(np.float32))
    binary = FeaturePartitionClassifier(LinearSVC(), n_submodels=3).fit(X, Y == 0)
    decision = binary.estimators_[2].decision_function(X[:, binary.partition_[2]])
    assert np.allclose(
        binary.ballots(X)[:, 2], np.stack([-decision / 2, decision / 2], axis=1), rtol=1e-6
    )
    several = FeaturePartitionClassifier(RidgeClassifier(), n_submodels=3).fit(X, Y)
    assert several.ballots(X).shape == (178, 3, 3)
    one_to_one = FeaturePartitionClassifier(SVC(decision_function_shape="ovo"), n_submodels=3).fit(
        X, np.arange(len(Y)) % 4
    )
    with pytest.raises(SubmodelError, match="decision_function_shape='ovr'"):
        one_to_one.ballots(X)


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_an_estimator_without_scores_can_only_vote():
    for rule in ("plurality", TopK(2)):
        ballots = FeaturePartitionClassifier(Mute(), rule=rule).fit(X, Y).ballots(X)
        assert np.array_equal(np.unique(ballots), [0, 1])
    for rule in ("runoff", "tournament"):
        with pytest.raises(
            InputError, match="Mute has neither predict_proba nor decision_function"
        ):
            FeaturePartitionClassifier(Mute(), rule=rule).fit(X, Y)


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        scores = np.full((len(X), len(self.classes_)), np.nan)
        scores[:, 1] = np.inf
        return scores


def test_scores_that_are_not_finite_get_the_floor():
    ballots = FeaturePartitionClassifier(Broken()).fit(X, Y).ballots(X)
    assert np.isfinite(ballots).all()
    assert ballots[0, 0, 0] == np.float32(np.log(1e-9))


def test_a_row_has_the_same_ballot_alone_and_in_a_batch():
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(cancer, y)
    batch = clf.ballots(cancer[:20])
    alone = np.concatenate([clf.ballots(cancer[i : i + 1]) for i in range(20)])
    assert np.array_equal(batch, alone)


def test_a_class_never_seen_has_the_lowest_score():
    wine, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(SGDClassifier(), classes=[0, 1, 2, 9]).fit(1000 * wine, y)
    assert clf.ballots(1000 * wine).scores.argmin(axis=2).min() == 3
    assert 9 not in clf.predict(1000 * wine)


CANCER, TUMOUR = load_breast_cancer(return_X_y=True)


class SaysNoNumber(GaussianNB):
    """Its scores are no numbers in some rows, by what the row holds."""

    def predict_proba(self, X):
        scores = super().predict_proba(X)
        scores[X[:, 0] > np.median(CANCER, axis=0).min()] = np.nan
        return scores


def test_what_replaces_a_score_does_not_depend_on_the_batch():
    clf = FeaturePartitionClassifier(SaysNoNumber(), n_submodels=5).fit(CANCER, TUMOUR)
    batch = clf.ballots(CANCER[:60])
    assert np.array_equal(
        np.concatenate([clf.ballots(CANCER[i : i + 1]) for i in range(60)]), batch
    )
    assert np.array_equal(clf.ballots(CANCER[30:60]), batch[30:])


def test_a_submodel_that_fails_is_named():
    broken = X.copy()
    broken[3, 4] = np.nan
    with pytest.raises(
        SubmodelError,
        match=r"submodel \d+ \(of columns 4\), GaussianNB, could not be fitted: Input X contains "
        r"NaN",
    ):
        FeaturePartitionClassifier(GaussianNB()).fit(broken, Y)


NB = GaussianNB()


@pytest.mark.parametrize("damage", [np.nan, np.inf])
def test_a_submodel_that_cannot_be_fitted_votes(damage):
    broken = X.copy()
    broken[3, 4] = damage
    with pytest.raises(SubmodelError):
        FeaturePartitionClassifier(NB).fit(broken, Y)
    with pytest.warns(SubmodelWarning, match=r"of columns 4\), GaussianNB, could not be fitted"):
        clf = FeaturePartitionClassifier(NB, on_failure="vote").fit(broken, Y)
    ballots, honest = clf.ballots(X), FeaturePartitionClassifier(NB).fit(X, Y).ballots(X)
    failed = next(t for t in range(13) if 4 in clf.partition_[t])
    others = np.arange(13) != failed
    assert np.array_equal(ballots[:, others], honest[:, others])
    assert np.all(ballots[:, failed].argmax(1) == np.bincount(Y).argmax())


def test_a_row_that_cannot_be_predicted_takes_no_other_along():
    clf = FeaturePartitionClassifier(NB, on_failure="vote").fit(X, Y)
    broken = X.copy()
    broken[[3, 7], 4] = np.nan
    honest = clf.ballots(X)
    with pytest.warns(SubmodelWarning, match="2 of 178 rows"):
        ballots = clf.ballots(broken)
    failed = next(t for t in range(13) if 4 in clf.partition_[t])
    rows = ~np.isin(np.arange(178), [3, 7])
    assert np.array_equal(ballots[rows], honest[rows])
    assert np.array_equal(np.delete(ballots, failed, axis=1), np.delete(honest, failed, axis=1))
    assert np.all(ballots[[3, 7], failed].argmax(1) == np.bincount(Y).argmax())


@pytest.mark.parametrize("convert", [pd.DataFrame, lambda table: table.tolist()])
def test_crashes_in_frames_and_lists(convert):
    broken = X.copy()
    broken[3, 4] = np.nan
    clf = FeaturePartitionClassifier(NB, on_failure="vote").fit(convert(X), Y)
    with pytest.warns(SubmodelWarning):
        assert len(clf.predict(convert(broken))) == 178


def test_the_proof_covers_crashes():
    """Columns that crash their submodel, in training or in the row, change nothing certified."""
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(
        GaussianNB(var_smoothing=1e-3), n_submodels=11, on_failure="vote"
    )
    before = clf.fit(cancer[::2], y[::2]).certify(cancer[1::2])
    rng = np.random.default_rng(0)
    for r in (1, 2, 3):
        chosen = rng.choice(30, size=r, replace=False)
        train, test = cancer[::2].copy(), cancer[1::2].copy()
        test[:, chosen] = np.nan
        for training in (cancer[::2], np.where(np.isin(np.arange(30), chosen), np.inf, train)):
            with pytest.warns(SubmodelWarning):
                after = clone(clf).fit(training, y[::2]).certify(test)
            assert np.array_equal(
                after.prediction[before.radius >= r], before.prediction[before.radius >= r]
            )


def test_a_regressor_that_fails_says_the_centre():
    class Fails(DecisionTreeRegressor):
        def fit(self, X, y):
            raise ValueError("no")

    with pytest.warns(SubmodelWarning, match="3 of 3 submodels failed to fit; each casts a fixed"):
        reg = FeaturePartitionRegressor(Fails(), n_submodels=3, on_failure="vote").fit(X, X[:, 0])
    assert np.all(reg.ballots(X) == np.median(X[:, 0]))
    assert (reg.certify(X, tolerance=1).radius == 1).all()  # two of three decide the median
    with pytest.raises(SubmodelError):
        FeaturePartitionRegressor(Fails(), n_submodels=3).fit(X, X[:, 0])

    class FailsOnOne(DecisionTreeRegressor):
        def fit(self, X, y):
            if X.shape[1] == 1:
                raise ValueError("no")
            return super().fit(X, y)

    units = {"one": [0], "two": [1, 2], "rest": list(range(3, X.shape[1]))}
    with pytest.warns(SubmodelWarning):
        reg = FeaturePartitionRegressor(
            FailsOnOne(), units=units, n_submodels=3, on_failure="vote"
        ).fit(X, X[:, 0])
    failed = [t for t in range(3) if len(reg.columns_of(t)) == 1]
    assert np.all(reg.ballots(X)[:, failed] == np.median(X[:, 0]))


TRAIN, TEST, LABELS = CANCER[:369], CANCER[369:], TUMOUR[:369]


def five_sources(rule):
    units = {f"source {k}": list(range(6 * k, 6 * k + 6)) for k in range(5)}
    return FeaturePartitionClassifier(
        NB, n_submodels=5, units=units, rule=rule, on_failure="vote", n_jobs=1
    )


def with_gaps(table, sources):
    """One cell of each source is missing."""
    broken = table.copy()
    broken[3, [6 * source for source in sources]] = np.nan
    return broken


@pytest.mark.parametrize("rule", ["plurality", "tournament"])
@pytest.mark.parametrize("honest", [(0, 1), (0, 1, 2), (0, 1, 2, 3, 4)])
def test_an_attacker_who_adds_or_mends_failures_changes_nothing_certified(rule, honest):
    """Whatever already failed: a cell of one or two sources, in training, in the row, or both."""
    clf = five_sources(rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = clf.fit(with_gaps(TRAIN, honest), LABELS).certify(TEST)
        assert len(clf.failures_) == len(honest)
        assert (before.radius >= 1).sum() > 100
        for r in (1, 2):
            for owned in combinations(range(5), r):
                left = [source for source in honest if source not in owned]
                for failing in (left, [*left, *owned]):
                    again = clone(clf).fit(with_gaps(TRAIN, failing), LABELS)
                    for rows in (TEST, np.where(np.isin(np.arange(30) // 6, owned), np.nan, TEST)):
                        after = again.predict(rows)
                        safe = before.radius >= r
                        assert np.array_equal(after[safe], before.prediction[safe])


@pytest.mark.parametrize("label", [0, 1])
def test_three_failures_change_nothing_certified_by_a_head_start(label):
    """A head start lets radii exceed half of the submodels."""
    clf = five_sources(Tournament(margin=0.5, prior=1, offset={label: 3}))
    before = clf.fit(TRAIN, LABELS).certify(TEST)
    assert (before.radius >= 3).sum() > 30
    for r in (2, 3, 4):
        for owned in combinations(range(5), r):
            with pytest.warns(SubmodelWarning, match=f"{r} of 5 submodels failed to fit"):
                after = clone(clf).fit(with_gaps(TRAIN, owned), LABELS).predict(TEST)
            safe = before.radius >= r
            assert np.array_equal(after[safe], before.prediction[safe])


def test_failures_are_said_once_and_kept():
    with pytest.warns(SubmodelWarning) as caught:
        clf = five_sources("plurality").fit(with_gaps(TRAIN, range(4)), LABELS)
    (text,) = [str(one.message) for one in caught if one.category is SubmodelWarning]
    banner = "4 of 5 submodels failed to fit; each casts a fixed vote, whatever its columns say"
    assert text.startswith(f"{banner}. The first: submodel ")
    assert clf.warnings_[0] == banner
    assert len(clf.failures_) == 4
    assert all("GaussianNB, could not be fitted: Input X contains NaN" in c for c in clf.failures_)
    assert five_sources("plurality").fit(TRAIN, LABELS).failures_ == []


class OutOfMemoryError(RuntimeError):
    """As PyTorch has it."""


class Starving(GaussianNB):
    """Fails on a column whose first training value is 7, or on rows that hold a 7."""

    failure = None

    def fit(self, X, y):
        if X[0, 0] == 7:
            raise self.failure
        return super().fit(X, y)

    def predict_proba(self, X):
        if (X == 7).any():
            raise self.failure
        return super().predict_proba(X)


def starving(failure):
    return type("Starving", (Starving,), {"failure": failure})()


def wrapped(inner):
    """An error that a library raised because of another."""
    error = ValueError("could not be done")
    error.__cause__ = inner
    return error


SHORTAGES = [
    (MemoryError(), MemoryError),
    (
        np._core._exceptions._ArrayMemoryError((10**12,), np.dtype(float))
        if hasattr(np, "_core")
        else MemoryError("x"),
        MemoryError,
    ),
    (OutOfMemoryError("CUDA out of memory"), MemoryError),
    (ValueError("std::bad_alloc"), MemoryError),
    (
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory"
        ),
        MemoryError,
    ),
    (OSError(errno.EMFILE, "Too many open files"), OSError),
    (OSError(errno.ENOSPC, "No space left on device"), OSError),
    (RuntimeError("can't start new thread"), RuntimeError),
    (wrapped(MemoryError()), MemoryError),
    (wrapped(wrapped(OSError(errno.ENFILE, "Too many open files in system"))), OSError),
]


@pytest.mark.parametrize("on_failure", ["vote", "raise"])
@pytest.mark.parametrize(
    ("failure", "kind"), SHORTAGES, ids=[repr(one)[:40] for one, _ in SHORTAGES]
)
def test_what_the_whole_process_lacks_is_no_vote(failure, kind, on_failure):
    clf = FeaturePartitionClassifier(starving(failure), on_failure=on_failure, n_jobs=1)
    with pytest.raises(
        kind,
        match=r"of columns 4\), Starving, could not be fitted.*this concerns the whole process",
    ):
        clf.fit(np.where((np.arange(178)[:, None] == 0) & (np.arange(13) == 4), 7, X), Y)
    clf.fit(X, Y)
    with pytest.raises(
        kind, match=r"of columns 4\), Starving, could not predict.*this concerns the whole process"
    ):
        clf.predict(np.where(np.arange(13) == 4, 7, X))


def test_memory_that_is_missing_for_one_row_is_no_vote():
    """The batch fails for the row's own reason; scored alone, a row finds no memory."""

    class Both(GaussianNB):
        def predict_proba(self, X):
            if len(X) > 1 and (X == 7).any():
                raise ValueError("no sevens")
            if (X == 7).any():
                raise MemoryError
            return super().predict_proba(X)

    clf = FeaturePartitionClassifier(Both(), on_failure="vote").fit(X, Y)
    with pytest.raises(MemoryError, match="could not predict"):
        clf.predict(np.where(np.arange(13) == 4, 7, X))


@pytest.mark.parametrize(
    "failure",
    [
        RecursionError("maximum recursion depth exceeded"),
        OSError(errno.ENOENT, "No such file"),
        ValueError("could not convert string to float: 'std::bad_alloc'"),
        RuntimeError('the cell "can\'t start new thread" is no number'),
        KeyError("std::bad_alloc"),
    ],
    ids=repr,
)
def test_what_a_column_can_bring_about_is_a_vote(failure):
    """Or whoever writes the column could stop the whole model with the right text in it."""
    clf = FeaturePartitionClassifier(starving(failure), on_failure="vote").fit(X, Y)
    with pytest.warns(SubmodelWarning, match="178 of 178 rows"):
        clf.predict(np.where(np.arange(13) == 4, 7, X))


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is limited and read in Linux's way"
)
def test_a_submodel_that_takes_all_memory_takes_no_vote_from_others():
    """For real: one column makes its submodel ask for more memory than the process may have."""
    code = """
import resource
import numpy as np
from pathlib import Path
from sklearn.naive_bayes import GaussianNB
from partita import FeaturePartitionClassifier

class Greedy(GaussianNB):
    def fit(self, X, y):
        self.held_ = np.ones(int(X[0, 0]), dtype=np.int8)
        return super().fit(X, y)

X = np.random.default_rng(0).random((60, 5))
y = np.arange(60) % 2
clf = FeaturePartitionClassifier(Greedy(), n_submodels=5, on_failure="vote", n_jobs=1).fit(X, y)
X[0, 3] = 2**40
vast = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (vast, vast))
try:
    clf.fit(X, y)
except MemoryError as exc:
    print(exc)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert (
        "(of columns 3), Greedy, could not be fitted: Unable to allocate 1.00 TiB" in done.stdout
    ), done.stderr
