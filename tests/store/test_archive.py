"""Names are in the order of the submodels; files outside the model, or too large, are not read."""

import hashlib
import zipfile

import pytest

from partita import InputError, StoreError, store
from partita.store import _files
from partita.store._files import (
    SUBMODEL_FILE,
    StoredFile,
    is_part,
    is_stored_model,
    open_archive,
    read_checked,
    submodel_name,
)

from .models import as_zip, change_manifest, first_submodel, swap_file


def test_a_folder_and_a_zip_are_read_alike(saved, tmp_path):
    archive = as_zip(saved, tmp_path / "m.zip")
    for path in (saved, archive):
        assert is_stored_model(path)
        with open_archive(path) as read:
            for file in saved.iterdir():
                assert read(file.name, 10**6) == file.read_bytes()
            with pytest.raises(StoreError, match="nothing is missing: the stored model"):
                read("nothing", 10)
            with pytest.raises(StoreError, match=r"larger than manifest\.json says"):
                read("manifest.json", 10)
            with pytest.raises(StoreError, match="leads out of the stored model"):
                read("../manifest.json", 10**6)


def test_a_link_out_of_the_folder_is_not_followed(saved, tmp_path):
    file = first_submodel(saved)
    outside = tmp_path / "outside"
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(StoreError, match="leads out of"):
        store.load(saved)


def test_another_content_is_not_accepted(saved):
    name = first_submodel(saved).name
    facts = store.manifest(saved)["files"][name]
    with open_archive(saved) as read:
        assert read_checked(read, name, facts) == (saved / name).read_bytes()
        first_submodel(saved).write_bytes(first_submodel(saved).read_bytes()[:-1] + b"x")
        with pytest.raises(StoreError, match="sha256 differs"):
            read_checked(read, name, facts)


def test_a_member_larger_than_the_manifest_says_is_not_unpacked(saved, tmp_path):
    name = first_submodel(saved).name
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in saved.iterdir():
            archive.writestr(file.name, b"0" * 10**7 if file.name == name else file.read_bytes())
    with pytest.raises(StoreError, match=r"larger than manifest\.json says"):
        store.load(tmp_path / "bomb.zip")


def test_an_archive_that_explodes_is_refused_whatever_its_manifest_says(
    saved, tmp_path, monkeypatch
):
    """A few kilobytes that say they are 30 MB, and are."""
    monkeypatch.setattr(_files, "ALWAYS_UNPACKED", 2**20)
    swap_file(saved, first_submodel(saved), b"0" * (30 * 10**6))
    path = as_zip(saved, tmp_path / "bomb.zip")
    assert path.stat().st_size < 10**5
    with pytest.raises(StoreError, match=r"unpacks to 3\d{7}: the model was changed"):
        store.load(path)


def test_a_file_of_negative_size_is_not_read(saved, tmp_path):
    """A zip's reader would take -1 for everything there is."""
    name = first_submodel(saved).name
    change_manifest(saved, lambda manifest: manifest["files"][name].update(bytes=-2))
    with pytest.raises(StoreError, match="a file has -2 bytes"):
        store.load(as_zip(saved, tmp_path / "m.zip"))


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        store.load(tmp_path / "nowhere")
    (tmp_path / "text.zip").write_text("no archive")
    assert not is_stored_model(tmp_path / "text.zip")
    with pytest.raises(StoreError, match="neither a folder nor a zip"):
        store.load(tmp_path / "text.zip")
    (tmp_path / "begun" / "unfinished").mkdir(parents=True)
    with pytest.raises(StoreError, match="is not finished: run it again"):
        store.load(tmp_path / "begun")


# ---- names ----


def test_a_name_holds_the_number_and_the_hash():
    file = StoredFile.of(submodel_name(12), ".skops", b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    assert file.name == f"submodel-0012-{digest[:16]}.skops"
    assert SUBMODEL_FILE.fullmatch(file.name)[1] == "0012"
    assert file.facts == {"sha256": digest, "bytes": 7}


def test_names_are_unambiguous_beyond_ten_thousand_submodels():
    file = StoredFile.of(submodel_name(12_345), ".skops", b"")
    assert SUBMODEL_FILE.fullmatch(file.name)[1] == "12345"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("submodel-0000-0123456789abcdef.skops", True),
        ("estimator-0123456789abcdef.skops", True),
        ("full-model-0123456789abcdef.skops", True),
        ("networks-0123456789abcdef.safetensors", True),
        ("manifest.json", False),
        ("submodel-notes.txt", False),
        ("mine.skops", False),
    ],
)
def test_only_files_of_models_are_parts(name, expected):
    assert is_part(name) is expected
