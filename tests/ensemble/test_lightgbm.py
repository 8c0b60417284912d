"""LightGBM's internals that partita leans on: these tests fail when the library changes."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from partita import FeaturePartitionClassifier, FeaturePartitionRegressor
from partita.ensemble import _batches
from partita.ensemble._batches import fit_submodel, needs_all_rows, reads_sequences
from partita.tables import open_table

FRAME = load_breast_cancer(as_frame=True).frame.iloc[:, :9]
Y = load_breast_cancer().target
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
