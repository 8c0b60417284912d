"""What several test files need."""

import tempfile

import pytest


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of its own; temporary files go beside it, so that what stays behind is seen."""
    folder = tmp_path / "cache"
    folder.mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("PARTITA_CACHE", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield folder
    assert not list((tmp_path / "temporary").iterdir())
    assert not [file for file in folder.rglob("*") if file.name.startswith(".")]
