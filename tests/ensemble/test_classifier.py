"""The estimators as users meet them: tables of every kind, labels of every type, searches, weights,
threads, errors."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from partita import (
    EmptyProofWarning,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    Partition,
    SubmodelError,
)
from partita._support.parallel import _blas_on_one_thread
from partita.metrics import certified_accuracy, certified_scorer
from partita.rules import Median, RunOff, TopK, Tournament
from partita.rules._base import favouring
from partita.tables._table import open_table

X, Y = load_wine(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3)


def csv_like(n_rows=400):
    """Numbers, texts, many categories, gaps, dates and booleans, as they come from a file."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_rows)
    columns = {
        "size": y + rng.normal(size=n_rows),
        "colour": np.array(["red", "green", "blue"])[(y + (rng.random(n_rows) < 0.3)) % 3],
        "street": [f"street {k}" for k in rng.integers(2000, size=n_rows)],
        "zip": [f"{k:05d}" for k in rng.integers(300, size=n_rows) * 3 + y],
        "day": pd.Timestamp("2020-01-01")
        + pd.to_timedelta(rng.integers(100, size=n_rows) + 10 * y, unit="D"),
        "open": rng.random(n_rows) < y / 3,
        "count": rng.integers(10, size=n_rows) + y,
    }
    frame = pd.DataFrame(columns)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, np.array(["low", "mid", "high"])[y]


FRAME, WORDS = csv_like()


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.astype({"colour": "category", "zip": "category"}),
        lambda frame: frame.astype({"count": "Int64", "open": "boolean", "colour": "string"}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).cast({"colour": pl.Categorical, "zip": pl.Categorical}),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: frame.drop(columns="day").to_numpy(dtype=object),
        lambda frame: (
            frame.drop(columns="day")
            .astype(object)
            .where(frame.drop(columns="day").notna(), None)
            .to_numpy()
            .tolist()
        ),
    ],
    ids=[
        "pandas",
        "categories",
        "nullable",
        "polars",
        "polars categories",
        "pyarrow",
        "objects",
        "rows",
    ],
)
def test_a_csv_like_table_with_the_default_estimator(convert):
    table = convert(FRAME)
    clf = FeaturePartitionClassifier().fit(table, WORDS)
    as_pandas = FRAME if hasattr(table, "columns") else FRAME.drop(columns="day")
    assert np.array_equal(
        clf.ballots(table), FeaturePartitionClassifier().fit(as_pandas, WORDS).ballots(as_pandas)
    )
    assert clf.score(table, WORDS) > 0.55  # a third by chance
    assert set(clf.certify(table).prediction) <= {"low", "mid", "high"}


def test_unseen_categories_and_gaps_at_prediction():
    clf = FeaturePartitionClassifier().fit(FRAME, WORDS)
    new = FRAME.iloc[:5].copy()
    new["street"], new["colour"] = "a street never seen", None
    assert len(clf.predict(new)) == 5
    new["size"] = "large"
    with pytest.raises(SubmodelError, match=r"submodel \d \(of columns size\).*could not predict"):
        clf.predict(new)


def test_values_reach_the_submodel_untouched():
    seen = {}

    class Spy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            for name in X.columns:
                seen[name] = X[name]
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    table = FRAME.astype({"colour": "category"})
    FeaturePartitionClassifier(Spy(), rule="plurality", n_submodels=4).fit(table, WORDS)
    assert set(seen) == set(table.columns)
    for name, column in seen.items():
        pd.testing.assert_series_equal(column, table[name])


def test_one_column_cannot_change_the_type_of_another():
    """A fraction, a text or a gap in one column of a list of rows leaves the other columns as they
    are."""
    big = 2**53 + 1
    rows = [[big + k % 2, 0.5] for k in range(40)]
    text = [[big + k % 2, "a"] for k in range(40)]
    y = np.arange(40) % 2
    for table in (rows, text):
        clf = FeaturePartitionClassifier(
            KNeighborsClassifier(1) if table is rows else None, n_submodels=2, partition="strided"
        )
        clf.fit(table, y)
    assert np.array_equal(open_table(rows).take([0]), open_table(text).take([0]))


