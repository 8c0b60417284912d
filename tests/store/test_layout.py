"""Names of files: in the order of the submodels, and recognisable as parts of a model."""

import hashlib

import pytest

from partita.store._layout import SUBMODEL_FILE, StoredFile, is_part, submodel_name


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
