"""The audit: it finds nothing where the proof holds, and finds what was planted where it does
not."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    SubmodelWarning,
    fit_parquet,
)
from partita.audit import _replay as replay
from partita.audit import audit
from partita.audit._attacked_table import Cells
from partita.audit._candidates import POISONS, evading, poisoned
from partita.audit._files import audit_file
from partita.audit._findings import read_audit
from partita.audit._hostile_values import (
    DAMAGES,
    FAMILIES,
    damaged,
    mixtures,
    rewritten,
    values_of,
    ways,
)
from partita.audit._vote_options import explore
from partita.datasets import load_digits
from partita.rules import Median, Plurality, RunOff, Tournament

RULES = [Plurality(), RunOff(), Tournament()]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return (
        X[::2].reset_index(drop=True),
        y[::2].to_numpy(),
        X[1::2].reset_index(drop=True),
        y[1::2].to_numpy(),
    )


@pytest.fixture(scope="module")
def arrays(cancer):
    """Frames take longer."""
    X, y, X_test, y_test = cancer
    return X.to_numpy(), y, X_test.to_numpy(), y_test


def audited(model, data, **options):
    X, y, X_test, y_test = data
    return audit(model.fit(X, y), X_test, y_test, X, y, **{"rows": 60, "most": 3, **options})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_what_is_proven_holds(arrays, rule):
    found = audited(
        FeaturePartitionClassifier(DecisionTreeClassifier(max_depth=3), n_submodels=9, rule=rule),
        arrays,
    )
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} == {
        "evasion",
        "backdoor",
        *(f"poisoning: {kind}" for kind in ("noise", "constant", "permutation", "label")),
        *(
            f"poisoning: {kind}" for kind in ("large numbers", "gaps", "one cell")
        ),  # trees refuse extremes and infinities
    }
    for line in found.lines:
        assert line.certified_changed == 0 < line.certified <= line.rows == 60
        assert line.changed <= line.rows - line.certified
        assert line.certified_accuracy <= line.accuracy
    evasion = [line for line in found.lines if line.attack == "evasion"]
    assert [line.r for line in evasion] == [1, 2, 3]
    assert evasion[2].changed >= evasion[1].changed >= evasion[0].changed
    assert evasion[2].changed > 10  # the attacks are real
    assert sum(line.changed for line in found.lines if line.attack == "backdoor") > 10
    assert len(found.checks) > 10
    assert "checks passed" in str(found)


class Boastful(Plurality):
    """Says one more than it can prove."""

    def certify(self, ballots, **over):
        proof = super().certify(ballots, **over)
        return replace(proof, radius=np.minimum(proof.radius + 1, 4))


def test_a_radius_that_is_one_too_large_is_found_and_can_be_done_again(cancer, tmp_path):
    model = FeaturePartitionClassifier(
        DecisionTreeClassifier(max_depth=3), n_submodels=9, rule=Boastful()
    )
    found = audited(model, cancer, attacks=("evasion", "poisoning"), most=2)
    assert not found.passed
    assert {one.attack for one in found.broken} >= {"evasion", "backdoor"}
    assert any(line.certified_changed for line in found.lines)
    assert "BROKEN: row" in str(found)
    X, y, X_test, _ = cancer
    written = json.loads(found.save(tmp_path / "audit.json").read_text())
    honest = model.predict(X_test)
    for attack in ("evasion", "backdoor"):
        one = next(one for one in written["broken"] if one["attack"] == attack)
        assert one["radius"] >= one["r"] >= len(one["units"]) > 0
        assert honest[one["row"]] == one["before"] != one["after"]
        assert replay(one, model, X_test, X, y) == one["after"]
    with pytest.raises(InputError, match="X_train is missing"):
        replay(one, model, X_test)


# ---- estimators that leak ----


def numbers(X):
    return np.array(X, dtype=float)


class Own(ClassifierMixin, BaseEstimator):
    """Takes any number, and keeps to its own columns and rows. Those below do not."""

    def __init__(self, on=1e12):
        self.on = on  # what they react to: numbers above this, infinities or gaps

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.own_ = GaussianNB().fit(self._usable(numbers(X)), y)
        return self

    def _usable(self, X):
        return np.clip(np.nan_to_num(X, nan=0.0), -1e5, 1e5)

    def _strange(self, X):
        """Which rows hold what it reacts to."""
        bad = (
            np.isnan(X)
            if self.on == "gaps"
            else np.isinf(X)
            if self.on == "infinities"
            else np.abs(X) > self.on
        )
        return bad.any(axis=1)

    def predict_proba(self, X):
        return self.own_.predict_proba(self._usable(numbers(X)))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class RemembersInTraining(Own):
    """Once some copy was fitted on a strange value, all copies that are fitted later answer the
    opposite."""

    seen = False

    def fit(self, X, y):
        kind = type(self)
        kind.seen = kind.seen or bool(self._strange(numbers(X)).any())
        self.turned_ = kind.seen
        return super().fit(X, y)

    def predict_proba(self, X):
        return super().predict_proba(X)[:, :: -1 if self.turned_ else 1]


class RemembersInRows(Own):
    """Once some copy was asked about a strange value, all copies answer the opposite."""

    seen = False

    def predict_proba(self, X):
        kind = type(self)
        kind.seen = kind.seen or bool(self._strange(numbers(X)).any())
        return super().predict_proba(X)[:, :: -1 if kind.seen else 1]


class LooksAtNeighbour(Own):
    """What a copy says depends on what the copy that was asked before it was shown."""

    before = False

    def predict_proba(self, X):
        turned, type(self).before = type(self).before, bool(self._strange(numbers(X)).any())
        return super().predict_proba(X)[:, :: -1 if turned else 1]


class LooksAtBatch(Own):
    """One strange value in a batch changes what it says of all rows of the batch, by so little that
    rounding might have done it."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** (1 + 2e-6 * self._strange(numbers(X)).any())


