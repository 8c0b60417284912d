"""Crashes, label attacks and the soundness guard."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SoundnessError,
    SoundnessWarning,
    SubmodelError,
    SubmodelWarning,
    fit_parquet,
)
from partita.audit import check_deterministic, check_pipeline
from partita.ensemble._failures import FixedVote
from partita.ensemble._label_attacks import assign_rows
from partita.rules import Median, Tournament

X, Y = load_wine(return_X_y=True)
NB = GaussianNB()


# ---- crashes ----


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
    """Columns that crash their submodel in training or in the row: what is certified at r has not
    changed."""
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

    with pytest.raises(
        SubmodelError,
        match="3 of 3 submodels could not be fitted, so the model would be a constant",
    ):
        FeaturePartitionRegressor(Fails(), n_submodels=3, on_failure="vote").fit(X, X[:, 0])

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
    failed = [t for t in range(3) if len(reg._columns(t)) == 1]
    assert np.all(reg.ballots(X)[:, failed] == np.median(X[:, 0]))


# ---- shortages of the whole process ----


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
    """The batch fails for the row's own reason; asked alone, a row finds no memory."""

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


def test_a_submodel_taught_in_batches_that_lacks_memory_is_no_vote(tmp_path):
    class Learner(SGDClassifier):
        def partial_fit(self, X, y, classes=None):
            raise MemoryError

    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)]).assign(label=Y)
    frame.to_parquet(tmp_path / "table.parquet")
    clf = FeaturePartitionClassifier(Learner(), n_submodels=3, on_failure="vote", rule="plurality")
    with pytest.raises(MemoryError, match="could not be fitted"):
        fit_parquet(clf, tmp_path / "table.parquet", "label", tmp_path / "model", batch_rows=50)


# ---- labels ----


def test_rows_are_assigned_by_position_alone():
    owner = assign_rows(1000, 7, seed=0)
    assert np.array_equal(owner[:300], assign_rows(300, 7, seed=0))
    assert np.bincount(owner, minlength=7).min() > 100
    assert not np.array_equal(owner, assign_rows(1000, 7, seed=1))


@pytest.mark.parametrize("how", ["rows", "labels"])
def test_one_flipped_label_reaches_one_submodel(how):
    clf = FeaturePartitionClassifier(
        NB, n_submodels=5, label_attacks=how, classes=[0, 1, 2], on_failure="vote"
    ).fit(X, Y)
    honest = clf.ballots(X)
    owner = assign_rows(len(Y), 5, seed=0)
    for row, label in [(0, 1), (5, 2), (77, "not a class"), (100, np.nan), (120, None), (170, [1])]:
        flipped = np.array(Y, dtype=object)
        flipped[row] = label
        ballots = clone(clf).fit(X, flipped).ballots(X)
        moved = np.flatnonzero((ballots != honest).any(axis=(0, 2)))
        assert set(moved) <= {owner[row]}


@pytest.mark.parametrize("how", ["rows", "labels"])
def test_labels_and_columns_together(how):
    """Flip labels and corrupt columns at once, refit, and compare what is certified for that many
    of them."""
    digits, y = load_digits(return_X_y=True)
    train, test, labels = digits[:900], digits[900:1200], y[:900]
    tree = DecisionTreeClassifier(max_depth=8)
    clf = FeaturePartitionClassifier(
        tree, n_submodels=7, label_attacks=how, classes=range(10), rule="tournament"
    )
    before = clf.fit(train, labels).certify(test)
    assert before.counts.what == "columns and training labels"
    assert before.counts.total == 64 + 900
    rng = np.random.default_rng(0)
    met = 0
    for columns, flips in [(0, 1), (1, 0), (1, 1), (0, 2), (2, 1)]:
        corrupt_train, corrupt_test, flipped = train.copy(), test.copy(), labels.copy()
        chosen = rng.choice(64, size=columns, replace=False)
        corrupt_train[:, chosen], corrupt_test[:, chosen] = (
            labels[:, None],
            (y[900:1200, None] + 1) % 10,
        )
        flipped[rng.choice(900, size=flips, replace=False)] = 3
        after = clone(clf).fit(corrupt_train, flipped).certify(corrupt_test)
        safe = before.radius >= columns + flips
        assert np.array_equal(after.prediction[safe], before.prediction[safe])
        met += safe.sum()
    assert met > 50


