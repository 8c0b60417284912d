"""Asking until settled gives what asking everything gives, with fewer questions."""

import numpy as np
import pytest

from partita.rules import Agreement
from partita.vision._window_votes import SettledVotes
from tests.exhaustive.left_out_attacker import agreed_labels, every_set

CASES = [(3, 1), (4, 1), (7, 1), (5, 2), (6, 2)]


def random_votes(n_models, n_images=300, n_labels=3, seed=0):
    """Images on which all, nearly all, or few models agree; the last column is the fallback."""
    rng = np.random.default_rng(seed)
    votes = np.repeat(rng.integers(n_labels, size=(n_images, 1)), n_models + 1, axis=1)
    share = rng.choice([0, 0.5 / n_models, 2 / n_models, 0.4], size=(n_images, 1))
    other = rng.random(votes.shape) < share
    votes[other] = rng.integers(n_labels, size=other.sum())
    return votes


class Asked:
    """Answers from a table, and refuses to be asked anything twice."""

    def __init__(self, votes):
        self.votes, self.seen = votes, np.zeros_like(votes, dtype=bool)

    def __call__(self, images, models):
        assert images.shape == models.shape
        assert not self.seen[images, models].any()
        assert len(np.unique(np.stack([images, models]), axis=1).T) == len(images)
        self.seen[images, models] = True
        return self.votes[images, models]


@pytest.mark.parametrize(("n_windows", "n_patches"), CASES)
def test_certificates_are_those_of_all_votes(n_windows, n_patches):
    _, left_out = every_set(n_windows, n_patches)
    votes = random_votes(len(left_out))
    asked = Asked(votes)
    settled = SettledVotes(asked, len(votes), left_out, n_patches)
    labels, radius = settled.certify()
    expected = Agreement(n_patches).certify(votes[:, :-1], left_out, votes[:, -1])
    assert np.array_equal(labels, expected.prediction)
    assert np.array_equal(radius, expected.radius)
    assert set(radius) == set(range(n_patches + 1))
    assert np.array_equal(settled.questions, asked.seen.sum(axis=1))
    # the model on whole images decides only where it must
    sets, _ = every_set(n_windows, n_patches)
    nobody = agreed_labels(votes[:, :-1], sets, n_windows, n_patches) < 0
    assert nobody.any()
    assert np.array_equal(asked.seen[:, -1], nobody)


@pytest.mark.parametrize(("n_windows", "n_patches"), CASES)
def test_predictions_are_those_of_all_votes(n_windows, n_patches):
    _, left_out = every_set(n_windows, n_patches)
    votes = random_votes(len(left_out), seed=1)
    settled = SettledVotes(Asked(votes), len(votes), left_out, n_patches)
    expected = Agreement(n_patches).certify(votes[:, :-1], left_out, votes[:, -1]).prediction
    assert np.array_equal(settled.labels(), expected)


def test_few_questions_are_asked():
    n_windows = 9
    _, left_out = every_set(n_windows, 1)
    calm = np.zeros((5, 37), dtype=int)
    settled = SettledVotes(Asked(calm), 5, left_out, 1)
    assert settled.labels().tolist() == [0] * 5
    assert settled.questions.tolist() == [8] * 5  # the models without window 0
    settled = SettledVotes(Asked(calm), 5, left_out, 1)
    assert settled.certify()[1].tolist() == [1] * 5
    assert settled.questions.tolist() == [36] * 5  # all of them; the fallback is not needed
    contested = calm.copy()
    contested[:, 3] = 1  # windows 0 and 4
    settled = SettledVotes(Asked(contested), 5, left_out, 1)
    labels, radius = settled.certify()
    assert (labels.tolist(), radius.tolist()) == ([0] * 5, [0] * 5)
    assert settled.questions.tolist() == [15] * 5  # those without window 0, then without window 1
    wild = np.arange(37)[None] % 2
    settled = SettledVotes(Asked(wild), 1, left_out, 1)
    settled.certify()
    assert settled.questions[0] < 37


def test_no_images_are_no_trouble():
    _, left_out = every_set(5, 2)
    settled = SettledVotes(Asked(np.zeros((0, 6), dtype=int)), 0, left_out, 2)
    labels, radius = settled.certify()
    assert len(labels) == len(radius) == 0