class StandardisesByBatch(Own):
    def predict_proba(self, X):
        X = self._usable(numbers(X))
        return self.own_.predict_proba((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9))


class FillsGapsByBatch(Own):
    def predict_proba(self, X):
        X = numbers(X)
        means = np.nan_to_num(np.nanmean(np.vstack([X, np.zeros(X.shape[1])]), axis=0))
        return super().predict_proba(np.where(np.isnan(X), means, X))


class OtherwiseAlone(Own):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, :: -1 if len(X) == 1 else 1]


class SortsBatch(Own):
    """Gives the answers in the order of the first column."""

    def predict_proba(self, X):
        return super().predict_proba(X)[np.argsort(numbers(X)[:, 0], kind="stable")]


@pytest.fixture(autouse=True)
def _forget():
    for kind in (RemembersInTraining, RemembersInRows, LooksAtNeighbour):
        kind.seen = kind.before = False


@pytest.fixture(scope="module")
def small(cancer):
    """Ten columns, with gaps, as an array: less to do."""
    X, y, X_test, y_test = cancer
    rng = np.random.default_rng(0)
    X, X_test = (
        table.iloc[:, 10:20].mask(rng.random((len(table), 10)) < 0.1).to_numpy()
        for table in (X, X_test)
    )
    return X, y, X_test, y_test


def looked_at(estimator, data, **options):
    model = FeaturePartitionClassifier(
        estimator, n_submodels=5, n_jobs=1, **options.pop("model", {})
    )
    return audited(model, data, **{"rows": 40, "most": 1, **options})


def failed(found):
    return [check.name for check in found.checks if check.found]


LONG = pytest.mark.long
STRANGE = [1e5, pytest.param(1e12, marks=LONG), pytest.param(1e200, marks=LONG), "infinities"]


@pytest.mark.parametrize("on", STRANGE)
def test_what_leaks_from_a_strange_value_in_training_is_found(small, on):
    found = looked_at(RemembersInTraining(on), small, attacks=("checks",))
    assert not found.passed
    assert "FAILED" in str(found)
    assert any("in training move" in name for name in failed(found))
    assert not any(
        "rewritten" in name or "n_jobs" in name or "in the rows" in name for name in failed(found)
    )  # it takes a strange value


def test_a_leak_in_training_changes_certified_predictions(small):
    found = looked_at(RemembersInTraining(), small, attacks=("poisoning",))
    assert not found.passed
    assert {one.attack for one in found.broken} | set(failed(found))


@pytest.mark.parametrize("on", STRANGE)
@pytest.mark.parametrize("kind", [RemembersInRows, LooksAtNeighbour])
def test_what_leaks_from_a_strange_value_in_the_rows_is_found(small, kind, on):
    X, y, X_test, y_test = small
    model = FeaturePartitionClassifier(kind(on), n_submodels=5, n_jobs=1).fit(X, y)
    found = audit(
        model, X_test, y_test, rows=30, most=1, attacks=("checks",)
    )  # no training data is needed to see it
    where = (
        "in the rows move no other submodel" if kind is LooksAtNeighbour else "alone and in a batch"
    )
    assert any(where in name for name in failed(found))


