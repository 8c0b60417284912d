"""Fixtures of the reproduction's tests."""

import pytest

from research.reproduce import reproduce


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A few tables of every kind, and the folder they are in."""
    out = tmp_path_factory.mktemp("reproduced")
    return {name: reproduce(name, "smoke", out) for name in ("13", "4", "ames")}, out
