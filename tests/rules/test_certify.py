"""Rules by name, and rules that need more than ballots."""

import numpy as np
import pytest

from partita import InputError, certify
from partita.rules import Median, Plurality, RunOff, TopK, Tournament, named_rule

BALLOTS = np.random.default_rng(0).normal(size=(20, 7, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("plurality", Plurality), ("runoff", RunOff), ("tournament", Tournament), ("median", Median)],
)
def test_a_name_is_a_rule_with_its_defaults(name, rule):
    assert type(named_rule(name)) is rule
    assert named_rule(name).get_params() == rule().get_params()


def test_a_rule_object_is_used_as_it_is():
    rule = Tournament(margin=0.5)
    assert named_rule(rule) is rule
    assert np.array_equal(certify(BALLOTS, rule).radius, rule.certify(BALLOTS).radius)


def test_unknown_rules_are_named():
    with pytest.raises(InputError, match="rule is 'majority'"):
        certify(BALLOTS, "majority")


def test_a_rule_that_needs_more_than_ballots_says_so():
    with pytest.raises(InputError, match=r"needs bounds: rule.certify\(votes, lower, upper\)"):
        certify(BALLOTS, "median")
    with pytest.raises(InputError, match="labels is missing"):
        certify(BALLOTS, TopK(2))
