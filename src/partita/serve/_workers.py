"""Several worker processes behind the same sockets: started, watched, replaced, stopped.

Every worker loads the model itself: libraries that have started threads do not survive a fork. This
process serves nothing, so that no request can hurt it. A worker whose parent has died stops, too.
"""

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._support import log
from ..errors import InputError, PartitaError

SECONDS_TO_PROVE = 5.0  # a worker that dies sooner is replaced with a delay
LONGEST_DELAY = 30.0

# what a worker runs: its number, the cells of the metrics, and what to call when it listens
Work = Callable[[int, Any, Callable[[], None]], None]


@dataclass
class _Worker:
    process: Any
    pipe: Any
    started: float


class Workers:
    """Worker processes.

    Parameters
    ----------
    work : callable
        What a worker runs; it must be picklable, as must its sockets.
    n_workers : int
        How many.
    n_cells : int
        How many numbers each shares with the others.
    """

    def __init__(self, work: Work, n_workers: int, n_cells: int) -> None:
        self._work, self._n_workers = work, n_workers
        self._context = multiprocessing.get_context("spawn")
        self._cells = self._context.RawArray("d", n_workers * n_cells)
        self._workers: dict[int, _Worker] = {}
        self._failures = [0] * n_workers
        self._due: dict[int, float] = {}
        self._stopping = False

    def run(self, when_ready: Callable[[], None], finish_seconds: float) -> None:
        """Run the workers until SIGINT or SIGTERM; ``when_ready`` is called when all listen."""
        handled = {
            number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            for k in range(self._n_workers):
                self._start(k)
            if self._all_ready():
                when_ready()
                self._watch()
        finally:
            self._end(finish_seconds)
            for number, handler in handled.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: Any) -> None:
        self._stopping = True

    def _start(self, k: int) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_run_worker, args=(self._work, k, self._cells, theirs), name=f"worker {k}"
        )
        process.start()
        theirs.close()
        self._workers[k] = _Worker(process, ours, time.monotonic())

    def _all_ready(self) -> bool:
        """Wait until every worker listens; an error if one cannot."""
        waiting: dict[Any, int] = {worker.pipe: k for k, worker in self._workers.items()}
        while waiting and not self._stopping:
            ready: list[Any] = multiprocessing.connection.wait([*waiting], 0.2)
            for pipe in ready:
                try:
                    failure = pipe.recv()
                except EOFError:
                    failure = f"worker {waiting[pipe]} died while it started"
                if failure is not None:
                    raise InputError(failure)
                del waiting[pipe]
        return not self._stopping

    def _watch(self) -> None:
        """Replace workers that die, until the service is told to stop."""
        while not self._stopping:
            sentinels = {worker.process.sentinel: k for k, worker in self._workers.items()}
            for sentinel in multiprocessing.connection.wait([*sentinels], 0.2):
                self._bury(sentinels[sentinel])
            for k, due in list(self._due.items()):
                if time.monotonic() >= due:
                    del self._due[k]
                    self._start(k)

    def _bury(self, k: int) -> None:
        worker = self._workers.pop(k)
        worker.process.join()
        worker.pipe.close()
        is_young = time.monotonic() - worker.started < SECONDS_TO_PROVE
        self._failures[k] = self._failures[k] + 1 if is_young else 0
        delay = min(LONGEST_DELAY, 2.0 ** (self._failures[k] - 1)) if is_young else 0.0
        log(f"warning: worker {k} ended with code {worker.process.exitcode}; it is replaced")
        self._due[k] = time.monotonic() + delay

    def _end(self, finish_seconds: float) -> None:
        """Tell the workers to stop, and wait for them as long as they may take."""
        for worker in self._workers.values():
            with suppress(ProcessLookupError, OSError):
                # not SIGINT: after Ctrl+C they have it from the terminal, and a second one would
                # cut off what is under way
                os.kill(worker.process.pid, signal.SIGTERM)
        end = time.monotonic() + finish_seconds
        for worker in self._workers.values():
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


def _run_worker(work: Work, k: int, cells: Any, pipe: Any) -> None:
    """What a worker process does; errors in settings go to the parent as a sentence."""
    ready = threading.Event()

    def is_ready() -> None:
        ready.set()
        pipe.send(None)

    def end_with_parent() -> None:
        with suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        work(k, cells, is_ready)
    except (PartitaError, OSError, MemoryError) as exc:
        if ready.is_set():
            raise
        pipe.send(f"{exc}")
