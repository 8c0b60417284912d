"""Jobs that wait together run together, and each gets its own result."""

import asyncio
import threading
import time

import pytest

from partita.serve._certifier import MOST_TOGETHER, Batcher
from partita.serve._rows import RequestRefusedError


def doubled(jobs):
    return [2 * job for job in jobs]


def test_a_lone_job_runs_at_once():
    async def once():
        batcher = Batcher(doubled, 10)
        before = time.monotonic()
        assert await batcher.run(21) == 42
        return time.monotonic() - before

    assert min(asyncio.run(once()) for _ in range(5)) < 0.05


def test_what_arrives_during_a_batch_is_the_next_one_and_results_go_home():
    sizes, begin = [], threading.Event()

    def slowly(jobs):
        begin.wait(5)
        return doubled(jobs)

    async def many():
        batcher = Batcher(slowly, 1000, sizes.append)
        tasks = [asyncio.create_task(batcher.run(k)) for k in range(300)]
        await asyncio.sleep(0.05)
        begin.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(many()) == [2 * k for k in range(300)]
    assert sum(sizes) == 300
    assert len(sizes) <= 4
    assert max(sizes) == MOST_TOGETHER


def test_an_exception_goes_to_its_own_job():
    def picky(jobs):
        return [ValueError(f"bad {job}") if job % 3 == 0 else job for job in jobs]

    async def many():
        batcher = Batcher(picky, 100)
        return await asyncio.gather(*map(batcher.run, range(9)), return_exceptions=True)

    for job, result in enumerate(asyncio.run(many())):
        assert (str(result) == f"bad {job}") if job % 3 == 0 else (result == job)


@pytest.mark.parametrize("fault", [KeyError("x"), MemoryError(), SystemExit(3)])
def test_a_batch_that_fails_leaves_nobody_waiting_and_the_next_one_runs(fault):
    def fails_once(jobs):
        if "bad" in jobs:
            raise fault
        return jobs

    async def several():
        batcher = Batcher(fails_once, 2)
        with pytest.raises(Exception, match=r"x|SystemExit|^$"):
            await batcher.run("bad")
        return [await batcher.run(k) for k in range(5)]

    assert asyncio.run(several()) == [0, 1, 2, 3, 4]


def test_too_many_jobs_are_refused_until_there_is_room():
    begin = threading.Event()

    def slowly(jobs):
        begin.wait(5)
        return doubled(jobs)

    async def crowd():
        batcher = Batcher(slowly, 3)
        tasks = [asyncio.create_task(batcher.run(k)) for k in range(3)]
        await asyncio.sleep(0.02)
        with pytest.raises(RequestRefusedError) as refused:
            await batcher.run(3)
        assert refused.value.status_code == 429
        assert int(refused.value.headers["Retry-After"]) >= 1
        begin.set()
        assert await asyncio.gather(*tasks) == [0, 2, 4]
        assert await batcher.run(4) == 8

    asyncio.run(crowd())


def test_a_job_that_nobody_waits_for_is_not_run():
    ran, begin = [], threading.Event()

    def slowly(jobs):
        ran.extend(jobs)
        begin.wait(5)
        return jobs

    async def impatient():
        batcher = Batcher(slowly, 10)
        first = asyncio.create_task(batcher.run(1))
        await asyncio.sleep(0.02)
        second = asyncio.create_task(batcher.run(2))
        await asyncio.sleep(0.02)
        second.cancel()
        begin.set()
        assert await first == 1
        assert await batcher.run(3) == 3

    asyncio.run(impatient())
    assert ran == [1, 3]