def test_a_leak_in_the_rows_changes_certified_predictions(small):
    found = looked_at(RemembersInRows(), small, attacks=("evasion",))
    assert not found.passed
    assert {one.attack for one in found.broken} == {"evasion"}


def test_a_model_that_is_another_after_the_attacks_is_found(small):
    class RemembersUnsaid(RemembersInRows):
        """Changes after the batch in which it met something strange."""

        asked = 0

        def predict_proba(self, X):
            kind = type(self)
            shares = Own.predict_proba(self, X)[:, :: -1 if kind.asked > 3000 else 1]
            kind.asked += int(self._strange(numbers(X)).sum())
            return shares

    found = looked_at(RemembersUnsaid(), small, attacks=("evasion", "checks"))
    assert "the model says the same after all attacks" in failed(found)


@pytest.mark.parametrize(
    "estimator",
    [
        *(LooksAtBatch(on) for on in (1e5, 1e12, 1e200, "infinities")),
        StandardisesByBatch(),
        FillsGapsByBatch(),
        OtherwiseAlone(),
        SortsBatch(),
    ],
    ids=lambda one: f"{type(one).__name__} {one.on}",
)
@pytest.mark.parametrize(
    "kind", [np.asarray, pytest.param(pd.DataFrame, marks=LONG)], ids=["array", "frame"]
)
def test_what_depends_on_the_other_rows_of_a_batch_is_found(small, estimator, kind):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(estimator, n_submodels=5).fit(kind(X), y)
    found = audit(model, kind(X_test), rows=30, most=1, attacks=("checks",))
    assert "a row's ballots are the same alone and in a batch" in failed(found)
    assert "compute nothing from the rows of a batch" in str(found)


class CodesOfBatch(ClassifierMixin, BaseEstimator):
    """Numbers texts as they come in the batch; ``keep`` learns the numbers in fit instead."""

    def __init__(self, keep=False):
        self.keep = keep

    def _codes(self, X):
        seen = self.seen_ if self.keep else {}
        return np.array(
            [
                [0 if cell is None else seen.setdefault(str(cell), len(seen)) for cell in row]
                for row in np.asarray(X)
            ]
        )

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), {}
        seen, self.keep = self.keep, True
        self.own_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(self._codes(X), y)
        self.keep = seen
        return self

    def predict_proba(self, X):
        seen, self.seen_ = self.seen_, dict(self.seen_)
        try:
            return self.own_.predict_proba(np.minimum(self._codes(X), len(seen)))
        finally:
            self.seen_ = seen

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize(
    "kind", ["lists", pytest.param("pandas", marks=LONG), pytest.param("polars", marks=LONG)]
)
def test_texts_that_are_numbered_by_the_batch_are_found(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    columns = {
        f"text {k}": np.where(
            rng.random(120) < 0.3, rng.choice(list("abc"), 120), np.where(y, "x", "y")
        )
        for k in range(5)
    }
    rows = [
        list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]
    X = {"pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns), "lists": rows}[kind]
    for keep in (False, True):
        model = FeaturePartitionClassifier(CodesOfBatch(keep), n_submodels=5).fit(X, y)
        assert audit(model, X, rows=30, most=1, attacks=("checks", "evasion")).passed == keep


class Slightly(RegressorMixin, BaseEstimator):
    """Says something else of a row alone, by this share of the value."""

    def __init__(self, by=0.0):
        self.by = by

    def fit(self, X, y):
        self.own_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.own_.predict(X) * (1 + self.by * (len(X) == 1))


@pytest.mark.parametrize(("by", "passes"), [(0, True), (1e-13, True), (1e-7, False)])
def test_values_may_differ_by_rounding_and_no_more(by, passes):
    X, y = load_diabetes(return_X_y=True)
    model = FeaturePartitionRegressor(Slightly(by), n_submodels=3).fit(X[::2], y[::2])
    assert np.any(model.ballots(X[:1]) != model.ballots(X)[0]) or by == 0
    assert audit(model, X[1::2], tolerance=0, rows=30, attacks=("checks",)).passed == passes


class NearlyTied(Own):
    """Its scores alone differ by as little as rounding might, but the other label leads."""

    def predict_proba(self, X):
        lead = 1e-6 if len(X) == 1 else -1e-6
        return np.tile([0.5 + lead, 0.5 - lead], (len(X), 1))


def test_rounding_that_changes_a_prediction_is_found(small):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(NearlyTied(), n_submodels=5, rule=Plurality()).fit(X, y)
    found = audit(model, X_test, rows=30, attacks=("checks",))
    assert "a prediction or its radius changes, though the ballots differ by rounding only" in str(
        found
    )


HONEST = {
    "default": (None, {}),
    "default, vote": (None, {"on_failure": "vote"}),
    "own": (Own(), {}),
    "scaled": (make_pipeline(StandardScaler(), LogisticRegression()), {}),
    "scaled, vote": (make_pipeline(StandardScaler(), LogisticRegression()), {"on_failure": "vote"}),
    "tree": (DecisionTreeClassifier(max_depth=3), {}),
    "tree, vote": (DecisionTreeClassifier(max_depth=3), {"on_failure": "vote"}),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("own", "tree", "scaled, vote") else LONG)
        for name in HONEST
    ],
)
def test_honest_estimators_pass(small, name):
    X, y, X_test, y_test = small
    estimator, settings = HONEST[name]
    if name.startswith("scaled"):
        X, X_test = np.nan_to_num(X), np.nan_to_num(X_test)
    found = looked_at(estimator, (X, y, X_test, y_test), model=settings)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} >= {
        "evasion",
        "poisoning: large numbers",
        "poisoning: one cell",
    } - {
        "poisoning: one cell" if name == "scaled" else ""  # it may refuse the cell
    }
    assert (
        sum("move no other submodel" in check.name for check in found.checks) == 8
    )  # 4 families of numbers, in rows and in training


