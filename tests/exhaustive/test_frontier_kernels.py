"""The twins of the frontier kernels agree, and the frontier is what its definition says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.kernels import compiled
from tests.exhaustive import numpy_kernels
from tests.exhaustive.cases import random_reach

Q = 2


def slow_frontier(losses, budget, m):
    """The most liars that fit beside the m worst abstainers, by trying every number."""
    worst = sorted(losses, reverse=True)
    fitting = [
        r
        for r in range(len(worst) + 1)
        if sum(worst[:r]) + sum(max(0, loss - Q) for loss in worst[r : r + m]) <= budget
    ]
    return max(fitting, default=-1)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_frontier_is_its_definition_and_both_twins_agree(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_opponents = rng.integers(1, 4, size=2)
    n_submodels = int(rng.choice([1, 2, 3, 5, 6, 70]))  # many are sorted in another way
    losses = rng.integers(0, 2 * Q + 1, size=(n_rows, n_opponents, n_submodels)).astype(np.int32)
    budgets = rng.choice([-1, 0, 1, 3, 8, 20, compiled.FAR], size=(n_rows, n_opponents))
    losses[budgets == compiled.FAR] = 0
    starts, members = np.arange(n_submodels + 1), np.arange(n_submodels)
    found = []
    for module in (compiled, numpy_kernels):
        radius = np.zeros((n_rows, n_submodels + 1), np.int64)
        module.frontier(losses, budgets, Q, starts, members, True, radius)
        found.append(radius.tolist())
    assert found[0] == found[1]
    for i in range(n_rows):
        for m in range(n_submodels + 1):
            least = [
                slow_frontier(losses[i, z], budgets[i, z], m)
                for z in range(n_opponents)
                if budgets[i, z] != compiled.FAR
            ]
            expected = min(least, default=n_submodels)
            assert min(found[0][i][m], n_submodels) == expected


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_twins_agree_where_groups_overlap(seed):
    rng = np.random.default_rng(seed)
    n_submodels = int(rng.integers(1, 7))
    groups = random_reach(rng, n_submodels)
    groups = groups[groups.any(axis=1)]
    starts, members = np.concatenate([[0], np.cumsum(groups.sum(axis=1))]), np.nonzero(groups)[1]
    losses = rng.integers(0, 2 * Q + 1, size=(3, 2, n_submodels)).astype(np.int32)
    budgets = rng.integers(-1, 12, size=(3, 2))
    found = []
    for module in (compiled, numpy_kernels):
        radius = np.zeros((3, len(groups) + 1), np.int64)
        module.frontier(losses, budgets, Q, starts, members, False, radius)
        found.append(radius.tolist())
    assert found[0] == found[1]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_twins_of_runoff_and_topk_agree(seed):
    rng = np.random.default_rng(seed)
    n_submodels, n_labels = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    ballots = rng.integers(0, 3, size=(4, n_submodels, n_labels)).astype(np.float32)
    labels, idle = rng.integers(0, n_labels, size=4), rng.integers(0, 3, size=4)
    found = []
    for module in (compiled, numpy_kernels):
        runoff, topk = np.zeros((2, 4, n_submodels), np.int64)
        module.runoff_frontier(ballots, runoff)
        module.topk_frontier(ballots, 2, labels, idle, topk)
        found.append((runoff.tolist(), topk.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("module", [compiled, numpy_kernels], ids=["compiled", "numpy"])
def test_silence_costs_half_of_a_lie(module):
    """Five of one mind: two may lie, or four be silent, or one lie and three be silent."""
    losses, budgets = np.full((1, 1, 5), 2, np.int32), np.array([[5]])
    radius = np.zeros((1, 5), np.int64)
    module.frontier(losses, budgets, 1, np.arange(6), np.arange(5), True, radius)
    assert radius.tolist() == [[2, 2, 1, 1, 0]]
