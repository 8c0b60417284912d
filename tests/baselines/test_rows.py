"""Rows instead of columns: an attacker who really inserts and deletes training rows and trains
again, and what keeps him in one bucket."""

import hashlib
import math
import warnings
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import combinations, combinations_with_replacement

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
from partita.baselines._row_hash import (
    Rows,
    bucket_of,
    canonical,
    canonical_column,
    encoded_rows,
    labels_of,
)
from partita.baselines._rows import OneLabel, RowPartitionClassifier
from partita.ensemble._failures import FixedVote
from partita.metrics import certified_accuracy, median_radius
from partita.rules import Median, Plurality, RunOff, TopK, Tournament

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


def in_rows(rows):
    return [list(row[:-1]) for row in rows], [row[-1] for row in rows]


def in_array(rows):
    """One array of numbers, whose type the rows decide together: integers, floats, or objects."""
    X, y = in_rows(rows)
    objects = any(
        not isinstance(cell, int | float) or (isinstance(cell, int) and abs(cell) > 2**62)
        for row in X
        for cell in row
    )
    return np.array(X, dtype=object) if objects else np.array(X), np.array(
        y, dtype=object if None in y else None
    )


def in_pandas(rows):
    X, y = in_rows(rows)
    try:
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)
    except OverflowError:  # pandas before 3 cannot look at integers beyond a float
        return pd.DataFrame(X, columns=["a", "b"], dtype=object), pd.Series(y)


def in_polars(rows):
    X, y = in_rows(rows)
    odd = any(not isinstance(label, int) for label in y)
    return pl.DataFrame(
        X, schema=["a", "b"], orient="row", strict=False, infer_schema_length=None
    ), y if odd else pl.Series(y)


def attacks(rows, candidates, size):
    """Every table that ``size`` deletions and insertions make of ``rows``."""
    for n_deleted in range(size + 1):
        for deleted in combinations(range(len(rows)), n_deleted):
            kept = [row for i, row in enumerate(rows) if i not in deleted]
            for inserted in combinations_with_replacement(candidates, size - n_deleted):
                yield [*inserted[:1], *kept, *inserted[1:]]


def training_rows(rng, n_rows):
    """Whole numbers around three corners, and their labels."""
    corners = np.array([[0, 0], [8, 0], [0, 8]])
    labels = rng.integers(3, size=n_rows)
    return [
        (*map(int, corners[label] + rng.integers(-2, 3, size=2)), int(label)) for label in labels
    ]


ASKED = [(1, 1), (7, 1), (1, 6), (4, 3)]
NUMBERS = [(1, 1, 2), (7, 1, 0), (0.5, 1, 1), (math.nan, 2, 0), (10**9, -(10**9), 1), (1, 6, 7)]
ODD = [
    (1, 1, 2),
    (0.5, 1, 1),
    (None, 2, 0),
    (10**400, 1, 0),
    ("text", 1, 1),
    (1, 6, "odd label"),
    (True, [1], 1),
    (1, 1, 0.5),
    (7, 1, None),
]
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