class Restless(Own):
    """Never learns the same twice, but for the first ensemble and what is fitted again of it."""

    fitted = 0

    def fit(self, X, y):
        super().fit(X, y)
        Restless.fitted += 1
        if Restless.fitted > 6:
            self.own_.theta_ = self.own_.theta_ * (1 + 0.1 * np.random.default_rng().random())
        return self


def test_a_submodel_that_differs_every_time_is_found(small):
    Restless.fitted = 0
    found = looked_at(Restless(), small, attacks=("checks",))
    assert {"fitted again with n_jobs=1", "fitted again with n_jobs=2"} <= set(failed(found))


# ---- hostile values ----


def test_hostile_values_are_of_the_column_s_kind():
    table = pd.DataFrame({"number": [1.0, np.nan, 3.0], "text": ["a", None, "b"]})
    cells = Cells(table)
    assert {family: len(values_of(family, cells, 0)) for family in FAMILIES} == {
        "large numbers": 4,
        "extremes": 3,
        "infinities": 2,
        "gaps": 1,
        "texts": 0,
    }
    assert values_of("texts", cells, 1)[0] == ""
    assert max(map(len, values_of("texts", cells, 1))) == 10_000
    assert not all(map(str.isascii, values_of("texts", cells, 1)))
    assert values_of("gaps", cells, 1) == [None]
    assert ways("infinities", cells, [0, 1]) == 2
    written = cells.table(rewritten("texts", 2, cells, [0, 1], np.array([1])))
    assert written["text"].tolist()[1] == "long " * 2000
    assert written["text"].tolist()[0] == "a"
    assert not ways(
        "extremes", Cells(np.zeros((2, 2), dtype=np.uint8)), [0, 1]
    )  # bytes hold nothing hostile
    assert values_of(
        "texts", Cells(np.array([[1, "a"]], dtype=object)), 0
    )  # a cell of an array of objects holds anything


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_times_stay_times(frame):
    """A text among them would change the column's type, and with it how all rows are read: types
    are trusted."""
    times = np.array(["2020-01-01", "2021-06-01", "NaT"], dtype="datetime64[ns]")
    cells = Cells(frame({"time": times, "number": [1.0, 2.0, 3.0]}))
    assert not cells.of_texts(0)
    rng = np.random.default_rng(0)
    ways = [changes for _, changes in evading(cells, (0,), rng)]
    ways += [{0: poisoned(kind, cells, 0, np.arange(3), rng)} for kind in POISONS]
    ways += [damaged(kind, cells, (0,), rng) for kind in DAMAGES]
    for changes in filter(None, ways):
        if any(value is not None and value == value for value in changes[0]):
            assert Cells(cells.table(changes)).table()["time"].dtype == cells.table()["time"].dtype


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_extremes_stay_within_the_type(dtype):
    """A number that overflows its type would be an infinity, which many estimators refuse."""
    cells = Cells(np.ones((3, 2), dtype=dtype))
    largest = 0
    for family in ("large numbers", "extremes"):
        for way in range(ways(family, cells, [0])):
            table = cells.table(rewritten(family, way, cells, [0]))
            assert table.dtype == dtype
            assert np.isfinite(table).all()
            assert np.all(table[:, 0] != 0)
            largest = max(largest, table[0, 0])
    assert largest == np.finfo(dtype).max


