"""The audit's answer says first whether a proof broke."""

from dataclasses import replace

import pytest

from partita.attacks._findings import Check
from partita.deployments import _attack_answer
from partita.deployments._attack_answer import audited

from .small import small_story, small_study


def test_nothing_certified_changes_and_no_attack_goes_below_the_proof():
    answer = small_story("credit").answers["audit"]
    found = answer.numbers
    assert found["passed"]
    assert found["broken"] == 0
    assert "no certified prediction changed" in answer.text
    for line in found["audit"]["lines"]:
        assert line["accuracy"] >= line["certified_accuracy"]
    assert found["under_attack"] >= found["certified"]


def test_a_broken_proof_is_said_first(monkeypatch):
    study = small_study("credit")
    real = _attack_answer.audit

    def broken(*arguments, **options):
        found = real(*arguments, **options)
        first = replace(found.lines[0], certified_changed=2)
        return replace(found, lines=[first, *found.lines[1:]])

    monkeypatch.setattr(_attack_answer, "audit", broken)
    monkeypatch.setattr(_attack_answer, "ATTACKS", ("evasion",))
    answer = audited(study, rows=10)
    assert "2 BROKEN PROOFS" in answer.text
    assert not answer.numbers["passed"]


@pytest.mark.parametrize("passed", [True, False])
def test_checks_are_counted_and_a_failed_one_is_said(monkeypatch, passed):
    real = _attack_answer.audit
    checks = [Check("fitted again"), Check("fitted alone", "" if passed else "other votes")]
    monkeypatch.setattr(_attack_answer, "ATTACKS", ("evasion",))

    def checked(*arguments, **options):
        return replace(real(*arguments, **options), checks=checks)

    monkeypatch.setattr(_attack_answer, "audit", checked)
    answer = audited(small_study("credit"), rows=10)
    assert ("All 2 checks of what the proof rests on passed" in answer.text) == passed
    assert ("1 OF 2 CHECKS FAILED" in answer.text) != passed
    assert "no certified prediction changed" in answer.text
    assert answer.numbers["passed"] == passed


@pytest.mark.long
def test_stories_check_what_the_proof_rests_on():
    answer = audited(small_study("credit"), rows=10)
    assert answer.numbers["passed"]
    assert "checks of what the proof rests on passed" in answer.text


@pytest.mark.parametrize("key", ["tried", "of certified"])
def test_the_table_shows_what_was_tried(key):
    assert key in small_story("credit").answers["audit"].columns
