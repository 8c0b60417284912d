"""Networks on images with masked windows: what is masked never enters them."""

import numpy as np
import pytest
import torch
from torch import nn

from partita.vision import _window_votes as window_networks
from partita.vision._images import normalise
from partita.vision._paper_networks import recipe_for
from partita.vision._runtime import deterministic_algorithms, seeded_weights
from partita.vision._window_votes import WindowNetwork
from partita.vision._windows import choose_grid

from .small_networks import DEVICES, SHAPE, same

GRID = choose_grid(SHAPE, [(2, 2)], 9, 1)


def window_network(network="tiny", device="cpu", seed=0, compiled=False, **settings):
    return WindowNetwork(
        GRID.masks(),
        2,
        SHAPE,
        np.arange(10),
        network,
        recipe_for(network, SHAPE, **settings),
        seed,
        torch.device(device),
        compiled,
    )


def training_images(network, images, built=None):
    """What a network, by default one with its first weights, is shown in training."""
    shown = network._training_images(network._build() if built is None else built)
    codes = torch.zeros(len(images), dtype=torch.long)
    return shown(images, codes, torch.Generator().manual_seed(0))


def fitted(few, **settings):
    network = window_network(**settings)
    with deterministic_algorithms(True):
        list(network.fit(few[0].reshape(-1, 64, 1), few[1]))
    return network


def test_masked_windows_are_zero_and_said_to_be_masked():
    network = window_network()
    images = torch.full((2, 64, 1), 255, dtype=torch.uint8)
    shown = network.hide(network.mask(images), torch.tensor([[0, 4], [9, 9]]))
    assert shown.shape == (2, 8, 8, 2)
    hidden = torch.from_numpy(GRID.masks()[[0, 4]].any(axis=0).reshape(8, 8))
    assert torch.equal(shown[0, :, :, 1] == 1, hidden)
    assert torch.equal(shown[0, :, :, 0] == 0, hidden)
    assert (shown[1, :, :, 0] == normalise(images[0, 0, 0])).all()
    assert (shown[1, :, :, 1] == 0).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("network", ["tiny", "resnet9", "network_in_network"])
def test_a_patch_inside_a_masked_window_changes_no_bit(few, network, device):
    """Every position of a 2 x 2 patch, and the window of that position masked with another."""
    model = window_network(network, device, erase=0)
    with seeded_weights(0):
        built = model._build().to(device).eval()
    rng = np.random.default_rng(0)
    places = [(top, left) for top in range(7) for left in range(7)]
    clean = few[0][: len(places)].reshape(-1, 8, 8, 1)
    windows = [[GRID.window_of(*place), (GRID.window_of(*place) + 4) % 9] for place in places]
    attacked = clean.copy()
    for k, (top, left) in enumerate(places):
        attacked[k, top : top + 2, left : left + 2] = rng.integers(256, size=(2, 2, 1))

    def shares(images, hidden):
        batch = torch.from_numpy(images.reshape(-1, 64, 1)).to(device)
        with torch.no_grad():
            return model.probabilities(built, batch, torch.tensor(hidden, device=device))

    assert torch.equal(shares(clean, windows), shares(attacked, windows))
    whole = [[9, 9]] * len(places)
    assert not torch.equal(shares(clean, whole), shares(attacked, whole))


def test_training_masks_two_windows_after_it_augments(monkeypatch):
    monkeypatch.setattr(window_networks, "WHOLE_IMAGES", 0.25)
    monkeypatch.setattr(window_networks, "CANDIDATES", 1)  # so that every pair comes up
    network = window_network(flip=True, shift=3, erase=0)
    images = torch.full((2000, 64, 1), 255, dtype=torch.uint8)
    shown = training_images(network, images)
    hidden = shown[..., 1] == 1
    assert torch.equal(shown[..., 0] == 0, hidden)
    windows = GRID.masks()
    pairs = {(windows[a] | windows[b]).tobytes() for a in range(len(windows)) for b in range(a)}
    seen = [one.numpy().tobytes() for one in hidden.flatten(1)]
    whole = bytes(64)
    assert {*seen} == pairs | {whole}
    assert 0.2 < seen.count(whole) / len(seen) < 0.3


def test_training_masks_the_windows_that_the_network_is_worst_at(few, monkeypatch):
    """Of all candidates of an image, in the slow and obvious way."""
    monkeypatch.setattr(window_networks, "WHOLE_IMAGES", 0.0)
    network = window_network(flip=False, shift=0, erase=0)
    built = network._build()
    images = torch.from_numpy(few[0].reshape(-1, 64, 1))
    codes = torch.from_numpy(few[1].astype(np.int64))
    shown = network._training_images(built)(images, codes, torch.Generator().manual_seed(0))
    assert built.training  # choosing leaves no trace
    built.eval()
    draws = torch.rand(4, len(images), 9, generator=torch.Generator().manual_seed(0))
    for k in range(len(images)):
        losses = []
        for drawn in draws[:, k]:
            masked = network.hide(network.mask(images[k : k + 1]), drawn.argsort()[None, :2])
            with torch.no_grad():
                scores = built(masked.permute(0, 3, 1, 2))
            losses.append(float(-scores.log_softmax(dim=1)[0, codes[k]]))
        pair = draws[int(np.argmax(losses)), k].argsort()[:2]
        hidden = torch.from_numpy(GRID.masks()[pair.numpy()].any(axis=0).reshape(8, 8))
        assert torch.equal(shown[k, :, :, 1] == 1, hidden)


@pytest.mark.parametrize("device", DEVICES)
def test_training_gives_the_same_bits_twice(few, device):
    first, second = (fitted(few, device=device, epochs=2) for _ in range(2))
    assert same(first.weights, second.weights)
    assert not same(first.weights, fitted(few, device=device, epochs=2, seed=1).weights)


def test_the_average_of_the_weights_is_kept(few, monkeypatch):
    averaged = fitted(few, epochs=4)
    monkeypatch.setattr(window_networks, "EMA_DECAY", 0.0)
    last = fitted(few, epochs=4)
    assert not same(averaged.weights, last.weights)
    assert averaged.weights.keys() == last.weights.keys()
    for value in averaged.weights.values():
        assert value.isfinite().all()
    # batch norm's statistics are averaged, and its counter copied
    assert not torch.equal(averaged.weights["1.running_var"], last.weights["1.running_var"])
    assert torch.equal(
        averaged.weights["1.num_batches_tracked"], last.weights["1.num_batches_tracked"]
    )


def test_a_network_that_diverged_gives_every_label_the_same(few):
    network = fitted(few)
    network.weights["0.weight"][:] = float("nan")
    images = torch.from_numpy(few[0][:3].reshape(3, 64, 1))
    shares = network.probabilities(network.loaded(), images, torch.zeros(3, 2, dtype=torch.long))
    assert (shares == shares[:, :1]).all()


@pytest.mark.long
def test_the_loss_can_be_compiled_without_breaks(few):
    network = window_network("resnet9", erase=0)
    built = network._build().train()
    loss = torch.compile(network._loss_of(built), backend="eager", fullgraph=True)
    images = training_images(network, torch.from_numpy(few[0].reshape(-1, 64, 1)), built)
    loss(images, torch.from_numpy(few[1].astype(np.int64))).backward()
    assert all(
        value.grad is not None for value in built.parameters() if isinstance(value, nn.Parameter)
    )
