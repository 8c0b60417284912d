"""What is tried: both methods in usual sizes, and every rule with its settings."""

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
from partita.selection import Grid
from partita.selection._evaluation import LEAVE_OUT, PARTITION
from partita.selection._grid import candidates
from partita.workflow import TASKS

PAIR = FeaturePartitionClassifier(GaussianNB()), LeaveOutClassifier(GaussianNB())
LABELS, NUMBERS = TASKS["classification"], TASKS["regression"]


def variants(task, radius, estimator=None, grid=None):
    return (grid or Grid()).variants(task, estimator, "own", radius, verbose=0)


def sizes(n_units, radius, **settings):
    grid = Grid(**settings)
    found = list(candidates(grid, variants(LABELS, radius), *PAIR, n_units, radius, LABELS))
    return (
        [one.ensemble.n_submodels for one in found if one.method == PARTITION],
        [one.ensemble.n_groups for one in found if one.method == LEAVE_OUT],
    )


def test_sizes_fit_the_units_and_the_radius():
    assert sizes(10, 1) == ([3, 5, 7], [6, 9, 10])
    assert sizes(64, 1) == ([3, 5, 7, 11, 15, 21, 31], [6, 9, 12, 17])
    assert sizes(64, 2) == ([5, 7, 11, 15, 21, 31], [6, 9])
    assert sizes(5, 2) == ([5], [5])


def test_without_a_radius_there_are_partitions_alone():
    assert sizes(100, None) == ([3, 5, 11, 21, 31, 51], [])
    assert sizes(30, None) == ([3, 5, 11, 21, 29], [])
    assert sizes(4, None) == ([3], [])
    assert sizes(1, None) == ([1], [])
    with pytest.raises(InputError, match="submodels has 5: each must be from 1 to 4, the number"):
        sizes(4, None, submodels=(5,))


def test_given_sizes_are_taken_and_checked():
    assert sizes(10, 1, submodels=[9], groups=[4]) == ([9], [4])
    assert sizes(10, 1, submodels=[9, 1], groups=[]) == ([1, 9], [])  # one model, to compare with
    with pytest.raises(InputError, match=r"submodels has 11: .* from 3 to 10"):
        sizes(10, 1, submodels=[11])
    with pytest.raises(InputError, match=r"groups has 4: .* from 5 to 10"):
        sizes(10, 2, groups=[4])


def test_a_variant_becomes_an_estimator():
    one = next(candidates(Grid(), variants(LABELS, 1), *PAIR, 10, 1, LABELS))
    by_options = {
        tuple(variant.values()): one.estimator(variant, LABELS) for variant in one.variants
    }
    assert isinstance(by_options[("plurality",)].rule, Plurality)
    assert by_options[(1,)].gate == 1
    assert isinstance(by_options[(1,)].fallback, GaussianNB)
    assert by_options[()].fallback is None


@pytest.mark.parametrize("radius", [1, None])
def test_margins_priors_and_offsets_are_searched_at_one_radius_and_at_all(radius):
    """They cost no fits."""
    options = variants(LABELS, radius)
    assert options[:3] == [{}, {"rule": "plurality"}, {"rule": "runoff"}]  # {}: as fit decides
    settings = [one for one in options[3:] if "gate" not in one]
    assert len(settings) == 5 * 4 * 2
    assert {one["margin"] for one in settings} == {0, 0.25, 0.5, 1, 2}
    assert {(one["prior"], one.get("offset", 0)) for one in settings} == {
        (prior, offset) for prior in (0, 0.5, 0.9, 1) for offset in (0, 0.25)
    }
    assert [one for one in options if "gate" in one] == [{"gate": 1}] * (radius is not None)


def test_numbers_are_stretched_and_have_no_gate():
    pair = FeaturePartitionRegressor(), LeaveOutRegressor()
    one = next(candidates(Grid(), variants(NUMBERS, 1), *pair, 10, 1, NUMBERS))
    stretches = [one.estimator(variant, NUMBERS).rule for variant in one.variants[1:]]
    assert np.all([rule.stretch > 1 for rule in stretches])
    assert not any("gate" in variant for variant in one.variants)


def learners(task, pair, table, **settings):
    grid = Grid(submodels=[3, 5], **settings)
    tried = candidates(grid, variants(task, 1), *pair, 10, 1, task, table)
    found = {}
    for one in tried:
        found.setdefault((one.method, one.options.get("estimator", "auto")), []).append(one)
    return found


OWN = FeaturePartitionClassifier(), LeaveOutClassifier()


def test_learners_are_searched_unless_an_estimator_is_given():
    found = learners(LABELS, OWN, np.zeros((9, 10)))
    names = {PARTITION: ["auto", "trees", "logistic"]}
    names[LEAVE_OUT] = ["auto", "trees-2", "trees-4", "logistic"]
    assert list(found) == [(method, name) for method, own in names.items() for name in own]
    for (method, name), tried in found.items():
        most = 2 if method == PARTITION else 3  # the most groups cost most
        assert len(tried) == most - (method == LEAVE_OUT and name != "auto")
        assert [one.ensemble.estimator is None for one in tried] == [name == "auto"] * len(tried)
        gates = ["gate" in variant for one in tried for variant in one.variants]
        assert any(gates) == (method == PARTITION and name == "auto")
    leaves = [found[LEAVE_OUT, f"trees-{k}"][0].ensemble.estimator for k in (2, 4)]
    assert [one.min_samples_leaf for one in leaves] == [2, 4]
    assert [name for _, name in learners(LABELS, PAIR, np.zeros((9, 10)))] == ["auto", "auto"]
    numbers = learners(
        NUMBERS, (FeaturePartitionRegressor(), LeaveOutRegressor()), np.zeros((9, 10))
    )
    assert {"ridge", "trees-1", "trees-4"} < {name for _, name in numbers}


def test_learners_can_be_named():
    found = learners(LABELS, OWN, np.zeros((9, 10)), learners=["hgb"])
    assert list(found) == [(PARTITION, "hgb"), (LEAVE_OUT, "hgb")]
    assert len(found[LEAVE_OUT, "hgb"]) == 3
    with pytest.raises(InputError, match="estimator and learners are both given"):
        learners(LABELS, PAIR, None, learners=["hgb"])
    with pytest.raises(InputError, match="learners is empty"):
        learners(LABELS, OWN, None, learners=[])


def test_a_linear_model_is_tried_on_tables_that_it_reads():
    texts = np.array([["a", "b"]] * 9, dtype=object)
    assert (PARTITION, "logistic") not in learners(LABELS, OWN, texts)
    assert (PARTITION, "trees") in learners(LABELS, OWN, texts)


def heads(text):
    grid = Grid.parse(None, None, "tournament", "0.5", "1", text)
    return [one.get("offset") for one in variants(LABELS, None, grid=grid)]


def test_offsets_are_multiples_or_head_starts():
    assert heads("0,0.5,1") == [None, 0.5, 1.0]
    assert heads("a=b=-1, yes=2") == [{"a=b": -1.0}, {"yes": 2.0}]
    for wrong in ("=2", "yes=", "yes", "yes=two"):
        with pytest.raises(InputError, match="head starts such as fraud=-1,fraud=2"):
            heads(wrong)
