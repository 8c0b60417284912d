"""A model that grows: only complete submodels count, and another fit is never mixed in."""

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import InputError, StoreError, store
from partita.ensemble import FixedVote
from partita.store import _save
from partita.store._save import UnfinishedModel

from .models import X, Y, small_model

PLAN = {"seed": 0, "units": ["a", "b"]}


@pytest.fixture
def place(tmp_path):
    unfinished = UnfinishedModel(tmp_path / "model")
    unfinished.begin(PLAN)
    return unfinished


def test_a_stored_submodel_is_found_and_its_file_is_the_one_that_save_writes(place, saved):
    submodel = small_model().estimators_[1]
    stored = place.add(1, submodel)
    assert place.find(1) == stored
    assert place.find(0) is None
    assert stored.name in store.manifest(saved)["files"]
    assert (place.folder / stored.name).read_bytes() == (saved / stored.name).read_bytes()


def test_a_damaged_submodel_is_not_found(place):
    stored = place.add(0, GaussianNB().fit(X, Y))
    file = place.folder / stored.name
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert place.find(0) is None
    place.add(0, GaussianNB().fit(X, Y))
    assert place.find(0) == stored
    note = place.folder / "unfinished" / "submodel-0000.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | {"t": 1}))
    assert place.find(0) is None
    file.unlink()
    assert place.find(0) is None


def test_a_failed_submodel_says_why(place):
    assert place.add(0, FixedVote("no memory")).failure == "no memory"
    assert place.find(0).failure == "no memory"


def test_a_fit_is_resumed_and_another_one_is_refused(place):
    UnfinishedModel(place.folder).begin(PLAN)
    with pytest.raises(InputError, match="beginning of another fit, which differs in 'seed'"):
        UnfinishedModel(place.folder).begin(PLAN | {"seed": 1})
    (place.folder / "unfinished" / "plan.json").write_text("{")
    with pytest.raises(InputError, match="beginning of another fit"):
        UnfinishedModel(place.folder).begin(PLAN)


def test_a_finished_model_is_a_stored_model_without_notes(place):
    model = small_model()
    submodels = [place.add(t, submodel) for t, submodel in enumerate(model.estimators_)]
    with pytest.raises(StoreError, match="is not finished"):
        store.load(place.folder)
    place.finish(model, submodels, {"data": "wine"})
    assert np.array_equal(store.load(place.folder).ballots(X), model.ballots(X))
    assert store.manifest(place.folder)["about"] == {"data": "wine"}
    assert not (place.folder / "unfinished").exists()


def test_a_file_that_never_appears_is_an_error(place, monkeypatch):
    monkeypatch.setattr(_save, "PATIENCE", 0)
    stored = place.add(0, GaussianNB().fit(X, Y))
    place.wait_for(stored)
    (place.folder / stored.name).unlink()
    with pytest.raises(StoreError, match="submodel 0 is fitted, but not in"):
        place.wait_for(stored)


def test_a_full_disk_is_one_sentence(place, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_save, "write_atomic", fails)
    with pytest.raises(StoreError, match=r"submodel 0 cannot be written .* finished submodels are"):
        place.add(0, GaussianNB().fit(X, Y))


def test_a_zip_cannot_grow(tmp_path):
    with pytest.raises(InputError, match="is a zip, to which submodels cannot be added"):
        UnfinishedModel(tmp_path / "model.zip")
