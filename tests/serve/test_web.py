"""Without the web libraries, one message says how to install them."""

import sys

import pytest

from partita import MissingExtraError, serve


@pytest.mark.parametrize(
    ("name", "library", "purpose"),
    [
        ("run", "fastapi", "serving a model"),
        ("make_app", "fastapi", "serving a model"),
        ("Federation", "httpx", "asking parties"),
    ],
)
def test_without_the_extra(name, library, purpose, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        MissingExtraError,
        match=rf"{purpose} needs {library}, which is not installed: pip install "
        r"'partita\[serve\]'",
    ):
        getattr(serve, name)