def test_label_attacks_with_frames_weights_and_overlap():
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)])
    names = np.array(["a", "b", "c"])[Y]
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(), n_submodels=3, label_attacks="rows", classes=["a", "b", "c"]
    )
    clf.fit(frame, names, sample_weight=np.ones(len(Y)))
    assert set(clf.predict(frame)) <= {"a", "b", "c"}
    over = FeaturePartitionClassifier(
        DecisionTreeClassifier(),
        n_submodels=3,
        spread=2,
        label_attacks="rows",
        classes=["a", "b", "c"],
    )
    assert over.fit(frame, names).certify(frame).counts.total == 13 + 178


def test_a_semi_supervised_estimator_of_the_users_own():
    clf = FeaturePartitionClassifier(
        LabelSpreading(kernel="knn"), n_submodels=3, label_attacks="labels", classes=[0, 1, 2]
    ).fit(X, Y)
    assert isinstance(clf.estimators_[0], LabelSpreading)
    assert clf.score(X, Y) > 0.5


def test_a_regressor_under_label_attacks():
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3), n_submodels=3, label_attacks="rows"
    ).fit(X[:, :12], X[:, 12])
    assert reg.certify(X[:, :12], tolerance=100).counts.what == "columns and training labels"
    honest, owner = reg.ballots(X[:, :12]), assign_rows(len(X), 3, seed=0)
    for row, label in [(0, 1e9), (9, np.nan), (50, "high"), (90, np.inf), (120, None)]:
        flipped = X[:, 12].astype(object)
        flipped[row] = label
        moved = (clone(reg).fit(X[:, :12], flipped).ballots(X[:, :12]) != honest).any(axis=0)
        assert set(np.flatnonzero(moved)) <= {owner[row]}
    with pytest.raises(InputError, match="centre is missing"):
        FeaturePartitionRegressor(rule=Median(stretch=1.5), label_attacks="rows").fit(X, Y)
    with pytest.raises(InputError, match="'labels' is for classification"):
        FeaturePartitionRegressor(label_attacks="labels").fit(X, Y)


def test_a_submodel_without_rows_casts_the_fixed_vote():
    with pytest.warns(SubmodelWarning, match="no labelled training rows"):
        clf = FeaturePartitionClassifier(
            DecisionTreeClassifier(), label_attacks="rows", classes=[0, 1, 2]
        ).fit(X[80:88], Y[80:88])
    ballots = clf.ballots(X)
    assert ballots.shape == (178, 13, 3)
    assert set(Y[80:88]) == {1}
    for t, model in enumerate(
        clf.estimators_
    ):  # the first class, not the commonest label: labels are the attacker's
        assert np.all(ballots[:, t].argmax(axis=1) == (0 if isinstance(model, FixedVote) else 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "classes is missing"),
        (
            {"classes": [0, 1, 2], "rule": Tournament(prior=0.5)},
            "shares is missing: under label_attacks",
        ),
    ],
)
def test_what_labels_would_decide_must_be_given(settings, message):
    with pytest.raises(InputError, match=message):
        FeaturePartitionClassifier(NB, label_attacks="rows", **settings).fit(X, Y)


def test_a_list_of_classes_without_label_attacks():
    clf = FeaturePartitionClassifier(NB, classes=[0, 1, 2, 9]).fit(X, Y)
    assert clf.ballots(X).shape == (178, 13, 4)
    with pytest.raises(InputError, match="label 2, which is not in classes"):
        FeaturePartitionClassifier(NB, classes=[0, 1]).fit(X, Y)


