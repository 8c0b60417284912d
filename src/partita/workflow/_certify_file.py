"""From a stored model and a table in a file to certificates, as a whole or piece by piece.

``certify_file`` holds the table in memory, for the report; ``certify_pieces`` holds one piece at a
time, for ``partita certify`` and :func:`certify_parquet`. Both make the same rows.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._support import Progress, require
from ..tables import CsvOptions, File, Split, check_writable, table_writer
from ._certified_table import CertifiedTable
from ._prediction_table import PredictionTable, open_prediction_table
from ._stored_model import StoredModel, open_model
from ._summary import Summary

CERTIFIED_AT_ONCE = 100_000  # rows


@dataclass(frozen=True, eq=False)
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

    stored: StoredModel | None = None
    file: File | None = None
    on_training: bool = False

    @classmethod
    def of_piece(
        cls,
        source: PredictionTable,
        piece: File,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> "CertifiedFile":
        """Certify a piece of a table."""
        return cls.of(
            source.stored.model,
            piece.table(source.stored.schema.kinds),
            tolerance,
            relative,
            source.truth(piece),
            source.silent,
            stored=source.stored,
            file=piece,
            on_training=source.on_training,
        )

    @cached_property
    def summary(self) -> Summary:
        """How many rows are certified, and how many of them right."""
        return Summary.of(self, self.on_training)

    def columns(self) -> dict[str, Any]:
        """What is written: ignored columns as they are, then one prediction and proof per row."""
        assert self.stored is not None
        assert self.file is not None
        out: dict[str, Any] = {
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
        return out


def _name_lists(names: Sequence[str], units: Any) -> Any:
    """For every row the names of its units, as an Arrow column of lists; units: (units, rows)."""
    arrow = require("pyarrow", "writing tables", "partita[cli]")
    ends = np.concatenate([[0], np.cumsum(units.sum(axis=0))]).astype(np.int32)
    named = arrow.array(names, arrow.string()).take(np.nonzero(units.T)[1])
    return arrow.ListArray.from_arrays(ends, named)


def certify_file(
    model: Any,
    data: Any,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    verbose: int = 2,
    csv: CsvOptions | None = None,
    jobs: int | None = None,
    silent: Any = None,
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
    """
    stored = open_model(model, trusted, jobs, verbose)
    source = open_prediction_table(stored, data, csv=csv, silent=silent)
    return CertifiedFile.of_piece(source, source.file, tolerance, relative)


def certify_pieces(
    source: PredictionTable,
    out: Any = None,
    tolerance: float | None = None,
    relative: float | None = None,
    verbose: int = 1,
) -> tuple[Summary, list[str]]:
    """Certify a table piece by piece; the summary of all rows, and the columns that were written.

    ``out``: a .parquet or .csv file for the proofs, or None to write nothing.
    """
    source.file.table(source.stored.schema.kinds)  # refuses an empty table, before any work
    total: Summary | None = None
    columns: list[str] = []
    progress = Progress("certified", source.file.n_rows, "rows", enabled=verbose > 0)
    with progress, nullcontext() if out is None else table_writer(out) as write:
        for piece in source.file.batches(source.columns, CERTIFIED_AT_ONCE):
            certified = CertifiedFile.of_piece(source, piece, tolerance, relative)
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
    model: Any,
    data: Any,
    out: Any,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    trusted: Sequence[str] = (),
    split: Split | None = None,
    verbose: int = 0,
    silent: Any = None,
) -> dict[str, Any]:
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

    Returns
    -------
    dict
        ``rows``, ``counts``, ``certified`` (the share of rows with at least each radius),
        ``median_radius``, and, where the table has the target, ``certified_accuracy``.

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
    return certify_pieces(source, out, tolerance, relative, verbose)[0].to_dict(out)
