"""MaskedImageClassifier: submodels are isolated from one another, and resumed one by one."""

import math

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from partita import FeaturePartitionClassifier, InputError
from partita.ensemble._submodels import FLOOR
from partita.metrics import certified_accuracy
from partita.vision._masked_classifier import MaskedSubmodel

from .small_networks import DEVICES, SHAPE, masked, same
from .small_networks import MASKED_SETS as SETS

SEEDS = [10, 11, 12]


@pytest.fixture(scope="module")
def honest(few):
    return masked().fit_submodels(*few, SETS, SEEDS)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("network", ["resnet9", "network_in_network", "tiny"])
def test_a_rewritten_pixel_changes_its_own_submodel_alone(few, network, device):
    X, y = few
    net = masked(network, device=device, deterministic=True)
    first = net.fit_submodels(X[:32], y[:32], SETS[:2], [0, 1])
    poisoned = X[:32].copy()
    poisoned[:, SETS[1]] = np.random.default_rng(0).integers(0, 256, (32, len(SETS[1])))
    second = net.fit_submodels(poisoned, y[:32], SETS[:2], [0, 1])
    changed = [not same(a.weights, b.weights) for a, b in zip(first, second, strict=True)]
    assert changed == [False, True]


def test_a_submodel_is_the_same_whatever_else_is_trained(few, honest):
    alone = masked().fit_submodels(*few, [SETS[1]], [11])
    assert same(alone[0].weights, honest[1].weights)
    other = masked().fit_submodels(*few, [SETS[1]], [12])
    assert not same(other[0].weights, honest[1].weights)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_submodel_that_diverges_takes_no_other_along(few, digits, honest, monkeypatch, value):
    build = MaskedSubmodel._build

    def broken(self):
        network = build(self)
        if self.pixels == tuple(SETS[1]):
            nn.init.constant_(next(network.parameters()), value)
        return network

    monkeypatch.setattr(MaskedSubmodel, "_build", broken)
    submodels = masked().fit_submodels(*few, SETS, SEEDS)
    kept = [same(a.weights, b.weights) for a, b in zip(submodels, honest, strict=True)]
    assert kept == [True, False, True]
    scores = submodels.scores(digits.X_test[:50])
    assert (scores[:, 1] == np.float32(FLOOR)).all()
    assert np.array_equal(scores[:, [0, 2]], honest.scores(digits.X_test[:50])[:, [0, 2]])


def test_scores_depend_on_the_submodel_s_own_pixels_alone(digits, honest):
    X = digits.X_test[:100]
    before = honest.scores(X)
    assert before.shape == (100, 3, 10)
    assert before.dtype == np.float32
    for t in range(3):
        attacked = X.copy()
        attacked[:, SETS[t]] = 255 - attacked[:, SETS[t]]
        changed = (honest.scores(attacked) != before).any(axis=(0, 2))
        assert changed.tolist() == [other == t for other in range(3)]


def test_training_leaves_the_global_generator_alone(few, honest):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    again = masked().fit_submodels(*few, [SETS[0]], [10])
    assert torch.equal(torch.rand(3), expected)
    assert same(again[0].weights, honest[0].weights)


def test_it_learns_and_certifies(digits):
    net = masked(epochs=10, batch_size=32, flip=False, shift=0, erase=0)
    clf = FeaturePartitionClassifier(net, n_submodels=2, partition="strided", image_shape=SHAPE)
    names = np.asarray(digits.classes, dtype=object)
    clf.fit(digits.X_train[:400], names[digits.y_train[:400]])
    X, truth = digits.X_test[:128], names[digits.y_test[:128]]
    proof = clf.certify(X)
    assert certified_accuracy(truth, proof, 0) > 0.6
    assert proof.counts.what == "pixels"
    submodel = clf.estimators_[1]
    assert submodel.pixels == clf.partition_[1]
    assert (submodel.predict(X) == truth).mean() > 0.5
    assert np.allclose(np.log(submodel.predict_proba(X)), clf.ballots(X)[:, 1], atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("network", ["resnet9", "network_in_network"])
def test_the_paper_s_networks_learn(digits, network):
    rate = {"resnet9": 0.05, "network_in_network": 1e-3}[network]
    net = masked(network, epochs=4, batch_size=16, learning_rate=rate, flip=False, shift=1)
    net.fit(digits.X_train[:192], digits.y_train[:192])
    assert (net.predict(digits.X_test[:128]) == digits.y_test[:128]).mean() > 0.4


@pytest.fixture
def interrupted(few, tmp_path, monkeypatch):
    """A fit that was interrupted in its second submodel, and which submodels are fitted."""
    fit, fitted = MaskedSubmodel.fit, []

    def stopping(self, own, labels):
        fitted.append(SETS.index(list(self.pixels)))
        if fitted == [0, 1]:
            raise KeyboardInterrupt
        return fit(self, own, labels)

    monkeypatch.setattr(MaskedSubmodel, "fit", stopping)
    net = masked(checkpoint=tmp_path / "state")
    with pytest.raises(KeyboardInterrupt):
        net.fit_submodels(*few, SETS, SEEDS)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["0000.pt"]
    return net, fitted


def test_an_interrupted_fit_resumes_exactly(few, honest, interrupted):
    net, fitted = interrupted
    resumed = net.fit_submodels(*few, SETS, SEEDS)
    assert fitted == [0, 1, 1, 2]
    assert all(same(a.weights, b.weights) for a, b in zip(resumed, honest, strict=True))
    assert np.array_equal(resumed.scores(few[0]), honest.scores(few[0]))


def test_a_checkpoint_of_something_else_is_refused(few, interrupted):
    net, _ = interrupted
    X, y = few
    changed = X.copy()
    changed[0, SETS[0][0]] ^= 1
    for other in (
        lambda: net.fit_submodels(changed, y, SETS, SEEDS),
        lambda: net.fit_submodels(X, y[::-1], SETS, SEEDS),
        lambda: net.fit_submodels(X, y, SETS, [9, 11, 12]),
        lambda: net.fit_submodels(X, y, SETS[::-1], SEEDS),
        lambda: clone(net).set_params(epochs=2).fit_submodels(X, y, SETS, SEEDS),
        lambda: clone(net).set_params(network="resnet9").fit_submodels(X, y, SETS, SEEDS),
    ):
        message = "belongs to other images, labels, columns, seeds or settings: remove the folder"
        with pytest.raises(InputError, match=message):
            other()
    (net.checkpoint / "0000.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"cannot be read .* remove it"):
        net.fit_submodels(X, y, SETS, SEEDS)


def test_progress_shows_epochs_submodel_and_loss(few, capsys):
    masked(verbose=1).fit_submodels(*few, SETS[:2], [0, 1])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("partita: trained 2 of 2 epochs, submodel 2 of 2, loss ")


def test_too_little_memory_says_what_to_lower(few, monkeypatch):
    def no_memory(*_):
        raise torch.OutOfMemoryError("no")

    monkeypatch.setattr(MaskedSubmodel, "fit", no_memory)
    with pytest.raises(InputError, match="batch_size=32: lower batch_size"):
        masked().fit(*few)


def test_one_image_is_too_few(few):
    with pytest.raises(InputError, match="X has 1 images: give at least two"):
        masked().fit(few[0][:1], few[1][:1])
