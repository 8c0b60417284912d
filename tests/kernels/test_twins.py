"""The numpy twin gives the compiled kernels' answers, and both leave the ballots alone."""

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from partita import kernels
from partita.kernels import compiled, plain

SETTINGS = [("plurality", 0), ("runoff", False), ("runoff", True), ("topk", 1), ("topk", 3)]
SETTINGS += [
    ("tournament", (margin, start))
    for margin in (0.0, 0.8)
    for start in ([0, 0, 0, 0, 0, 0], [1, 0, -3, 200, 0, 10**9])
]


def run(kernel, ballots, setting, labels):
    if isinstance(setting, tuple):
        setting = (setting[0], np.array(setting[1][: ballots.shape[2]], dtype=np.int64))
    prediction, radius, runner_up = labels.copy(), np.zeros_like(labels), np.zeros_like(labels)
    bad = kernel(ballots, setting, prediction, radius, runner_up)
    return bad, prediction.tolist(), radius.tolist(), runner_up.tolist()


shapes = st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 6))
numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-(2.0**100), 2.0**100, width=32))


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_twins(name, setting, dtype, data):
    ballots = data.draw(npst.arrays(dtype, shapes, elements=numbers))
    labels = np.arange(len(ballots)) % ballots.shape[2]
    before = ballots.copy()
    assert run(getattr(compiled, name), ballots, setting, labels) == run(
        getattr(plain, name), ballots, setting, labels
    )
    assert np.array_equal(before, ballots)


@settings(max_examples=100, deadline=None)
@given(
    votes=npst.arrays(
        np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=numbers
    ),
    data=st.data(),
)
def test_median_twins(votes, data):
    bounds = st.one_of(numbers, st.sampled_from([-np.inf, np.inf]))
    ends = np.sort(data.draw(npst.arrays(np.float64, (2, len(votes)), elements=bounds)), axis=0)
    radii = np.zeros((2, len(votes)), dtype=np.int64)
    assert compiled.median(votes, *ends, radii[0]) == plain.median(votes, *ends, radii[1]) == -1
    assert np.array_equal(*radii)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_both_twins_name_the_first_bad_row(name, setting):
    ballots = np.zeros((5, 3, 2))
    ballots[3, 1, 1], ballots[4, 0, 0] = np.inf, np.nan
    labels = np.zeros(5, dtype=np.int64)
    assert (
        run(getattr(compiled, name), ballots, setting, labels)[0]
        == run(getattr(plain, name), ballots, setting, labels)[0]
        == 3
    )


@settings(max_examples=300, deadline=None)
@given(losses=st.lists(st.integers(0, 6), min_size=1, max_size=12), budget=st.integers(-3, 50))
def test_gap_radius_is_what_fits_into_the_budget(losses, budget):
    histogram = np.bincount(losses, minlength=7)
    dearest = sorted(losses, reverse=True)
    expected = max((r for r in range(len(losses) + 1) if sum(dearest[:r]) <= budget), default=-1)
    assert compiled.gap_radius(histogram, budget) == expected
    assert plain.gap_radius(histogram[None], np.array([budget]))[0] == expected


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


NO_CACHE = """
import numba.core.caching as caching
(getattr(caching, "CacheImpl", None) or caching._CacheImpl)._locator_classes = []
import numpy, partita
print(partita.certify(numpy.zeros((1, 3, 2)), "plurality").radius)
"""


def test_works_where_the_cache_cannot_be_written():
    """A read-only installation compiles in memory instead of failing."""
    done = subprocess.run([sys.executable, "-c", NO_CACHE], capture_output=True, text=True)
    assert done.stdout.strip() == "[1]", done.stderr
