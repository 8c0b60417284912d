"""A model is written as a whole or not at all, and never over something else."""

import io
import zipfile

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, StoreError, SubmodelWarning, store
from partita.store import _save
from partita.store._save import check_free, check_place, remove_leftovers, stored_estimator

from .models import X, Y, small_model


@pytest.fixture
def full_disk(monkeypatch):
    """No room for a manifest."""
    whole = _save.write_atomic

    def write(file, content):
        if file.name == "manifest.json":
            raise OSError("disk full")
        whole(file, content)

    monkeypatch.setattr(_save, "write_atomic", write)
    return monkeypatch


def test_a_crash_leaves_the_old_model_and_its_files(saved, full_disk):
    other = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, Y)
    with pytest.raises(OSError, match="disk full"):
        store.save(other, saved)
    assert np.array_equal(store.load(saved).ballots(X), small_model().ballots(X))
    assert len(list(saved.iterdir())) == 5  # manifest, estimator, three submodels
    with pytest.raises(OSError, match="disk full"):
        store.save(other, saved.parent / "new")
    assert not (saved.parent / "new").exists()
    full_disk.undo()
    store.save(other, saved)
    assert np.array_equal(store.load(saved).ballots(X), other.ballots(X))
    assert len(list(saved.iterdir())) == 7


def test_leftovers_of_earlier_models_go_and_other_files_stay(saved):
    (saved / "submodel-0099-0123456789abcdef.skops").write_bytes(b"old")
    (saved / "README.txt").write_text("mine")
    (saved / "unfinished").mkdir()
    before = {file.name for file in saved.iterdir()} - {"unfinished"}
    keep = before - {"submodel-0099-0123456789abcdef.skops"}
    remove_leftovers(saved, keep)
    assert {file.name for file in saved.iterdir()} == keep


def test_a_submodel_that_failed_is_stored_too(tmp_path):
    broken = X.copy()
    broken[0, 0] = np.nan
    with pytest.warns(SubmodelWarning):
        model = FeaturePartitionClassifier(GaussianNB(), on_failure="vote").fit(broken, Y)
    assert np.array_equal(
        store.load(store.save(model, tmp_path / "m")).ballots(X), model.ballots(X)
    )


def test_wrong_places_are_named(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="exists and is not a stored model"):
        store.save(small_model(), tmp_path / "full")
    with pytest.raises(InputError, match=r"letter\.txt' is not a folder"):
        check_place(tmp_path / "full" / "letter.txt" / "model")
    with pytest.raises(InputError, match="model is a GaussianNB"):
        store.save(GaussianNB(), tmp_path / "m")


def test_a_model_is_replaced_only_where_that_is_allowed(saved, tmp_path):
    with pytest.raises(InputError, match="holds a model already"):
        check_free(saved, overwrite=False)
    assert check_free(saved, overwrite=True) == saved
    (tmp_path / "begun" / "unfinished").mkdir(parents=True)
    assert check_free(tmp_path / "begun", overwrite=False) == tmp_path / "begun"


def test_a_zip_is_compressed(tmp_path):
    path = store.save(small_model(), tmp_path / "deep" / "model.zip")
    members = zipfile.ZipFile(io.BytesIO(path.read_bytes())).infolist()
    assert {member.compress_type for member in members} == {zipfile.ZIP_DEFLATED}


def test_equal_estimators_are_equal_files():
    one, other = (stored_estimator("estimator", GaussianNB().fit(X, Y)) for _ in range(2))
    assert one == other
    assert one.name == f"estimator-{one.sha256[:16]}.skops"
    assert one.facts == {"sha256": one.sha256, "bytes": len(one.content)}


def test_an_estimator_that_skops_cannot_store_is_named(tmp_path):
    model = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, Y)
    model.estimators_[1].secret_ = (number for number in range(3))
    with pytest.raises(StoreError, match="submodel-0001, a GaussianNB, cannot be stored by skops"):
        store.save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()
