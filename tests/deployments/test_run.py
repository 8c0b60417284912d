"""A story is written as a page, figures and JSON that hold the same numbers."""

import json

import pytest

from partita import InputError
from partita.deployments import load_deployment, run_deployment

from .small import small_story

FIVE = ["accuracy", "certified", "audit", "cost", "silence"]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        pytest.param("gas", ["faults"], marks=pytest.mark.long),
        pytest.param("air", ["hijacked", "number"], marks=pytest.mark.long),
        ("credit", ["rare", "thresholds", "trust"]),
    ],
)
def test_every_story_has_the_five_answers_and_its_own(name, own, tmp_path):
    story = small_story(name)
    assert list(story.answers)[:5] == FIVE
    assert list(story.answers)[5 : 5 + len(own)] == own
    story.write(tmp_path / "told")
    page = (tmp_path / "told" / "README.md").read_text()
    assert story.decision in page
    for key, answer in story.answers.items():
        assert answer.text in page
        assert (tmp_path / "told" / f"{key}.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "told" / "results.json").read_text())
    assert found == json.loads(json.dumps(story.as_dict()))
    assert found["rows"]["test"] == len(story.deployment.y_test)
    assert set(found["answers"]) == set(story.answers)


def test_bad_arguments_are_one_sentence(tmp_path):
    with pytest.raises(InputError, match="name is 'wine': give one of gas, air, credit"):
        load_deployment("wine")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a folder: name one"):
        run_deployment("credit", tmp_path / "file" / "folder")


def test_about_says_how_many_rows_and_sources():
    story = small_story("credit")
    own = story.deployment
    assert f"{len(own.y_train):,} rows to learn from" in story.about()
    about = " ".join(story.about().split())
    assert "22 columns of 8 feeds; trusted: funded_amnt" in about
    assert " ".join(str(story).split()) == story.decision
    assert max(map(len, str(story).splitlines())) <= 76
