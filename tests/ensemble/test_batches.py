"""Learning from batches gives the submodel that learning from whole columns gives."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor, InputError, SubmodelError
from partita.ensemble import FixedVote, _batches
from partita.ensemble._batches import check_batches, fit_submodel, needs_all_rows, reads_sequences
from partita.tables import open_table

FRAME = load_breast_cancer(as_frame=True).frame.iloc[:, :9]
Y = load_breast_cancer().target


def plan_of(estimator, **settings):
    """The table, the target and the plan of an ensemble of three submodels."""
    return FeaturePartitionClassifier(estimator, n_submodels=3, **settings).plan(FRAME, Y)


class Sees(ClassifierMixin, BaseEstimator):
    """Remembers its batches."""

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "seen_"):
            self.seen_, self.classes_ = [], classes
        self.seen_.append((X, y))
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y, np.unique(y))

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_partial_fit_sees_its_columns_batch_by_batch():
    table, y, plan = plan_of(Sees(), rule="plurality")
    model = fit_submodel(plan, table, y, 2, batch_rows=200)
    assert [len(labels) for _, labels in model.seen_] == [200, 200, 169]
    assert model.classes_.tolist() == [0, 1]
    seen = pd.concat([X for X, _ in model.seen_])
    assert np.array_equal(seen.to_numpy(), FRAME.iloc[:, plan.columns[2]].to_numpy())
    assert np.array_equal(np.concatenate([labels for _, labels in model.seen_]), y)


def test_without_batches_the_whole_table_is_learnt_at_once():
    table, y, plan = plan_of(Sees(), rule="plurality")
    assert len(fit_submodel(plan, table, y, 0).seen_) == 1


class Starves(Sees):
    """Finds no memory."""

    def partial_fit(self, X, y, classes=None):
        raise MemoryError


class Fails(Sees):
    """Fails on its own columns."""

    def partial_fit(self, X, y, classes=None):
        raise ValueError("no")


def test_a_failure_in_batches_is_a_vote_but_a_lack_of_memory_is_not():
    table, y, plan = plan_of(Fails(), rule="plurality", on_failure="vote")
    assert isinstance(fit_submodel(plan, table, y, 0, batch_rows=50), FixedVote)
    table, y, plan = plan_of(Fails(), rule="plurality")
    with pytest.raises(SubmodelError, match=r"submodel 0 .*Fails, could not be fitted: no"):
        fit_submodel(plan, table, y, 0, batch_rows=50)
    table, y, plan = plan_of(Starves(), rule="plurality", on_failure="vote")
    with pytest.raises(MemoryError, match="could not be fitted"):
        fit_submodel(plan, table, y, 0, batch_rows=50)


def test_a_table_that_cannot_be_read_is_never_a_vote(monkeypatch):
    """The file is every submodel's, so no fixed vote may stand in for it."""
    table, y, plan = plan_of(Sees(), rule="plurality", on_failure="vote")

    def unreadable(*_):
        raise OSError("the disk is gone")
        yield

    monkeypatch.setattr(table, "batches", unreadable)
    with pytest.raises(OSError, match="the disk is gone"):
        fit_submodel(plan, table, y, 0, batch_rows=50)


@pytest.mark.parametrize(
    ("estimator", "settings", "batch_rows", "message"),
    [
        (SGDClassifier(), {}, 0, "batch_rows is 0"),
        (SGDClassifier(), {}, 1.5, "batch_rows is 1.5"),
        (SGDClassifier(), {}, True, "batch_rows is True"),
        (DecisionTreeClassifier(), {}, 9, "DecisionTreeClassifier cannot learn from batches"),
        (
            LGBMClassifier(class_weight="balanced"),
            {},
            9,
            "LGBMClassifier cannot learn from batches",
        ),
        (
            GaussianNB(),
            {"label_attacks": "labels", "classes": [0, 1]},
            9,
            "batch_rows is not supported with label_attacks='labels'",
        ),
    ],
)
def test_what_cannot_learn_from_batches_is_refused(estimator, settings, batch_rows, message):
    _, _, plan = plan_of(estimator, **settings)
    check_batches(plan, None)
    with pytest.raises(InputError, match=message):
        check_batches(plan, batch_rows)


ENCODER = ColumnTransformer(
    [("texts", OrdinalEncoder(), make_column_selector(dtype_exclude="number"))],
    remainder="passthrough",
)


@pytest.mark.parametrize(
    ("ensemble", "model", "predict"),
    [
        (FeaturePartitionClassifier, LGBMClassifier, "predict_proba"),
        (FeaturePartitionRegressor, LGBMRegressor, "predict"),
    ],
)
def test_the_same_trees_grow_from_a_sequence_as_from_the_table(
    ensemble, model, predict, monkeypatch
):
    monkeypatch.setattr(_batches, "LIGHTGBM_ROWS", 100)
    clf = ensemble(
        model(n_estimators=5, subsample=0.7, subsample_freq=1, verbose=-1), n_submodels=3
    )
    table, y, plan = clf.plan(FRAME, Y)
    own = plan.columns[1]
    whole = plan.submodel(1).fit(FRAME.iloc[:, own], y)
    sizes = []
    read = table.batches
    monkeypatch.setattr(table, "batches", lambda *job: (sizes.append(job[1]), read(*job))[1])
    fitted = fit_submodel(plan, table, y, 1)
    assert set(sizes) == {100}
    new = FRAME.iloc[:, own]
    assert np.array_equal(getattr(fitted, predict)(new), getattr(whole, predict)(new))


def test_only_settings_that_the_booster_handles_read_sequences():
    assert reads_sequences(LGBMClassifier())
    assert reads_sequences(make_pipeline(ENCODER, LGBMRegressor()))
    assert not reads_sequences(LGBMClassifier(class_weight="balanced"))
    assert not reads_sequences(LGBMRegressor(objective=lambda y, predicted: (y, predicted)))
    assert not reads_sequences(make_pipeline(StandardScaler(), LGBMClassifier()))
    assert not reads_sequences(StandardScaler())


def test_a_submodel_with_texts_needs_all_rows():
    table = open_table(FRAME.assign(text="a"))
    pipeline = make_pipeline(ENCODER, LGBMClassifier())
    assert needs_all_rows(pipeline, table, [0, 9])
    assert not needs_all_rows(pipeline, table, [0, 1])
    assert not needs_all_rows(LGBMClassifier(), table, [0, 9])
