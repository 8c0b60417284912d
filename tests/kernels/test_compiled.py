"""The compiled kernels' small parts against slow versions, and where nothing can be cached."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.kernels import compiled
from tests.exhaustive import numpy_kernels, slow_rules


@pytest.mark.parametrize("dp", [compiled.dp, numpy_kernels.dp], ids=["compiled", "numpy"])
def test_the_closed_form_of_the_top_two_is_the_recursion(dp):
    assert dp(-1, 4) == 2
    for a in range(-20, 40):
        for b in range(-20, 40):
            if max(a, b) >= 0:  # one of the two gaps holds before the attack
                assert dp(a, b) == slow_rules.dp(a, b)


@settings(max_examples=300, deadline=None)
@given(losses=st.lists(st.integers(0, 6), min_size=1, max_size=12), budget=st.integers(-3, 50))
def test_gap_radius_is_what_fits_into_the_budget(losses, budget):
    histogram = np.bincount(losses, minlength=7)
    dearest = sorted(losses, reverse=True)
    expected = max((r for r in range(len(losses) + 1) if sum(dearest[:r]) <= budget), default=-1)
    assert compiled.gap_radius(histogram, budget) == expected
    assert numpy_kernels.gap_radius(histogram[None], np.array([budget]))[0] == expected


@pytest.mark.parametrize(("idle", "expected"), [(0, compiled.FAR), (1, 1)])
def test_idle_submodels_may_be_what_an_attacker_lacks(idle, expected):
    """One vote for label 0, the top two of three: only with a second voter does it fall out."""
    counts, lead = np.array([1, 0, 0]), np.zeros(3, np.int64)
    assert compiled._topk_radius(counts, 0, 2, idle, lead) == expected


NO_CACHE = """
import numba.core.caching as caching
(getattr(caching, "CacheImpl", None) or caching._CacheImpl)._locator_classes = []
import numpy, partita
print(partita.certify(numpy.zeros((1, 3, 2)), "plurality").radius)
"""


@pytest.mark.long
def test_works_where_the_cache_cannot_be_written():
    """A read-only installation compiles in memory instead of failing."""
    done = subprocess.run([sys.executable, "-c", NO_CACHE], capture_output=True, text=True)
    assert done.stdout.strip() == "[1]", done.stderr
