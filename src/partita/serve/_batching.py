"""Requests that wait for the model: one thread takes all that came in while it was busy.

A lone request is taken at once. Nothing here knows rows or models: a job goes in, and the result at
its position in the batch goes back to it alone.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

from ._responses import RequestRefusedError

MOST_TOGETHER = 256  # jobs in a batch; more wait for the next one
RETRY_SECONDS = 1  # what a client is asked to wait where too many do

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(eq=False)
class _Waiting(Generic[Job, Result]):
    job: Job
    future: "asyncio.Future[Result]"
    loop: asyncio.AbstractEventLoop


class Batcher(Generic[Job, Result]):
    """Runs jobs in one thread, those that wait together in one call.

    One thread: BLAS and OpenMP have one number of threads for the process, which two batches would
    set against each other.

    Parameters
    ----------
    work : callable
        Takes a list of jobs and returns one result or exception per job, in their order.
    max_waiting : int
        The most jobs at once, those at work included; others are refused with status 429.
    count : callable, optional
        Told the size of each batch, on the event loop.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Job]], Sequence[Result | Exception]],
        max_waiting: int,
        count: Callable[[int], None] | None = None,
    ) -> None:
        self._work, self._max_waiting, self._count = work, max_waiting, count
        self._queue: deque[_Waiting[Job, Result]] = deque()
        self._lock, self._busy, self._inside = Lock(), False, 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="certify")

    def check_room(self) -> None:
        """Refuse a request that would have to wait behind too many others."""
        if self._inside >= self._max_waiting:
            raise RequestRefusedError(
                429,
                f"{self._inside} requests are waiting already: ask again in a moment",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )

    async def run(self, job: Job) -> Result:
        """The result of a job; its exception is raised here."""
        self.check_room()
        loop = asyncio.get_running_loop()
        waiting: _Waiting[Job, Result] = _Waiting(job, loop.create_future(), loop)
        with self._lock:
            self._inside += 1
            self._queue.append(waiting)
            start, self._busy = not self._busy, True
        if start:
            self._thread.submit(self._empty_queue)
        return await waiting.future

    def _empty_queue(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._busy = False
                    return
                size = min(len(self._queue), MOST_TOGETHER)
                batch = [self._queue.popleft() for _ in range(size)]
            self._run_batch(batch)

    def _run_batch(self, batch: list[_Waiting[Job, Result]]) -> None:
        wanted = [one for one in batch if not one.future.cancelled()]
        results: Sequence[Any]
        try:
            results = self._work([one.job for one in wanted]) if wanted else []
            if len(results) != len(wanted):
                raise RuntimeError(f"{len(results)} results for {len(wanted)} jobs")
        except BaseException as exc:  # the thread must live, and nobody may wait for ever
            results = [_failure(exc)] * len(wanted)
        with self._lock:
            self._inside -= len(batch)
        for loop in {one.loop for one in wanted}:
            pairs = [
                (one.future, result)
                for one, result in zip(wanted, results, strict=True)
                if one.loop is loop
            ]
            with suppress(RuntimeError):  # the loop was closed: nobody waits
                loop.call_soon_threadsafe(self._deliver, pairs)

    def _deliver(self, pairs: list[tuple["asyncio.Future[Any]", Any]]) -> None:
        if self._count is not None:
            self._count(len(pairs))
        for future, result in pairs:
            if future.done():  # the request was cancelled meanwhile
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)


def _failure(exc: BaseException) -> Exception:
    return exc if isinstance(exc, Exception) else RuntimeError(repr(exc))
