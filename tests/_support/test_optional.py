"""Optional libraries."""

import sys

import pytest

from partita import MissingExtraError
from partita._support import require


def test_an_installed_library_is_imported():
    import json.decoder

    assert require("json.decoder", "reading JSON") is json.decoder


@pytest.mark.parametrize(
    ("install", "command"), [(None, "pip install matplotlib"), ("partita[plot]", "'partita[plot]'")]
)
def test_a_missing_library_says_who_needs_it_and_how_to_install_it(install, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        require("matplotlib.figure", "a plot", install)
    assert str(caught.value).startswith("a plot needs matplotlib, which is not installed: pip ")
    assert str(caught.value).endswith(command)
    assert isinstance(caught.value.__cause__, ImportError)