def test_frames_answer_in_kind():
    labels = pd.Series(WORDS)
    indexed = FRAME.set_index(pd.Index(range(1000, 1400)))
    frame = FeaturePartitionClassifier().fit(indexed, labels).certify(indexed).to_frame()
    assert list(frame.columns) == ["prediction", "radius", "runner_up"]
    assert frame.index[0] == 1000
    polars = pl.from_pandas(FRAME)
    assert isinstance(
        FeaturePartitionClassifier().fit(polars, pl.Series(WORDS)).certify(polars).to_frame(),
        pl.DataFrame,
    )
    assert isinstance(
        FeaturePartitionClassifier(TREE).fit(X, Y).certify(X).to_frame(), pd.DataFrame
    )


def test_column_names_are_kept_and_checked():
    clf = FeaturePartitionClassifier().fit(FRAME, WORDS)
    assert list(clf.feature_names_in_) == list(FRAME.columns)
    assert clf.units_.names == tuple(FRAME.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(FRAME.rename(columns={"size": "mass"}))
    with pytest.raises(ValueError, match="same order"):
        clf.predict(FRAME[FRAME.columns[::-1]])
    with pytest.raises(ValueError, match="features"):
        FeaturePartitionClassifier(TREE).fit(X, Y).predict(X[:, :5])
    with pytest.raises(InputError, match="two columns named 'size'"):
        FeaturePartitionClassifier().fit(pd.concat([FRAME, FRAME[["size"]]], axis=1), WORDS)


@pytest.mark.parametrize(
    "labels",
    [
        Y,
        Y.astype(float),
        Y == 1,
        np.array(["a", "b", "c"])[Y],
        np.array(["a", "b", "c"], dtype=object)[Y],
        pd.Series(np.array(["a", "b", "c"])[Y], dtype="category"),
        pl.Series(np.array(["a", "b", "c"])[Y]),
        [["x", "y", "z"][label] for label in Y],
        Y - 7,
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")[Y],
    ],
    ids=["int", "float", "bool", "str", "object", "category", "polars", "list", "negative", "date"],
)
def test_labels_of_any_type(labels):
    clf = FeaturePartitionClassifier(TREE, n_submodels=5).fit(X, labels)
    given = np.asarray(labels)
    proof = clf.certify(X)
    assert np.array_equal(clf.classes_, np.unique(given))
    assert np.isin(proof.prediction, given).all()
    assert np.isin(proof.runner_up, given).all()
    assert np.mean(clf.predict(X) == given) > 0.8


def test_labels_that_cannot_be_sorted():
    with pytest.raises(InputError, match="y mixes labels"):
        FeaturePartitionClassifier(TREE).fit(X, np.array(["a", 1, 2], dtype=object)[Y])


def test_submodels_see_the_labels_as_they_are_given():
    """So a class_weight by name works as it does without the ensemble."""
    names = np.array(["a", "b", "c"])[Y]
    tree = DecisionTreeClassifier(max_depth=3, class_weight={"a": 1, "b": 5, "c": 1})
    assert FeaturePartitionClassifier(tree).fit(X, names).estimators_[0].classes_.tolist() == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    "rule",
    ["plurality", "runoff", "tournament", RunOff(exact=True), Tournament(margin=0.5, prior=0.3)],
)
def test_every_rule(rule):
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule).fit(X, Y)
    proof = clf.certify(X)
    assert np.array_equal(proof.prediction, clf.predict(X))
    assert proof.radius.dtype.kind == "i"
    assert certified_accuracy(Y, proof) > 0.85
    assert proof.counts.total == 13


def test_the_rule_is_not_changed_by_fit():
    rule = Tournament(prior=0.5)
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule).fit(X, Y)
    assert rule.shares is None
    assert clf.rule_.shares == pytest.approx((np.bincount(Y) + 1) / (len(Y) + 3))