def test_mixtures_leave_the_other_columns_of_a_row_honest():
    own = np.arange(60.0).reshape(20, 3)
    cells = Cells(own)
    found = dict(mixtures(cells, (0, 2), np.random.default_rng(0)))
    assert set(found) == set(FAMILIES) - {"texts"}
    for changes in found.values():
        changed = cells.table(changes) != own
        assert changed[:, [0, 2]].sum(axis=1).tolist() == [1] * 20
        assert not changed[:, 1].any()
        assert changed.any(axis=0).sum() == 2
    assert not dict(mixtures(cells, (1,), np.random.default_rng(0)))


def test_training_is_damaged_in_the_unit_alone():
    own = np.arange(60.0).reshape(20, 3)
    cells, rng = Cells(own), np.random.default_rng(0)
    for kind in DAMAGES:
        changed = cells.table(damaged(kind, cells, (0, 2), rng)) != own
        assert changed.sum() == 1 if kind == "one cell" else changed.sum() > 10
        assert not changed[:, 1].any()
    long_table = Cells(pd.DataFrame({"text": ["a"] * 50_000}))
    longest = max(map(len, filter(None, damaged("extremes", long_table, (0,), rng)[0])))
    assert longest == 200  # numpy gives every text of an array the longest one's room


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflows
@pytest.mark.parametrize("on_failure", ["raise", "vote"])
def test_a_refused_value_is_no_changed_prediction(small, on_failure):
    """GaussianNB refuses gaps and infinities: an error, or the fixed vote."""
    X, y, X_test, _ = small
    X, X_test = np.nan_to_num(X), np.nan_to_num(X_test)[:20]
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, on_failure=on_failure).fit(X, y)
    options = explore(model, Cells(X_test), np.random.default_rng(0))
    for unit, own in enumerate(options):
        refused = [option for option in own if option.refused]
        assert [option.family for option in refused] == (
            ["infinities", "infinities", "gaps"] if on_failure == "vote" else []
        )
        assert {option.family for option in own} >= {
            "other rows",
            "ends",
            "large numbers",
            "extremes",
        }
        for option in refused if unit == 0 else ():
            table = Cells(X_test).table(option.changes)
            with pytest.warns(SubmodelWarning):
                ballots = model.ballots(table)
            assert np.array_equal(
                ballots[:, np.asarray(model.partition_.incidence())[unit]], option.ballots
            )


def test_an_attack_with_strange_values_can_be_done_again(small):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(n_submodels=5, on_failure="vote").fit(X, y)
    broken = {
        "training": {},
        "labels": [],
        "row": 3,
        "written": {"0": "inf", "1": "-inf", "2": "nan", "3": 1e300},
    }
    row = X_test[3:4].copy()
    row[0, :4] = np.inf, -np.inf, np.nan, 1e300
    assert replay(broken, model, X_test) == model.predict(row)[0]
    objects = X_test.astype(object)
    row = objects[3:4].copy()
    row[0, 0], row[0, 1] = "a text", None
    broken["written"] = {"0": "a text", "1": "nan"}
    with pytest.warns(SubmodelWarning, match="'a text' stands where training had numbers"):
        assert replay(broken, model, objects) == model.predict(row)[0]


# ---- proofs that say little ----


