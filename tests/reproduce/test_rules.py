"""The rules of the tables."""

from partita.reproduce._rules import LABEL_RULES, PAPER_RULES, TUNED_STRETCH, VALUE_RULES
from partita.rules import Median


def test_the_paper_s_rules_are_among_them_and_names_do_not_clash():
    assert {*PAPER_RULES} <= {*LABEL_RULES, *VALUE_RULES}
    assert not {*LABEL_RULES} & {*VALUE_RULES}
    assert TUNED_STRETCH not in VALUE_RULES
    assert all(isinstance(rule, Median) for rule in VALUE_RULES.values())


def test_every_rule_can_be_used():
    for rule in (*LABEL_RULES.values(), *VALUE_RULES.values()):
        rule.check()