def test_top_k_about_the_truth():
    clf = FeaturePartitionClassifier(TREE, rule=TopK(2)).fit(X[::2], Y[::2])
    proof = clf.certify(X, labels=Y)
    ranked = np.argsort(-clf.predict_proba(X), axis=1, kind="stable")[:, :2]
    assert np.array_equal(proof.radius >= 0, (ranked == Y[:, None]).any(axis=1))
    assert certified_accuracy(Y, proof, 0) == np.mean(proof.radius >= 0)
    unseen = clf.certify(X[:3], labels=[0, 99, 1])
    assert unseen.radius[1] == -1
    with pytest.raises(InputError, match="labels is missing: the radius of TopK"):
        clf.certify(X)
    with pytest.raises(InputError, match="labels is for rule=TopK"):
        FeaturePartitionClassifier(TREE).fit(X, Y).certify(X, labels=Y)


def test_scores():
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


def test_scores_that_are_no_numbers_get_the_floor():
    ballots = FeaturePartitionClassifier(Broken()).fit(X, Y).ballots(X)
    assert np.isfinite(ballots).all()
    assert ballots[0, 0, 0] == np.float32(np.log(1e-9))


def test_weights_reach_every_submodel():
    weights = np.where(Y == 0, 0.0, 1.0)
    clf = FeaturePartitionClassifier(TREE, n_submodels=3).fit(X, Y, sample_weight=weights)
    assert 0 not in clf.predict(X)
    assert 0 not in FeaturePartitionClassifier(n_submodels=3).fit(
        X, Y, sample_weight=weights
    ).predict(X)
    for estimator in (KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())):
        with pytest.raises(InputError, match="sample_weight cannot reach"):
            FeaturePartitionClassifier(estimator).fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\)"):
        FeaturePartitionClassifier(TREE).fit(X, Y, sample_weight=[1, 2, 3])


def test_weights_are_routed():
    weights = np.where(Y == 0, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        steps = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            clone(TREE).set_fit_request(sample_weight=True),
        )
        assert 0 not in FeaturePartitionClassifier(steps, n_submodels=3).fit(
            X, Y, sample_weight=weights
        ).predict(X)
        assert 0 not in FeaturePartitionClassifier(n_submodels=3).fit(
            X, Y, sample_weight=weights
        ).predict(X)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            FeaturePartitionClassifier(DecisionTreeClassifier()).fit(X, Y, sample_weight=weights)
        search = GridSearchCV(
            FeaturePartitionClassifier(), {"n_submodels": [3, 5]}, scoring=certified_scorer(), cv=2
        )
        assert 0 not in search.fit(X, Y, sample_weight=weights).predict(X)


def test_search_reaches_the_rule_and_the_submodel():
    search = GridSearchCV(
        FeaturePartitionClassifier(TREE, rule=Tournament()),
        {"rule__margin": [0, 0.5], "n_submodels": [5, 7], "estimator__max_depth": [1, 3]},
        scoring=certified_scorer(radius=1),
        cv=3,
    )
    search.fit(X, Y)
    assert set(search.best_params_) == {"rule__margin", "n_submodels", "estimator__max_depth"}
    assert 0 < search.best_score_ <= 1
    regression = GridSearchCV(
        FeaturePartitionRegressor(DecisionTreeRegressor(max_depth=3), rule=Median()),
        {"rule__stretch": [1, 1.5]},
        scoring=certified_scorer(radius=1, tolerance=0.5),
        cv=3,
    )
    assert 0 < regression.fit(X[:, :12], X[:, 12] / 300).best_score_ <= 1


def test_clones_and_pickles():
    clf = FeaturePartitionClassifier(TREE, rule=Tournament(margin=0.3), n_submodels=5).fit(X, Y)
    twin = clone(clf).fit(X, Y)
    assert np.array_equal(clf.ballots(X), twin.ballots(X))
    assert np.array_equal(clf.ballots(X), pickle.loads(pickle.dumps(clf)).ballots(X))


def test_a_pipeline_as_the_estimator():
    encode = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore"),
            lambda frame: frame.select_dtypes("object").columns,
        )
    )
    categories = FRAME[["colour", "zip", "street"]].astype(object).fillna("none")
    clf = FeaturePartitionClassifier(
        make_pipeline(encode, LogisticRegression()), n_submodels=3
    ).fit(categories, WORDS)
    assert clf.score(categories, WORDS) > 0.5


