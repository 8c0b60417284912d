"""Fitting on Parquet tables that may be larger than memory, submodel by submodel.

Each submodel is a task, here or on a Dask cluster (``_cluster``). A task opens the table itself,
reads its own columns and the target and no others, and writes its submodel into the model's folder.
What is finished survives, and a fit resumes only if everything that submodels depend on is the
same.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn import get_config

from .._support import Array, JsonObject, PathLike, Progress, exclusive, log, run_each
from ..ensemble import (
    CANARY_CURE,
    Ensemble,
    Plan,
    canaries,
    check_batches,
    fit_submodel,
    trains_jointly,
    warn_of_failures,
)
from ..errors import InputError, SoundnessError
from ..partition import UnitsFile
from ..store import (
    ESTIMATOR,
    StoredSubmodel,
    UnfinishedModel,
    stored_estimator,
    submodel_name,
    to_manifest,
)
from ..tables import FileTable, Split, check_unchanged, footers_of, open_file
from ._cluster import connect, library_versions, run_on_cluster
from ._estimators import code_of
from ._schema import Schema
from ._training_table import TrainingTable, open_training


def fit_parquet(
    ensemble: Ensemble,
    data: PathLike,
    target: str,
    out: PathLike,
    *,
    ignore: Sequence[str] = (),
    split: Split | None = None,
    cluster: object = None,
    batch_rows: int | None = None,
) -> Path:
    """Fit an ensemble on a table in Parquet and store it, submodel by submodel.

    Each submodel is a task that reads its own columns and the target, and no others, fits, and puts
    its file into the store. So the table may be larger than any memory, the tasks can run on many
    machines, and what is finished survives: the same call resumes where it stopped. The submodels
    are those that ``ensemble.fit`` would make of the same rows in memory.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier, FeaturePartitionRegressor or a leave-out ensemble
        What to fit: estimator, units, rule and so on. It is not changed. A member of a
        :class:`LeaveOutClassifier` reads all columns but those that it leaves out, and its last one
        reads all.
    data : str or path
        A Parquet file, or a folder of them, in the order of their names. Workers must see it under
        the same path.
    target : str
        The column to predict.
    out : str or path
        A folder for the stored model, which workers must see too. :func:`partita.store.load` reads
        it.
    ignore : list of str, default=()
        Columns that are not features.
    split : (column, value), optional
        Learn from the rows with this value only. The column's owner chooses the rows of
        every submodel, so it must be one of ``ignore`` or of the ensemble's ``trusted``.
    cluster : str or distributed.Client, optional
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786". By default the cores of this
        machine.
    batch_rows : int, optional
        Teach estimators with ``partial_fit`` so many rows at a time, in one pass, instead of all at
        once. LightGBM reads its columns in batches anyway.

    Returns
    -------
    Path
        The folder of the stored model.

    Raises
    ------
    InputError
        If the table, the target or the cluster cannot be used, or ``out`` holds the beginning of
        another fit.
    SoundnessError
        If a submodel differs when it is fitted again on the same columns.

    See Also
    --------
    certify_parquet : Certify a table with the stored model, piece by piece.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, certify_parquet, fit_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> load_breast_cancer(as_frame=True).frame.to_parquet(folder / "cancer.parquet", index=False)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=11)
    >>> model = fit_parquet(clf, folder / "cancer.parquet", "target", folder / "model")
    >>> found = certify_parquet(model, folder / "cancer.parquet", folder / "certified.parquet")
    >>> found["certified_accuracy"][2] > 0.5
    True
    """
    if not isinstance(ensemble, Ensemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    names = () if isinstance(ensemble.trusted, str) else ensemble.trusted
    trusted = [name for name in names if isinstance(name, str)]
    units_file = UnitsFile(trusted=trusted, ignore=list(ignore))
    training = open_training(data, target, units_file, ensemble.task, split)
    return fit_training(training, ensemble, out, cluster=cluster, batch_rows=batch_rows)[1]


def fit_training(
    training: TrainingTable,
    ensemble: Ensemble,
    out: PathLike,
    *,
    cluster: object = None,
    batch_rows: int | None = None,
    estimator: str | None = None,
) -> tuple[Ensemble, Path]:
    """Fit and store; return the ensemble without its submodels, and the folder that has all of it.

    ``estimator``: what the estimator is called in the manifest.
    """
    place = UnfinishedModel(out)
    path = training.file.path
    if path.suffix.lower() not in (".parquet", ".pq") and not path.is_dir():
        raise InputError(
            f"data {str(path)!r} is not Parquet, which is read by column: store it as .parquet"
        )
    model = copy(ensemble)
    if getattr(model, "fallback", None) is not None:
        raise InputError(
            "fallback learns from all columns at once, and this fit reads them submodel by "
            "submodel: leave fallback out, or use fit"
        )
    if getattr(model, "training", "attackable") == "trusted":
        raise InputError(
            "training='trusted' learns one model from the whole table with columns masked, and "
            "this fit reads them submodel by submodel: leave trusted training out, or use fit "
            "(on the command line, leave --cluster out)"
        )
    _, _, plan = model.plan(training.table, training.y)
    if trains_jointly(plan.estimator):
        raise InputError(
            f"estimator {type(plan.estimator).__name__} trains all submodels at once, from the "
            "whole table: use fit"
        )
    check_batches(plan, batch_rows)
    name = estimator or type(plan.estimator).__name__
    about = training.about(name, {"footers": footers_of(path)})
    tasks = SubmodelTasks.of(training, plan, batch_rows)
    with nullcontext() if cluster is None else connect(cluster) as client:
        place.begin(_resume_key(model, plan, about, training, batch_rows))

        def run(task: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> Iterable[Any]:
            if client is None:
                return run_each(task, jobs, model.n_jobs, len(jobs), "", 0)
            return run_on_cluster(client, task, jobs)

        stored = {t: found for t in range(len(plan)) if (found := place.find(t)) is not None}
        if stored and model.verbose:
            log(f"{len(stored)} of {len(plan)} submodels were finished by an earlier run")
        jobs = [(place, t) for t in range(len(plan)) if t not in stored]
        enabled = bool(model.verbose and jobs)
        with Progress("fitted", len(plan), "submodels", len(stored), enabled) as progress:
            for submodel in run(tasks.fit_and_store, jobs):
                place.wait_for(submodel)
                stored[submodel.t] = submodel
                progress.update(len(stored))
        submodels = [stored[t] for t in range(len(plan))]
        causes = [one.failure for one in submodels if one.failure is not None]
        model.warnings_ = warn_of_failures(causes, len(plan))
        # fit a few again, beside others than the first time: they must be the same files
        again = [(t,) for t in canaries(len(plan), tasks.n_rows)]
        for t, found in run(tasks.refit_hash, again):  # in the order in which they finish
            if found != submodels[t].sha256:
                raise SoundnessError(
                    f"{plan.names[t]} differs when it is fitted again on the same columns, so no "
                    f"radius would hold: {CANARY_CURE}"
                )
    return model, place.finish(model, submodels, about)


def _resume_key(
    model: Ensemble,
    plan: Plan,
    about: JsonObject,
    training: TrainingTable,
    batch_rows: int | None,
) -> JsonObject:
    """Return everything that the submodels depend on: where any of it differs, they would."""
    facts = to_manifest(model, {})
    del facts["stored"]  # the time of day decides nothing, nor do threads and progress
    for name in ("n_jobs", "verbose"):
        del facts["settings"][name]
    return facts | {
        "versions": library_versions(),
        "seed": plan.seed,
        "config": get_config(),
        "estimator": stored_estimator(ESTIMATOR, plan.estimator).sha256,
        "code": code_of(plan.estimator),
        "about": about,
        "data_changed": training.changes,
        "batch_rows": batch_rows,
    }


@dataclass(frozen=True)
class SubmodelTasks:
    """Tasks that each fit a submodel, on whichever worker, and where they find the table.

    Attributes
    ----------
    plan : Plan
        What is fitted.
    batch_rows : int or None
        Rows per batch, for estimators with ``partial_fit``.
    path : str
        The training table, under the same path on all workers.
    schema : Schema
        Its columns.
    split : (column, value) or None
        Which rows are meant.
    n_rows : int
        How many rows there were when the fit began.
    changes : str
        When its files were last written before the fit began (``changes_of``).
    """

    plan: Plan
    batch_rows: int | None
    path: str
    schema: Schema
    split: Split | None
    n_rows: int
    changes: str

    @classmethod
    def of(cls, training: TrainingTable, plan: Plan, batch_rows: int | None) -> "SubmodelTasks":
        """Return the tasks of a fit on this table."""
        file, schema = training.file, training.schema
        path = str(file.path.absolute())
        return cls(plan, batch_rows, path, schema, training.split, file.n_rows, training.changes)

    def open(self) -> tuple[FileTable, Array]:
        """Open the table, of which nothing is read yet, and read the target."""
        if not Path(self.path).exists():
            raise InputError(
                f"data {self.path!r} does not exist on {socket.gethostname()!r}: all workers must "
                "see it under the same path"
            )
        file = open_file(self.path, split=self.split)
        for name in [*self.schema.kinds, str(self.schema.target)]:
            file.check_column(name, "data")
        table = file.table(self.schema.kinds)
        if table.n_rows != self.n_rows:
            raise InputError(
                f"data {self.path!r} has {table.n_rows} rows, and had {self.n_rows} when the fit "
                "began: it must not change"
            )
        y = self.schema.read_target(file)
        check_unchanged(self.path, self.changes)
        return table, y

    def fit_and_store(self, place: UnfinishedModel, t: int) -> StoredSubmodel:
        """Fit submodel t on its own columns and write it to the store."""
        stored = place.find(t)  # by a worker that died before it could report it
        return place.add(t, self._fit(t)) if stored is None else stored

    def refit_hash(self, t: int) -> tuple[int, str]:
        """Fit submodel t again; return t and the hash of its file, which must be the same."""
        return t, stored_estimator(submodel_name(t), self._fit(t)).sha256

    def _fit(self, t: int) -> object:
        table, y = self.open()
        with exclusive(self.plan.serial):
            target = self.plan.encode_target(y)
            fitted: object = fit_submodel(self.plan, table, target, t, self.batch_rows)
        check_unchanged(self.path, self.changes)  # before the submodel counts as one of this table
        return fitted
