"""Watching the sources of a stored model: tables in files, piece by piece, in their order.

What is usual must come from rows that the model was not fitted on, so those are refused here.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._support import Progress
from ..ballots import Ballots
from ..errors import InputError
from ..store import write_usual
from ..tables import CsvOptions, File, sha256_of
from ._prediction_table import PredictionTable, open_prediction_table
from ._stored_model import StoredModel
from ._usual import ReferenceRates, usual_of
from ._watch import Watcher
from ._watch_result import WatchResult
from ._watch_state import StateFile

AT_ONCE = 20_000  # rows


def learn_usual_file(
    stored: StoredModel,
    clean: Any,
    every: int = 1,
    csv: CsvOptions | None = None,
    verbose: int = 1,
) -> ReferenceRates:
    """Learn what is usual from a table of clean rows, and keep it with the model.

    Parameters
    ----------
    stored : StoredModel
        The model, with its path.
    clean : str or path
        A .csv or .parquet file, or a folder of Parquet files.
    every : int, default=1
        Use only every n-th row.
    csv : CsvOptions, optional
        How a CSV file is written, where that is not how the training table was.
    verbose : int, default=1
        0: no progress on standard error.
    """
    source = open_prediction_table(stored, clean, csv=csv)
    if source.on_training:
        raise InputError(
            f"usual {str(clean)!r} is the training table, whose rows the submodels know: give "
            "clean rows that the model was not fitted on"
        )
    pieces = _pieces(source, "learnt from", verbose)
    usual = usual_of(stored.model, (ballots for _, ballots in pieces), every)
    path = Path(clean)
    data = {"name": path.name, "sha256": sha256_of(path) if path.is_file() else None}
    write_usual(stored.path, usual.to_dict(), data)
    return usual


def watch_files(
    stored: StoredModel,
    tables: Sequence[Any],
    usual: ReferenceRates,
    false_alarms: float = 0.01,
    every: int | None = None,
    time: str | None = None,
    state: Any = None,
    csv: CsvOptions | None = None,
    verbose: int = 1,
) -> WatchResult:
    """Test the rows of tables, one table after the other.

    Parameters
    ----------
    stored : StoredModel
        The model.
    tables : sequence of str or path
        .csv or .parquet files, or folders of Parquet files, in their order.
    usual : ReferenceRates
        What is usual.
    false_alarms : float, default=0.01
        The probability of any false alarm at all, in all calls with the same state; without a
        state, in this call.
    every : int, optional
        Use only every n-th row; by default as ``usual`` was learnt.
    time : str, optional
        A column that says when each row came.
    state : path, optional
        A .json file: go on from there if it exists, and write the new state to it.
    csv : CsvOptions, optional
        How CSV files are written, where that is not how the training table was.
    verbose : int, default=1
        0: no progress on standard error.
    """
    file = None if state is None else StateFile.read(Path(state), stored.digest)
    earlier = None if file is None else file.state
    watcher = Watcher(stored.model, usual, false_alarms=false_alarms, every=every, state=earlier)
    sources = [open_prediction_table(stored, table, csv=csv) for table in tables]
    for source in sources:  # before the work begins
        if time is not None:
            source.file.check_column(time, "time")
    for source in sources:
        for piece, ballots in _pieces(source, "watched", verbose, time):
            times = None if time is None else piece.arrow([time]).column(time).to_pylist()
            watcher.update(ballots, times)
    if file is not None:
        file.write(watcher.state())
    return watcher.result


def _pieces(
    source: PredictionTable, verb: str, verbose: int, time: str | None = None
) -> Iterator[tuple[File, Ballots]]:
    """A table's pieces, and the ballots for each."""
    kinds = source.stored.schema.kinds
    source.file.table(kinds)  # refuses an empty table, before any work
    columns = [name for name in source.file.names if name in kinds or name == time]
    done = 0
    with Progress(verb, source.file.n_rows, "rows", enabled=verbose > 0) as progress:
        for piece in source.file.batches(columns, AT_ONCE):
            yield piece, source.stored.model.ballots(piece.table(kinds))
            done += piece.n_rows
            progress.update(done)
