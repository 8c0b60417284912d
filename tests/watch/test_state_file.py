"""The state file: nothing but the call that read it replaces it, and nothing damaged is read."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError
from partita.watch import Watcher, learn_usual
from partita.watch._files import StateFile


@pytest.fixture(scope="module")
def watched():
    """A model, usual rates, and a watcher that has raised an alarm."""
    X, y = load_wine(return_X_y=True)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::3], y[::3])
    usual = learn_usual(clf, X[1::3])
    watcher = Watcher(clf, usual, false_alarms=0.5)
    stuck = np.tile(X[2::3], (3, 1))
    stuck[:, clf.columns_of(1)] = 0
    watcher.update(clf.ballots(stuck))
    assert watcher.alarms
    return clf, usual, watcher


def corrupted(content, rng):
    """The content cut off, or with a byte more, less or another."""
    k = rng.randrange(len(content))
    byte = bytes([rng.choice(content)])
    return rng.choice(
        [content[:k], content[:k] + content[k + 1 :], content[:k] + byte + content[k:]]
        + [content[:k] + byte + content[k + 1 :]] * 3
    )


def test_of_2000_damaged_files_none_is_read_as_another_state(watched, tmp_path):
    clf, usual, watcher = watched
    place, rng, refused = tmp_path / "state.json", random.Random(0), 0
    StateFile.read(place, "model").write(watcher.state())
    content = place.read_bytes()
    equal = 0
    for _ in range(2000):
        place.write_bytes(corrupted(content, rng))
        try:
            state = StateFile.read(place, "model").state
            assert state is not None
            again = Watcher(clf, usual, false_alarms=0.5, state=state)
        except InputError as exc:
            refused += "new budget of false alarms" in str(exc)
        else:
            equal += again.state() == watcher.state()
    assert refused + equal == 2000
    assert refused > 1000


def test_what_is_no_state_of_this_model_is_refused(watched, tmp_path):
    _, _, watcher = watched
    place = tmp_path / "state.json"
    wrong = {
        "": "not valid JSON",
        "[]": "not written by this version",
        json.dumps(watcher.state()): "not written by this version",
        '{"model": "other", "state": {}}': "belongs to another model",
        '{"model": "model", "state": null}': "is damaged",
    }
    for content, message in wrong.items():
        place.write_text(content)
        with pytest.raises(InputError, match=message):
            StateFile.read(place, "model")
        assert place.read_text() == content


@pytest.mark.parametrize("change", ["written", "begun", "deleted"])
def test_a_state_that_another_call_has_changed_is_not_overwritten(tmp_path, change):
    place = tmp_path / "folder" / "state.json"
    if change != "begun":
        StateFile.read(place, "model").write({"rows": 1})
    slow = StateFile.read(place, "model")
    if change == "deleted":
        place.unlink()
    else:
        StateFile.read(place, "model").write({"rows": 2})
    with pytest.raises(InputError, match="changed by another call"):
        slow.write({"rows": 100})
    assert place.exists() == (change != "deleted")
    assert not place.exists() or StateFile.read(place, "model").state == {"rows": 2}
    assert not list(place.parent.glob(".*"))


def test_a_state_that_is_being_written_is_left_alone(tmp_path):
    place = tmp_path / "state.json"
    (tmp_path / ".state.json.lock").touch()
    with pytest.raises(InputError, match="being written by another call"):
        StateFile.read(place, "model").write({})
    assert not place.exists()


def test_no_row_is_lost_or_counted_twice_when_calls_overlap(tmp_path):
    """1,200 calls on eight threads: each either counts its row or says that it did not."""
    place = tmp_path / "state.json"

    def call(_):
        file = StateFile.read(place, "model")
        try:
            file.write({"rows": (file.state or {"rows": 0})["rows"] + 1})
        except InputError as exc:
            return 0 if "run it again" in str(exc) else np.nan
        return 1

    with ThreadPoolExecutor(8) as pool:
        counted = sum(pool.map(call, range(1200)))
    assert StateFile.read(place, "model").state == {"rows": counted}
    assert counted > 0