@pytest.mark.parametrize("case", CASES)
def test_nothing_certified_changes_whatever_rows_are_inserted_and_deleted(case):
    table, estimator, n_submodels, spread, candidates, most = CASES[case]
    certified, changed, moved = np.zeros(most + 1, dtype=int), 0, 0
    asked = table([(*row, 0) for row in ASKED])[0]
    covers = ["bound"] if spread == 1 else ["bound", "exact"]
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
        ballots = quiet(clf, *table(rows)).ballots(asked)
        proofs = []
        for rule in RULES:
            own = quiet(clone(clf).set_params(rule=rule), *table(rows))
            proofs += [(rule, own.certify(asked, cover=cover)) for cover in covers]
        for size in range(1, (1 if seed else most) + 1):
            for attacked in attacks(rows, candidates, size):
                after = quiet(clf, *table(attacked)).ballots(asked)
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
    proof = clf.fit(X[:300], y[:300]).certify(X[300:315], cover="exact")
    votes = clf.ballots(X[300:315]).argmax(axis=2)
    n_buckets, broken = len(clf.incidence_), 0
    for i in range(15):
        r, label, rival = int(proof.radius[i]), proof.prediction[i], proof.runner_up[i]
        near = X[300 + i] + rng.normal(
            scale=1e-6, size=(400, 64)
        )  # rows next to the one asked about, some in every bucket
        bucket = np.array(
            [
                bucket_of(digest, n_buckets)
                for digest in Rows(near).digests(labels_of([rival] * 400), 0)
            ]
        )
        order = np.argsort(
            -((votes[i] == label) @ clf.incidence_.T.astype(int)), kind="stable"
        )  # where the label has most votes
        for size in (r, r + 1):
            inserted = [near[np.argmax(bucket == b)] for b in order[:size]]
            attacked = clone(clf).fit(np.array([*inserted, *X[:300]]), [*[rival] * size, *y[:300]])
            after = attacked.predict(X[300 + i : 301 + i])[0]
            assert after == label or size > r
            broken += after != label
    assert broken == 15 if spread == 1 else broken >= 3  # with a spread the buckets chosen overlap


TABLES = {"lists": in_rows, "array": in_array, "pandas": in_pandas, "polars": in_polars}
STRANGE = {
    "fraction": (0.5, 1, 1),
    "gap": (math.nan, 1, 1),
    "none": (None, 1, 1),
    "huge": (2**80, 1, 1),
    "large": (2**60 + 1, 1, 1),
    "infinite": (-math.inf, 1, 1),
    "boolean": (True, False, 1),
    "fraction of a label": (1, 1, 0.5),
    "label of floats": (1, 1, 1.0),
    "no label": (1, 1, None),
    "unknown label": (1, 1, 9),
    "text": ("text", 1, 1),
    "crash": ("crash", 1, 1),
    "text for a label": (1, 1, "one"),
    "list": ([1, 2], 1, 1),
    "bytes": (b"a", 1, 1),
    "complex": (1j, 1, 1),
    "time": (datetime(2026, 1, 31), 1, 1),
    "object": (object(), 1, 1),
}
CELLS_ONLY = list(STRANGE)[11:]  # what only a table of objects holds


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
    asked = table([(*row, 0) for row in ASKED])[0]
    before = clf.fit(*table(rows)).ballots(asked)
    again = quiet(clone(clf), *table([STRANGE[strange], *rows]))
    touched = (again.ballots(asked) != before).any(axis=(0, 2))
    unused = strange in ("fraction of a label", "no label", "unknown label", "text for a label")
    assert touched.sum() == (0 if unused else spread)
    assert unused or (again.incidence_[:, touched].all(axis=1)).any()
    assert sum(isinstance(model, FixedVote) for model in again.estimators_) == (
        spread if strange == "crash" else 0
    )
    if kind in ("lists", "pandas"):  # deleting it brings everything back
        assert np.array_equal(again.fit(*table(rows)).ballots(asked), before)


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
    asked = table([(*row, 0) for row in ASKED])[0]
    for estimator in (Fingerprint(), None)[: 3 - spread]:
        clf = RowPartitionClassifier(
            estimator, n_submodels=4, spread=spread, classes=[0, 1, 2], n_jobs=1
        )
        first = clf.fit(*table(rows)).ballots(asked)
        assert np.ptp(first, axis=1).max() > 0
        for _ in range(3):
            shuffled = [rows[i] for i in rng.permutation(len(rows))]
            assert np.array_equal(clone(clf).fit(*table(shuffled)).ballots(asked), first)


def test_every_kind_of_table_deals_the_same():
    rows = training_rows(np.random.default_rng(2), 60)
    asked = [(*row, 0) for row in ASKED]
    clf = RowPartitionClassifier(GaussianNB(), n_submodels=4, classes=[0, 1, 2], n_jobs=1)
    ballots = [clone(clf).fit(*table(rows)).ballots(table(asked)[0]) for table in TABLES.values()]
    ballots.append(
        clone(clf)
        .fit(np.array(in_rows(rows)[0], dtype=np.float32), in_rows(rows)[1])
        .ballots(np.array(ASKED, dtype=np.int8))
    )
    assert all(np.array_equal(ballots[0], other) for other in ballots[1:])


