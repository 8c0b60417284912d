"""Randomized ablation on images resumes with its network and the votes it has."""

import shutil

import numpy as np
import pytest

from partita.baselines import RandomizedAblationClassifier
from partita.datasets import load_digits
from partita.vision import _ablated_classifier
from partita.vision._paper_networks import PAPER, Recipe
from research.resumable_ablation import PARTS, votes_by_parts
from research.runner import run_once
from research.runs import Run, Setting
from tests.vision.small_networks import tiny_network


def test_votes_in_parts_are_the_votes_of_every_row(tmp_path):
    data = load_digits()
    model = RandomizedAblationClassifier(keep=16, n_select=50, n_certify=200, epochs=2)
    model.fit(data.X_train, data.y_train)
    X = data.X_test[: 2 * PARTS + 3]
    label, votes = votes_by_parts(model, X, tmp_path)
    assert np.array_equal(label, model.predict(X))
    assert np.array_equal(votes, model.votes(X))
    assert len(np.unique(label)) > 3
    again = votes_by_parts(None, X, tmp_path)  # all parts are there: no model is needed
    assert np.array_equal(again[0], label)
    assert np.array_equal(again[1], votes)


@pytest.fixture
def counted(monkeypatch):
    """How often a tiny network is trained, and how many rows get votes.

    The fifth part of the votes is interrupted.
    """
    tiny = Recipe(tiny_network, False, 1, 32, 0.01, 0, 0.0, False, 0, 0)
    monkeypatch.setitem(PAPER, "tiny", tiny)
    trained, rows = [], []
    votes = RandomizedAblationClassifier.votes
    run_epoch = _ablated_classifier.AblationTraining.run_epoch

    def counted_votes(self, X):
        if len(rows) == 4:
            rows.append(0)
            raise KeyboardInterrupt
        rows.append(len(X))
        return votes(self, X)

    def counted_fit(self, *given):
        trained.append(1)
        return run_epoch(self, *given)

    monkeypatch.setattr(RandomizedAblationClassifier, "votes", counted_votes)
    monkeypatch.setattr(_ablated_classifier.AblationTraining, "run_epoch", counted_fit)
    return trained, rows


@pytest.mark.long
def test_an_interrupted_run_resumes_with_its_network_and_votes(counted, tmp_path):
    """All votes belong to one network: without it, or for another request, all is done again."""
    details = {
        "stand_in": "digits",
        "train_rows": 60,
        "test_rows": 12,
        "model": "network",
        "settings": {"network": "tiny", "epochs": 1},
    }
    run, other = (
        Run(Setting("mnist", "ablation", 16), {**details, "draws": draws}, 0) for draws in (10, 11)
    )
    trained, rows = counted
    with pytest.raises(KeyboardInterrupt):
        run_once(run, tmp_path, None)
    unfinished = tmp_path / "unfinished" / run.name
    shutil.copytree(unfinished, tmp_path / "copy")
    resumed = run_once(run, tmp_path, None)
    assert (sum(trained), sum(rows)) == (1, 12)
    assert "row_seconds" not in resumed
    assert not unfinished.exists()

    for spoil, again in ((lambda: (unfinished / "network.pt").unlink(), run), (dict, other)):
        shutil.copytree(tmp_path / "copy", tmp_path / "unfinished" / again.name)
        spoil()
        trained.clear()
        rows[:] = [0] * 5
        result = run_once(again, tmp_path, None)
        assert (sum(trained), sum(rows)) == (1, 12)
        if again is run:
            assert result["radii"] == resumed["radii"]