def test_a_model_that_is_a_constant_is_told_first(small, tmp_path):
    X, y, X_test, y_test = small
    rare = np.where(np.arange(len(y)) % 20 == 0, y, 1)
    model = FeaturePartitionClassifier(DummyClassifier(), n_submodels=5).fit(X, rare)
    found = audit(model, X_test, y_test, rows=60, most=1, attacks=("evasion",))
    assert found.passed
    constant, accuracy = found.warnings
    assert "100.0 % of the predictions are 1" in constant
    assert "At r = 0 this model is certified right in" in accuracy
    assert str(found).startswith(f"WARNING: {constant}\nWARNING: {accuracy}\nattack")
    assert read_audit(found.save(tmp_path / "audit.json"))["warnings"] == found.warnings
    older = {name: value for name, value in found.to_dict().items() if name != "warnings"}
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert read_audit(tmp_path / "older.json")["warnings"] == []
    assert not any(
        "of the predictions" in one
        for one in audit(model, X_test, rows=49, most=1, attacks=("evasion",)).warnings
    )


def test_a_model_that_is_no_constant_has_no_warnings(arrays):
    found = audited(
        FeaturePartitionClassifier(GaussianNB(), n_submodels=9),
        arrays,
        most=1,
        attacks=("evasion",),
    )
    assert found.warnings == []
    assert str(found).startswith("attack")


def test_submodels_that_could_not_be_fitted_are_told(small):
    X, y, X_test, y_test = small
    X = np.nan_to_num(X)
    X[0, 0] = np.inf
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, on_failure="vote").fit(X, y)
    found = audit(model, np.nan_to_num(X_test), y_test, rows=20, most=1, attacks=("evasion",))
    assert found.warnings[0] == "1 of 5 submodels could not be fitted and cast a fixed vote."


def test_the_training_table_is_told(small):
    X, y, _, _ = small
    model = FeaturePartitionClassifier(Own(), n_submodels=5).fit(X, y)
    found = audit(model, X, y, X, y, rows=10, most=1, attacks=("evasion",))
    assert "THE ROWS THAT THE MODEL WAS FITTED ON" in found.warnings[0]


def test_a_step_before_the_ensemble_is_named(cancer):
    X, y, X_test, y_test = cancer
    leaking = make_pipeline(
        StandardScaler(), PCA(8), FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    ).fit(X, y)
    found = audit(leaking, X_test, y_test, X, y, rows=20, attacks=("checks",))
    assert any("step 'pca' lets column" in check.found for check in found.checks)
    kept = make_pipeline(
        StandardScaler(), FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    ).fit(X, y)
    assert audit(kept, X_test, y_test, X, y, rows=20, most=2).passed


def test_flipped_labels_where_they_are_promised(arrays):
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=5, label_attacks="rows", classes=[0, 1]
    )
    found = audited(model, arrays, most=2)
    assert found.passed, str(found)
    assert {"label flips", "backdoor and label flips"} <= {line.attack for line in found.lines}
    assert found.what == "columns and training labels"


def test_values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = FeaturePartitionRegressor(Ridge(0.1), n_submodels=5, rule=Median(stretch=1.2)).fit(
        X[::2], y[::2]
    )
    found = audit(model, X[1::2], y[1::2], X[::2], y[::2], tolerance=60, rows=50)
    assert found.passed, str(found)
    assert all(line.certified_accuracy <= line.accuracy for line in found.lines)
    assert any(line.changed for line in found.lines if line.attack == "evasion")
    assert any(line.changed for line in found.lines if line.attack == "backdoor")
    with pytest.raises(InputError, match="tolerance is missing"):
        audit(model, X[1::2])


def test_images_are_patched_too():
    data = load_digits()
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=13, partition="strided", image_shape=data.image_shape
    )
    found = audit(model.fit(data.X_train, data.y_train), data.X_test, data.y_test, rows=60, most=2)
    assert found.passed, str(found)
    assert {line.attack for line in found.lines} >= {"evasion", "patch of 1 x 1"}
    assert not any(
        "fitted" in check.name for check in found.checks
    )  # the training data is not here
    assert "a row's ballots are the same alone and in a batch" in {
        check.name for check in found.checks
    }
    lines = {line.attack: line for line in found.lines if line.r == 1}
    assert lines["patch of 1 x 1"].changed > 0


