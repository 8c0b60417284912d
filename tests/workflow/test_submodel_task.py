"""A task reads its own columns and the target, and notices a table that changes."""

import pickle

import pytest
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
)
from partita.ensemble import _batches as batches
from partita.ensemble._plan import Plan
from partita.store._save import UnfinishedModel
from partita.tables import NUMBER, CellError
from partita.workflow._fit_parquet import SubmodelTasks
from partita.workflow._training_table import open_training

from .cancer import BOOSTED, destroy, units_ignoring


def test_a_submodel_reads_its_own_columns_alone(table, tmp_path):
    """Where the pages of one column are destroyed, only the submodel that owns it cannot be
    fitted."""
    destroy(table / "b.parquet", "c4")
    training = open_training(table, "y", units_ignoring("part", "value"))
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    _, _, plan = clf.plan(training.table, training.y)
    place = UnfinishedModel(tmp_path / "m")
    for estimator in (GaussianNB(), BOOSTED):
        plan = Plan(estimator, plan.columns, plan.names, plan.seed, plan.classes, may_fail=True)
        tasks = SubmodelTasks.of(training, plan, None)
        for t in range(5):
            if 4 in plan.columns[t]:
                with pytest.raises(
                    InputError, match="cannot be read as Parquet"
                ):  # although it may fail: a table is no submodel
                    batches.fit_submodel(plan, *tasks.open(), t)
            else:
                assert tasks.fit_and_store(place, t).failure is None


def test_a_table_that_changes_during_the_fit_is_refused(table, tmp_path):
    training = open_training(table, "y", units_ignoring("part", "value"))
    source = pickle.loads(pickle.dumps(SubmodelTasks.of(training, None, None)))
    table_before = (table / "b.parquet").read_bytes()
    (table / "b.parquet").write_bytes(table_before)  # as many rows, and perhaps others
    with pytest.raises(InputError, match="has changed since it was opened, and results of two"):
        source.open()
    (table / "b.parquet").unlink()
    with pytest.raises(
        InputError, match="has 300 rows, and had 569 when the fit began: it must not change"
    ):
        source.open()
    (table / "a.parquet").unlink()
    table.rmdir()
    with pytest.raises(InputError, match=r"does not exist on .*: all workers must see it"):
        source.open()


def test_errors_come_back_from_a_worker_as_they_were():
    from partita import MissingExtraError

    for error in (
        CellError(3, "a", NUMBER, "x"),
        MissingExtraError("dask", "a fit", "partita[cluster]"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
