"""parties.toml: whom to ask, and nothing in it is guessed."""

import pytest

from partita import InputError
from partita.rules import Median, RunOff, Tournament
from partita.serve.federation._federation import read_parties

TWO = """
[[parties]]
name = "A"
address = "http://127.0.0.1:1"
[[parties]]
name = "B"
address = "http://127.0.0.1:2"
key_file = "b.key"
"""


def read(folder, content):
    (folder / "b.key").write_text("some-key")
    path = folder / "parties.toml"
    path.write_text(content)
    return read_parties(path)


def test_labels(tmp_path):
    head = 'classes = ["ill", "well"]\ntimeout = 0.5\ndefault = "well"\n'
    rule = '[rule]\nname = "tournament"\nmargin = 0.5\nshares = [0.9, 0.1]\n'
    found = read(tmp_path, head + rule + TWO).federation
    assert [party.name for party in found.parties] == ["A", "B"]
    assert found.parties[1].key() == "some-key"  # the path begins at the file's folder
    assert (found.classes, found.timeout) == (["ill", "well"], 0.5)
    assert isinstance(found.vote.rule, Tournament)
    assert (found.vote.rule.margin, found.vote.rule.shares) == (0.5, [0.9, 0.1])
    assert found.vote.default.argmax() == 1


def test_values(tmp_path):
    found = read(tmp_path, "tolerance = 3\n" + TWO)
    assert isinstance(found.federation.vote.rule, Median)
    assert (found.tolerance, found.relative) == (3, None)


def test_a_rule_by_its_name_alone(tmp_path):
    found = read(tmp_path, 'classes = [0, 1]\nrule = "runoff"\n' + TWO).federation
    assert isinstance(found.vote.rule, RunOff)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("classes = [", "cannot be read as TOML"),
        ("", r"names no party: add \[\[parties\]\]"),
        ("parties = 5", "names no party"),
        ("parties = [5]", r"parties must be written as \[\[parties\]\]"),
        ("clases = [0, 1]" + TWO, "has the entry 'clases', which is not known"),
        ("classes = 5" + TWO, "classes is 5: it must be a list of labels"),
        (TWO + 'colour = "red"', "party 1 has the entry 'colour', which is not known"),
        (TWO + "ca = 5", "party 1: ca is 5: it must be a text"),
        ('[[parties]]\nname = "A"', "has the address ''"),
        ("timeout = -1" + TWO, "timeout is -1"),
        ("tolerance = true" + TWO, "tolerance is True: it must be a number"),
        ("tolerance = 1\nrelative = 1" + TWO, "both given"),
        ("label_sets = 1" + TWO, "label_sets is for labels"),
        ("classes = [0, 1]\nlabel_sets = 3" + TWO, "label_sets is 3, and there are 2 parties"),
        ("classes = [0, 1]\nlabel_sets = true" + TWO, "label_sets is True"),
        ("classes = [0, 1]\ntolerance = 1" + TWO, "tolerance and relative are for numbers"),
        ('classes = [0, 1]\nrule = "best"' + TWO, "rule must have a name: one of"),
        ("classes = [0, 1]\n[rule]\nmargin = 1" + TWO, "rule must have a name"),
        ('classes = [0, 1]\n[rule]\nname = "runoff"\nx = 1' + TWO, "RunOff has no setting 'x'"),
        ('classes = [0, 1]\nrule = "median"' + TWO, "parties answer with values for a median"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith("parties '")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"does not exist: give a \.toml file"):
        read_parties(tmp_path / "none.toml")
