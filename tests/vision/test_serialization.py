"""Stored networks: the same ballots again, and nothing loaded that would void the proof."""

import json

import numpy as np
import pytest

from partita import FeaturePartitionClassifier, StoreError, store
from partita.vision import CellImageClassifier, PixelSetClassifier
from partita.vision._serialization import CELLS_FORMAT, SETS_FORMAT, from_bytes, to_bytes

from .small_networks import SHAPE, masked


@pytest.fixture(scope="module")
def model(digits):
    """An ensemble of five submodels of two members each, with labels that are texts."""
    net = PixelSetClassifier(
        SHAPE,
        width=8,
        blocks=1,
        heads=2,
        epochs=1,
        batch_size=64,
        members=2,
        device="cpu",
        verbose=0,
    )
    y = np.asarray(digits.classes, dtype=object)[digits.y_train[:200]]
    return FeaturePartitionClassifier(net, n_submodels=5, image_shape=SHAPE).fit(
        digits.X_train[:200], y
    )


@pytest.fixture
def stored(model):
    """The networks' bytes, their facts, and what they are loaded for."""
    content, facts = to_bytes(model.estimators_, model.classes_)
    columns = [model.columns_of(t) for t in range(5)]
    return content, json.loads(json.dumps(facts)), model.classes_, columns


def test_stored_and_loaded_gives_the_same_ballots(model, digits, tmp_path):
    for name in ("model", "model.zip"):
        loaded = store.load(store.save(model, tmp_path / name))
        assert np.array_equal(loaded.ballots(digits.X_test), model.ballots(digits.X_test))
        assert loaded.estimator.get_params() == model.estimator.get_params()
    files = sorted(path.suffix for path in (tmp_path / "model").iterdir())
    assert files == [".json", ".safetensors", ".skops"]
    weights_file = next((tmp_path / "model").glob("*.safetensors"))
    weights_file.write_bytes(weights_file.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="its sha256 differs"):
        store.load(tmp_path / "model")


def test_weights_have_the_names_of_the_field(stored):
    content, facts, _, _ = stored
    for name in ("embed", "qkv_0", "attn_out_0", "mlp_in_0", "mlp_out_0", "head"):
        assert f'"weights.{name}"'.encode() in content
    assert facts["format"] == SETS_FORMAT == 2


@pytest.mark.parametrize("version", [None, 1, 4])
def test_another_format_is_refused_with_what_to_do(stored, version):
    content, facts, classes, columns = stored
    facts.pop("format")
    if version is not None:
        facts["format"] = version
    with pytest.raises(StoreError, match=r"stored in format [14], .*fit the model again"):
        from_bytes(content, facts, classes, columns)


def swapped_sets(facts):
    facts["sets"][0], facts["sets"][1] = facts["sets"][1], facts["sets"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swapped_sets, "their pixels are not those of the partition"),
        (lambda facts: facts["seeds"].pop(), "their pixels are not those of the partition"),
        (lambda facts: facts.update(image_shape=[8, 9, 1]), "not that of the table"),
        (lambda facts: facts.update(classes=[0, 0, 1]), "their labels are not those of the model"),
        (lambda facts: facts.update(classes=[True]), "their labels are not those of the model"),
        (lambda facts: facts["settings"].update(width=16), "not of the size that the settings say"),
        (lambda facts: facts["settings"].update(heads=3), "not a multiple of heads=3"),
        (lambda facts: facts["settings"].update(extra=1), "TypeError"),
        (lambda facts: facts.pop("sets"), "KeyError"),
    ],
)
def test_facts_that_do_not_fit_are_refused(stored, change, message):
    """A submodel that looked at another's pixels would void the proof."""
    content, facts, classes, columns = stored
    change(facts)
    with pytest.raises(StoreError, match=message):
        from_bytes(content, facts, classes, columns)


def test_facts_that_are_nothing_of_the_kind_are_refused(stored):
    with pytest.raises(StoreError, match="the model was changed or damaged"):
        from_bytes(stored[0], "facts", *stored[2:])


def test_masked_networks_say_that_they_cannot_be_stored(few, tmp_path):
    clf = FeaturePartitionClassifier(
        masked(), n_submodels=2, partition="strided", image_shape=SHAPE
    ).fit(*few)
    message = "MaskedSubmodels cannot be stored: use PixelSetClassifier"
    with pytest.raises(StoreError, match=message):
        store.save(clf, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def cells(digits):
    """Three submodels of two members each, over cells."""
    net = CellImageClassifier(
        SHAPE, width=4, epochs=1, batch_size=64, members=2, device="cpu", verbose=0
    )
    clf = FeaturePartitionClassifier(net, n_submodels=3, image_shape=SHAPE)
    return clf.fit(digits.X_train[:128], digits.y_train[:128])


@pytest.fixture
def stored_cells(cells):
    content, facts = to_bytes(cells.estimators_, cells.classes_)
    columns = [cells.columns_of(t) for t in range(3)]
    return content, json.loads(json.dumps(facts)), cells.classes_, columns


def test_cells_are_stored_and_loaded_with_the_same_scores(cells, stored_cells, digits):
    assert stored_cells[1]["format"] == CELLS_FORMAT == 3
    loaded = from_bytes(*stored_cells)
    expected = cells.estimators_.scores(digits.X_test)
    assert np.array_equal(loaded.scores(digits.X_test), expected)
    assert loaded[1].pixels == cells.partition_[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swapped_sets, "their pixels are not those of the partition"),
        (lambda facts: facts["seeds"].pop(), "their pixels are not those of the partition"),
        (lambda facts: facts.update(image_shape=[8, 9, 1]), "not that of the table"),
        (lambda facts: facts.update(classes=[True]), "their labels are not those of the model"),
        (lambda facts: facts["settings"].update(width=8), "not of the size that the settings say"),
        (lambda facts: facts["settings"].update(cell=1), "not of the size that the settings say"),
        (lambda facts: facts["settings"].update(members=1), "not of the size"),
        (lambda facts: facts["settings"].update(blocks=10**12), "not of the size"),
        (lambda facts: facts["settings"].update(width=10**12), "not of the size"),
        (lambda facts: facts["settings"].update(members=10**12), "not of the size"),
        (lambda facts: facts["settings"].update(cell=9), "cell is 9"),
        (lambda facts: facts["settings"].update(heads=2), "TypeError"),
        (lambda facts: facts.update(format=2), "TypeError"),
        (lambda facts: facts.pop("settings"), "KeyError"),
    ],
)
def test_facts_that_do_not_fit_cells_are_refused(stored_cells, change, message):
    content, facts, classes, columns = stored_cells
    change(facts)
    with pytest.raises(StoreError, match=message):
        from_bytes(content, facts, classes, columns)
