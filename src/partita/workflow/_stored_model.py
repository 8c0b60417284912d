"""From a stored model and a table in a file to certificates, as a whole or piece by piece.

A stored model brings what it remembers of its training table; nothing of a table is read but the
columns that the model knows. ``certify_file`` holds the table in memory, for the report;
``certify_pieces`` holds one piece at a time, for ``partita certify`` and :func:`certify_parquet`.
Both make the same rows.
"""

import re
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._support import Array, JsonObject, PathLike, Progress, TableLike, require
from ..ensemble import DETECT, Ensemble, FittedEnsemble, columns_that_may_lack
from ..errors import InputError
from ..rules import TopK
from ..store import digest, load_with_manifest
from ..tables import (
    CsvOptions,
    File,
    Split,
    check_writable,
    footers_of,
    sha256_of,
    table_writer,
)
from ._certified_table import CertifiedTable, Summary
from ._schema import TASKS, Schema

SilentArgument: TypeAlias = str | Sequence[str] | None  # "detect", or the names of units
CERTIFIED_AT_ONCE = 100_000  # rows
# the columns that ``partita certify`` writes; ignored columns are passed through beside them
WRITTEN = re.compile(
    r"prediction|radius|runner_up|silence_radius|(critical|silent)_units|(low|high|label_set)_\d+"
)

