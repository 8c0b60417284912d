"""training="trusted": one model of masked rows, asked with the groups of each member masked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    EmptyProofWarning,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    SubmodelError,
    SubmodelWarning,
)
from partita.ensemble import TableBoostingClassifier, TableBoostingRegressor
from partita.ensemble._leave_out import COPIES, accepts_missing, masked_rows
from partita.tables import open_table
from tests.ensemble.type_reader import TypeReader

X, Y = load_wine(return_X_y=True)
FAST = TableBoostingClassifier(max_iter=5)
NAMES = [f"c{k}" for k in range(13)]


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps every table it is shown."""

    shown: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        Recorder.shown = [(X.copy(), y, sample_weight)]
        return self

    def predict(self, X):
        Recorder.shown.append(X.copy())
        return np.full(len(X), self.classes_[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def test_one_model_learns_each_row_whole_and_masked():
    weights = np.arange(1.0, 179.0)
    clf = LeaveOutClassifier(Recorder(), n_groups=5, training="trusted", trusted=[2])
    clf.fit(X, Y, sample_weight=weights)
    assert len(clf.estimators_) == 1
    rows, y, given = Recorder.shown[0]
    assert len(rows) == len(y) == len(given) == (1 + COPIES) * len(X)
    assert np.array_equal(rows[:178], X)
    whole = {tuple(row): k for k, row in enumerate(X)}
    hidden = clf._hidden_columns()
    for row, label, weight in zip(rows[178:], y[178:], given[178:], strict=True):
        masked = np.flatnonzero(np.isnan(row)).tolist()
        assert masked in hidden
        assert masked
        assert 2 not in masked
        candidates = [
            k for own, k in whole.items() if np.array_equal(own, row) or matches(own, row)
        ]
        assert any(Y[k] == label and weights[k] == weight for k in candidates)
    used = {tuple(np.flatnonzero(np.isnan(row))) for row in rows[178:]}
    assert used == {tuple(mask) for mask in hidden if mask}


def matches(own, row):
    return np.array_equal(np.array(own)[~np.isnan(row)], row[~np.isnan(row)])


def test_a_member_is_the_model_with_its_groups_masked():
    clf = LeaveOutClassifier(Recorder(), n_groups=5, training="trusted", n_jobs=1).fit(X, Y)
    Recorder.shown.clear()
    ballots = clf.ballots(X[:9])
    assert ballots.shape == (9, len(clf.partition_), 3)
    assert len(Recorder.shown) == len(clf.partition_)
    for t, shown in enumerate(Recorder.shown):
        hidden = [c for unit in clf.partition_.hidden(t) for c in clf.units_.columns[unit]]
        expected = X[:9].copy()
        expected[:, hidden] = np.nan
        assert np.array_equal(shown, expected, equal_nan=True)
    assert np.array_equal(Recorder.shown[-1], X[:9])  # the fallback sees the row as it is


ESTIMATORS = [
    FAST,
    HistGradientBoostingClassifier(max_iter=5),
    LGBMClassifier(n_estimators=5, verbose=-1),
    ExtraTreesClassifier(5),
    make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_estimators_that_take_missing_values(estimator):
    assert accepts_missing(estimator)
    clf = LeaveOutClassifier(estimator, n_groups=5, training="trusted").fit(X[::2], Y[::2])
    proof = clf.certify(X[1::2])
    assert (proof.prediction == Y[1::2]).mean() > 0.85
    assert (proof.radius == 1).mean() > 0.5
    assert proof.counts.trusted == ("the training table",)
    again = LeaveOutClassifier(estimator, n_groups=5, training="trusted", n_jobs=2)
    assert np.array_equal(again.fit(X[::2], Y[::2]).ballots(X), clf.ballots(X))


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=lambda one: type(one).__name__)
def test_only_what_is_seen_reaches_a_member(estimator):
    """Whatever stands in a row's masked columns, the ballots are the same to the last bit."""
    clf = LeaveOutClassifier(estimator, n_groups=5, training="trusted", on_failure="vote")
    clf.fit(X[::2], Y[::2])
    honest = clf.ballots(X[1::2])
    free = ~clf.partition_.incidence()[4]
    assert 1 < free.sum() < len(free)
    for value in (1e30, -1e30, 0.0, np.nan):
        row = X[1::2].copy()
        row[:, 4] = value
        attacked = clf.ballots(row)
        assert np.array_equal(attacked[:, free], honest[:, free])
        assert not np.array_equal(attacked, honest)


def text_table(words=("red", "blue", "green"), numbers=None):
    """Texts, categories and numbers; ``words`` and ``numbers`` are what an attacker may write."""
    cells = X[:, :6].copy() if numbers is None else numbers
    frame = pd.DataFrame(cells, columns=list("abcdef"))
    frame["colour"] = np.array(["red", "blue", "green"])[(Y + (X[:, 7] > 2)) % 3]
    frame["shade"] = np.array(words)[Y]
    frame["category"] = pd.Categorical(np.array(words)[Y])
    frame["count"] = (X[:, 8] * 10).astype(int)
    return frame


def with_own_categories(frame):
    return frame.assign(colour=frame["colour"].astype("category")).drop(columns="shade")


@pytest.mark.parametrize(
    ("estimator", "convert"),
    [
        (FAST, lambda frame: frame),
        (FAST, lambda frame: pl.from_pandas(frame)),
        (HistGradientBoostingClassifier(max_iter=5), with_own_categories),
        (LGBMClassifier(n_estimators=5, verbose=-1), with_own_categories),
    ],
    ids=["pandas", "polars", "histogram boosting", "lightgbm"],
)
def test_attacked_categories_reach_no_member_that_masks_them(estimator, convert):
    """pandas keeps the categories of all rows in the column's type, and models read it."""
    clf = LeaveOutClassifier(estimator, n_groups=5, training="trusted", on_failure="vote")
    honest = convert(text_table())
    clf.fit(honest, Y)
    before = clf.ballots(honest)
    attacked = convert(text_table(words=("green", "something else", "a")))
    after = clf.ballots(attacked)
    changed = [name for name in ("shade", "category") if name in clf.units_.names]
    units = [clf.units_.names.index(name) for name in changed]
    free = ~clf.partition_.incidence()[units].any(axis=0)
    assert free.any()
    assert np.array_equal(after[:, free], before[:, free])
    assert not np.array_equal(after, before)


def test_types_and_categories_of_a_masked_column_are_gone():
    """Whatever is written into one source: a model that looks at types cannot tell."""
    honest = text_table()
    clf = LeaveOutClassifier(TypeReader(), n_groups=5, training="trusted").fit(honest, Y)
    before = clf.ballots(honest)
    words = ("green", "something else", "a")
    for source, cells in {
        "category": pd.Categorical(np.array(words)[Y]),
        "a": pd.array(["n/a"] * len(Y)),
        "b": pd.Categorical(np.array(words)[Y]),
        "count": X[:, 3],
    }.items():
        after = clf.ballots(honest.assign(**{source: cells}))
        free = ~clf.partition_.incidence()[clf.units_.names.index(source)]
        assert free.sum() > 1
        assert np.array_equal(after[:, free], before[:, free])


def test_a_text_among_numbers_reaches_no_member_that_masks_it():
    """It turns the pandas column into objects, which LightGBM refuses wherever it sees them."""
    clf = LeaveOutClassifier(
        LGBMClassifier(n_estimators=5, verbose=-1),
        n_groups=5,
        training="trusted",
        on_failure="vote",
    ).fit(pd.DataFrame(X, columns=NAMES), Y)
    before = clf.ballots(pd.DataFrame(X, columns=NAMES))
    attacked = pd.DataFrame(X, columns=NAMES).astype({"c4": object})
    attacked.loc[3, "c4"] = "n/a"
    with pytest.warns(SubmodelWarning):
        after = clf.ballots(attacked)
    free = ~clf.partition_.incidence()[4]
    assert np.array_equal(after[:, free], before[:, free])


def test_rows_as_lists_and_sources_of_several_columns():
    units = {"left": [0, 1, 2], "right": [3, 4]}
    clf = LeaveOutClassifier(FAST, units=units, n_groups=5, training="trusted")
    proof = clf.fit(X.tolist(), Y).certify(X.tolist())
    assert (proof.prediction == Y).mean() > 0.9
    assert proof.counts.total == 10
    expected = clf.fit(X, Y).certify(X)
    assert np.array_equal(proof.radius, expected.radius)


def test_an_estimator_that_works_in_place_reaches_no_other_member():
    class InPlace(GaussianNB):
        def fit(self, X, y):
            return super().fit(np.nan_to_num(X), y)

        def predict_proba(self, X):
            scores = super().predict_proba(np.nan_to_num(np.asarray(X, dtype=float)))
            if isinstance(X, pd.DataFrame):
                X.iloc[:, :] = -1.0
            else:
                X[:] = -1
            return scores

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

    for table in (X, pd.DataFrame(X, columns=NAMES)):
        before = table.copy()
        clf = LeaveOutClassifier(InPlace(), n_groups=4, training="trusted", n_jobs=1).fit(table, Y)
        batch = clf.ballots(table)
        assert np.array_equal(np.asarray(table), np.asarray(before))
        assert np.array_equal(batch, clf.ballots(table))
        assert len(np.unique(batch.scores.reshape(-1, 3), axis=0)) > 20


def test_values():
    diabetes, y = load_diabetes(return_X_y=True)
    for estimator in (TableBoostingRegressor(max_iter=30), HistGradientBoostingRegressor()):
        reg = LeaveOutRegressor(estimator, n_groups=5, training="trusted").fit(
            diabetes[::2], y[::2]
        )
        assert len(reg.estimators_) == 1
        low, high = reg.interval(diabetes[1::2], 1)
        predicted = reg.predict(diabetes[1::2])
        assert ((low <= predicted) & (predicted <= high)).all()
        assert reg.score(diabetes[1::2], y[1::2]) > 0.2
        assert reg.counts_.trusted == ("the training table",)


def test_trusted_columns_are_named_beside_the_table():
    clf = LeaveOutClassifier(FAST, n_groups=4, training="trusted", trusted=["c3"])
    proof = clf.fit(pd.DataFrame(X, columns=NAMES), Y).certify(pd.DataFrame(X, columns=NAMES))
    assert proof.counts.trusted == ("c3", "the training table")


def test_nearly_a_constant_is_told():
    y = np.zeros(len(X), dtype=int)
    y[0] = 1
    with pytest.warns(EmptyProofWarning, match="nearly a constant"):
        LeaveOutClassifier(FAST, n_groups=3, training="trusted").fit(X, y)


def test_a_cancer_table_keeps_its_accuracy():
    cancer, tumour = load_breast_cancer(return_X_y=True)
    clf = LeaveOutClassifier(training="trusted", n_groups=8).fit(cancer[::2], tumour[::2])
    proof = clf.certify(cancer[1::2])
    assert (proof.prediction == tumour[1::2]).mean() > 0.9
    assert (proof.radius == 1).mean() > 0.8


# ---- what is refused ----


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), LogisticRegression(), make_pipeline(SelectKBest(k=1), LogisticRegression())],
)
def test_an_estimator_that_does_not_take_missing_values_is_refused(estimator):
    name = type(estimator).__name__
    with pytest.raises(InputError, match=f"training='trusted' masks .* which {name} does not"):
        LeaveOutClassifier(estimator, training="trusted").fit(X, Y)