def test_sparse_tables():
    dense = FeaturePartitionClassifier(TREE, n_submodels=5).fit(X, Y)
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        clf = FeaturePartitionClassifier(TREE, n_submodels=5).fit(make(X), Y)
        assert np.array_equal(clf.ballots(make(X)), dense.ballots(X))
    with pytest.raises(
        InputError,
        match=r"X is a sparse matrix, which the default estimator does not read: give "
        r"X\.toarray\(\)",
    ):
        FeaturePartitionClassifier().fit(scipy.sparse.csr_matrix(X), Y)


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        RandomForestClassifier(5),
        LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1),
    ],
)
def test_results_do_not_depend_on_n_jobs(estimator):
    expected = FeaturePartitionClassifier(estimator, n_jobs=1).fit(X, Y).ballots(X)
    for n_jobs in (None, 2, 5, -1):
        assert np.array_equal(
            FeaturePartitionClassifier(estimator, n_jobs=n_jobs).fit(X, Y).ballots(X), expected
        )
    with joblib.parallel_config("loky", n_jobs=2):
        clf = FeaturePartitionClassifier(estimator).fit(X, Y)
    assert np.array_equal(clf.ballots(X), expected)


def test_a_backend_that_cannot_give_its_results_one_by_one():
    with joblib.parallel_config("multiprocessing", n_jobs=2):
        clf = FeaturePartitionClassifier(GaussianNB()).fit(X, Y)
    assert np.array_equal(
        clf.ballots(X), FeaturePartitionClassifier(GaussianNB()).fit(X, Y).ballots(X)
    )


