"""Findings: what passes, and what goes into a file and comes back."""

import json

import numpy as np
import pytest

from partita import InputError
from partita.attacks._findings import Audit, BrokenCertificate, Check, Line, read_audit

LINE = Line("evasion", 1, 3, 20, 4, 16, 0, 0.75, 0.7)
BROKEN = BrokenCertificate(
    "backdoor", 1, 7, 2, ("a",), (), "yes", "no", {"a": np.inf}, {"a": np.array([1.0, np.nan])}
)


def test_an_audit_fails_for_each_kind_of_finding():
    assert Audit("columns", [LINE], [Check("check")]).passed
    assert not Audit("columns", [LINE], [Check("check", "problem")]).passed
    assert not Audit("columns", [LINE], [], [BROKEN]).passed
    changed = Line("evasion", 1, 3, 20, 4, 16, 1, None, None)
    assert not Audit("columns", [changed], []).passed


def test_what_is_saved_comes_back(tmp_path):
    audit = Audit(
        "columns",
        [LINE],
        [Check("one"), Check("two", "problem")],
        [BROKEN],
        1.25,
        {"model": "abc"},
        ["doubt"],
    )
    file = audit.save(tmp_path / "folder" / "audit.json")
    content = json.loads(file.read_text())
    assert content["broken"][0]["row_values"] == {"a": "inf"}  # JSON has no infinities
    assert content["broken"][0]["training_values"] == {"a": [1.0, "nan"]}
    assert read_audit(file) == {
        name: value for name, value in content.items() if name not in ("seconds", "broken")
    }


def test_the_text_has_warnings_first_and_findings_last():
    audit = Audit("columns", [LINE], [Check("one", "bad")], [BROKEN], warnings=["doubt"])
    lines = str(audit).splitlines()
    assert lines[0] == "WARNING: doubt"
    assert lines[2].split() == ["evasion", "1", "3", "4", "16", "0", "75.0", "%", "70.0", "%"]
    assert lines[3:] == [
        "0 of 1 checks passed",
        "FAILED: one: bad",
        "BROKEN: row 7, radius 2, by backdoor with r = 1: a",
    ]


def test_what_is_not_an_audit_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_audit(tmp_path / "nothing.json")
    for content in ("{", "[]", '{"lines": [{"attack": 1}]}'):
        (tmp_path / "wrong.json").write_text(content)
        with pytest.raises(InputError, match="is not an audit"):
            read_audit(tmp_path / "wrong.json")