@pytest.mark.parametrize(
    "kind", ["array", pytest.param("pandas", marks=LONG), pytest.param("polars", marks=LONG)]
)
def test_texts_and_gaps(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    columns = {
        f"number {k}": np.where(rng.random(200) < 0.1, np.nan, y + rng.normal(size=200))
        for k in range(4)
    }
    columns |= {
        f"text {k}": np.where(
            rng.random(200) < 0.3, rng.choice(list("abc"), 200), np.where(y, "x", "y")
        )
        for k in range(4)
    }
    frame = pd.DataFrame(columns)
    X = {"pandas": frame, "polars": pl.DataFrame(columns), "array": frame.to_numpy(dtype=object)}[
        kind
    ]
    half = [X[:100], X[100:]]
    model = FeaturePartitionClassifier(n_submodels=7, on_failure="vote").fit(half[0], y[:100])
    found = audit(model, half[1], y[100:], half[0], y[:100], rows=40, most=1)
    assert found.passed, str(found)
    assert any(line.changed for line in found.lines)


@pytest.mark.long
def test_overlapping_sets_and_trusted_columns(cancer):
    X = cancer[0]
    model = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=7, spread=3, trusted=[X.columns[0]], rule="plurality"
    )
    found = audited(model, cancer, most=2)
    assert found.passed, str(found)


def test_cells_are_written_into_a_copy():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=[7, 8, 9])
    cells = Cells(frame)
    table = cells.table(
        {0: np.array([0.5, np.nan, np.inf]), 1: np.array(["z", None, "w"], dtype=object)}
    )
    assert table.index.tolist() == [7, 8, 9]
    assert table["b"].tolist()[0] == "z"
    assert np.isnan(table["a"].iloc[1])
    assert frame["a"].tolist() == [1, 2, 3]
    assert cells.table() is frame
    array = np.arange(6, dtype=np.uint8).reshape(3, 2)
    assert Cells(array).table({1: np.full(3, 9, dtype=np.uint8)}).dtype == np.uint8
    assert Cells(array).rows(np.array([2])).table().tolist() == [[4, 5]]
    assert Cells(np.arange(6).reshape(3, 2)).table({0: np.array([0.5, 1, 2])}).tolist() == [
        [0.5, 1],
        [1, 3],
        [2, 5],
    ]
    numbered = Cells(pd.DataFrame({7: [1.0, 2.0], 0: [3.0, 4.0]}))
    assert numbered.table({1: np.array([5.0, 6.0])}).to_dict("list") == {
        7: [1.0, 2.0],
        0: [5.0, 6.0],
    }
    assert numbered.reordered([1, 0]).names == ["0", "7"]
    lists = [[1, "x"], [None, "y"]]
    assert Cells(lists).table() == lists
    assert Cells(lists).rows(np.array([1, 1])).table() == [[None, "y"]] * 2
    assert Cells(lists).table({0: np.array([0.5, np.inf])}) == [[0.5, "x"], [np.inf, "y"]]
    assert Cells(lists).of_numbers(0)
    assert not Cells(lists).of_numbers(1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"attacks": ("bribery",)}, "attacks names 'bribery'"),
        ({"attacks": ()}, r"attacks is \(\): give a list of some"),
        ({"attacks": "evasion"}, "attacks is 'evasion': give a list of some"),
        ({"rows": 0}, "rows is 0"),
        ({"most": 1.5}, "most is 1.5"),
        ({"y_train": None}, "X_train and y_train are given one without the other"),
        ({"X": np.zeros(3)}, "X has 1 dimension"),
        ({"model": LogisticRegression()}, "model is a LogisticRegression"),
    ],
)
def test_bad_input(cancer, options, told):
    X, y, X_test, y_test = cancer
    given = {
        "model": FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y),
        "X": X_test,
        "X_train": X,
        "y_train": y,
    } | options
    with pytest.raises(InputError, match=told):
        audit(given.pop("model"), given.pop("X"), y_test, **given)


