"""Watching the sources of a stored model: its reference rates, tables in files, the state file.

Reference rates must come from rows that the model was not fitted on, so those are refused here.
The state file carries one stream over many calls, with one budget of false alarms. A state that is
lost or replaced would begin a new budget, and one that two calls go on from would be spent twice.
So nothing but a state of this model is read, and a state is only ever replaced by the call that
went on from it.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .._support import JsonObject, PathLike, Progress, write_atomic
from ..ballots import Ballots
from ..errors import InputError
from ..store import read_rates, write_rates
from ..tables import CsvOptions, File, sha256_of
from ..workflow import PredictionTable, StoredModel, open_prediction_table
from ._rates import ReferenceRates, rates_of
from ._watcher import Watcher, WatchResult

AT_ONCE = 20_000  # rows
ANEW = "restore it, or give another file, with which a new budget of false alarms begins"


def stored_rates(stored: StoredModel) -> ReferenceRates | None:
    """Return the reference rates that :func:`learn_usual_file` kept with a model, or None."""
    found = read_rates(stored.path)
    if found is None:
        return None
    usual = ReferenceRates.from_dict(found["usual"])
    usual.check_model(stored.model)
    return usual


def learn_usual_file(
    stored: StoredModel,
    clean: PathLike,
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
    usual = rates_of(stored.model, (ballots for _, ballots in pieces), every)
    path = Path(clean)
    data = {"name": path.name, "sha256": sha256_of(path) if path.is_file() else None}
    write_rates(stored.path, usual.to_dict(), data)
    return usual


def watch_files(
    stored: StoredModel,
    tables: Sequence[PathLike],
    usual: ReferenceRates,
    false_alarms: float = 0.01,
    every: int | None = None,
    time: str | None = None,
    state: PathLike | None = None,
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
    """Yield a table's pieces, and the ballots for each."""
    kinds = source.stored.schema.kinds
    source.file.table(kinds)  # refuses an empty table, before any work
    columns = [name for name in source.file.names if name in kinds or name == time]
    done = 0
    with Progress(verb, source.file.n_rows, "rows", enabled=verbose > 0) as progress:
        for piece in source.file.batches(columns, AT_ONCE):
            yield piece, source.stored.model.ballots(piece.table(kinds))
            done += piece.n_rows
            progress.update(done)


@dataclass(frozen=True)
class StateFile:
    """A state file as it was read.

    Attributes
    ----------
    place : Path
        The file, which need not exist.
    model : str
        The digest of the model that is watched.
    content : bytes or None
        What the file holds; None if there is none yet.
    state : dict or None
        What :meth:`Watcher.state` returned; None if there is none yet.
    """

    place: Path
    model: str
    content: bytes | None
    state: JsonObject | None

    @classmethod
    def read(cls, place: Path, model: str) -> "StateFile":
        """Read a state of this model; refuse anything else."""
        content, name = _content(place), f"state {str(place)!r}"
        if content is None:
            return cls(place, model, None, None)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as exc:
            raise InputError(f"{name} is not valid JSON: {ANEW}") from exc
        if not isinstance(found, dict) or not found.keys() >= {"model", "state"}:
            raise InputError(f"{name} was not written by this version of partita watch: {ANEW}")
        if found["model"] != model:
            raise InputError(f"{name} belongs to another model: {ANEW}")
        if found["state"] is None:
            raise InputError(f"{name} is damaged: {ANEW}")
        return cls(place, model, content, found["state"])

    def write(self, state: JsonObject) -> None:
        """Replace what was read, unless another call has replaced it since."""
        packed = json.dumps({"model": self.model, "state": state}, indent=1, allow_nan=False)
        with _locked(self.place):
            if _content(self.place) != self.content:
                raise InputError(
                    f"state {str(self.place)!r} was changed by another call while this one ran, "
                    "so its rows are not counted: run it again"
                )
            write_atomic(self.place, packed.encode())


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Keep other calls from writing the same state."""
    lock = place.with_name(f".{place.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.open("xb").close()
    except FileExistsError as exc:
        raise InputError(
            f"state {str(place)!r} is being written by another call, so the rows of this one are "
            f"not counted: run it again (if no other is running, delete {str(lock)!r} first)"
        ) from exc
    try:
        yield
    finally:
        lock.unlink()
