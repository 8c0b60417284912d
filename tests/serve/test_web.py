"""Without the web libraries, one message says how to install them."""

import sys
from importlib import import_module

import pytest

from partita import (
    MissingExtraError,
)


def test_without_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "partita.serve._web", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(
        MissingExtraError,
        match=r"serving a model needs fastapi, which is not installed: pip install "
        r"'partita\[serve\]'",
    ):
        import_module("partita.serve._web")