SAME = [
    [
        1,
        1.0,
        True,
        np.int8(1),
        np.uint64(1),
        np.float32(1),
        np.bool_(True),
        Decimal(1),
        1 + 0j,
        np.complex64(1),
    ],
    [0.0, -0.0, 0, False, np.float32(-0.0), Decimal("-0")],
    [
        None,
        math.nan,
        np.nan,
        -math.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        Decimal("nan"),
    ],
    [2**53, 2**53 + 1, float(2**53), np.int64(2**53 + 1)],
    [10**400, math.inf, 10**999, np.float64("inf")],
    ["a", np.str_("a"), b"a", np.bytes_(b"a")],
    [
        date(2026, 1, 31),
        datetime(2026, 1, 31),
        datetime(2026, 1, 31, tzinfo=UTC),
        datetime(2026, 1, 31, 2, tzinfo=timezone(timedelta(hours=2))),
        pd.Timestamp("2026-01-31"),
        pd.Timestamp("2026-01-31").as_unit("s"),
        pd.Timestamp("2026-01-31 01:00", tz="Europe/Berlin"),
        np.datetime64("2026-01-31"),
        np.datetime64("2026-01-31", "ns"),
        np.datetime64("2026-01-31", "h"),
    ],
    [
        timedelta(seconds=90, microseconds=1),
        pd.Timedelta("90s") + pd.Timedelta("1us"),
        np.timedelta64(90000001, "us"),
    ],
]
OTHERS = [
    2,
    0.1,
    np.float32(0.1),
    -math.inf,
    "",
    "nan",
    "1",
    "A",
    "ab",
    "\ud800",
    "é",
    "e\u0301",
    1e-320,
    [1],
    (1,),
    {},
    object(),
    time(1),
]


def encoding(*cells):
    return next(encoded_rows([canonical_column([cell]) for cell in cells]))


def test_a_cell_is_read_by_itself():
    groups = [{encoding(cell) for cell in group} for group in SAME] + [
        {encoding(cell)} for cell in OTHERS
    ]
    assert [len(group) for group in groups] == [1] * len(groups)
    assert len(set.union(*groups)) == len(groups), "what differs has another encoding"
    assert encoding(pd.Timestamp("2026-01-31 00:00:00.25")) == encoding(
        np.datetime64("2026-01-31T00:00:00.250", "ms")
    )
    assert encoding(pd.Timestamp("1969-12-31 23:59:59.5")) == encoding(-0.5)
    assert canonical(datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))) == "<datetime>"


