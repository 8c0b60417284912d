"""What both estimators share: tables, names, partitions, weights, threads, messages."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_info

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    Informed,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    Partition,
    SubmodelError,
    Units,
    certify_patches,
)
from partita.ensemble import TableBoostingClassifier, _base
from partita.ensemble._base import fit_full_model, full_predictions
from partita.metrics import certified_scorer
from partita.rules import Median, Tournament
from partita.tables import open_table
from tests.ensemble.csv_table import FRAME, WORDS

X, Y = load_wine(return_X_y=True)


TREE = DecisionTreeClassifier(max_depth=3)
FAST = TableBoostingClassifier(max_iter=3)  # the default, for texts and missing values, but small


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
    """A fraction, a text or a missing value in a list of rows leaves other columns as they are."""
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


def test_column_names_are_remembered_and_checked():
    clf = FeaturePartitionClassifier(FAST).fit(FRAME, WORDS)
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


def test_the_rule_is_not_changed_by_fit():
    rule = Tournament(prior=0.5)
    clf = FeaturePartitionClassifier(GaussianNB(), rule=rule).fit(X, Y)
    assert rule.shares is None
    assert clf.rule_.shares == pytest.approx((np.bincount(Y) + 1) / (len(Y) + 3))


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
        requested = clone(TREE).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            FeaturePartitionClassifier(requested),
            {"n_submodels": [3, 5]},
            scoring=certified_scorer(),
            cv=2,
        )
        assert 0 not in search.fit(X, Y, sample_weight=weights).predict(X)


def test_sparse_tables_give_the_ballots_of_dense_ones():
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
        FAST,
        RandomForestClassifier(5),
        LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1),
    ],
)
def test_results_do_not_depend_on_n_jobs(estimator):
    clf = FeaturePartitionClassifier(estimator, n_submodels=7, n_jobs=1)
    expected = clf.fit(X, Y).ballots(X)
    for n_jobs in (None, 5, -1):
        assert np.array_equal(clf.set_params(n_jobs=n_jobs).fit(X, Y).ballots(X), expected)
    with joblib.parallel_config("loky", n_jobs=2):
        clf.set_params(n_jobs=None).fit(X, Y)
    assert np.array_equal(clf.ballots(X), expected)


def test_a_backend_without_a_generator_of_results_works():
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


@pytest.mark.parametrize(("n_columns", "expected"), [(1, 1), (2, 1), (8, 7), (9, 9), (13, 13)])
def test_auto_is_odd_and_fits(n_columns, expected):
    assert len(FeaturePartitionClassifier(TREE).fit(X[:, :n_columns], Y).estimators_) == expected


def test_auto_is_21_where_there_are_enough_units():
    digits, y = load_digits(return_X_y=True)
    assert (
        len(FeaturePartitionClassifier(GaussianNB(var_smoothing=0.1)).fit(digits, y).partition_)
        == 21
    )


def test_a_partition_can_be_given():
    lists = [["size", "zip"], ["colour", "street", "day"], ["open", "count"]]
    clf = FeaturePartitionClassifier(FAST, partition=lists).fit(FRAME, WORDS)
    assert clf.partition_ == Partition([[0, 3], [1, 2, 4], [5, 6]])
    again = FeaturePartitionClassifier(FAST, partition=clf.partition_).fit(FRAME, WORDS)
    assert len(again.estimators_) == 3
    assert clone(clf).fit(FRAME, WORDS).partition_ == clf.partition_


@pytest.mark.parametrize("partition", ["spiral", "patch", "strided", "random"])
def test_a_pixel_with_its_channels_is_one_unit(partition):
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


def test_an_estimator_without_scikit_learns_tags_is_refused():
    with pytest.raises(ValueError, match="The 'estimator' parameter"):
        FeaturePartitionClassifier(Duck(), rule="plurality").fit(X, Y)


def test_progress_is_printed_on_standard_error(capsys):
    FeaturePartitionClassifier(TREE, n_submodels=5, verbose=1).fit(X, Y).predict(X)
    printed = capsys.readouterr().err
    assert "fitted 5 of 5 submodels" in printed
    assert "scored" not in printed
    FeaturePartitionClassifier(TREE, n_submodels=5, verbose=2).fit(X, Y).predict(X)
    assert "scored 5 of 5 submodels" in capsys.readouterr().err


def test_open_settings_of_the_tournament_are_resolved_before_training():
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


def test_units_keep_the_image_in_order():
    digits, y = load_digits(return_X_y=True)
    shuffled = {f"pixel {p}": [int(p)] for p in np.random.default_rng(0).permutation(64)}
    tree = DecisionTreeClassifier(max_depth=6)
    named = FeaturePartitionClassifier(
        tree, units=shuffled, image_shape=(8, 8, 1), partition="patch", n_submodels=16
    )
    plain = FeaturePartitionClassifier(
        tree, image_shape=(8, 8, 1), partition="patch", n_submodels=16
    )
    ballots = named.fit(digits[:600], y[:600]).ballots(digits[600:])
    assert named.partition_ == plain.fit(digits[:600], y[:600]).partition_
    assert np.array_equal(
        certify_patches(ballots, named.partition_, (8, 8), (2, 2)).radius,
        certify_patches(ballots, plain.partition_, (8, 8), (2, 2)).radius,
    )
    mixed = np.repeat(np.arange(64), 3)
    mixed[[0, 3]] = mixed[[3, 0]]  # as many units as pixels, but other ones
    with pytest.raises(InputError, match="as many units as image_shape has pixels, but they"):
        clone(plain).set_params(units=mixed, image_shape=(8, 8, 3)).fit(
            np.repeat(digits[:600], 3, axis=1), y[:600]
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": {0: [1, 2]}}, "two units of one name"),
        ({"units": Units(((0,), (1, 2, 3, 4, 5)), ("a", "a"), "units")}, "two units of one name"),
        ({"units": lambda name: [name]}, "neither a string nor a number"),
        ({"units": np.zeros((6, 2))}, "neither a string nor a number"),
        ({"units": [0, 0, 1, 1, 2, 2], "image_shape": (2,)}, "image_shape is"),
        ({"classes": []}, r"classes is \[\]"),
        ({"classes": 5}, "classes is 5"),
        ({"classes": (None, None)}, "cannot be put in order"),
        ({"classes": [[0, 1]]}, "classes is"),
        ({"partition": Informed(X[:50, :6] + 1, None)}, "y_ref is None"),
    ],
)
def test_wrong_units_and_classes_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        FeaturePartitionClassifier(GaussianNB(), **settings).fit(X[:, :6], Y)


def test_wrong_arrays_are_named():
    with pytest.raises(InputError, match="masked array"):
        FeaturePartitionClassifier(GaussianNB()).fit(np.ma.masked_array(X, X > 20), Y)
    with pytest.raises(InputError, match="two columns named '1'"):
        FeaturePartitionClassifier(GaussianNB()).fit(
            pd.DataFrame(X[:, :6], columns=[0, 1, 1, 2, 3, 4]), Y
        )


def test_a_notebook_shows_scikit_learns_own_diagram():
    clf = FeaturePartitionClassifier(make_pipeline(StandardScaler(), TREE), rule=Tournament())
    for page in (clf._repr_html_(), clf.fit(X, Y)._repr_html_()):
        assert "sk-toggleable" in page
        for name in ("FeaturePartitionClassifier", "StandardScaler", "DecisionTreeClassifier"):
            assert name in page


def test_the_full_model_is_the_estimator_on_all_columns():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, spread=2).fit(X, Y)
    clf.full_model_ = fit_full_model(clf, X, Y)
    expected = GaussianNB().fit(X, Y).predict(X)
    assert np.array_equal(full_predictions(clf, open_table(X)), expected)
    diabetes, target = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5).fit(diabetes, target)
    reg.full_model_ = fit_full_model(reg, diabetes, target)
    predicted = full_predictions(reg, open_table(diabetes))
    assert np.allclose(predicted, Ridge().fit(diabetes, target).predict(diabetes))


@pytest.mark.parametrize("training", ["attackable", "trusted"])
def test_a_model_that_leaves_groups_out_is_compared_with_one_on_all_columns(training):
    """On the rows as they are, whether or not the ensemble learns from masked ones."""
    small = TableBoostingClassifier(max_iter=5)
    clf = LeaveOutClassifier(small, n_groups=4, training=training).fit(X, Y)
    assert (clf.full_member is None) == (training == "trusted")
    clf.full_model_ = fit_full_model(clf, X, Y)
    expected = TableBoostingClassifier(max_iter=5).fit(X, Y).predict(X)
    assert np.array_equal(full_predictions(clf, open_table(X)), expected)
    assert not hasattr(clf.fit(X, Y), "full_model_")
    diabetes, target = load_diabetes(return_X_y=True)
    reg = LeaveOutRegressor(Ridge(), n_groups=4).fit(diabetes, target)
    reg.full_model_ = fit_full_model(reg, diabetes, target)
    predicted = full_predictions(reg, open_table(diabetes))
    assert np.allclose(predicted, Ridge().fit(diabetes, target).predict(diabetes))


def test_without_a_full_model_there_is_nothing_to_compare():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)
    assert full_predictions(clf, open_table(X)) is None


class FailsWide(GaussianNB):
    """Cannot learn many columns, or predict a 7."""

    def fit(self, X, y):
        if X.shape[1] > 5:
            raise ValueError("too wide")
        return super().fit(X, y)

    def predict(self, X):
        if (X == 7).any():
            raise MemoryError if (X == 7).all() else ValueError("no sevens")
        return super().predict(X)


def test_a_full_model_that_fails_stops_nothing_but_a_lack_of_memory_does():
    clf = FeaturePartitionClassifier(FailsWide(), n_submodels=5).fit(X, Y)
    assert fit_full_model(clf, X, Y) is None
    clf.full_model_ = FailsWide().fit(X[:, :5], Y)
    assert full_predictions(clf, open_table(X[:, :5])) is not None
    assert full_predictions(clf, open_table(np.where(np.arange(5) == 2, 7, X[:, :5]))) is None
    with pytest.raises(MemoryError):
        full_predictions(clf, open_table(np.full((3, 5), 7.0)))


def test_labels_come_back_from_an_estimator_that_learns_positions():
    xgboost = pytest.importorskip("xgboost")
    names = np.array(["low", "mid", "high"])[Y]
    estimator = xgboost.XGBClassifier(n_estimators=3, n_jobs=1)
    clf = FeaturePartitionClassifier(estimator, n_submodels=3).fit(X, names)
    clf.full_model_ = fit_full_model(clf, X, names)
    assert set(full_predictions(clf, open_table(X))) <= {"low", "mid", "high"}


def test_threads_score_what_one_thread_scores(monkeypatch):
    clf = FeaturePartitionClassifier(RandomForestClassifier(3), n_submodels=5, n_jobs=4).fit(X, Y)
    expected = clf.ballots(X)  # few rows: one thread
    monkeypatch.setattr(_base, "FEW_ROWS", 1)
    assert np.array_equal(clf.ballots(X), expected)


def test_forests_in_threads_leave_the_warning_filters_alone(monkeypatch):
    """They set those of the process in every thread, and the last one may restore another's."""
    monkeypatch.setattr(_base, "FEW_ROWS", 1)
    before = warnings.filters
    for seed in range(5):
        clf = FeaturePartitionClassifier(RandomForestClassifier(3), n_jobs=8, random_state=seed)
        clf.fit(X, Y).ballots(X)
        assert warnings.filters is before
