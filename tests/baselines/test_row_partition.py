"""RowPartitionClassifier, against an attacker who inserts and deletes rows and trains again."""

import hashlib
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from partita import InputError, SubmodelWarning
from partita.baselines import RowPartitionClassifier
from partita.baselines._row_partition import CanonicalRows, SingleLabel, bucket_of, labels_of
from partita.ensemble._submodels import FixedVote
from partita.metrics import certified_accuracy, median_radius
from partita.rules import Median, Plurality, RunOff, TopK, Tournament

from .row_tables import (
    CELLS_ONLY,
    NUMBERS,
    ODD,
    QUERIES,
    STRANGE,
    TABLES,
    attacks,
    in_array,
    in_pandas,
    in_polars,
    in_rows,
    training_rows,
)

RULES = [
    Plurality(),
    RunOff(),
    RunOff(exact=True),
    Tournament(),
    Tournament(margin=0.5),
    Tournament(margin=0.5, prior=0.5, shares=[0.2, 0.5, 0.3]),
]


class Fingerprint(ClassifierMixin, BaseEstimator):
    """Says something else whenever anything it was given differs: values, types, order, names,
    seed. Fails on the text "crash"."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        frame = (
            X if isinstance(X, np.ndarray) else X.to_pandas() if isinstance(X, pl.DataFrame) else X
        )
        cells = np.asarray(frame, dtype=object)
        if (cells == "crash").any():
            raise RuntimeError("crash")
        types = str(getattr(X, "dtypes", None)) if not isinstance(X, np.ndarray) else str(X.dtype)
        seen = repr(
            [type(X).__name__, types, cells.tolist(), y.dtype.str, y.tolist(), self.random_state]
        )
        self.seed_ = int.from_bytes(hashlib.blake2b(seen.encode(), digest_size=8).digest(), "big")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.random.default_rng(self.seed_).random((len(X), len(self.classes_)))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def quiet(clf, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubmodelWarning)
        return clf.fit(X, y)


CASES = {
    "neighbours": (in_rows, KNeighborsClassifier(1), 9, 1, NUMBERS, 2),
    "trees, odd cells": (in_rows, DecisionTreeClassifier(), 11, 1, ODD, 2),
    "bayes, array": (in_array, GaussianNB(), 7, 1, NUMBERS, 2),
    "fingerprints, pandas": (in_pandas, Fingerprint(), 7, 1, ODD[1:7], 2),
    "fingerprints, polars": (in_polars, Fingerprint(), 9, 1, NUMBERS, 2),
    "fingerprints, three": (in_array, Fingerprint(), 9, 1, [NUMBERS[k] for k in (1, 2, 3)], 3),
    "finite, trees": (in_rows, DecisionTreeClassifier(), 7, 2, ODD[:6], 2),
    "finite, fingerprints": (in_array, Fingerprint(), 9, 2, NUMBERS[:4], 2),
}


SLOW = (
    "trees, odd cells",
    "bayes, array",
    "fingerprints, pandas",
    "fingerprints, three",
    "finite, trees",
)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.long) if case in SLOW else case for case in CASES]
)
def test_nothing_certified_changes_whatever_rows_are_inserted_and_deleted(case):
    table, estimator, n_submodels, spread, candidates, most = CASES[case]
    certified, changed, moved = np.zeros(most + 1, dtype=int), 0, 0
    queries = table([(*row, 0) for row in QUERIES])[0]
    for seed in range(2):
        rows = training_rows(np.random.default_rng(seed), 8 + 6 * seed)
        rows += rows[:1]  # a row that is there twice
        clf = RowPartitionClassifier(
            estimator,
            n_submodels=n_submodels,
            spread=spread,
            classes=[0, 1, 2],
            random_state=seed,
            n_jobs=1,
        )
        ballots = quiet(clf, *table(rows)).ballots(queries)
        proofs = []
        for rule in RULES:
            own = quiet(clone(clf).set_params(rule=rule), *table(rows))
            # a rule without gaps has no integer program
            exact = spread > 1 and not isinstance(rule, RunOff)
            covers = ["bound", "exact"] if exact else ["bound"]
            proofs += [(rule, own.certify(queries, cover=cover)) for cover in covers]
        for size in range(1, (1 if seed else most) + 1):
            for attacked in attacks(rows, candidates, size):
                after = quiet(clf, *table(attacked)).ballots(queries)
                touched = (after != ballots).any(axis=(0, 2))
                moved = max(moved, int(touched.sum()))
                assert touched.sum() <= size * spread
                if size == 1 and touched.any():
                    assert (clf.incidence_[:, touched].all(axis=1)).any(), (
                        "one row reaches the submodels of one bucket"
                    )
                for rule, proof in proofs:
                    same, safe = rule.decide(after) == proof.prediction, proof.radius >= size
                    assert same[safe].all(), (rule, size, attacked)
                    certified[size] += np.count_nonzero(safe)
                    changed += np.count_nonzero(~same)
    assert certified[1:].min() > 100, "the attacks must meet certified predictions"
    assert changed > 20, "the attacks must change what is not certified"
    assert moved >= spread


@pytest.mark.parametrize("spread", [1, 2])
def test_an_attacker_who_knows_the_hash_needs_one_row_more_than_the_radius(spread):
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    clf = RowPartitionClassifier(
        KNeighborsClassifier(1),
        n_submodels=11,
        spread=spread,
        rule="plurality",
        classes=range(10),
        n_jobs=1,
    )
    train, test, n_test = (X[:300], y[:300]), X[300:], 8
    proof = clf.fit(*train).certify(test[:n_test], cover="exact")
    votes = clf.ballots(test[:n_test]).scores.argmax(axis=2)
    n_buckets, n_broken = len(clf.incidence_), 0
    for i in range(n_test):
        r, label, runner_up = int(proof.radius[i]), proof.prediction[i], proof.runner_up[i]
        # rows next to the predicted one, some in every bucket
        near = test[i] + rng.normal(scale=1e-6, size=(400, 64))
        digests = CanonicalRows(near).digests(labels_of([runner_up] * 400), 0)
        bucket = np.array([bucket_of(digest, n_buckets) for digest in digests])
        # the buckets where the label has most votes first
        order = np.argsort(-((votes[i] == label) @ clf.incidence_.T.astype(int)), kind="stable")
        for size in (r, r + 1):
            inserted = [near[np.argmax(bucket == b)] for b in order[:size]]
            attacked = clone(clf).fit(
                np.array([*inserted, *train[0]]), [*[runner_up] * size, *train[1]]
            )
            after = attacked.predict(test[i : i + 1])[0]
            assert after == label or size > r
            n_broken += after != label
    # with a spread the chosen buckets overlap
    assert n_broken == n_test if spread == 1 else n_broken >= 1


@pytest.mark.parametrize(
    ("strange", "spread"),
    [*((name, 1) for name in STRANGE), ("fraction", 3), ("crash", 3), ("no label", 3)],
)
@pytest.mark.parametrize("kind", TABLES)
def test_an_inserted_row_moves_no_other(kind, strange, spread):
    table = TABLES[kind]
    if (strange in CELLS_ONLY and kind == "polars") or (
        strange == "text for a label" and kind == "array"
    ):
        pytest.skip("such a table has one type a column")
    rows = training_rows(np.random.default_rng(1), 40)
    rows += [(2**53 + 1, 1, 0), (2**53 + 3, 1, 2), (0, 0, 1), (0, 0, 1)]
    clf = RowPartitionClassifier(
        Fingerprint(), n_submodels=6, spread=spread, classes=[0, 1, 2], n_jobs=1
    )
    queries = table([(*row, 0) for row in QUERIES])[0]
    before = clf.fit(*table(rows)).ballots(queries)
    again = quiet(clone(clf), *table([STRANGE[strange], *rows]))
    touched = (again.ballots(queries) != before).any(axis=(0, 2))
    unused = strange in ("fraction of a label", "no label", "unknown label", "text for a label")
    assert touched.sum() == (0 if unused else spread)
    assert unused or (again.incidence_[:, touched].all(axis=1)).any()
    assert sum(isinstance(model, FixedVote) for model in again.estimators_) == (
        spread if strange == "crash" else 0
    )
    if kind in ("lists", "pandas"):  # deleting it brings everything back
        assert np.array_equal(again.fit(*table(rows)).ballots(queries), before)


@pytest.mark.parametrize("spread", [1, 2])
@pytest.mark.parametrize("kind", TABLES)
def test_the_order_of_rows_does_not_matter(kind, spread):
    table = TABLES[kind]
    rows = [
        *training_rows(np.random.default_rng(2), 60),
        (0.5, -0.0, 1),
        (0.5, 0.0, 1),
        (math.nan, 3, 2),
        (math.nan, 3, 2),
    ]
    rng = np.random.default_rng(3)
    queries = table([(*row, 0) for row in QUERIES])[0]
    for estimator in (Fingerprint(), None)[: 3 - spread]:
        clf = RowPartitionClassifier(
            estimator, n_submodels=4, spread=spread, classes=[0, 1, 2], n_jobs=1
        )
        first = clf.fit(*table(rows)).ballots(queries)
        assert np.ptp(first, axis=1).max() > 0
        for _ in range(3):
            shuffled = [rows[i] for i in rng.permutation(len(rows))]
            assert np.array_equal(clone(clf).fit(*table(shuffled)).ballots(queries), first)


def test_every_kind_of_table_deals_the_same():
    rows = training_rows(np.random.default_rng(2), 60)
    queries = [(*row, 0) for row in QUERIES]
    clf = RowPartitionClassifier(GaussianNB(), n_submodels=4, classes=[0, 1, 2], n_jobs=1)
    ballots = [clone(clf).fit(*table(rows)).ballots(table(queries)[0]) for table in TABLES.values()]
    ballots.append(
        clone(clf)
        .fit(np.array(in_rows(rows)[0], dtype=np.float32), in_rows(rows)[1])
        .ballots(np.array(QUERIES, dtype=np.int8))
    )
    assert all(np.array_equal(ballots[0], other) for other in ballots[1:])


def test_submodels_without_rows_with_one_label_or_that_fail():
    rows = training_rows(np.random.default_rng(5), 8)
    clf = RowPartitionClassifier(
        LogisticRegression(), n_submodels=30, classes=["a", "b", "c"], n_jobs=1
    )
    X, y = in_rows([(*row[:2], "abc"[row[2]]) for row in rows])
    with pytest.warns(
        SubmodelWarning,
        match="of 30 submodels cast a fixed vote; the first: submodel . has no training rows",
    ):
        clf.fit(X, y)
    ballots = clf.ballots(QUERIES)
    empty = [t for t, model in enumerate(clf.estimators_) if isinstance(model, FixedVote)]
    alone = [t for t, model in enumerate(clf.estimators_) if isinstance(model, SingleLabel)]
    assert len(empty) > 15
    assert len(alone) >= 3
    assert not ballots[:, empty].any()
    assert {str(clf.classes_[k]) for k in ballots[0, alone].argmax(axis=1)} == set(y)
    assert np.allclose(clf.predict_proba(QUERIES).sum(axis=1), 1)
    crash = RowPartitionClassifier(Fingerprint(), n_submodels=2, classes=["a", "b", "c"], n_jobs=1)
    with pytest.warns(
        SubmodelWarning,
        match="1 of 2 submodels cast a fixed vote; the first: submodel . Fingerprint, could not "
        "be fitted: crash".replace(" . ", " ., "),
    ):
        crash.fit([*X, ["crash", 1]], [*y, "a"])
    assert crash.certify(QUERIES).radius.tolist() == [0] * 4


def test_a_submodel_that_cannot_predict_casts_a_fixed_vote_for_that_row_alone():
    rows = training_rows(np.random.default_rng(6), 60)
    clf = RowPartitionClassifier(GaussianNB(), n_submodels=3, classes=[0, 1, 2], n_jobs=1).fit(
        *in_rows(rows)
    )
    before = clf.ballots(QUERIES)
    with pytest.warns(
        SubmodelWarning,
        match="3 submodels get a fixed vote, the first: submodel 0, GaussianNB, could not predict",
    ):
        after = clf.ballots([*QUERIES, ("text", 1)])
    assert np.array_equal(after[:-1], before)
    assert not after[-1].any()


@pytest.mark.parametrize("spread", [1, 2])
def test_a_radius_ends_before_the_last_row(spread):
    """Fixed votes alone would bear many deletions, but an empty table is refused."""
    clf = RowPartitionClassifier(
        DecisionTreeClassifier(),
        n_submodels=20,
        spread=spread,
        classes=[0, 1, 2],
        rule="plurality",
        n_jobs=1,
    )
    X, y = [[1, 2], [3, 4], [5, 6], [7, 8]], [0, 0, 0, 9]
    assert quiet(clf, X, y).certify(X).radius.tolist() == [2] * 4
    with pytest.raises(InputError, match="no label that is in classes"):
        clf.fit(X[3:], y[3:])
    many = RowPartitionClassifier(
        GaussianNB(), n_submodels=3, spread=spread, classes=[5], n_jobs=1
    ).fit(np.eye(20), [5] * 20)
    proof = many.certify(np.eye(20)[:2])
    assert proof.radius.tolist() == [3 * spread] * 2
    assert proof.runner_up is None


def test_what_is_counted_and_returned():
    rows = [
        (*row[:2], ["low", "mid", "top"][row[2]])
        for row in training_rows(np.random.default_rng(8), 90)
    ]
    clf = RowPartitionClassifier(
        GaussianNB(), n_submodels=5, classes=["top", "low", "mid"], n_jobs=1
    )
    X, y = in_pandas(rows)
    proof = clf.fit(X, y).certify(X.set_index(X.index + 100))
    assert clf.classes_.tolist() == ["low", "mid", "top"]
    assert proof.counts.what == "training rows inserted or deleted"
    assert proof.counts.total == 5
    assert (
        str(proof.counts)
        == "training rows inserted or deleted (5 of them can reach every submodel, out of reach: "
        "the row being predicted)"
    )
    frame = proof.to_frame()
    assert frame.index[0] == 100
    assert frame.columns.tolist() == ["prediction", "radius", "runner_up"]
    assert (frame["prediction"] == clf.predict(X)).all()
    assert (proof.prediction == y).mean() > 0.8
    assert set(proof.runner_up) <= set(clf.classes_)
    assert clf.ballots(X).dtype == np.float32
    assert clf.ballots(X).shape == (90, 5, 3)
    wide = clone(clf).set_params(spread=3).fit(X, y)
    assert wide.certify(X).counts.total == 15
    assert wide.incidence_.sum(axis=1).tolist() == wide.incidence_.sum(axis=0).tolist() == [3] * 15
    assert isinstance(
        clf.fit(*in_polars(rows)).certify(in_polars(rows)[0]).to_frame(), pl.DataFrame
    )
    with pytest.raises(InputError, match="labels is missing"):
        clone(clf).set_params(rule=TopK(2)).fit(X, y).certify(X)


def test_labels_are_recognised_in_every_type():
    X = np.arange(24.0).reshape(12, 2)
    y = [0, 1, 2] * 4
    clf = RowPartitionClassifier(Fingerprint(), n_submodels=2, classes=[0, 1, 2], n_jobs=1)
    first = clf.fit(X, y).ballots(X)
    nullable = pd.Series([*y[:-1], 2], dtype="Int64")
    for labels in (
        np.array(y),
        np.array(y, dtype=float),
        np.array(y, dtype=object),
        pd.Series(y),
        nullable,
        pl.Series(y),
        pd.Series(y, dtype="category"),
    ):
        assert np.array_equal(clf.fit(X, labels).ballots(X), first)
    given = [
        clone(clf).set_params(classes=classes, estimator=GaussianNB()).fit(X, y).predict(X)
        for classes in ([0, 1, 2], [2.0, 0.0, 1.0])
    ]
    assert np.array_equal(*given)


def test_seeds_come_from_the_settings_and_the_index_alone():
    rows = training_rows(np.random.default_rng(9), 60)
    clf = RowPartitionClassifier(
        RandomForestClassifier(2), n_submodels=4, classes=[0, 1, 2], n_jobs=1
    )
    seeds = [model.random_state for model in clf.fit(*in_rows(rows)).estimators_]
    assert len(set(seeds)) == 4
    assert [model.random_state for model in clf.fit(*in_rows(rows[:40])).estimators_] == seeds
    assert [
        model.random_state
        for model in clone(clf).set_params(random_state=1).fit(*in_rows(rows)).estimators_
    ] != seeds
    one = clone(clf).fit(*in_rows(rows)).ballots(QUERIES)
    assert np.array_equal(clone(clf).set_params(n_jobs=2).fit(*in_rows(rows)).ballots(QUERIES), one)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_submodels_see_names_and_keep_to_their_copy(kind):
    rows = training_rows(np.random.default_rng(10), 60)
    X, y = TABLES[kind](rows)
    by_name = make_pipeline(
        make_column_transformer((StandardScaler(), ["b"]), ("passthrough", ["a"])),
        MaxAbsScaler(copy=False),
        GaussianNB(),
    )
    clf = RowPartitionClassifier(by_name, n_submodels=3, spread=2, classes=[0, 1, 2], n_jobs=1).fit(
        X, y
    )
    assert (clf.predict(X) == np.asarray(y)).mean() > 0.8
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    floats = X.astype(float) if kind == "pandas" else X.cast(pl.Float64)
    for table in (floats, np.asarray(floats)):
        untouched, ballots = np.array(table), []
        for copy in (
            False,
            True,
        ):  # one that works in place changes neither the table nor what its neighbours see
            scaled = make_pipeline(MaxAbsScaler(copy=copy), GaussianNB())
            clf.set_params(estimator=scaled)
            ballots.append(clone(clf).fit(table, y).ballots(table))
        assert np.array_equal(np.asarray(table), untouched)
        assert np.array_equal(*ballots)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X[["b", "a"]])


def test_the_default_estimator_takes_texts_and_missing_values():
    rng = np.random.default_rng(11)
    y = rng.integers(2, size=300)
    frame = pd.DataFrame(
        {
            "colour": np.where(rng.random(300) < 0.1, None, np.array(["red", "blue"])[y]),
            "size": y + rng.normal(size=300),
        }
    )
    for X in (frame, pl.DataFrame({name: frame[name].to_list() for name in frame}, strict=False)):
        proof = (
            RowPartitionClassifier(n_submodels=5, classes=[0, 1])
            .fit(X[:200], y[:200])
            .certify(X[200:])
        )
        assert certified_accuracy(y[200:], proof, radius=1) > 0.8


@pytest.mark.long
def test_certified_accuracy_on_digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:1250], order[1250:]
    clf = RowPartitionClassifier(
        LogisticRegression(max_iter=1000), n_submodels=50, classes=range(10), n_jobs=2
    )
    proof = clf.fit(X[train], y[train]).certify(X[test])
    assert certified_accuracy(y[test], proof) > 0.86
    assert certified_accuracy(y[test], proof, radius=5) > 0.75
    assert median_radius(y[test], proof) >= 11
    assert proof.radius.max() <= 25
    finite = (
        clone(clf).set_params(n_submodels=25, spread=2).fit(X[train], y[train]).certify(X[test])
    )
    assert certified_accuracy(y[test], finite) > 0.88


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classes": None}, "classes is missing"),
        ({"classes": []}, r"classes is \[\]"),
        ({"classes": "abc"}, "classes is 'abc'"),
        ({"classes": 3}, "classes is 3"),
        ({"classes": [[0, 1], [2, 3]]}, "classes is"),
        ({"classes": [0, "1"]}, "all numbers or all texts"),
        ({"classes": [0, 1, True]}, "each once"),
        ({"classes": [0, None]}, "without missing values"),
        ({"classes": [2**53, 2**53 + 1]}, "each once"),
        ({"classes": ["0", "1"]}, "no label that is in classes"),
        ({"rule": Tournament(prior=0.5)}, "shares is missing"),
        ({"rule": Tournament(margin=-1)}, "margin is -1"),
        ({"rule": "median"}, "Median, which is for regression"),
        ({"rule": Median()}, "Median, which is for regression"),
        ({"rule": "best"}, "rule is 'best'"),
        ({"estimator": Ridge()}, "Ridge is a regressor"),
        ({"n_submodels": 0}, "n_submodels"),
        ({"n_submodels": "auto"}, "n_submodels"),
        ({"spread": 0}, "spread"),
        ({"random_state": None}, "random_state"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    X, y = in_rows(training_rows(np.random.default_rng(0), 10))
    clf = RowPartitionClassifier(
        **{"estimator": GaussianNB(), "classes": [0, 1, 2], "n_submodels": 2, **settings}
    )
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "estimators_")


class VotesOnly(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.label_ = np.unique(y)[-1]
        return self

    def predict(self, X):
        return np.repeat(self.label_, len(X))


def test_wrong_tables_and_estimators_are_named():
    X, y = in_rows(training_rows(np.random.default_rng(0), 40))
    clf = RowPartitionClassifier(GaussianNB(), n_submodels=2, classes=[0, 1, 2])
    with pytest.raises(InputError, match=r"sparse matrix.*toarray"):
        clf.fit(scipy.sparse.csr_matrix(np.array(X)), y)
    with pytest.raises(InputError, match="dimension"):
        clf.fit([1, 2], y[:2])
    with pytest.raises(InputError, match="0 sample"):
        clf.fit(np.empty((0, 2)), [])
    with pytest.raises(InputError, match="y is None"):
        clf.fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        clf.fit(X, y[1:])
    with pytest.raises(ValueError, match="features"):
        clf.fit(X, y).predict([[1, 2, 3]])
    with pytest.raises(InputError, match="cover is"):
        clf.set_params(spread=2).fit(X, y).certify(X, cover="best")
    with pytest.raises(InputError, match="compares scores"):
        clone(clf).set_params(estimator=VotesOnly()).fit(X, y)
    votes = clone(clf).set_params(estimator=VotesOnly(), rule="plurality").fit(X, y)
    assert votes.predict(X).tolist() == [2] * 40
    for estimator in (
        LinearSVC(),
        RidgeClassifier(),
    ):  # decision values, two classes in some submodels
        assert clone(clf).set_params(estimator=estimator, n_submodels=4).fit(X, y).ballots(
            X
        ).shape == (40, 8, 3)