# ---- the guard ----


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": SGDClassifier(loss="log_loss", warm_start=True)}, "warm_start=True"),
        (
            {"estimator": make_pipeline(StandardScaler(), LogisticRegression(warm_start=True))},
            "logisticregression__warm_start=True",
        ),
        ({"estimator": NB, "random_state": None}, "random_state=None"),
    ],
)
def test_settings_that_void_the_proof(settings, message):
    with pytest.warns(SoundnessWarning, match=message):
        FeaturePartitionClassifier(**settings).fit(X, Y)
    with pytest.raises(SoundnessError, match=message):
        FeaturePartitionClassifier(strict=True, **settings).fit(X, Y)


class Dice(ClassifierMixin, BaseEstimator):
    """Random, and no way to seed it."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.default_rng().choice(self.classes_, size=len(X))


def test_check_deterministic():
    assert (
        check_deterministic(
            FeaturePartitionClassifier(RandomForestClassifier(3), n_submodels=3), X, Y
        )
        == []
    )
    assert check_deterministic(FeaturePartitionRegressor(n_submodels=3), X, X[:, 0]) == []
    with pytest.warns(SoundnessWarning, match="when it is fitted again on the same columns"):
        assert (
            len(
                check_deterministic(
                    FeaturePartitionClassifier(Dice(), n_submodels=3, rule="plurality"), X, Y
                )
            )
            == 1
        )
    with pytest.raises(SoundnessError):
        check_deterministic(FeaturePartitionClassifier(Dice(), rule="plurality"), X, Y, strict=True)
    with pytest.raises(InputError, match="give a FeaturePartitionClassifier"):
        check_deterministic(NB, X, Y)


FRAME = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)])
ENSEMBLE = FeaturePartitionClassifier(NB)


@pytest.mark.parametrize(
    ("step", "finding"),
    [
        (StandardScaler(), None),  # works column by column
        (FunctionTransformer(np.log1p), None),
        (PCA(13), "step 'pca' lets column 'c0' reach several submodels"),
        (Normalizer(), "step 'normalizer' lets column 'c0' reach several submodels"),
        (
            FunctionTransformer(lambda table: table - table.to_numpy().mean()),
            "step 'functiontransformer' lets column",
        ),
        (
            FunctionTransformer(lambda table: table.dropna()),
            "step 'functiontransformer' drops rows because of a value in column 'c0'",
        ),
        (SelectKBest(k=5), "step 'selectkbest' lets column"),
        (
            OneHotEncoder(sparse_output=False, max_categories=4),
            "step 'onehotencoder' makes several columns of 'c0'",
        ),
    ],
)
def test_check_pipeline_names_the_step(step, finding):
    pipeline = make_pipeline(step, ENSEMBLE)
    if finding is None:
        assert check_pipeline(pipeline, FRAME, Y) == []
        return
    with pytest.warns(SoundnessWarning) as told:
        found = check_pipeline(pipeline, FRAME, Y)
    assert any(message.startswith(finding) for message in found), found
    assert len(told) == len(found)
    with pytest.raises(SoundnessError):
        check_pipeline(pipeline, FRAME, Y, strict=True)


def test_check_pipeline_names_the_right_one_of_several():
    with pytest.warns(SoundnessWarning) as told:
        check_pipeline(make_pipeline(StandardScaler(), PCA(10), StandardScaler(), ENSEMBLE), X, Y)
    assert [str(one.message)[:10] for one in told] == ["step 'pca'"]


def test_check_pipeline_asks_for_a_pipeline():
    for wrong in (NB, make_pipeline(StandardScaler(), NB)):
        with pytest.raises(InputError, match="pipeline must be a scikit-learn Pipeline"):
            check_pipeline(wrong, X, Y)
    assert check_pipeline(make_pipeline(ENSEMBLE), X, Y) == []
