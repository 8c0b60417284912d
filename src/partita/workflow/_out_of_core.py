"""Tables in Parquet that are larger than memory: fitted submodel by submodel, perhaps on a cluster,
and certified piece by piece."""

import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support.parallel import one_at_a_time, run_each
from .._support.progress import Progress
from .._support.types import Array
from ..ensemble._base import FeaturePartitionEnsemble, tell_failures
from ..ensemble._batches import check_batches, fit_submodel
from ..ensemble._canary import CURE, canaries
from ..ensemble._joint_training import trains_together
from ..ensemble._plan import Plan
from ..ensemble._regressor import FeaturePartitionRegressor
from ..errors import InputError, SoundnessError
from ..partition._units_file import UnitsFile
from ..store._manifest import to_manifest
from ..store._store import packed, submodel_name
from ..store._unfinished import Kept, Unfinished
from ..tables._open import CsvOptions, FileTable, Split, footers_of, last_change_of, open_file
from ..tables._write import check_writable, table_writer
from ._cluster import connected, run_on_cluster, versions
from ._tally import Tally
from ._workflow import Training, ask, open_training, told_target

CERTIFIED_AT_ONCE = 100_000  # rows


def fit_parquet(
    ensemble: Any,
    data: Any,
    target: str,
    out: Any,
    *,
    ignore: Sequence[str] = (),
    split: Split | None = None,
    cluster: Any = None,
    batch_rows: int | None = None,
) -> Path:
    """Fit an ensemble on a table in Parquet and store it, submodel by submodel.

    Each submodel is a task that reads its own columns and the target, and no others, fits, and puts
    its file into the store. So the table may be larger than any memory, the tasks can run on many
    machines, and what is finished survives: running the same again goes on where it stopped. The
    submodels are those that ``ensemble.fit`` would make of the same rows in memory.

    Parameters
    ----------
    ensemble : FeaturePartitionClassifier or FeaturePartitionRegressor
        What to fit: estimator, units, rule and so on. It is not changed.
    data : path
        A Parquet file, or a folder of them, in the order of their names. Workers must see it under
        the same path.
    target : str
        The column to predict.
    out : path
        A folder for the stored model, which workers must see too. ``partita.store.load`` reads it.
    ignore : list of str, default=()
        Columns that are no features.
    split : (column, value), default=None
        Learn from the rows that have this value alone. Whoever writes the column chooses the rows
        of every submodel, so it must be one of ``ignore`` or of the ensemble's ``trusted``.
    cluster : None, str or distributed.Client, default=None
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786". None: the cores of this
        machine.
    batch_rows : int, default=None
        Teach estimators with ``partial_fit`` so many rows at a time, in one pass, instead of all at
        once. LightGBM reads its columns in batches anyway.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita import FeaturePartitionClassifier, certify_parquet, fit_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> load_breast_cancer(as_frame=True).frame.to_parquet(folder / "cancer.parquet", index=False)
    >>> clf = FeaturePartitionClassifier(n_submodels=11)
    >>> model = fit_parquet(clf, folder / "cancer.parquet", "target", folder / "model")
    >>> certify_parquet(model, folder / "cancer.parquet", folder / "certified.parquet")["certified_accuracy"][2] > 0.5
    True
    """
    if not isinstance(ensemble, FeaturePartitionEnsemble):
        raise InputError(
            f"ensemble is a {type(ensemble).__name__}: give a FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    task = "regression" if isinstance(ensemble, FeaturePartitionRegressor) else "classification"
    trusted = (
        [name for name in ensemble.trusted if isinstance(name, str)]
        if not isinstance(ensemble.trusted, str)
        else []
    )
    training = open_training(
        data, target, UnitsFile(trusted=trusted, ignore=list(ignore)), task, split
    )
    return fit_training(training, ensemble, out, cluster=cluster, batch_rows=batch_rows)[1]


def fit_training(
    training: Training,
    ensemble: Any,
    out: Any,
    *,
    cluster: Any = None,
    batch_rows: int | None = None,
    estimator: str | None = None,
) -> tuple[Any, Path]:
    """The ensemble but for its submodels, and the folder in which it is stored with them.
    ``estimator``: what it is called."""
    place = Unfinished(out)
    if (
        training.file.path.suffix.lower() not in (".parquet", ".pq")
        and not training.file.path.is_dir()
    ):
        raise InputError(
            f"data {str(training.file.path)!r} is no Parquet, which is read by column: store it "
            "as .parquet"
        )
    model = copy(ensemble)
    _, _, plan = model._plan(training.table, training.y)
    if trains_together(plan.estimator):
        raise InputError(
            f"estimator {type(plan.estimator).__name__} trains all submodels at once, from the "
            "whole table: use fit"
        )
    check_batches(plan, batch_rows)
    about = training.about(
        estimator or type(plan.estimator).__name__, {"footers": footers_of(training.file.path)}
    )
    with nullcontext() if cluster is None else connected(cluster) as client:
        place.begin(_settled(model, plan, about, training, batch_rows))
        submodels = _fit_missing(plan, Source.of(training), place, batch_rows, client, model)
        tell_failures([one.failure for one in submodels if one.failure is not None], len(plan))
        _canary(plan, Source.of(training), submodels, batch_rows, client)
    return model, place.finish(model, submodels, about)


def _fit_missing(
    plan: Plan, source: "Source", place: Unfinished, batch_rows: int | None, client: Any, model: Any
) -> list[Kept]:
    """Fit the submodels that are not stored yet, here or on a cluster; all of them, in their
    order."""
    kept = {t: found for t in range(len(plan)) if (found := place.kept(t)) is not None}
    if kept and model.verbose:
        print(f"partita: {len(kept)} of {len(plan)} submodels were done before", file=sys.stderr)
    jobs = [(plan, source, place, t, batch_rows) for t in range(len(plan)) if t not in kept]
    progress = Progress("fitted", len(plan), "submodels", before=len(kept))
    here = client is None
    done = (
        run_each(fit_and_keep, jobs, model.n_jobs, len(jobs), "fitted", 0)
        if here
        else run_on_cluster(client, fit_and_keep, jobs)
    )
    for one in done:
        place.wait_for(one)
        kept[one.t] = one
        if model.verbose:
            progress.update(len(kept))
    return [kept[t] for t in range(len(plan))]


def _canary(
    plan: Plan, source: "Source", submodels: list[Kept], batch_rows: int | None, client: Any
) -> None:
    """Fit a few submodels again, one after the other: they must be the same files."""
    for t in canaries(len(plan)):
        job = (plan, source, t, batch_rows)
        again = (
            run_each(_packed_again, [job], 1, 1, "", 0)
            if client is None
            else run_on_cluster(client, _packed_again, [job])
        )
        if list(again) != [submodels[t].sha256]:
            raise SoundnessError(
                f"{plan.names[t]} is another when it is fitted again on the same columns, so no "
                f"radius would hold: {CURE}"
            )


def _packed_again(plan: Plan, source: "Source", t: int, batch_rows: int | None) -> str:
    table, y = source.open()
    with one_at_a_time(plan.alone):
        fitted = fit_submodel(plan, table, plan.learnt(y), t, batch_rows)
    return str(packed(submodel_name(t), fitted)[1]["sha256"])


@dataclass(frozen=True)
class Source:
    """Where whoever fits a submodel finds the table and the target, and how they are read."""

    path: str
    kinds: dict[str, str]
    target: str
    target_kind: str
    of_values: bool
    split: Split | None
    n_rows: int

    @staticmethod
    def of(training: Training) -> "Source":
        file, target = training.file, training.target
        path = str(file.path.absolute())
        return Source(
            path,
            training.table.kinds,
            target,
            file.kind(target),
            training.of_values,
            training.split,
            file.n_rows,
        )

    def open(self) -> tuple[FileTable, Array]:
        """The table, of which nothing is read yet, and the target."""
        if not Path(self.path).exists():
            raise InputError(
                f"data {self.path!r} does not exist on {socket.gethostname()!r}: all workers must "
                "see it under the same path"
            )
        file = open_file(self.path, split=self.split)
        for name in [*self.kinds, self.target]:
            file.check_has(name, "data")
        table = file.table(self.kinds)
        y = told_target(file.target(self.target), self.target_kind, self.of_values)
        if table.n_rows != self.n_rows:
            raise InputError(
                f"data {self.path!r} has {table.n_rows} rows, and had {self.n_rows} when the fit "
                "began: it must not change"
            )
        return table, y


def fit_and_keep(
    plan: Plan, source: Source, place: Unfinished, t: int, batch_rows: int | None
) -> Kept:
    """Fit submodel t on its own columns and store it: the work of one task."""
    found = place.kept(t)  # by a worker that died before it could say so
    if found is not None:
        return found
    table, y = source.open()
    with one_at_a_time(plan.alone):
        fitted = fit_submodel(plan, table, plan.learnt(y), t, batch_rows)
    return place.keep(t, fitted)


def certify_parquet(
    model: Any,
    data: Any,
    out: Any,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    split: Split | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Predict and prove every row of a table in Parquet, piece by piece, in memory that does not
    grow with the table.

    Parameters
    ----------
    model : path of a stored model
    data : path
        A Parquet file, or a folder of them.
    out : path
        Where predictions and proofs go, a row for every row: a .parquet file with the columns that
        ``partita certify`` writes.
    tolerance, relative : float, default=None
        For numbers: how far a prediction may move and still count as unchanged.
    trusted : list of str, default=()
        Further types that may be loaded (``partita.store.load``).
    split : (column, value), default=None
        Only the rows that have this value.
    verbose : int, default=0
        1: progress on standard error.

    Returns
    -------
    dict
        ``rows``, ``counts``, ``certified`` (the share of rows with at least each radius),
        ``median_radius``, and, where the table has the target, ``certified_accuracy``.
    """
    check_writable(out, (".parquet",))
    proven = certify_pieces(model, data, out, tolerance, relative, tuple(trusted), split, verbose)
    return proven.tally.summary(proven.model, out)


@dataclass(frozen=True)
class Proven:
    """What was proven of a table, the model that it was proven for, and the columns that were
    written."""

    model: Any
    tally: Tally
    columns: list[str]


def certify_pieces(
    model: Any,
    data: Any,
    out: Any = None,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: tuple[str, ...] = (),
    split: Split | None = None,
    verbose: int = 1,
    csv: CsvOptions | None = None,
    jobs: int | None = None,
) -> Proven:
    """Certify a table piece by piece; ``out``: a .parquet or .csv file for the proofs, or None to
    add them up only."""
    asked = ask(model, data, trusted, split, verbose=0, csv=csv, jobs=jobs)
    asked.file.table(asked.kinds)  # says what is wrong with an empty one
    progress, total, columns = Progress("certified", asked.file.n_rows, "rows"), Tally(), []
    with nullcontext() if out is None else table_writer(out) as write:
        for piece in asked.file.pieces(asked.columns, CERTIFIED_AT_ONCE):
            certified = asked.about_piece(piece, tolerance, relative)
            if write is not None:
                proofs = certified.columns()
                write(proofs)
                columns = list(proofs)
            tally = certified.tally()
            total = total + tally if total.rows else tally
            del piece, certified  # before the next one is read
            if verbose:
                progress.update(total.rows)
    return Proven(asked.model, total, columns)


def _settled(
    model: Any, plan: Plan, about: dict[str, Any], training: Training, batch_rows: int | None
) -> dict[str, Any]:
    """All that the submodels depend on: where any of it differs, they are others."""
    facts = {
        name: fact for name, fact in to_manifest(model, {}).items() if name != "stored"
    }  # the time of day decides nothing
    settings = {
        name: value
        for name, value in facts["settings"].items()
        if name not in ("n_jobs", "verbose")
    }
    return facts | {
        "settings": settings,
        "versions": versions(),
        "seed": plan.seed,
        "estimator": packed("estimator", plan.estimator)[1]["sha256"],
        "about": about,
        "data_changed": last_change_of(training.file.path),
        "batch_rows": batch_rows,
    }