BEFOREHAND = "beforehand"
ON_REFERENCE = "on-reference"
ON_TRAINING = "on-training"
CHOSEN = {  # how settings came about, and what that means for a radius
    BEFOREHAND: "Settings were fixed beforehand, as the author of the model states: proofs hold "
    "whatever is written into the training table.",
    ON_REFERENCE: "Settings were chosen on a trusted sample alone: proofs hold whatever is written "
    "into the training table, as long as no attacker reached the sample.",
    ON_TRAINING: "Settings were chosen on the training table: proofs hold given these settings. "
    "An attacker with one training column can change what is chosen, and with it predictions "
    "of any radius.",
    None: "How the settings were chosen is not recorded: proofs hold given these settings.",
}


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model that was loaded, and its manifest.

    Attributes
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted.
    manifest : dict
        What ``manifest.json`` holds.
    path : str or path
        The folder or zip it came from.
    """

    model: Ensemble
    manifest: JsonObject
    path: PathLike

    @property
    def about(self) -> JsonObject:
        """Return what ``partita fit`` wrote about the training table; empty without it."""
        return self.manifest.get("about") or {}

    @property
    def chosen(self) -> str | None:
        """Return how the settings came about, a key of CHOSEN; None if that is not recorded."""
        found = self.about.get("chosen")
        return found if isinstance(found, str) and found in CHOSEN else None

    @property
    def digest(self) -> str:
        """Return one hash for all files of the model."""
        return digest(self.manifest)

    @cached_property
    def schema(self) -> Schema:
        """Return what a table must look like to be certified."""
        about = self.about
        return Schema(
            known_kinds(self.model),
            about.get("ignore", []),
            about.get("target"),
            about.get("target_kind"),
            TASKS[self.model.task],
            CsvOptions().with_fallback(about.get("csv")),
        )

    def check_rule(self) -> None:
        """Refuse a rule whose radius is not about the prediction."""
        if isinstance(self.model.rule_, TopK):
            raise InputError(
                "the model's rule is TopK, whose radius is about staying among the top k: certify "
                "it in Python, with labels="
            )

    def is_training_table(self, path: PathLike) -> bool:
        """Return whether a table is the one that the model was fitted on.

        A table that was fitted piece by piece is known by its Parquet footers, any other by its
        content.
        """
        known = self.about.get("data") or {}
        if "footers" in known:
            is_parquet = Path(path).is_dir() or Path(path).suffix.lower() in (".parquet", ".pq")
            return is_parquet and footers_of(path) == known["footers"]
        return "sha256" in known and known["sha256"] == sha256_of(path)

    def holds_training_rows(self, path: PathLike, split: Split | None) -> bool:
        """Return whether rows are training rows: of the same table, and not of another part."""
        learnt = self.about.get("split")
        column, value = split or (None, None)
        other_part = learnt is not None and learnt[0] == column and learnt[1] != value
        return not other_part and self.is_training_table(path)

    def training_rows(self, path: PathLike) -> tuple[TableLike, Array]:
        """Read the features and the target of the training table as fit read them."""
        if self.schema.target is None:
            raise InputError(
                "the model does not say which column it predicts: audit it in Python, with "
                "partita.attacks.audit"
            )
        split = self.about.get("split")
        split = None if split is None else (split[0], split[1])
        file = self.schema.open(path, "training", split=split, needs_target=True)
        table = file.table(self.schema.kinds)
        return table.take_all(), self.schema.read_target(file, "training")


def open_model(
    path: PathLike, trusted: Sequence[str] = (), jobs: int | None = None, verbose: int = 0
) -> StoredModel:
    """Load a stored model for use from outside Python.

    Parameters
    ----------
    path : str or path
        The folder or zip that ``partita fit`` wrote.
    trusted : sequence of str, default=()
        Further types that may be loaded (:func:`partita.store.load`).
    jobs : int, optional
        Threads; by default as the model was fitted.
    verbose : int, default=0
        How much the model says on standard error.
    """
    model, manifest = load_with_manifest(path, trusted)
    model.verbose = verbose
    if jobs is not None:
        model.n_jobs = jobs
    return StoredModel(model, manifest, path)


def known_kinds(model: FittedEnsemble) -> dict[str, str]:
    """Return the kinds of a model's columns; refuse one for which no file can be read."""
    if model.kinds_ is None:
        raise InputError(
            "the model was fitted on an array without column names: fit it on a frame, or with "
            "partita fit"
        )
    kinds = {}
    for name, kind in model.kinds_.items():
        if kind is None:
            raise InputError(
                f"the model's column {name!r} held something that no file gives back (a category "
                "or a date): certify it in Python, or fit it with partita fit"
            )
        kinds[name] = kind
    return kinds


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """A stored model and a table in a file that go together.

    Attributes
    ----------
    stored : StoredModel
        The model and its manifest.
    file : File
        The table, of which a Parquet file's columns are not read yet.
    split : (column, value), optional
        Only the rows with this value are meant.
    silent : "detect" or list of str, optional
        Silent sources.
    """

    stored: StoredModel
    file: File
    split: Split | None = None
    silent: SilentArgument = None

    @cached_property
    def on_training(self) -> bool:
        """Return whether these are rows that the model was fitted on."""
        return self.stored.holds_training_rows(self.file.path, self.split)

    @property
    def columns(self) -> list[str]:
        """Return the columns to read: features, target, and ignored ones, which are passed on."""
        schema = self.stored.schema
        needed = {*schema.kinds, *schema.ignore, schema.target}
        return [name for name in self.file.names if name in needed]

    def truth(self, piece: File) -> Array | None:
        """Read the target in a piece of the table; None without one, or where cells are missing."""
        target = self.stored.schema.target
        if target is None or target not in piece.names:
            return None
        if piece.has_missing(target):
            warnings.warn(
                f"the target {target!r} has missing values, so nothing is said about being right: "
                "leave out the rows without one",
                stacklevel=2,
            )
            return None
        return self.stored.schema.read_target(piece)


