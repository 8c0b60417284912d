"""Fixtures for the store's tests."""

import pytest

from partita import store

from .models import small_model


@pytest.fixture
def saved(tmp_path):
    """A small model in a folder."""
    return store.save(small_model(), tmp_path / "model")
