"""Names that are imported on first use."""

import subprocess
import sys

import pytest

from partita._support.lazy import lazy_names

LIGHT = """
import sys
import partita
import partita.partition, partita.tables, partita.ensemble
heavy = {"sklearn", "scipy", "numpy", "pandas", "numba"} & set(sys.modules)
assert not heavy, heavy
assert partita.InputError.__module__ == "partita.errors"
assert not {"sklearn", "numba"} & set(sys.modules)
"""


def test_a_name_comes_from_its_module():
    package_getattr, package_dir = lazy_names("partita.tables")
    import partita.tables._table

    assert package_getattr("CellError") is partita.tables._table.CellError
    assert package_dir() == partita.tables.__all__


def test_an_unknown_name_is_an_attribute_error():
    package_getattr, _ = lazy_names("partita.tables")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package_getattr("nothing")


def test_importing_a_package_imports_no_library_until_a_name_is_used():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
