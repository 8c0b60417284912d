"""The kernels of agreement give their numpy twins' results; blocks of rows change nothing."""

import numpy as np
import pytest

from partita import kernels
from partita.kernels import compiled
from partita.partition._leave_out import LeaveOut, choose_members
from partita.partition._partition import Partition
from partita.rules._agreement import complete_design
from tests.exhaustive import numpy_kernels

DESIGNS = [(3, 1), (6, 1), (5, 2), (7, 2), (7, 3), (9, 4)]


def both(monkeypatch, work):
    results = []
    for twin in (compiled, numpy_kernels):
        monkeypatch.setattr(kernels, "_kernels", lambda twin=twin: twin)
        results.append(work())
    return results


def same(first, second):
    return all(
        np.array_equal(one, two) and one.dtype == two.dtype
        for one, two in zip(first, second, strict=True)
    )


def votes_of(design, rng, n_labels):
    votes = np.repeat(rng.integers(n_labels, size=(400, 1)), len(design.order), axis=1)
    other = rng.random(votes.shape) < rng.choice([0, 0.02, 0.1, 0.7], size=(400, 1))
    votes[other] = rng.integers(n_labels, size=other.sum())
    return votes


@pytest.mark.parametrize(("n_groups", "radius"), DESIGNS)
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_labels_are_equal(monkeypatch, n_groups, radius, n_labels):
    rng = np.random.default_rng(n_groups)
    design = complete_design(n_groups, radius)
    votes, fallback = votes_of(design, rng, n_labels), rng.integers(-1, n_labels, size=400)
    before = votes.copy()
    results = both(
        monkeypatch, lambda: kernels.agreement(votes, design.labels(), fallback, n_labels)
    )
    assert same(*results)
    assert np.array_equal(votes, before)


@pytest.mark.parametrize(("n_groups", "radius"), DESIGNS)
@pytest.mark.parametrize("side", [-1, 0, 1])
def test_bounds_are_equal_to_the_last_bit(monkeypatch, n_groups, radius, side):
    rng = np.random.default_rng(n_groups)
    design = complete_design(n_groups, radius)
    values = rng.normal(size=(100, len(design.order))) * rng.choice([1e-320, 1, 1e300], (100, 1))
    for q in range(radius + 1):
        assert same(
            *both(monkeypatch, lambda q=q: kernels.agreement_bounds(values, design.bounds(q), side))
        )


def test_pools_are_equal_to_the_last_bit(monkeypatch):
    rng = np.random.default_rng(0)
    for n_groups, radius, size in [(4, 1, 2), (7, 1, 4), (7, 2, 5)]:
        members = choose_members(n_groups, radius, size, 60, 0)
        groups = Partition([[g] for g in range(n_groups)])
        pools = LeaveOut(groups, radius, tuple(members)).pools()
        scores = rng.dirichlet([1, 1, 1], size=(200, len(members)))
        scores[::7] = np.round(scores[::7], 1)  # ties
        votes = both(monkeypatch, lambda s=scores, p=pools: [kernels.pooled_votes(s, *p)])
        assert same(*votes)
        values = scores[:, :, 0] * 1e3
        assert same(*both(monkeypatch, lambda v=values, p=pools: [kernels.pooled_means(v, *p)]))


def test_rows_do_not_depend_on_blocks_or_threads(monkeypatch):
    rng = np.random.default_rng(0)
    design = complete_design(7, 2)
    votes = votes_of(design, rng, 3)
    fallback, values = rng.integers(3, size=400), rng.normal(size=votes.shape)

    def everything():
        return [
            *kernels.agreement(votes, design.labels(), fallback, 3),
            *kernels.agreement_bounds(values, design.bounds(2), 0),
        ]

    whole = everything()
    monkeypatch.setattr(kernels, "BLOCK", 100)
    monkeypatch.setattr(kernels, "_threads", lambda: 5)
    assert same(whole, everything())
