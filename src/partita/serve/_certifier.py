"""The model behind the service: bodies of requests in, answers out, several requests at once.

One thread takes all requests that came in while it was busy; a lone request is taken at once.
Requests that wait together are certified together where that cannot change an answer by a bit, and
one by one elsewhere. Each is read by itself before, and a request that fails, fails alone: no
request may see, stop or alter another.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from .._support import JsonObject
from ..ensemble import DETECT, FittedEnsemble, columns_that_may_lack, scores_rows_apart
from ..errors import InputError, SubmodelError
from ..rules import TopK
from ..tables import ColumnsTable
from ..workflow import CertifiedTable, known_kinds
from ._rows import (
    Columns,
    RequestRefusedError,
    answer_rows,
    columns_of,
    example_columns,
    json_bytes,
    parse_rows,
    what_is_proven,
)

MOST_ROWS_TOGETHER = 512  # later requests wait no longer than these take
MOST_TOGETHER = 256  # jobs in a batch; more wait for the next one
RETRY_SECONDS = 1  # what a client is asked to wait where too many do

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """The body of a response, and what the metrics count of it."""

    content: bytes
    n_rows: int
    radii: tuple[int, ...]  # empty where there is no radius


class Certifier:
    """Certifies the rows of requests.

    Parameters
    ----------
    model : FeaturePartitionClassifier, FeaturePartitionRegressor or one that leaves units out
        Fitted on a frame.
    tolerance, relative : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    max_rows : int
        The most rows in one request.
    silent : "detect" or list of str, optional
        Silent sources; rows need not have their columns.
    label_sets : int, default=0
        For labels: up to how many bad units their label sets are wanted for.
    watch : callable, optional
        Called with certified rows, once each.
    """

    def __init__(
        self,
        model: FittedEnsemble,
        tolerance: float | None,
        relative: float | None,
        max_rows: int,
        silent: str | Sequence[str] | None = None,
        label_sets: int = 0,
        watch: Callable[[CertifiedTable], None] | None = None,
    ) -> None:
        self._watch = watch
        if isinstance(model.rule_, TopK):
            raise InputError(
                "the model's rule is TopK, whose radius is about a given label: certify it in "
                "Python, with labels="
            )
        self.model, self.kinds = copy(model), known_kinds(model)
        self.model.verbose = 0
        self._statement = (tolerance, relative)
        self._max_rows = max_rows
        self._silent, self._label_sets = silent, label_sets
        self.may_lack = () if silent is None else tuple(columns_that_may_lack(model, silent))
        self._unread = () if silent == DETECT else self.may_lack  # sources known to be silent
        self._together = scores_rows_apart(model)
        self._of_labels = model.task == "classification"
        counts = model.counts_
        self.proven: JsonObject = {
            "proves": what_is_proven(self._of_labels, tolerance, relative, model.trusts_training),
            "counts": {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)},
        }

    def warm_up(self) -> None:
        """Certify one row: wrong settings are found, and compiled code is loaded."""
        self._rows(self._certified(example_columns(self.kinds)))

    def answers(self, bodies: Sequence[bytes]) -> list[Answer | Exception]:
        """Return the answer to each body, or why there is none."""
        answers: list[Answer | Exception | None] = [None] * len(bodies)
        waiting: list[tuple[int, Columns]] = []
        n_rows = 0
        for i, body in enumerate(bodies):
            try:
                columns = self._read(body)
            except Exception as exc:
                answers[i] = exc
                continue
            waiting.append((i, columns))
            n_rows += _length(columns)
            if not self._together or n_rows >= MOST_ROWS_TOGETHER:
                self._answer(waiting, answers)
                waiting, n_rows = [], 0
        self._answer(waiting, answers)
        return [answer for answer in answers if answer is not None]

    def _answer(
        self, waiting: list[tuple[int, Columns]], answers: list[Answer | Exception | None]
    ) -> None:
        """Certify requests in one pass; each alone if that fails, so that it fails alone."""
        if not waiting:
            return
        try:
            certified = self._certified(_joined([columns for _, columns in waiting]))
            rows, proof = self._rows(certified), certified.proof
        except Exception as exc:
            if len(waiting) == 1:
                answers[waiting[0][0]] = _refusal(exc)
                return
            for one in waiting:
                self._answer([one], answers)
            return
        radii = () if proof is None else tuple(proof.radius.tolist())
        if self._watch is not None:
            self._watch(certified)
        first = 0
        for i, columns in waiting:
            end = first + _length(columns)
            content = json_bytes(self.proven | {"rows": rows[first:end]})
            answers[i] = Answer(content, end - first, radii[first:end])
            first = end

    def _read(self, body: bytes) -> Columns:
        try:
            rows = parse_rows(body, self._max_rows)
            return columns_of(rows, self.kinds, self.may_lack, self._unread)
        except RecursionError as exc:
            raise RequestRefusedError(
                422,
                "the body is nested too deep: a cell holds a number, a text, true, false or null",
            ) from exc
        except InputError as exc:
            raise _refusal(exc) from exc

    def _certified(self, columns: Columns) -> CertifiedTable:
        table = ColumnsTable(columns, self.kinds)
        return CertifiedTable.of(
            self.model,
            table,
            *self._statement,
            silent=self._silent,
            label_sets=self._label_sets,
        )

    def _rows(self, certified: CertifiedTable) -> list[JsonObject]:
        return answer_rows(
            self.model.units_.names,
            certified.prediction,
            certified.proof,
            certified.critical_units,
            None if self._of_labels else certified.intervals,
            certified.silent_units,
            certified.possible_labels,
            getattr(self.model, "classes_", ()),
        )


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _joined(parts: list[Columns]) -> Columns:
    """Join the rows of several requests, one after the other."""
    return {name: np.concatenate([columns[name] for columns in parts]) for name in parts[0]}


def _refusal(exc: Exception) -> Exception:
    """Return what is wrong with a request as a refusal; a fault of the service stays as it is."""
    if not isinstance(exc, InputError | SubmodelError):
        return exc
    # a CellError has row and column; what a library says may go on for lines
    row, column = getattr(exc, "row", None), getattr(exc, "column", None)
    refused = RequestRefusedError(422, str(exc).splitlines()[0], row, column)
    refused.__cause__ = exc
    return refused


# ---- requests that wait ----


class Batcher(Generic[Job, Result]):
    """Runs jobs in one thread, those that wait together in one call.

    A job's result goes back to it alone. One thread: BLAS and OpenMP have one number of threads for
    the process, which two batches would set against each other.

    Parameters
    ----------
    work : callable
        Takes a list of jobs and returns one result or exception per job, in their order.
    max_waiting : int
        The most jobs at once, those at work included; others are refused with status 429.
    count : callable, optional
        Called with the size of each batch, always in the thread.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Job]], Sequence[Result | Exception]],
        max_waiting: int,
        count: Callable[[int], None] | None = None,
    ) -> None:
        self._work, self._max_waiting, self._count = work, max_waiting, count
        self._queue: deque[tuple[Job, Future[Result], asyncio.Future[Result]]] = deque()
        self._inside = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="certify")

    def check_room(self) -> None:
        """Refuse a request that would have to wait behind too many others."""
        if self._inside >= self._max_waiting:
            raise too_many(self._inside)

    async def run(self, job: Job) -> Result:
        """Return the result of a job, or raise its exception."""
        self.check_room()
        future: Future[Result] = Future()
        awaited = asyncio.wrap_future(future)
        self._queue.append((job, future, awaited))
        self._thread.submit(self._run_batch)  # in which it finds nothing if an earlier one took all
        self._inside += 1
        try:
            return await awaited
        finally:
            self._inside -= 1

    def _run_batch(self) -> None:
        size = min(len(self._queue), MOST_TOGETHER)
        batch = [
            (job, future)
            for job, future, awaited in [self._queue.popleft() for _ in range(size)]
            if not awaited.cancelled() and future.set_running_or_notify_cancel()
        ]
        if not batch:
            return
        results: Sequence[Result | Exception]
        try:
            results = self._work([job for job, _ in batch])
            if len(results) != len(batch):
                raise RuntimeError(f"{len(results)} results for {len(batch)} jobs")
        except BaseException as exc:  # the thread must live, and no job may wait for ever
            failure = exc if isinstance(exc, Exception) else RuntimeError(repr(exc))
            results = [failure] * len(batch)
        if self._count is not None:
            self._count(len(batch))
        for (_, future), result in zip(batch, results, strict=True):
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)


def too_many(n_waiting: int) -> RequestRefusedError:
    """Return the refusal of a request where too many wait."""
    return RequestRefusedError(
        429,
        f"{n_waiting} requests are waiting already: ask again in a moment",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )
