"""What choose compares: both methods, and only what can prove something at the radius."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    InputError,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.rules import Plurality
from partita.selection._candidates import LEAVE_OUT, PARTITION, candidates

PAIR = FeaturePartitionClassifier(GaussianNB()), LeaveOutClassifier(GaussianNB())


def sizes(n_units, radius, **settings):
    found = list(candidates(*PAIR, n_units, radius, labels=True, **settings))
    return (
        [one.ensemble.n_submodels for one in found if one.method == PARTITION],
        [one.ensemble.n_groups for one in found if one.method == LEAVE_OUT],
    )


def test_sizes_fit_the_units_and_the_radius():
    assert sizes(10, 1) == ([3, 5, 7], [6, 9, 10])
    assert sizes(64, 1) == ([3, 5, 7, 11, 15, 21, 31], [6, 9, 12, 17])
    assert sizes(64, 2) == ([5, 7, 11, 15, 21, 31], [6, 9])
    assert sizes(5, 2) == ([5], [5])


def test_given_sizes_are_taken_and_checked():
    assert sizes(10, 1, submodels=[9], groups=[4]) == ([9], [4])
    with pytest.raises(InputError, match=r"submodels has 11: .* from 3 to 10"):
        sizes(10, 1, submodels=[11])
    with pytest.raises(InputError, match=r"groups has 4: .* from 5 to 10"):
        sizes(10, 2, groups=[4])


def test_a_variant_becomes_an_estimator():
    one = next(candidates(*PAIR, 10, 1, labels=True))
    by_options = {tuple(variant.options): one.estimator(variant) for variant in one.variants}
    assert isinstance(by_options[("rule",)].rule, Plurality)
    assert by_options[("gate",)].gate == 1
    assert isinstance(by_options[("gate",)].fallback, GaussianNB)
    assert by_options[()].fallback is None


def test_numbers_are_stretched_and_have_no_gate():
    pair = FeaturePartitionRegressor(), LeaveOutRegressor()
    one = next(candidates(*pair, 10, 1, labels=False))
    stretches = [one.estimator(variant).rule for variant in one.variants[1:]]
    assert np.all([rule.stretch > 1 for rule in stretches])
    assert all(variant.gate is None for variant in one.variants)
