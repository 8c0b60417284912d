"""Curves over the radius."""

from collections import Counter

import numpy as np
import pytest

from partita import InputError
from partita.certificates import Certificates, Counts
from partita.metrics import (
    FARTHEST,
    best_at_radii,
    certified_accuracy,
    certified_accuracy_curve,
    correct_radius,
    envelope,
    shares_at_radii,
)


def test_the_curve_ends_where_nothing_is_certified(five, proof_of):
    curve = certified_accuracy_curve(*five)
    assert curve.radius.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert curve.accuracy.tolist() == [0.8, 0.6, 0.4, 0.4, 0.2, 0.2, 0.0]
    radius, accuracy = certified_accuracy_curve([1], proof_of([0], [4]))
    assert (radius.tolist(), accuracy.tolist()) == ([0], [0.0])


def test_shares_are_the_slow_obvious_count():
    rng = np.random.default_rng(0)
    for _ in range(200):
        radii = rng.choice([-np.inf, -1, 0, 0, 1, 2, 3, 7], size=rng.integers(1, 12))
        expected = [
            sum(radius >= r for radius in radii) / len(radii)
            for r in range(int(max(radii.max(), 0)) + 1)
        ]
        assert shares_at_radii(radii).tolist() == expected
        counts = Counter(radii.tolist())
        assert shares_at_radii(list(counts), list(counts.values())).tolist() == expected
        for length in (1, 3, 12):
            padded = [*expected, *[0.0] * length][:length]
            assert shares_at_radii(radii, length=length).tolist() == padded


def test_a_wrong_row_has_a_radius_of_minus_infinity(five):
    assert correct_radius(*five).tolist() == [3, 0, -np.inf, 5, 1]


def test_the_envelope_names_the_first_of_the_best_settings(proof_of):
    steady, far = proof_of([0, 0, 0, 0], [1, 1, 1, 1]), proof_of([0, 0, 1, 1], [5, 5, 9, 9])
    best = envelope([0, 0, 0, 0], {"T=5": steady, "T=15": far})
    assert best.accuracy.tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5, 0]
    assert best.setting[:3] == ["T=5", "T=5", "T=15"]
    assert envelope([0, 0, 0, 0], [steady, far]).setting[2] == 1
    for r in range(7):
        each = [certified_accuracy([0, 0, 0, 0], proof, r) for proof in (steady, far)]
        assert best.accuracy[r] == max(each)


def test_a_curve_is_zero_beyond_its_end():
    values, index = best_at_radii([[0.5], [0.4, 0.4], [0.5, 0.0, 0.0]])
    assert values.tolist() == [0.5, 0.4, 0.0]
    assert index.tolist() == [0, 1, 0]


def test_no_settings_and_no_rows_are_refused(five, proof_of):
    with pytest.raises(InputError, match="proofs is empty"):
        envelope(five[0], {})
    with pytest.raises(InputError, match="covers no rows"):
        certified_accuracy_curve([], proof_of([], []))


def test_a_radius_beyond_all_counting_costs_no_memory():
    """A row that nothing can change has the radius of everything there is, a huge number."""
    proof = Certificates(
        np.zeros(3, dtype=int),
        np.array([2**52, 1, 0]),
        None,
        Counts("columns and training labels", 2**52),
    )
    curve = certified_accuracy_curve([0, 0, 0], proof)
    assert len(curve.radius) == FARTHEST + 2
    assert curve.accuracy[:3] == pytest.approx([1, 2 / 3, 1 / 3])
    assert curve.accuracy[-1] == 1 / 3
    assert len(shares_at_radii(proof.radius)) == FARTHEST + 1
