"""Votes of networks that leave windows out: in batches of one size, each about its own question."""

from itertools import combinations

import numpy as np
import pytest
import torch

from partita.vision import _window_votes as window_votes
from partita.vision._masked_classifier import MaskedSubmodel
from partita.vision._paper_networks import recipe_for
from partita.vision._window_votes import AttackableVotes, TrustedVotes

from .small_networks import SHAPE
from .test_window_networks import GRID, fitted

SETS = np.array(list(combinations(range(len(GRID)), 2)))


POOLS = [np.array([0]), np.array([1]), np.array([2])]


@pytest.fixture(scope="module")
def networks(few):
    return [fitted(few, epochs=2, seed=seed) for seed in (0, 1)]


@pytest.fixture(scope="module")
def submodels(few):
    """Two members for each of two sets of windows and for whole images."""
    masks = GRID.masks()
    made = []
    for hidden in (masks[0] | masks[1], masks[7] | masks[8], np.zeros(64, dtype=bool)):
        members = [
            MaskedSubmodel(
                np.flatnonzero(~hidden).tolist(),
                SHAPE,
                np.arange(10),
                "tiny",
                recipe_for("tiny", SHAPE),
                seed,
                torch.device("cpu"),
            )
            for seed in (0, 1)
        ]
        for one in members:
            list(one.fit(few[0].reshape(-1, 64, 1)[:, one.pixels], few[1]))
        made.append(members)
    return made


def test_members_vote_by_their_mean_probability(few, networks):
    images = few[0].reshape(-1, 64, 1)
    votes = TrustedVotes(networks, images, SETS, len(GRID))
    every = np.arange(64)
    found = votes(every, np.full(64, 5))
    windows = torch.from_numpy(SETS[[5]]).expand(64, 2)
    shares = [
        one.probabilities(one.loaded(), torch.from_numpy(images), windows) for one in networks
    ]
    assert np.array_equal(found, ((shares[0] + shares[1]) / 2).argmax(dim=1).numpy())
    assert not np.array_equal(found, shares[0].argmax(dim=1).numpy())


def test_the_model_beyond_the_sets_sees_everything(few, networks):
    images = few[0].reshape(-1, 64, 1)
    votes = TrustedVotes(networks[:1], images, SETS, len(GRID))
    found = votes(np.arange(64), np.full(64, len(SETS)))
    nothing = torch.full((64, 2), len(GRID))
    shares = networks[0].probabilities(networks[0].loaded(), torch.from_numpy(images), nothing)
    assert np.array_equal(found, shares.argmax(dim=1).numpy())


@pytest.mark.parametrize("training", ["trusted", "attackable"])
def test_a_vote_does_not_depend_on_what_else_is_asked(
    few, networks, submodels, monkeypatch, training
):
    shown = []
    if training == "trusted":
        votes = TrustedVotes(networks, few[0].reshape(-1, 64, 1), SETS, len(GRID))
        whole = networks[0].__class__._logits
    else:
        whole = MaskedSubmodel._logits

        def votes(images, models):
            return AttackableVotes(submodels, POOLS, few[0])(images, models)

    def logits(self, network, images):
        out = whole(self, network, images)
        shown.append((len(images), images.clone(), out.clone()))
        return out

    monkeypatch.setattr(MaskedSubmodel, "_logits", logits)
    rng = np.random.default_rng(0)
    images, models = rng.integers(64, size=150), rng.integers(3, size=150)
    together = votes(images, models)
    alone = [votes(images[[k]], models[[k]])[0] for k in range(150)]
    assert together.tolist() == alone
    assert {size for size, *_ in shown} == {window_votes.QUESTIONS_PER_BATCH["cpu"]}
    # bit for bit: the same image under the same mask always gets the same logits
    known = {}
    for _, batch, out in shown:
        for image, one in zip(batch, out, strict=True):
            known.setdefault(image.numpy().tobytes(), set()).add(one.numpy().tobytes())
    assert max(map(len, known.values())) == 2  # one for each member


def test_submodels_vote_on_their_own_pixels(few, submodels):
    """The first two models have networks of their own, the third shares them."""
    votes = AttackableVotes(submodels, [*POOLS, np.array([0, 1])], few[0])
    for model, members in enumerate([*submodels, submodels[0] + submodels[1]]):
        shares = sum(one.predict_proba(few[0]) for one in members)
        found = votes(np.arange(64), np.full(64, model))
        assert np.array_equal(found, shares.argmax(axis=1))


def test_a_network_that_models_share_is_evaluated_once(few, submodels, monkeypatch):
    whole, rows = MaskedSubmodel.scores, []

    def scores(self, X, batch_size):
        rows.append(len(X))
        return whole(self, X, batch_size)

    monkeypatch.setattr(MaskedSubmodel, "scores", scores)
    votes = AttackableVotes(submodels, [np.array([0, 1]), np.array([1]), np.array([2])], few[0])
    first = votes(np.arange(64), np.zeros(64, dtype=int))
    assert rows == [64] * 4
    votes(np.arange(64), np.ones(64, dtype=int))
    assert rows == [64] * 4
    assert np.array_equal(votes(np.arange(64), np.zeros(64, dtype=int)), first)
