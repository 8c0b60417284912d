"""Training of networks over cells: isolated, repeatable, resumable."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from partita import InputError
from partita.vision import _cell_sets as training
from partita.vision._cell_sets import CellSets
from partita.vision._images import as_images

from .small_networks import CELLS, DEVICES, SHAPE, cell_weights, same, trained_cells
from .small_networks import MASKED_SETS as SETS


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("members", "together"), [(1, 1), (2, 1), (2, 2), (1, 3)])
def test_a_rewritten_pixel_changes_its_own_submodel_alone(few, members, together, device):
    """One submodel's columns are rewritten in all training images; the others keep every bit."""
    X, y = few
    config = replace(CELLS, members=members, epochs=2)
    options = {"together": together, "device": device, "deterministic": True}
    honest = trained_cells(X, y, config, **options)
    for t in (0, 2):
        poisoned = X.copy()
        poisoned[:, SETS[t]] = np.random.default_rng(t).integers(0, 256, (len(X), len(SETS[t])))
        model = trained_cells(poisoned, y, config, **options)
        for other in range(3):
            kept = same(cell_weights(model, other), cell_weights(honest, other))
            assert kept == (other != t)


@pytest.mark.parametrize("together", [1, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_a_submodel_that_diverges_takes_no_other_along(few, value, together):
    X, y = few
    honest = trained_cells(X, y, together=together)
    model = CellSets(SETS, SHAPE, 10, CELLS, [10, 11, 12])
    with torch.no_grad():
        model.networks[0].weights["stem"].fill_(value)
    training.train_cells(model, as_images(X, SHAPE), y, device="cpu", together=together, verbose=0)
    kept = [same(cell_weights(model, t), cell_weights(honest, t)) for t in range(3)]
    assert kept == [False, True, True]


def test_a_submodel_is_the_same_whatever_else_is_trained(few):
    """Nothing of the network before it is left in what trains it."""
    honest = trained_cells(*few)
    alone = CellSets([SETS[2]], SHAPE, 10, CELLS, [12])
    training.train_cells(alone, as_images(few[0], SHAPE), few[1], device="cpu", verbose=0)
    assert same(cell_weights(alone, 0), cell_weights(honest, 2))


def test_several_at_once_train_as_one_after_the_other(few):
    """Up to rounding, after a step: each has its own order, augmentation and statistics."""
    config = replace(CELLS, batch_size=64, members=2)
    single, several = (trained_cells(*few, config, together=count) for count in (1, 4))
    for t in range(3):
        first, second = cell_weights(single, t), cell_weights(several, t)
        for name in first:
            torch.testing.assert_close(first[name], second[name], rtol=1e-3, atol=1e-4)


def test_training_leaves_the_global_generator_alone(few):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = trained_cells(*few)
    assert torch.equal(torch.rand(3), expected)
    assert same(cell_weights(first, 1), cell_weights(trained_cells(*few), 1))


def test_images_are_masked_before_they_are_augmented(few, monkeypatch):
    """What the augmentation is given holds a submodel's own pixels, and says so."""
    seen, augment = [], training.augment
    monkeypatch.setattr(
        training, "augment", lambda masked, *rest: seen.append(masked) or augment(masked, *rest)
    )
    trained_cells(*few)
    assert len(seen) == 6  # two steps for each of three submodels
    for step, masked in enumerate(seen):
        own = torch.zeros(64)
        own[SETS[step // 2]] = 1
        assert (masked[..., 1].flatten(1) == own).all()
        assert (masked[..., 0].flatten(1)[:, own == 0] == 0).all()


def test_the_average_is_what_training_ends_with(few):
    last, averaged = (
        trained_cells(*few, replace(CELLS, average=average)) for average in (0.0, 0.99)
    )
    name = "0 weights.stem"
    assert not torch.equal(cell_weights(last, 0)[name], cell_weights(averaged, 0)[name])
    mean = "0 mean_stem"  # statistics too, so that they fit the weights
    assert not torch.equal(cell_weights(last, 0)[mean], cell_weights(averaged, 0)[mean])


@pytest.fixture
def interrupted(few, tmp_path, monkeypatch):
    """A folder in which training was interrupted in its third network, and what is trained."""
    config, folder, trained = replace(CELLS, members=2), tmp_path / "state", []
    fit = training.CellTraining.fit

    def stopping(self, group):
        trained.append(list(group))
        if trained == [[0], [1], [2]]:
            raise KeyboardInterrupt
        return fit(self, group)

    monkeypatch.setattr(training.CellTraining, "fit", stopping)
    with pytest.raises(KeyboardInterrupt):
        trained_cells(*few, config, checkpoint=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["0000-0.pt", "0000-1.pt"]
    return config, folder, trained


def test_an_interrupted_training_resumes_exactly(few, interrupted):
    config, folder, trained = interrupted
    resumed = trained_cells(*few, config, checkpoint=folder)
    assert trained[3:] == [[2], [3], [4], [5]]
    honest = trained_cells(*few, config)
    assert all(same(cell_weights(resumed, t), cell_weights(honest, t)) for t in range(3))


def test_a_checkpoint_serves_more_members_and_views(few, interrupted):
    config, folder, trained = interrupted
    trained_cells(*few, replace(config, members=3, views=5), checkpoint=folder)
    assert trained[3:] == [[2], [3], [4], [5], [6], [7], [8]]


def test_a_checkpoint_of_something_else_is_refused(few, interrupted):
    (X, y), (config, folder, _) = few, interrupted
    changed = X.copy()
    changed[0, SETS[0][0]] ^= 1
    for other in (
        lambda: trained_cells(changed, y, config, checkpoint=folder),
        lambda: trained_cells(X, y[::-1], config, checkpoint=folder),
        lambda: trained_cells(X, y, config, SETS[::-1], checkpoint=folder),
        lambda: trained_cells(X, y, config, checkpoint=folder, together=2),
        lambda: trained_cells(X, y, replace(config, epochs=2), checkpoint=folder),
    ):
        with pytest.raises(InputError, match="belongs to other images, labels, columns, seeds"):
            other()
    (folder / "0000-1.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"0000-1.pt' cannot be read .* remove it"):
        trained_cells(X, y, config, checkpoint=folder)


def test_progress_shows_epochs_network_and_loss(few, capsys):
    model = CellSets(SETS[:2], SHAPE, 10, CELLS, [0, 1])
    training.train_cells(model, as_images(few[0], SHAPE), few[1], device="cpu")
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("partita: trained 2 of 2 epochs, network 2 of 2, loss 2.")


def test_too_little_memory_says_what_to_lower(few, monkeypatch):
    def no_memory(*_):
        raise torch.OutOfMemoryError("no")

    monkeypatch.setattr(training.CellTraining, "fit", no_memory)
    with pytest.raises(InputError, match="width=4 with batch_size=32: lower one of them"):
        trained_cells(*few)


def test_one_image_is_too_few(few):
    with pytest.raises(InputError, match="X has 1 images: give at least two"):
        trained_cells(few[0][:1], few[1][:1])
