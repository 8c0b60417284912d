"""Every compiled kernel gives its numpy twin's results and leaves the ballots alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from partita.kernels import compiled
from tests.exhaustive import numpy_kernels
from tests.exhaustive.cases import random_reach


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), margin=st.sampled_from([0.0, 0.7]))
def test_losses_and_radii_of_overlapping_units_are_equal(seed, margin):
    rng = np.random.default_rng(seed)
    n_rows, n_submodels, n_labels = rng.integers(1, 5), rng.integers(1, 9), rng.integers(1, 5)
    ballots = rng.integers(0, 4, size=(n_rows, n_submodels, n_labels)).astype(np.float32)
    votes, ends = (
        ballots[:, :, 0].astype(float),
        np.sort(rng.choice([-np.inf, 0, 1, 2, np.inf], size=(2, n_rows)), axis=0),
    )
    groups = random_reach(rng, n_submodels)
    groups = groups[groups.any(axis=1)]
    starts, members = np.concatenate([[0], np.cumsum(groups.sum(axis=1))]), np.nonzero(groups)[1]
    for name, arguments, n_opponents in (
        ("plurality_losses", (ballots, 0), n_labels),
        ("tournament_losses", (ballots, (margin, rng.integers(-3, 4, size=n_labels))), n_labels),
        ("median_losses", (votes, *ends), 2),
    ):
        results = []
        for module in (compiled, numpy_kernels):
            losses, budgets = (
                np.zeros((n_rows, n_opponents, n_submodels), np.int32),
                np.zeros((n_rows, n_opponents), np.int64),
            )
            getattr(module, name)(*arguments, losses, budgets)
            for largest in (int(losses.max()) * n_submodels, 10**6):  # by counting and by sorting
                radius, runner_up = np.zeros((2, n_rows), np.int64)
                module.reach_radius(losses, budgets, starts, members, largest, radius, runner_up)
                results.append(
                    (losses.tolist(), budgets.tolist(), radius.tolist(), runner_up.tolist())
                )
        assert all(result == results[0] for result in results)


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
@settings(max_examples=100, deadline=None)
@given(drawn=npst.arrays(np.float32, shapes, elements=numbers))
def test_both_twins_give_the_same_results(name, setting, drawn):
    labels = np.arange(len(drawn)) % drawn.shape[2]
    for ballots in (drawn, drawn.astype(np.float64)):
        before = ballots.copy()
        assert run(getattr(compiled, name), ballots, setting, labels) == run(
            getattr(numpy_kernels, name), ballots, setting, labels
        )
        assert np.array_equal(before, ballots)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_both_twins_give_the_same_results_in_close_elections(name, setting):
    """Rows in which every way to fall is the nearest one somewhere, always the same ones."""
    rng = np.random.default_rng(0)
    for n_submodels, n_labels in [(4, 3), (7, 3), (9, 4), (12, 6)]:
        ballots = rng.integers(0, 4, size=(500, n_submodels, n_labels)).astype(np.float32)
        labels = np.arange(len(ballots)) % n_labels
        assert run(getattr(compiled, name), ballots, setting, labels) == run(
            getattr(numpy_kernels, name), ballots, setting, labels
        )


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
    assert (
        compiled.median(votes, *ends, radii[0])
        == numpy_kernels.median(votes, *ends, radii[1])
        == -1
    )
    assert np.array_equal(*radii)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_both_twins_name_the_first_bad_row(name, setting):
    ballots = np.zeros((5, 3, 2))
    ballots[3, 1, 1], ballots[4, 0, 0] = np.inf, np.nan
    labels = np.zeros(5, dtype=np.int64)
    assert (
        run(getattr(compiled, name), ballots, setting, labels)[0]
        == run(getattr(numpy_kernels, name), ballots, setting, labels)[0]
        == 3
    )


def test_both_twins_find_the_same_worst_choice():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n_submodels, n_pairs = rng.integers(2, 8), rng.integers(1, 30)
        losses, budgets = (
            rng.integers(0, 3, size=(n_submodels, n_pairs)).astype(np.int32),
            rng.integers(-1, 6, size=n_pairs),
        )
        rows = np.sort(rng.integers(0, 9, size=n_pairs))
        groups = random_reach(rng, n_submodels)
        groups = groups[groups.any(axis=1)]
        starts, members = (
            np.concatenate([[0], np.cumsum(groups.sum(axis=1))]),
            np.nonzero(groups)[1],
        )
        for size in range(1, len(groups) + 1):
            for first in range(len(groups) - size + 1):
                choices = [np.zeros(size, np.int64) for _ in range(2)]
                counts = [
                    twin.worst_choice(first, size, losses, budgets, rows, starts, members, chosen)
                    for twin, chosen in zip((compiled, numpy_kernels), choices, strict=True)
                ]
                assert counts[0] == counts[1]
                assert np.array_equal(*choices)
