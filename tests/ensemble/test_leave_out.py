"""What both leave-out estimators share: groups, members, isolation, failures, messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    Informed,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
    Partition,
    SoundnessError,
    SubmodelError,
    SubmodelWarning,
)
from partita.ensemble import FixedVote, TableBoostingClassifier
from partita.partition import LeaveOut
from partita.rules import Median, Plurality
from tests.ensemble.type_reader import TypeReader

X, Y = load_wine(return_X_y=True)
NB = GaussianNB()
FAST = TableBoostingClassifier(max_iter=3)
BOTH = [
    (LeaveOutClassifier(GaussianNB(), n_groups=5), Y),
    (LeaveOutRegressor(Ridge(), n_groups=5), X[:, 0]),
]


def seen_by(model, table, y, change):
    """Members whose ballots change when ``change`` rewrites both tables."""
    before = clone(model).fit(table, y).ballots(table)
    other = table.copy()
    change(other)
    after = clone(model).fit(other, y).ballots(other)
    return (before != after).reshape(len(before), before.shape[1], -1).any(axis=(0, 2))


# ---- what a member sees ----


@pytest.mark.parametrize(("model", "y"), BOTH)
def test_a_corrupted_column_reaches_only_members_that_see_it(model, y):
    for column in (0, 7):

        def corrupt(table, column=column):
            table[:, column] = 1e6 * y

        fitted = clone(model).fit(X, y)
        unit = fitted.units_.names.index(str(column))
        assert np.array_equal(seen_by(model, X, y, corrupt), fitted.partition_.incidence()[unit])


def test_members_are_fitted_on_the_columns_they_do_not_leave_out():
    seen = []

    class Spy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.columns_ = list(X.columns)
            self.classes_ = np.unique(y)
            seen.append(self.columns_)
            return self

        def predict(self, X):
            assert list(X.columns) == self.columns_
            return np.full(len(X), self.classes_[0])

    table = pd.DataFrame(X, columns=[f"c{k}" for k in range(13)])
    clf = LeaveOutClassifier(
        Spy(), n_groups=4, trusted=["c2"], units={"ab": ["c0", "c1"]}, n_jobs=1
    ).fit(table, Y)
    clf.predict(table)
    sets = clf.partition_
    assert len(clf.estimators_) == len(sets) == 7  # six pairs of four groups, and all columns
    for t, model in enumerate(clf.estimators_):
        hidden = {column for unit in sets.hidden(t) for column in clf.units_.columns[unit]}
        assert model.columns_ == [f"c{k}" for k in range(13) if k not in hidden]
        assert "c2" in model.columns_
        assert ("c0" in model.columns_) == ("c1" in model.columns_)
    assert clf.estimators_[-1].columns_ == list(table.columns)


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_estimators_that_work_in_place_change_no_other_member(frame, n_jobs):
    scaled = make_pipeline(Normalizer(copy=False), MaxAbsScaler(copy=False), LogisticRegression())
    clf = LeaveOutClassifier(scaled, n_groups=4, trusted=[0], n_jobs=n_jobs)
    table = frame(X.copy())
    honest = clf.fit(table, Y).ballots(frame(X.copy()))
    assert np.array_equal(np.asarray(table), X)
    corrupt = X.copy()
    corrupt[:, 5] = 1e3 * Y
    ballots = clone(clf).fit(frame(corrupt), Y).ballots(frame(X.copy()))
    changed = (ballots != honest).any(axis=(0, 2))
    unit = clf.units_.columns.index((5,))
    assert not (changed & ~clf.partition_.incidence()[unit]).any()
    assert changed.any()


def test_an_estimator_that_writes_into_its_targets():
    target = X[:, 0].copy()
    reg = LeaveOutRegressor(PLSRegression(1, copy=False, scale=False), n_groups=4)
    honest = reg.fit(X[:, 1:], target).ballots(X[:, 1:])
    assert np.array_equal(target, X[:, 0])
    corrupt = X[:, 1:].copy()
    corrupt[:, 2] = 1e6 * target
    moved = (clone(reg).fit(corrupt, target).ballots(X[:, 1:]) != honest).any(axis=0)
    assert np.array_equal(moved, reg.partition_.incidence()[2])


@pytest.mark.parametrize("kind", ["rows", "objects", "pandas"])
@pytest.mark.parametrize("cell", ["text", [1, 2], 10**400, None], ids=["text", "list", "huge", ""])
def test_a_strange_cell_stays_with_the_members_that_see_it(kind, cell):
    """A text turns pandas columns and lists of rows into objects: others must not notice."""

    def convert(damage=False):
        rows = [list(row) for row in X]
        if damage:
            for row in rows[::9]:
                row[4] = cell
        if kind == "rows":
            return rows
        array = np.empty(X.shape, dtype=object)
        for i, j in np.ndindex(X.shape):
            array[i, j] = rows[i][j]
        if kind == "objects":
            return array
        return pd.DataFrame(
            {
                f"c{j}": pd.Series(
                    array[:, j].tolist(), dtype=object if damage and j == 4 else None
                )
                for j in range(13)
            }
        )

    clf = LeaveOutClassifier(NB, n_groups=5, on_failure="vote").fit(convert(), Y)
    honest = clf.ballots(convert())
    with pytest.warns(SubmodelWarning):
        fitted = clone(clf).fit(convert(damage=True), Y)
    free = ~clf.partition_.incidence()[4]
    assert free.sum() > 1
    assert np.array_equal(fitted.ballots(convert())[:, free], honest[:, free])
    with pytest.warns(SubmodelWarning):
        attacked = clf.ballots(convert(damage=True))
    assert np.array_equal(attacked[:, free], honest[:, free])
    assert np.array_equal(attacked[1::9], honest[1::9])


def test_categories_of_a_column_reach_only_members_that_see_it():
    """A frame keeps categories in a column's type, the attacker's among them."""

    def table(word):
        cells = {
            f"c{k}": pd.Categorical(["a", "b", word if k == 4 else "c"] * 20) for k in range(7)
        }
        return pd.DataFrame(cells)

    y = np.arange(60) % 3
    clf = LeaveOutClassifier(TypeReader(), n_groups=7).fit(table("d"), y)
    honest = clf.ballots(table("d"))
    attacked = clone(clf).fit(table("something else"), y).ballots(table("another"))
    free = ~clf.partition_.incidence()[4]
    assert np.array_equal(attacked[:, free], honest[:, free])
    assert not np.array_equal(attacked, honest)


# ---- groups and members ----


def test_groups_and_members_by_default():
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = LeaveOutClassifier(NB).fit(cancer[::8], y[::8])
    sets = clf.partition_
    assert isinstance(sets, LeaveOut)
    assert len(sets.groups) == 17  # 136 pairs, within 150 models
    assert len(sets) == 137
    assert {len(groups) for groups in sets.left_out} == {8, 0}
    assert sets.left_out[-1] == ()
    assert (clf.counts_.what, clf.counts_.total) == ("columns", 30)
    assert clf.ballots(cancer[:3]).shape == (3, 137, 2)
    reg = LeaveOutRegressor(Ridge(), radius=2).fit(cancer[::8], y[::8])
    assert len(reg.partition_.groups) == 9
    assert () not in reg.partition_.left_out
    assert reg.ballots(cancer[:3]).shape == (3, len(reg.partition_))


def test_one_member_for_each_model():
    clf = LeaveOutClassifier(NB, radius=2, n_groups=6, leave_out=4).fit(X, Y)
    assert len(clf.partition_) == 16
    assert {len(groups) for groups in clf.partition_.left_out} == {4, 0}


def test_groups_of_the_users_own():
    lists = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    clf = LeaveOutClassifier(NB, partition=lists).fit(X, Y)
    assert [list(group) for group in clf.partition_.groups] == lists
    assert clf.partition_.groups == Partition(lists)
    same = LeaveOutClassifier(NB, partition=Partition(lists), n_groups=4).fit(X, Y)
    assert np.array_equal(same.ballots(X), clf.ballots(X))
    strided = LeaveOutClassifier(NB, partition="strided", n_groups=4).fit(X, Y)
    assert strided.partition_.groups[0] == (0, 4, 8, 12)
    informed = LeaveOutClassifier(NB, partition=Informed(X[1::2], Y[1::2]), n_groups=4)
    assert len(informed.fit(X[::2], Y[::2]).partition_.groups) == 4


def test_units_are_never_split():
    units = np.arange(13) % 6
    clf = LeaveOutClassifier(NB, units=units).fit(X, Y)
    assert len(clf.units_) == 6
    for t in range(len(clf.partition_)):
        columns = set(clf.columns_of(t))
        for unit in range(6):
            own = set(np.flatnonzero(units == unit))
            assert own <= columns or not own & columns
    assert clf.certify(X).counts.total == 6


def test_a_member_is_named_by_what_it_leaves_out():
    clf = LeaveOutClassifier(NB, n_groups=3, units=np.arange(13) // 2).fit(X, Y)
    hidden = clf.partition_.hidden(0)
    assert clf.describe(0) == "submodel 0 (without units " + ", ".join(map(str, hidden)) + ")"
    assert clf.describe(3) == "submodel 3 (of all columns)"
    many = LeaveOutClassifier(NB, n_groups=3).fit(X, Y)
    assert many.describe(0).endswith(", ...)")


def test_searches_reach_the_settings():
    search = GridSearchCV(
        LeaveOutClassifier(NB, n_groups=4), {"radius": [1], "n_groups": [3, 5]}, cv=2
    ).fit(X, Y)
    assert search.best_params_["n_groups"] in (3, 5)


def test_weights_reach_every_member():
    weights = np.where(Y == 0, 0.0, 1.0)
    tree = DecisionTreeClassifier(max_depth=3)
    clf = LeaveOutClassifier(tree, n_groups=4).fit(X, Y, sample_weight=weights)
    assert not (clf.predict(X) == 0).any()
    with pytest.raises(InputError, match="sample_weight cannot reach KNeighborsClassifier"):
        LeaveOutClassifier(KNeighborsClassifier()).fit(X, Y, sample_weight=weights)


def test_frames_and_sparse_matrices():
    names = [f"c{k}" for k in range(13)]
    clf = LeaveOutClassifier(DecisionTreeClassifier(max_depth=3), n_groups=4)
    expected = clone(clf).fit(X, Y).certify(X)
    for table in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        scipy.sparse.csr_matrix(X),
        X.tolist(),
    ):
        proof = clone(clf).fit(table, Y).certify(table)
        assert np.array_equal(proof.prediction, expected.prediction)
        assert np.array_equal(proof.radius, expected.radius)
    frame = (
        clone(clf)
        .fit(pd.DataFrame(X, index=range(5, 183)), Y)
        .certify(pd.DataFrame(X, index=range(5, 183)))
    )
    assert frame.to_frame().index[0] == 5


# ---- the same again ----


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LeaveOutClassifier(DecisionTreeClassifier(max_depth=3, max_features=2), n_groups=6), Y),
        (LeaveOutClassifier(TableBoostingClassifier(max_iter=5), n_groups=4), Y),
        (LeaveOutRegressor(DecisionTreeRegressor(max_depth=3, max_features=2), radius=2), X[:, 0]),
        (LeaveOutRegressor(Ridge(), n_groups=5), X[:, 0]),
    ],
    ids=["trees", "boosting", "regression trees", "ridge"],
)
def test_a_second_fit_and_other_threads_give_the_same_bits(model, y):
    ballots = [
        clone(model).set_params(n_jobs=n_jobs).fit(X, y).ballots(X) for n_jobs in (1, 1, 2, 4)
    ]
    assert all(np.array_equal(ballots[0], others) for others in ballots[1:])
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(other.ballots(X), ballots[0])


@pytest.mark.parametrize("training", ["attackable", "trusted"])
def test_a_row_does_not_depend_on_its_batch(training):
    boosting = TableBoostingClassifier(max_iter=5)
    clf = LeaveOutClassifier(boosting, n_groups=5, training=training).fit(X[::2], Y[::2])
    batch, proof = clf.ballots(X), clf.certify(X)
    for i in (0, 3, 77, 177):
        assert np.array_equal(clf.ballots(X[i : i + 1])[0], batch[i])
        alone = clf.certify(X[i : i + 1])
        assert (alone.prediction[0], alone.radius[0]) == (proof.prediction[i], proof.radius[i])
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(clf.ballots(X[shuffled]), batch[shuffled])


# ---- failures ----


def test_a_group_that_crashes_its_members_stops_neither_fit_nor_proof():
    """More than half of all members see any one group: theirs are fixed votes, and no error."""
    clf = LeaveOutClassifier(NB, n_groups=8, leave_out=2, on_failure="vote")
    before = clf.fit(X[::2], Y[::2]).certify(X[1::2])
    train, test = X[::2].copy(), X[1::2].copy()
    train[3, 4] = test[:, 4] = np.nan
    with pytest.warns(SubmodelWarning):
        fitted = clone(clf).fit(train, Y[::2])
    failed = [isinstance(model, FixedVote) for model in fitted.estimators_]
    assert np.array_equal(failed, clf.partition_.incidence()[4])
    assert sum(failed) > len(failed) / 2
    after = fitted.certify(test)
    safe = before.radius >= 1
    assert safe.sum() > 30
    assert np.array_equal(after.prediction[safe], before.prediction[safe])


def test_a_model_whose_members_all_fail_is_a_constant_that_says_so():
    """Honest failures in all groups but one: whoever owns that one must not stop the model."""
    broken = X.copy()
    broken[0] = np.nan
    with pytest.warns(SubmodelWarning, match="11 of 11 submodels failed to fit; each casts"):
        clf = LeaveOutClassifier(NB, n_groups=5, on_failure="vote").fit(broken, Y)
    proof = clf.certify(X)
    assert (proof.prediction == np.bincount(Y).argmax()).all()
    assert (proof.radius == 1).all()
    mended = np.where(clf.partition_.groups.incidence()[:, 0], X, broken)  # one group: an attacker
    with pytest.warns(SubmodelWarning):
        assert (clone(clf).fit(mended, Y).predict(X) == proof.prediction).all()
    with pytest.warns(SubmodelWarning, match="10 of 10"):
        reg = LeaveOutRegressor(Ridge(), n_groups=5, on_failure="vote").fit(broken, X[:, 0])
    assert np.allclose(reg.predict(X), np.median(X[:, 0]))
    with pytest.raises(SubmodelError, match=r"submodel \d+ \(without columns"):
        LeaveOutClassifier(NB, n_groups=5).fit(broken, Y)

    class OnlyWide(GaussianNB):
        def fit(self, X, y):
            if X.shape[1] < 13:
                raise ValueError("too narrow")
            return super().fit(X, y)

    with pytest.warns(SubmodelWarning, match="10 of 11 submodels"):
        LeaveOutClassifier(OnlyWide(), n_groups=5, on_failure="vote").fit(X, Y)


def test_a_member_that_is_another_when_fitted_again_is_noticed():
    class Counter(GaussianNB):
        calls = 0

        def fit(self, X, y):
            Counter.calls += 1
            return super().fit(X * (1 + Counter.calls * 1e-3), y)

    with pytest.raises(SoundnessError, match="gives other scores"):
        LeaveOutClassifier(Counter(), n_groups=4, n_jobs=1).fit(X, Y)


# ---- what is refused ----


class Joint(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def fit_submodels(self, X, y, columns, seeds):
        return []


WIDE = np.zeros((20, 200))


@pytest.mark.parametrize(
    ("settings", "table", "message"),
    [
        ({}, X[:, :2], "radius is 1, which needs at least 3 columns, but the table has 2"),
        ({}, X[:, :1], "radius is 1, which needs at least 3 columns, but the table has 1"),
        ({"radius": 7}, X, "radius is 7, which needs at least 15 columns, but the table has 13"),
        (
            {"radius": 2, "units": [0, 1, 2, 3] * 3 + [3]},
            X,
            "at least 5 units, but the table has 4",
        ),
        ({"trusted": list(range(11))}, X, "at least 3 columns, but the table has 2"),
        ({"n_groups": 14}, X, "n_groups is 14: with radius 1 and 13 columns it must be from 3 to"),
        ({"n_groups": 4, "radius": 2}, X, "n_groups is 4: with radius 2 .* from 5 to 13"),
        ({"leave_out": 3, "radius": 2}, X, "leave_out is 3: with radius 2 and 9 groups"),
        ({"leave_out": 5, "n_groups": 5}, X, "leave_out is 5: .* it must be from 2 to 4"),
        (
            {"n_groups": 13, "leave_out": 2, "max_models": 50},
            X,
            "max_models is 50, but 13 groups and radius 1 need 78 models: raise max_models",
        ),
        ({"n_groups": 13, "leave_out": 3, "max_models": 10}, X, "max_models is 10, too few for 13"),
        ({"radius": 80}, WIDE, "161 groups and radius 80 have too many sets of groups: use fewer"),
        ({"partition": [[0], list(range(1, 13))]}, X, "partition has 2 groups: radius 1 needs at"),
        (
            {"partition": [[0], [1], list(range(2, 13))], "n_groups": 5},
            X,
            "n_groups is 5, but partition has 3 groups: leave n_groups out",
        ),
        ({"partition": [[0], [1], [2]]}, X, "partition leaves out the column '3'"),
        ({"partition": Partition([[0], [1], [2]])}, X, "partition is made for 3 units"),
        ({"estimator": Joint()}, X, "estimator Joint trains all submodels of a partition at once"),
        ({"estimator": NB, "training": "trusted"}, X, "which GaussianNB does not accept: use an"),
    ],
)
def test_what_cannot_be_proven_is_refused(settings, table, message):
    y = np.arange(len(table)) % 2
    with pytest.raises(InputError, match=message):
        LeaveOutClassifier(**({"estimator": NB} | settings)).fit(table, y)


@pytest.mark.parametrize(
    "settings",
    [
        {"radius": 0},
        {"radius": 1.5},
        {"n_groups": 2},
        {"n_groups": "many"},
        {"max_models": 2},
        {"leave_out": 1},
        {"training": "none"},
        {"partition": "spiral"},
        {"on_failure": "ignore"},
    ],
    ids=repr,
)
def test_wrong_settings_are_named(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=f"The '{name}' parameter of LeaveOutClassifier must be"):
        LeaveOutClassifier(NB, **settings).fit(X, Y)


def test_an_estimator_of_the_other_task_is_refused():
    with pytest.raises(InputError, match=r"LinearRegression is a regressor: .* LeaveOutRegressor"):
        LeaveOutClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(InputError, match=r"GaussianNB is a classifier: .* LeaveOutClassifier"):
        LeaveOutRegressor(NB).fit(X, Y)
    with pytest.raises(InputError, match=r"y holds values that are not numbers: .* LeaveOutClass"):
        LeaveOutRegressor(Ridge()).fit(X, Y.astype(str).astype(object) + "a")


@pytest.mark.parametrize("training", ["attackable", "trusted"])
def test_settings_changed_after_the_fit_change_no_ballot(training):
    other = {"attackable": "trusted", "trusted": "attackable"}[training]
    clf = LeaveOutClassifier(FAST, n_groups=4, training=training).fit(X, Y)
    before, proof = clf.ballots(X), clf.certify(X)
    clf.set_params(training=other, radius=2, n_groups=7)
    after = clf.certify(X)
    assert np.array_equal(clf.ballots(X), before)
    assert np.array_equal(after.radius, proof.radius)
    assert after.counts == proof.counts


def test_another_rule_certifies_nothing():
    """It would count members as if one unit reached one of them."""
    clf = LeaveOutClassifier(NB, n_groups=4).fit(X, Y)
    clf.rule_ = Plurality()
    with pytest.raises(InputError, match=r"rule is Plurality\(\), but models that leave units out"):
        clf.certify(X)
    reg = LeaveOutRegressor(Ridge(), n_groups=4).fit(X, X[:, 0])
    reg.rule_ = Median()
    for certify in (lambda: reg.certify(X, tolerance=1.0), lambda: reg.interval(X, 1)):
        with pytest.raises(InputError, match="decided by agreement alone"):
            certify()


def test_a_failed_fit_leaves_nothing_behind():
    clf = LeaveOutClassifier(NB, n_groups=4).fit(X, Y)
    with pytest.raises(InputError):
        clf.fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="not fitted"):
        clf.predict(X)


def test_a_full_models_accuracy_is_kept():
    """The point of it: beside a partition vote, hardly anything is lost."""
    cancer, y = load_breast_cancer(return_X_y=True)
    train, test = slice(0, None, 2), slice(1, None, 2)
    full = GaussianNB().fit(cancer[train], y[train]).score(cancer[test], y[test])
    clf = LeaveOutClassifier(NB, n_groups=8).fit(cancer[train], y[train])
    assert clf.score(cancer[test], y[test]) > full - 0.02
    vote = FeaturePartitionClassifier(NB, n_submodels=3).fit(cancer[train], y[train])
    right = [model.certify(cancer[test]).correct(y[test]) for model in (clf, vote)]
    radii = [model.certify(cancer[test]).radius >= 1 for model in (clf, vote)]
    assert (right[0] & radii[0]).mean() > (right[1] & radii[1]).mean()


def test_values_keep_a_full_models_accuracy():
    diabetes, y = load_diabetes(return_X_y=True)
    train, test = slice(0, None, 2), slice(1, None, 2)
    full = Ridge(0.1).fit(diabetes[train], y[train]).score(diabetes[test], y[test])
    reg = LeaveOutRegressor(Ridge(0.1), leave_out=2, n_groups=8).fit(diabetes[train], y[train])
    assert reg.score(diabetes[test], y[test]) > full - 0.05