def test_rows_that_differ_do_not_look_the_same():
    rows = [
        ("a", "bc"),
        ("ab", "c"),
        ("abc", ""),
        ("", "abc"),
        ("a", None, "bc"),
        (None, "abc"),
        ("abc", None),
        ("abc",),
    ]
    rows += [
        (1, "a"),
        ("1", "a"),
        (1.5, 2),
        (2, 1.5),
        (None, 0),
        (0, None),
        ("n" + "\0" * 8,),
        (0,),
        ("t", "t"),
        ("tt",),
    ]
    rows += [("a\0", "b"), ("a", "\0b"), ("at", "b"), ("a", "tb"), ("-",), (None,), (None, None)]
    assert len({encoding(*row) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "dtype", [np.int64, np.uint64, np.int8, np.float64, np.float32, np.float16, bool]
)
def test_a_column_of_numbers_is_read_as_its_cells_are(dtype):
    values = np.array([0, 1, -0.0, 3, 100, 2]).astype(dtype)
    if dtype in (np.int64, np.uint64):
        values = np.append(values, np.array([2**53 + 1, 2**62 + 3, 2**63 - 1], dtype=dtype))
    if np.dtype(dtype).kind == "f":
        values = np.append(values, np.array([np.nan, -np.nan, np.inf, 0.1, -1e-8], dtype=dtype))
    slow = [encoding(value) for value in values]
    assert list(encoded_rows([canonical_column(values)])) == slow
    assert list(encoded_rows([canonical_column(values.astype(object))])) == slow
    mixed = np.append(values.astype(object), "text")
    assert list(encoded_rows([canonical_column(mixed)]))[:-1] == slow


def test_hashes_are_the_same_on_every_machine():
    rows = Rows(pd.DataFrame({"a": [1, 2], "b": ["x", None]}))
    digests = rows.digests(labels_of(["yes", "no"]), 7)
    assert [digest.hex()[:16] for digest in digests] == ["b7c275d6f7a32b4e", "1a25f556257d04a8"]
    assert rows.digests(labels_of(["yes", "no"]), 8) != digests
    assert rows.digests(labels_of(["yes", "yes"]), 7)[1] != digests[1], (
        "the label is part of the row"
    )


def test_many_rows_are_dealt_evenly():
    X = np.arange(4000.0).reshape(-1, 1)  # more than a block
    sizes = np.bincount(
        [bucket_of(digest, 10) for digest in Rows(X).digests(labels_of(np.zeros(4000)), 0)],
        minlength=10,
    )
    assert sizes.min() > 320
    assert sizes.max() < 480


def test_texts_that_look_like_numbers_stay_texts():
    rows = [["1", 1], ["2", 2], ["3", 3], ["4", 4]]
    assert [encoding(*row) for row in rows] == list(encoded_rows(Rows(rows).columns))
    assert list(encoded_rows(Rows([*rows, ["x", 5]]).columns))[:4] == list(
        encoded_rows(Rows(rows).columns)
    )


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
    ballots = clf.ballots(ASKED)
    empty = [t for t, model in enumerate(clf.estimators_) if isinstance(model, FixedVote)]
    alone = [t for t, model in enumerate(clf.estimators_) if isinstance(model, OneLabel)]
    assert len(empty) > 15
    assert len(alone) >= 3
    assert not ballots[:, empty].any()
    assert {str(clf.classes_[k]) for k in ballots[0, alone].argmax(axis=1)} == set(y)
    assert np.allclose(clf.predict_proba(ASKED).sum(axis=1), 1)
    crash = RowPartitionClassifier(Fingerprint(), n_submodels=2, classes=["a", "b", "c"], n_jobs=1)
    with pytest.warns(
        SubmodelWarning,
        match="1 of 2 submodels cast a fixed vote; the first: submodel . Fingerprint, could not "
        "be fitted: crash".replace(" . ", " ., "),
    ):
        crash.fit([*X, ["crash", 1]], [*y, "a"])
    assert crash.certify(ASKED).radius.tolist() == [0] * 4


def test_a_submodel_that_cannot_predict_casts_a_fixed_vote_for_that_row_alone():
    rows = training_rows(np.random.default_rng(6), 60)
    clf = RowPartitionClassifier(GaussianNB(), n_submodels=3, classes=[0, 1, 2], n_jobs=1).fit(
        *in_rows(rows)
    )
    before = clf.ballots(ASKED)
    with pytest.warns(
        SubmodelWarning,
        match="3 submodels get a fixed vote, the first: submodel 0, GaussianNB, could not predict",
    ):
        after = clf.ballots([*ASKED, ("text", 1)])
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
    clf = RowPartitionClassifier(n_submodels=5, classes=["top", "low", "mid"], n_jobs=1)
    X, y = in_pandas(rows)
    proof = clf.fit(X, y).certify(X.set_index(X.index + 100))
    assert clf.classes_.tolist() == ["low", "mid", "top"]
    assert proof.counts.what == "training rows inserted or deleted"
    assert proof.counts.total == 5
    assert (
        str(proof.counts)
        == "training rows inserted or deleted (5 of them can reach every submodel)"
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
    one = clone(clf).fit(*in_rows(rows)).ballots(ASKED)
    assert np.array_equal(clone(clf).set_params(n_jobs=2).fit(*in_rows(rows)).ballots(ASKED), one)


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


def test_texts_and_gaps_by_default():
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
        ({"classes": [0, None]}, "without gaps"),
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
