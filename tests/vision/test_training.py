"""Training of pixel-set networks: isolated, repeatable, resumable."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from partita import InputError
from partita.ensemble._submodels import FLOOR
from partita.vision import _runtime
from partita.vision._pixel_sets import PixelSets, PixelSetTraining, clip_each_network, train

from .small_networks import DEVICES, SETS, SHAPE, SMALL, same, trained, weights


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("members", "average"), [(1, 0.0), (2, 0.9)])
def test_a_rewritten_pixel_changes_its_own_submodel_alone(digits, members, average, device):
    """One submodel's columns are rewritten in all training images; the others keep every bit."""
    config = replace(SMALL, members=members, average=average)
    X, y = digits.X_train[:192], digits.y_train[:192]
    honest = trained(X, y, config, device=device)
    for t in (0, 3, 6):
        poisoned = X.copy()
        poisoned[:, SETS[t]] = np.random.default_rng(t).integers(0, 256, (len(X), len(SETS[t])))
        model = trained(poisoned, y, config, device=device)
        for other in range(7):
            assert same(weights(model, other), weights(honest, other)) == (other != t)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_a_submodel_that_diverges_takes_no_other_along(digits, device, value):
    X, y = digits.X_train[:192], digits.y_train[:192]
    honest = trained(X, y, device=device)
    model = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7)))
    with torch.no_grad():
        model.networks.weights["embed"][2] = value
    train(model, X, y, device=device, verbose=0)
    for other in range(7):
        assert same(weights(model, other), weights(honest, other)) == (other != 2)
    scores = model.scores(digits.X_test[:60])
    assert np.isfinite(scores).all()
    expected = np.delete(honest.scores(digits.X_test[:60]), 2, axis=1)
    assert np.array_equal(np.delete(scores, 2, axis=1), expected)
    assert value == 1e30 or (scores[:, 2] == np.float32(FLOOR)).all()


def test_each_network_s_gradient_is_clipped_by_itself():
    parameters = [torch.zeros(3, 2, 2), torch.zeros(3, 1, 2)]
    for value in parameters:
        value.grad = torch.ones_like(value)
    parameters[0].grad[1] *= 100
    parameters[1].grad[2] = torch.nan
    clip_each_network(parameters)
    norms = [
        sum(float(value.grad[t].square().sum()) for value in parameters) ** 0.5 for t in range(3)
    ]
    assert norms == pytest.approx([1.0, 1.0, 0.0])  # the last is not finite and skips the step
    small = torch.zeros(1, 2)
    small.grad = torch.full((1, 2), 0.1)
    clip_each_network([small])
    assert small.grad.tolist() == [[pytest.approx(0.1)] * 2]


def test_training_twice_gives_the_same_bits(digits):
    X, y = digits.X_train[:192], digits.y_train[:192]
    first, second = trained(X, y), trained(X, y, deterministic=True)
    assert same(weights(first, 4), weights(second, 4))


def test_the_average_is_what_training_ends_with(digits):
    X, y = digits.X_train[:192], digits.y_train[:192]
    last, averaged = trained(X, y), trained(X, y, replace(SMALL, average=0.9))
    assert not same(weights(last, 4), weights(averaged, 4))
    for name, value in weights(averaged, 4).items():
        torch.testing.assert_close(value, weights(last, 4)[name], rtol=0, atol=0.02)


@pytest.fixture
def interrupted(digits, tmp_path, monkeypatch):
    """Training that was interrupted after two of four epochs, and its checkpoint."""
    config, file = replace(SMALL, epochs=4, average=0.9), tmp_path / "state.pt"
    X, y = digits.X_train[:192], digits.y_train[:192]
    monkeypatch.setattr(_runtime, "SECONDS", 0.0)
    run_epoch = PixelSetTraining.run_epoch

    def stopping(self, epoch):
        if epoch == 2:
            raise KeyboardInterrupt
        return run_epoch(self, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(PixelSetTraining, "run_epoch", stopping)
        with pytest.raises(KeyboardInterrupt):
            trained(X, y, config, checkpoint=file)
    assert [path.name for path in tmp_path.iterdir()] == ["state.pt"]
    return X, y, config, file


def test_an_interrupted_training_resumes_exactly(interrupted, monkeypatch):
    X, y, config, file = interrupted
    epochs, run_epoch = [], PixelSetTraining.run_epoch
    monkeypatch.setattr(
        PixelSetTraining,
        "run_epoch",
        lambda self, epoch: epochs.append(epoch) or run_epoch(self, epoch),
    )
    resumed = trained(X, y, config, checkpoint=file)
    assert epochs == [2, 3]
    assert not file.exists()
    undisturbed = trained(X, y, config)
    assert all(same(weights(resumed, t), weights(undisturbed, t)) for t in range(7))


def test_a_checkpoint_of_something_else_is_refused(interrupted):
    X, y, config, file = interrupted
    with pytest.raises(InputError, match="belongs to other images, labels, columns"):
        trained(X[:-1], y[:-1], config, checkpoint=file)
    with pytest.raises(InputError, match="belongs to other images, labels, columns"):
        trained(X, y, replace(config, learning_rate=1e-3), checkpoint=file)


def test_a_checkpoint_of_another_environment_is_refused(interrupted):
    X, y, config, file = interrupted
    state = torch.load(file, weights_only=True)
    torch.save({**state, "environment": state["environment"] | {"threads": 64}}, file)
    with pytest.raises(InputError, match="was trained with threads=64, and here it is"):
        trained(X, y, config, checkpoint=file)
    torch.save({**state, "environment": state["environment"] | {"partita": "0.0"}}, file)
    with pytest.raises(InputError, match=r"was trained with partita='0\.0', and here it is"):
        trained(X, y, config, checkpoint=file)


def test_a_checkpoint_of_another_version_is_refused(interrupted):
    X, y, config, file = interrupted
    state = torch.load(file, weights_only=True)
    del state["format"]  # as the first format was
    torch.save(state, file)
    with pytest.raises(InputError, match="written by another version of partita: remove it"):
        trained(X, y, config, checkpoint=file)


def test_a_damaged_checkpoint_is_refused(interrupted):
    X, y, config, file = interrupted
    state = torch.load(file, weights_only=True)
    torch.save({**state, "networks": {}}, file)
    with pytest.raises(InputError, match="is damaged"):
        trained(X, y, config, checkpoint=file)
    file.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be read"):
        trained(X, y, config, checkpoint=file)


def test_progress_shows_epochs_and_loss(few, capsys):
    model = PixelSets(SETS, SHAPE, 10, SMALL, list(range(7)))
    train(model, *few, device="cpu")
    assert "trained 2 of 2 epochs, loss 2." in capsys.readouterr().err


def test_too_little_memory_says_what_to_lower(few, monkeypatch):
    def no_memory(self, epoch):
        raise torch.OutOfMemoryError("no")

    monkeypatch.setattr(PixelSetTraining, "run_epoch", no_memory)
    with pytest.raises(InputError, match="lower batch_size first"):
        trained(*few)


def test_labels_are_counted(few):
    with pytest.raises(InputError, match="y has 3 labels for 64 images"):
        trained(few[0], few[1][:3])
