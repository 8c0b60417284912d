"""Blocks of rows and threads change nothing."""

import multiprocessing

import numpy as np

from partita import kernels


def test_rows_do_not_depend_on_blocks_or_threads(monkeypatch):
    ballots = np.random.default_rng(0).normal(size=(3000, 9, 4)).astype(np.float32)
    whole = kernels.decide("tournament", ballots, (0.3, np.zeros(4, np.int64)))
    monkeypatch.setattr(kernels, "BLOCK", 100)
    monkeypatch.setattr(kernels, "_threads", lambda: 5)
    for before, after in zip(
        whole, kernels.decide("tournament", ballots, (0.3, np.zeros(4, np.int64))), strict=True
    ):
        assert np.array_equal(before, after)


def test_works_in_a_forked_process_after_threads_were_used():
    """numba's own threads would kill a forked process; ours are gone when the call returns."""
    ballots = np.random.default_rng(0).normal(size=(20_000, 9, 4)).astype(np.float32)
    expected = kernels.decide("plurality", ballots, 0)[1].sum()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(
        target=lambda: queue.put(kernels.decide("plurality", ballots, 0)[1].sum())
    )
    process.start()
    assert queue.get(timeout=60) == expected
    process.join()
    assert process.exitcode == 0