def open_prediction_table(
    stored: StoredModel,
    data: PathLike,
    split: Split | None = None,
    csv: CsvOptions | None = None,
    silent: SilentArgument = None,
) -> PredictionTable:
    """Open a table to certify; refuse one whose columns are not the model's.

    Parameters
    ----------
    stored : StoredModel
        The model.
    data : str or path
        A .csv or .parquet file, or a folder of Parquet files.
    split : (column, value), optional
        Only the rows with this value.
    csv : CsvOptions, optional
        How a CSV file is written, where that is not how the training table was.
    silent : "detect" or list of str, optional
        Silent sources: the table may lack their columns, which count as missing. Those of named
        sources are not read.
    """
    stored.check_rule()
    may_lack = () if silent is None else columns_that_may_lack(stored.model, silent)
    unread = () if silent == DETECT else may_lack
    file = stored.schema.open(data, split=split, csv=csv, may_lack=may_lack, unread=unread)
    for name in stored.schema.ignore:
        if name in file.names and WRITTEN.fullmatch(name):
            raise InputError(
                f"the ignored column {name!r} has the name of a column that certify writes: "
                "rename it"
            )
    return PredictionTable(stored, file, split, silent)


@dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedFile(CertifiedTable):
    """Certified rows that came from a file.

    Attributes
    ----------
    stored : StoredModel
        The model and its manifest.
    file : File
        The table, or a piece of it.
    on_training : bool
        Whether these are rows that the model was fitted on.
    """

    stored: StoredModel
    file: File
    on_training: bool = False

    @classmethod
    def of_piece(
        cls,
        source: PredictionTable,
        piece: File,
        tolerance: float | None = None,
        relative: float | None = None,
        label_sets: int = 0,
    ) -> "CertifiedFile":
        """Certify a piece of a table."""
        return cls.of(
            source.stored.model,
            piece.table(source.stored.schema.kinds),
            tolerance,
            relative,
            source.truth(piece),
            source.silent,
            label_sets=label_sets,
            stored=source.stored,
            file=piece,
            on_training=source.on_training,
        )

    @cached_property
    def summary(self) -> Summary:
        """Count how many rows are certified, and how many of them right."""
        return Summary.of(self, self.on_training)

    def columns(self) -> dict[str, ArrayLike]:
        """Return what is written: ignored columns as they are, then predictions and proofs."""
        out: dict[str, ArrayLike] = {
            name: self.file.arrow([name]).column(name)
            for name in self.stored.schema.ignore
            if name in self.file.names
        }
        out["prediction"] = self.prediction
        if self.proof is not None and self.critical_units is not None:
            out["radius"] = self.proof.radius
            if self.proof.runner_up is not None:
                out["runner_up"] = self.proof.runner_up
            if self.silent_units is not None:
                out["silence_radius"] = self.proof.silence_radius
            out["critical_units"] = _name_lists(self.model.units_.names, self.critical_units)
        if self.silent_units is not None:
            out["silent_units"] = _name_lists(self.model.units_.names, self.silent_units.T)
        for radius, (low, high) in self.intervals.items():
            out[f"low_{radius}"], out[f"high_{radius}"] = low, high
        for radius, possible in self.possible_labels.items():
            out[f"label_set_{radius}"] = _name_lists(self.model.classes_, possible.T)
        return out


def _name_lists(names: ArrayLike, units: Array) -> Any:
    """Return for every row the names of its units, as Arrow lists; units: bool (units, rows).

    Labels are listed like units.
    """
    arrow = require("pyarrow", "writing tables", "partita[cli]")
    ends = np.concatenate([[0], np.cumsum(units.sum(axis=0))]).astype(np.int32)
    named = arrow.array(names).take(np.nonzero(units.T)[1])
    return arrow.ListArray.from_arrays(ends, named)


def certify_file(
    model: PathLike,
    data: PathLike,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    verbose: int = 2,
    csv: CsvOptions | None = None,
    jobs: int | None = None,
    silent: SilentArgument = None,
    label_sets: int = 0,
) -> CertifiedFile:
    """Certify all rows of a table, in memory.

    Parameters
    ----------
    model : str or path
        A stored model.
    data : str or path
        A .csv or .parquet file, or a folder of Parquet files.
    tolerance, relative : float, optional
        For numbers: how far a prediction may move and still count as unchanged.
    trusted : sequence of str, default=()
        Further types that may be loaded (:func:`partita.store.load`).
    verbose : int, default=2
        0: no progress on standard error.
    csv : CsvOptions, optional
        How a CSV file is written, where that is not how the training table was.
    jobs : int, optional
        Threads; by default as the model was fitted.
    silent : "detect" or list of str, optional
        Silent sources; the table may lack their columns.
    label_sets : int, default=0
        For labels: up to how many bad units their label sets are wanted for.
    """
    stored = open_model(model, trusted, jobs, verbose)
    source = open_prediction_table(stored, data, csv=csv, silent=silent)
    return CertifiedFile.of_piece(source, source.file, tolerance, relative, label_sets)