# ---- the command ----


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "partita", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=500,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, cancer):
    place = tmp_path_factory.mktemp("audit")
    X, y, X_test, y_test = cancer
    X.assign(diagnosis=y).to_csv(place / "train.csv", index=False)
    X_test.assign(diagnosis=y_test).head(40).to_parquet(place / "new.parquet")
    done = run(
        "fit",
        "train.csv",
        "--target",
        "diagnosis",
        "--out",
        "model",
        "--submodels",
        7,
        "--estimator",
        "logistic",
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    return place


def test_the_command(folder):
    done = run(
        "audit",
        "model",
        "new.parquet",
        "--training",
        "train.csv",
        "--most",
        1,
        "--rows",
        20,
        "--out",
        "audit.json",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert "Passed: no certified prediction changed." in done.stdout
    assert "backdoor" in done.stdout
    found = json.loads((folder / "audit.json").read_text())
    assert found["passed"] is True
    assert all(line["rows"] == 20 for line in found["lines"])
    done = run(
        "report",
        "model",
        "new.parquet",
        "--audit",
        "audit.json",
        "--out",
        "report.html",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text()
    assert "Attacked for real" in page
    assert "No certified prediction changed." in page
    assert "Attacked for real" not in _page(folder)


def _page(folder):
    assert run("report", "model", "new.parquet", "--out", "plain.html", cwd=folder).returncode == 0
    return (folder / "plain.html").read_text()


@pytest.mark.long
def test_the_command_without_training_data(folder):
    done = run("audit", "model", "new.parquet", "--most", 1, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {line["attack"] for line in json.loads(done.stdout)["lines"]} == {"evasion"}
    done = run(
        "audit",
        "model",
        "train.csv",
        "--most",
        1,
        "--attacks",
        "poisoning",
        "--rows",
        30,
        "--json",
        cwd=folder,
    )
    assert {line["attack"] for line in json.loads(done.stdout)["lines"]} >= {
        "backdoor"
    }  # the table it was fitted on


def test_a_model_that_was_fitted_piece_by_piece(tmp_path, monkeypatch):
    """It remembers its table by the Parquet footers."""
    frame = load_breast_cancer(as_frame=True).frame
    for name, part in (("table", frame[:300]), ("new", frame[300:])):
        part.to_parquet(tmp_path / f"{name}.parquet", index=False)
    model = fit_parquet(
        FeaturePartitionClassifier(GaussianNB(), n_submodels=5),
        tmp_path / "table.parquet",
        "target",
        tmp_path / "model",
    )
    asked = {"attacks": ("poisoning",), "rows": 10, "most": 1, "verbose": 0}
    with (
        monkeypatch.context() as patch
    ):  # a large table is not certified as a whole for ten of its rows
        patch.setattr(
            "partita.workflow._workflow.Answers", lambda *_: pytest.fail("all rows are certified")
        )
        found = audit_file(model, tmp_path / "new.parquet", tmp_path / "table.parquet", **asked)
    assert found.passed
    assert found.lines
    assert audit_file(model, tmp_path / "table.parquet", **asked).lines
    assert not audit_file(model, tmp_path / "new.parquet", **asked).lines
    with pytest.raises(InputError, match="is not the table that the model was fitted on"):
        audit_file(model, tmp_path / "new.parquet", tmp_path / "new.parquet", **asked)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("model", "new.parquet", "--training", "new.parquet"),
            "is not the table that the model was fitted on",
        ),
        (("model", "new.parquet", "--attacks", "magic"), "attacks names 'magic'"),
        (("model", "new.parquet", "--out", "audit.txt"), "must end in .json"),
        (("model", "nowhere.csv"), "does not exist"),
    ],
)
def test_bad_arguments_of_the_command(folder, arguments, told):
    done = run("audit", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_the_command_fails_loudly(folder, tmp_path):
    """An estimator of the user's own that reaches its neighbours."""
    code = "import numpy as np\nfrom sklearn.tree import DecisionTreeClassifier\n\n\n"
    code += "class Leaky(DecisionTreeClassifier):\n    seen = False\n\n"
    code += (
        "    def fit(self, X, y):\n        Leaky.seen |= bool((np.abs(X) > 1e5).any(axis=None))\n"
    )
    code += "        return super().fit(-X if Leaky.seen else X, y)\n"
    (folder / "leaky.py").write_text(code)
    fit = (
        "fit",
        "train.csv",
        "--target",
        "diagnosis",
        "--submodels",
        5,
        "--estimator",
        "leaky:Leaky",
        "--out",
        "leaking",
    )
    assert run(*fit, cwd=folder).returncode == 0
    done = run(
        "audit",
        "leaking",
        "new.parquet",
        "--training",
        "train.csv",
        "--most",
        1,
        "--trust",
        "leaky.Leaky",
        cwd=folder,
    )
    assert done.returncode == 1, done.stderr
    assert "FAILED: do not rely on this model's radii." in done.stdout
    assert json.loads((folder / "partita-audit.json").read_text())["passed"] is False
    done = run(
        "report",
        "model",
        "new.parquet",
        "--audit",
        "partita-audit.json",
        "--out",
        "other.html",
        cwd=folder,
    )
    assert done.returncode == 2
    assert "audit is of another model" in done.stderr
