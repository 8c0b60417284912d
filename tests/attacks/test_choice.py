"""The attack on the choice of settings: it breaks choices that read the training table, no others.

A training column reaches one submodel, and through a choice all of them.
"""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from partita import (
    FeaturePartitionClassifier,
    InputError,
    LeaveOutClassifier,
    choose,
    search_offsets,
    search_rules,
)
from partita.attacks import audit, replay
from partita.rules import Tournament

ORDER = np.random.default_rng(0).permutation(569)
X, Y = (table[ORDER] for table in load_breast_cancer(return_X_y=True))
TRAIN, TEST = (X[:250], Y[:250]), (X[350:], Y[350:])
CLEAN, PART, REST = (X[250:350], Y[250:350]), (X[250:310], Y[250:310]), (X[310:350], Y[310:350])
RULES = ["plurality", *(Tournament(margin=m, prior=p) for m in (0, 0.5, 2) for p in (0, 0.5, 0.9))]
FIVE = FeaturePartitionClassifier(GaussianNB(), n_submodels=5)


def rule_by(learn, judge):
    found = search_rules(clone(FIVE).fit(*learn), RULES, *judge, radius=1)
    return clone(FIVE).set_params(rule=found.best_rule)


def offset_by(learn, judge):
    found = search_offsets(clone(FIVE).fit(*learn), *judge, positive=0)
    alert = found.with_offset(found.best(precision=0.9)["offset"])
    return clone(FIVE).set_params(rule=alert.rule)


def attacked(procedure, seed=0):
    """The audit of a choice alone."""
    model = procedure(*TRAIN).fit(*TRAIN)
    return model, audit(model, *TEST, *TRAIN, choose=procedure, attacks=[], random_state=seed)


def on_table(X_train, y_train):
    return offset_by((X_train, y_train), CLEAN)


@pytest.fixture(scope="module")
def broken_choice():
    return attacked(on_table)


def test_a_choice_by_models_that_learnt_from_the_table_is_broken(broken_choice):
    """Though it is judged on clean rows."""
    _, found = broken_choice
    assert not found.passed
    (line,) = found.lines
    assert (line.attack, line.r, line.attacks) == ("choice of settings", 1, 120)
    assert line.certified_changed >= 5
    assert {len(one.units) for one in found.broken} == {1}
    assert min(one.radius for one in found.broken) >= 1


def test_what_broke_can_be_repeated_from_its_json(broken_choice):
    model, found = broken_choice
    one = json.loads(json.dumps(found.to_dict()))["broken"][0]
    with pytest.raises(InputError, match="choose is missing: after this attack"):
        replay(one, model, TEST[0], *TRAIN)
    assert replay(one, model, TEST[0], *TRAIN, choose=on_table) == one["after"] != one["before"]
    # with the settings held fixed, the certificate stands
    fixed = {**one, "attack": "poisoning: noise"}
    assert replay(fixed, model, TEST[0], *TRAIN) == one["before"]


def test_a_choice_on_a_trusted_sample_alone_is_not_broken():
    _, found = attacked(lambda A, b: offset_by(PART, REST))
    assert found.passed
    assert found.lines[0].attacks == 120
    assert found.lines[0].changed > 0  # rows that are not certified


@pytest.mark.long
def test_a_choice_of_rules_is_broken_unless_it_learns_from_a_trusted_sample():
    _, found = attacked(lambda A, b: rule_by((A, b), CLEAN))
    assert len({one.units for one in found.broken}) >= 5
    assert max(one.radius for one in found.broken) >= 2
    assert attacked(lambda A, b: rule_by(PART, REST))[1].passed


@pytest.mark.long
def test_choose_is_broken_unless_it_has_a_reference():
    sizes = {"estimator": GaussianNB(), "submodels": [5, 9], "groups": []}
    _, found = attacked(lambda A, b: choose(A, b, *CLEAN, **sizes).estimator)
    assert {one.radius for one in found.broken} == {1, 2}
    _, found = attacked(lambda A, b: choose(A, b, reference=CLEAN, **sizes).estimator)
    assert (found.passed, found.lines[0].attacks) == (True, 120)


@pytest.mark.long
def test_a_thousand_attacks_break_no_choice_on_a_reference():
    best = choose(reference=CLEAN, estimator=GaussianNB(), submodels=[5, 9], groups=[]).estimator
    tried = 0
    for seed in range(9):
        _, found = attacked(lambda A, b: clone(best), seed)
        assert found.passed
        tried += found.lines[0].attacks
    assert tried >= 1000


def test_what_cannot_be_attacked_is_refused_or_left_out():
    model, other = clone(FIVE).fit(*TRAIN), clone(FIVE).set_params(n_submodels=1)
    with pytest.raises(InputError, match="X_train is missing: a choice is attacked through"):
        audit(model, *TEST, choose=on_table)
    with pytest.raises(InputError, match="choose leads to another model than the one that is"):
        audit(model, *TEST, *TRAIN, choose=lambda A, b: other, attacks=[])
    with pytest.raises(InputError, match=r"attacks is \[\]"):
        audit(model, *TEST, *TRAIN, attacks=[])
    trusting = LeaveOutClassifier(n_groups=4, training="trusted", random_state=0)
    trusting.fit(X[:250, :8], Y[:250])
    found = audit(
        trusting,
        X[350:, :8],
        None,
        X[:250, :8],
        Y[:250],
        choose=lambda A, b: trusting,
        attacks=[],
        rows=20,
    )
    assert (found.lines, found.passed) == ([], True)
