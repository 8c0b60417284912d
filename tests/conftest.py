"""What several test files need."""

import os
import sys
import tempfile
import warnings

import pytest
from hypothesis import Phase, settings

from partita.__main__ import main

if "PARTITA_PLANTED" in os.environ:  # a failure is all that is asked for, not the smallest example
    settings.register_profile("planted", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("planted")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of its own; temporary files go beside it, so that leftovers are noticed."""
    folder = tmp_path / "cache"
    folder.mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("PARTITA_CACHE", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield folder
    assert not list((tmp_path / "temporary").iterdir())
    assert not [file for file in folder.rglob("*") if file.name.startswith(".")]


@pytest.fixture
def partita(monkeypatch, capsys):
    """Run a command in this process; return its exit code, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["partita", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() changes it
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)  # as Python itself does
            with pytest.raises(SystemExit) as stop:
                main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run