def test_a_pipeline_that_passes_missing_values_on_is_named_when_it_fails():
    """A scaler takes them, what follows does not: nothing tells before the fit."""
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(SubmodelError, match=r"the model of masked rows, Pipeline, .* NaN"):
        LeaveOutClassifier(scaled, training="trusted", on_failure="vote").fit(X, Y)


def test_a_sparse_matrix_is_refused():
    trees = ExtraTreesClassifier(5)
    clf = LeaveOutClassifier(trees, training="trusted")
    with pytest.raises(InputError, match=r"X is a sparse matrix, .* use X.toarray\(\)"):
        clf.fit(scipy.sparse.csr_matrix(X), Y)
    assert not clf.__sklearn_tags__().input_tags.sparse
    reads = LeaveOutClassifier(trees).__sklearn_tags__().input_tags.sparse
    assert reads == trees.__sklearn_tags__().input_tags.sparse


# ---- the parts ----


def test_masked_rows_follow_from_the_seed():
    clf = LeaveOutClassifier(FAST, n_groups=4, training="trusted").fit(X, Y)
    table, target, plan = clf.plan(X, Y)
    hidden = clf._hidden_columns()
    first, second = (masked_rows(table, target, plan, hidden) for _ in range(2))
    assert np.array_equal(first[0], second[0], equal_nan=True)
    assert np.array_equal(first[1], second[1])
    assert first[2] == {}


def test_the_table_is_read_once_for_all_members():
    class Counted(type(open_table(X))):
        reads = 0

        def take(self, columns, rows=None):
            Counted.reads += 1
            return super().take(columns, rows)

    clf = LeaveOutClassifier(DecisionTreeClassifier(), n_groups=4, training="trusted").fit(X, Y)
    Counted.reads = 0
    clf.ballots(Counted(X))
    assert Counted.reads == 1