class Threads(ClassifierMixin, BaseEstimator):
    """Looks at the threads it has."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.threads_ = [pool["num_threads"] for pool in threadpool_info()]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_every_submodel_has_one_thread(n_jobs):
    before = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    clf = FeaturePartitionClassifier(Threads(n_jobs=-1), rule="plurality", n_jobs=n_jobs).fit(X, Y)
    for submodel in clf.estimators_:
        assert set(submodel.threads_) <= {1}
        assert submodel.n_jobs == 1
    assert {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()} == before


def test_the_limit_of_blas_lasts_as_long_as_anybody_needs_it():
    """Several threads of one process share it: the first to be done must not lift it for the
    others."""

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, "blas"):
        first, second = _blas_on_one_thread(), _blas_on_one_thread()
        first.__enter__()
        second.__enter__()
        assert threads() == {1}
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}


def test_seeds_come_from_random_state_and_index_alone():
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3))

    def seeds(**settings):
        clf = FeaturePartitionClassifier(forest, **settings).fit(X, Y)
        return [submodel[-1].random_state for submodel in clf.estimators_]

    assert seeds(n_submodels=3) == seeds(n_submodels=7)[:3]
    assert seeds(n_submodels=3, partition="strided", n_jobs=2) == seeds(n_submodels=3)
    assert len(set(seeds(n_submodels=13))) == 13
    assert not set(seeds(n_submodels=5)) & set(seeds(n_submodels=5, random_state=1))


@pytest.mark.parametrize(("n_columns", "expected"), [(1, 1), (2, 1), (8, 7), (9, 9), (13, 13)])
def test_auto_is_odd_and_fits(n_columns, expected):
    assert len(FeaturePartitionClassifier(TREE).fit(X[:, :n_columns], Y).estimators_) == expected


def test_auto_is_21():
    digits, y = load_digits(return_X_y=True)
    assert (
        len(FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1)).fit(digits, y).partition_)
        == 21
    )


def test_the_users_own_partition():
    lists = [["size", "zip"], ["colour", "street", "day"], ["open", "count"]]
    clf = FeaturePartitionClassifier(partition=lists).fit(FRAME, WORDS)
    assert clf.partition_ == Partition([[0, 3], [1, 2, 4], [5, 6]])
    assert (
        len(FeaturePartitionClassifier(partition=clf.partition_).fit(FRAME, WORDS).estimators_) == 3
    )
    assert clone(clf).fit(FRAME, WORDS).partition_ == clf.partition_


IMAGE = {"partition": "spiral", "image_shape": (8, 8, 1)}


@pytest.mark.parametrize("partition", ["spiral", "patch", "strided", "random"])
def test_images(partition):
    digits, y = load_digits(return_X_y=True)
    rgb = np.repeat(digits, 3, axis=1)
    clf = FeaturePartitionClassifier(
        TREE, n_submodels=16, partition=partition, image_shape=(8, 8, 3)
    ).fit(rgb[:300], y[:300])
    assert clf.certify(rgb[300:400]).counts.what == "pixels"
    assert clf.certify(rgb[300:400]).counts.total == 64
    columns = [column for t in range(16) for column in clf.units_.columns_of(clf.partition_[t])]
    assert sorted(columns) == list(range(192))
    assert all(
        clf.units_.columns[unit] == (3 * unit, 3 * unit + 1, 3 * unit + 2) for unit in range(64)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_submodels": 14}, "n_submodels is 14, but there are only 13 columns"),
        ({"n_submodels": 0}, "n_submodels"),
        ({"n_submodels": 2.5}, "n_submodels"),
        ({"partition": "clever"}, "partition"),
        ({"partition": "spiral"}, "needs image_shape"),
        ({"partition": "patch", "image_shape": (13, 1)}, r"give \(height, width, channels\)"),
        ({"image_shape": (8, 8, 1)}, "makes 64 columns, but X has 13"),
        ({"partition": [[0, 1], [2]]}, "leaves out the column '3'"),
        ({"partition": [list(range(13)), [2]]}, "column 2 in submodels 0 and 1"),
        (
            {"partition": [list(range(12)), ["colour"]]},
            "column 'colour', which the table does not have",
        ),
        ({"partition": [0, 1]}, r"partition\[0\] is 0"),
        ({"partition": Partition([[0], [1]])}, "made for 2 units, but the table has 13 columns"),
        (
            {"partition": [list(range(13))], "n_submodels": 2},
            "n_submodels is 2, but partition has 1",
        ),
        ({"rule": "majority"}, "rule is 'majority'"),
        ({"rule": Median()}, "rule is a Median"),
        ({"rule": Tournament(margin=-1)}, "margin is -1"),
        ({"estimator": DecisionTreeRegressor()}, "DecisionTreeRegressor is a regressor"),
        ({"estimator": "tree"}, "estimator"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FeaturePartitionClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        (X[0], Y[:1], "Reshape your data"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, None, "requires y"),
        (X, X[:, 0], "Unknown label type"),
        (X, np.where(Y == 0, np.nan, 1.0), "NaN"),
        ([[1, 2], [3]], [0, 1], "rows of equal length"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes is greater")
def test_wrong_tables_are_named(table, labels, message):
    with pytest.raises(ValueError, match=message):
        FeaturePartitionClassifier(TREE).fit(table, labels)


def test_a_submodel_that_fails_is_named():
    broken = X.copy()
    broken[3, 4] = np.nan
    with pytest.raises(
        SubmodelError,
        match=r"submodel \d+ \(of columns 4\), GaussianNB, could not be fitted: Input X contains "
        r"NaN",
    ):
        FeaturePartitionClassifier(GaussianNB()).fit(broken, Y)


def test_a_fit_that_fails_leaves_no_half_new_ensemble():
    clf = FeaturePartitionClassifier(GaussianNB()).fit(X, Y)
    with pytest.raises(SubmodelError):
        clf.fit(np.where(X > 14, np.nan, X), Y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clf.predict(X)


class Duck:
    """No scikit-learn class, and without its tags."""

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_an_estimator_that_only_looks_like_one():
    with pytest.raises(ValueError, match="The 'estimator' parameter"):
        FeaturePartitionClassifier(Duck(), rule="plurality").fit(X, Y)


def test_progress_is_told(capsys):
    FeaturePartitionClassifier(TREE, n_submodels=5, verbose=1).fit(X, Y).predict(X)
    told = capsys.readouterr().err
    assert "fitted 5 of 5 submodels" in told
    assert "asked" not in told
    FeaturePartitionClassifier(TREE, n_submodels=5, verbose=2).fit(X, Y).predict(X)
    assert "asked 5 of 5 submodels" in capsys.readouterr().err


@pytest.mark.parametrize(
    "rule",
    [
        "plurality",
        "runoff",
        "tournament",
        Tournament(margin=0),
        Tournament(prior=1.0, offset=1.0),
        Tournament(offset=[0, 3, 0]),
        TopK(2),
    ],
)
def test_predict_proba_agrees_with_the_rule(rule):
    """Rows sum to 1, and the largest is the label that is predicted, also where the mean of the
    scores says otherwise."""
    rng = np.random.default_rng(0)
    noisy = X + rng.normal(scale=3, size=X.shape) * X.std(axis=0)
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule, n_submodels=7).fit(
        noisy[::2], np.where(Y > 1, 0, Y)[::2] + 2 * (Y > 1)[::2]
    )
    shares = clf.predict_proba(noisy)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.all(shares >= 0)
    assert np.array_equal(clf.classes_[shares.argmax(axis=1)], clf.predict(noisy))


def test_the_least_change_makes_the_chosen_class_the_largest():
    shares = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.45, 0.35, 0.2]])
    changed = favouring(shares, np.array([0, 1, 0, 2]))
    assert changed.argmax(axis=1).tolist() == [0, 1, 0, 2]
    assert np.allclose(
        changed, [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.45, 0.45, 0.1], [1 / 3] * 3], atol=1e-8
    )


def test_predict_proba_ranks():
    """Better than the shares of the votes, which have T + 1 values."""
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(cancer[::2, :10], y[::2])
    votes = (clf.ballots(cancer[1::2, :10]).argmax(axis=2) == 1).mean(axis=1)
    scores = clf.predict_proba(cancer[1::2, :10])[:, 1]
    assert len(np.unique(scores)) > 200
    assert roc_auc_score(y[1::2], scores) > roc_auc_score(y[1::2], votes) + 0.005


def test_open_settings_of_the_tournament_are_filled_before_training():
    assert repr(FeaturePartitionClassifier(GaussianNB()).fit(X, Y).rule_).startswith(
        "Tournament(margin=0.25, prior=1.0, offset=0.25, shares="
    )
    assert (
        repr(FeaturePartitionClassifier(RidgeClassifier()).fit(X, Y).rule_)
        == "Tournament(margin=0.0, prior=0.0, offset=0.0)"
    )
    given = (
        FeaturePartitionClassifier(GaussianNB(), rule=Tournament(margin=0.2, prior=0))
        .fit(X, Y)
        .rule_
    )
    assert (given.margin, given.prior, given.shares) == (0.2, 0, None)
    attacked = (
        FeaturePartitionClassifier(
            GaussianNB(), n_submodels=3, label_attacks="rows", classes=[0, 1, 2]
        )
        .fit(X, Y)
        .rule_
    )
    assert (attacked.margin, attacked.prior, attacked.shares) == (0.25, 0.0, None)


def test_a_model_that_is_nearly_a_constant_is_told():
    rng = np.random.default_rng(0)
    noise, rare = rng.normal(size=(600, 9)), (rng.random(600) < 0.03).astype(int)
    with pytest.warns(
        EmptyProofWarning, match=r"training rows are predicted 0: the model is nearly a constant"
    ):
        FeaturePartitionClassifier(GaussianNB(), rule="plurality").fit(noise, rare)


def test_labels_reach_xgboost_as_integers():
    xgboost = pytest.importorskip("xgboost")
    names = np.array(["low", "mid", "high"])[Y]
    clf = FeaturePartitionClassifier(
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1), n_submodels=5
    ).fit(X[::2], names[::2])
    assert clf.classes_.tolist() == ["high", "low", "mid"]
    assert (clf.predict(X[1::2]) == names[1::2]).mean() > 0.8
    numbers = FeaturePartitionClassifier(
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1), n_submodels=5
    ).fit(X[::2], Y[::2] * 10 + 3)
    assert set(numbers.predict(X)) <= {3, 13, 23}


def test_a_row_alone_or_in_a_batch():
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(n_submodels=5).fit(cancer, y)
    batch = clf.ballots(cancer[:20])
    alone = np.concatenate([clf.ballots(cancer[i : i + 1]) for i in range(20)])
    assert np.array_equal(batch, alone)


def test_one_class_is_certified_against_everything():
    proof = FeaturePartitionClassifier(n_submodels=5).fit(X, np.zeros(len(X))).certify(X)
    assert np.all(proof.radius == 13)  # all columns
    assert proof.runner_up is None
    assert "runner_up" not in proof.to_frame()
    assert certified_accuracy(np.zeros(len(X)), proof, 13) == 1