def certify_pieces(
    source: PredictionTable,
    out: PathLike | None = None,
    tolerance: float | None = None,
    relative: float | None = None,
    verbose: int = 1,
    label_sets: int = 0,
) -> tuple[Summary, list[str]]:
    """Certify a table piece by piece; return the summary and the columns that were written.

    ``out``: a .parquet or .csv file for the proofs, or None to write nothing.
    """
    source.file.table(source.stored.schema.kinds)  # refuses an empty table, before any work
    total: Summary | None = None
    columns: list[str] = []
    progress = Progress("certified", source.file.n_rows, "rows", enabled=verbose > 0)
    with progress, nullcontext() if out is None else table_writer(out) as write:
        for piece in source.file.batches(source.columns, CERTIFIED_AT_ONCE):
            certified = CertifiedFile.of_piece(source, piece, tolerance, relative, label_sets)
            if write is not None:
                written = certified.columns()
                write(written)
                columns = list(written)
            total = certified.summary if total is None else total + certified.summary
            del piece, certified  # before the next one is read
            progress.update(total.rows)
    assert total is not None
    return total, columns


def certify_parquet(
    model: PathLike,
    data: PathLike,
    out: PathLike,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    split: Split | None = None,
    verbose: int = 0,
    silent: SilentArgument = None,
    label_sets: int = 0,
) -> JsonObject:
    """Predict and certify every row of a table in Parquet, piece by piece.

    The memory that this takes does not grow with the table.

    Parameters
    ----------
    model : str or path
        A stored model.
    data : str or path
        A Parquet file, or a folder of them.
    out : str or path
        Where predictions and proofs go, one row for every row: a .parquet file with the columns
        that ``partita certify`` writes.
    tolerance : float, optional
        For numbers: how far a prediction may move and still count as unchanged.
    relative : float, optional
        The same as a share of the prediction; give one of the two, or neither for intervals only.
    trusted : list of str, default=()
        Further types that may be loaded (:func:`partita.store.load`).
    split : (column, value), optional
        Only the rows with this value.
    verbose : int, default=0
        1: progress on standard error.
    silent : "detect" or list of str, optional
        Silent sources, by the names of their units; "detect": those whose columns are all missing
        in a row. The table may lack their columns.
    label_sets : int, default=0
        For labels: for each r from 1 up to this, also write which labels r bad units can bring
        about, as lists ``label_set_r``.

    Returns
    -------
    dict
        ``rows``, ``counts``, ``certified`` (the share of rows with at least each radius),
        ``median_radius``, and, where the table has the target, ``certified_accuracy``. With
        ``label_sets`` also their mean ``size`` and ``coverage``.

    Raises
    ------
    InputError
        If the table does not have the model's columns, or ``out`` cannot be written.

    See Also
    --------
    fit_parquet : Fit and store a model on a table that is larger than memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, certify_parquet, fit_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> load_wine(as_frame=True).frame.to_parquet(folder / "wine.parquet", index=False)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)
    >>> model = fit_parquet(clf, folder / "wine.parquet", "target", folder / "model")
    >>> found = certify_parquet(model, folder / "wine.parquet", folder / "certified.parquet")
    >>> found["rows"]
    178
    """
    check_writable(out, (".parquet",))
    source = open_prediction_table(open_model(model, trusted), data, split, silent=silent)
    summary, _ = certify_pieces(source, out, tolerance, relative, verbose, label_sets)
    return summary.to_dict(out)
