"""Rules as users meet them: settings in scikit-learn's way, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone

from partita import InputError
from partita.rules import Median, Plurality, RunOff, TopK, Tournament

BALLOTS = np.random.default_rng(0).normal(size=(20, 7, 4)).astype(np.float32)


RULES = [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=0.5), TopK(2)]


def certified(rule, ballots):
    """The certificates of a rule; for TopK those of the first label."""
    labels = [np.zeros(len(ballots), dtype=int)] if rule.needs_labels else []
    return rule.certify(ballots, *labels)


@pytest.mark.parametrize("rule", [*RULES, Median(stretch=1.3, centre=2.0)], ids=repr)
def test_settings_in_scikit_learns_way(rule):
    copy = clone(rule)
    assert copy is not rule
    assert copy.get_params() == rule.get_params()
    assert eval(repr(rule)).get_params() == rule.get_params()
    with pytest.raises(InputError, match="has no setting 'colour'"):
        rule.set_params(colour=1)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Tournament(margin=-1), "margin is -1"),
        (Tournament(margin=np.inf), "margin is inf"),
        (Tournament(margin=np.nan), "margin is nan"),
        (Tournament(margin="wide"), "margin is 'wide'"),
        (Tournament(prior=1.1), "prior is 1.1"),
        (Tournament(prior=-0.1), "prior is -0.1"),
        (Tournament(prior=0.5), "shares is missing"),
        (Tournament(offset=1.0), "shares is missing: with offset=1.0"),
        (Tournament(offset=np.nan), "offset is nan"),
        (Tournament(offset="much"), "offset is 'much'"),
        (Tournament(offset=[0, np.inf, 0, 0]), "offset is"),
        (Tournament(offset=[0, 1]), "offset has shape"),
        (Tournament(prior=0.5, shares=[0.5, 0.5]), "shares has shape"),
        (Tournament(prior=0.5, shares={}), "shares cannot be read as numbers"),
        (Tournament(prior=0.5, shares=[0.5, 0.5, 0.0, 0.1]), "4 positive numbers"),
        (RunOff(exact="yes"), "exact is 'yes'"),
        (TopK(0), "k is 0"),
        (TopK(1.5), "k is 1.5"),
    ],
    ids=repr,
)
def test_wrong_settings_are_named(rule, message):
    with pytest.raises(InputError, match=message):
        certified(rule, BALLOTS)


@pytest.mark.parametrize(
    "rule",
    [Plurality(), RunOff(), RunOff(exact=True), Tournament(), Tournament(margin=1)],
    ids=repr,
)
def test_one_class_cannot_change(rule):
    proof = rule.certify(np.zeros((2, 5, 1), dtype=np.float32))
    assert proof.radius.tolist() == [5, 5]
    assert proof.runner_up is None
