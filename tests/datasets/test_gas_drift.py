"""Gas sensors: the same numbers from Parquet, from UCI's archive and from the cache."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import InputError
from partita.datasets import _cache, _gas_drift, _uci, load_gas_drift
from partita.datasets._image_data import array_sha256
from partita.datasets._known_arrays import KnownArrays

# not part of the project
GAS_FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / _gas_drift.GAS_DRIFT.parquet


@pytest.fixture
def tiny(monkeypatch):
    """Three rows of every batch, and what their content must be."""
    rng = np.random.default_rng(0)
    batch = np.repeat(_gas_drift.BATCHES, 3)
    values = rng.normal(size=(len(batch), len(_gas_drift.COLUMNS))).round(6)
    gas = rng.integers(1, 7, size=len(batch))
    arrays = _gas_drift._arrays(values, gas, batch)
    known = {name: array_sha256(array) for name, array in arrays.items()}
    own = replace(_gas_drift.GAS_DRIFT, known=KnownArrays("gas_drift", known))
    monkeypatch.setattr(_gas_drift, "GAS_DRIFT", own)
    return pd.DataFrame(arrays["X"], columns=list(_gas_drift.COLUMNS)).assign(
        gas=[_gas_drift.GASES[code - 1] for code in gas], batch=batch
    )


def as_published(frame, head="{code};10.000000", packed=True):
    """UCI's archive: texts with numbered cells, perhaps in an archive inside; batch 7 is there."""
    texts = io.BytesIO()
    with zipfile.ZipFile(texts, "w") as archive:
        for number in range(1, 11):
            lines = [
                head.format(code=_gas_drift.GASES.index(row["gas"]) + 1)
                + "".join(f" {k}:{row[name]:.8f}" for k, name in enumerate(_gas_drift.COLUMNS, 1))
                for _, row in frame[frame["batch"] == number].iterrows()
            ]
            archive.writestr(f"Dataset/batch{number}.dat", "\n".join(lines))
    if not packed:
        return texts.getvalue()
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("Dataset.zip", texts.getvalue())
    return outer.getvalue()


def same(data, frame):
    X = pd.concat([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    return np.array_equal(X, frame[list(X)]) and list(y) == frame["gas"].tolist()


def test_batches_units_and_labels(tiny, cache, offline, capsys):
    tiny.to_parquet(cache / _gas_drift.GAS_DRIFT.parquet)
    data = load_gas_drift()
    assert same(data, tiny)
    assert (set(data.X_train.index), set(data.X_test.index)) == ({1, 2, 3}, {4, 5, 6, 8, 9})
    assert len(data.units) == 16
    assert data.units["sensor16"][0] == "sensor16 DR"
    (cache / _gas_drift.GAS_DRIFT.parquet).unlink()
    capsys.readouterr()
    assert same(load_gas_drift(), tiny)  # from the cache
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("head", ["{code};10.000000", "{code}"])
def test_the_published_archive_is_the_same_table(head, packed, tiny, cache, offline, tmp_path):
    file = tmp_path / "gas.zip"
    file.write_bytes(as_published(tiny, head, packed))
    assert same(load_gas_drift(file), tiny)
    assert not list(cache.iterdir())


def test_it_is_downloaded(tiny, cache, offline, server, monkeypatch):
    own = _gas_drift.GAS_DRIFT
    server.pages[f"/{own.number}/{own.archive}"] = as_published(tiny)
    monkeypatch.setattr(_uci, "SITES", (server.url,))
    assert same(load_gas_drift(), tiny)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda tiny: as_published(tiny.assign(gas="Toluene")), "the sha256 of gas differs"),
        (lambda tiny: as_published(tiny, "none"), "not a batch of measurements"),
        (lambda tiny: b"PAR1 and no more", "not a Parquet file of the gas sensors"),
        (lambda tiny: b"text", "not a valid zip archive"),
    ],
)
def test_other_tables_are_refused(content, message, tiny, cache, offline, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content(tiny))
    with pytest.raises(InputError, match=f"is not the table of 16 gas sensors .*{message}"):
        load_gas_drift(file)


def test_what_is_not_there_is_named(cache, offline, tmp_path):
    with pytest.raises(InputError, match=r"put gas\+sensor.*\.zip .* or gas_drift\.parquet into"):
        load_gas_drift()
    with pytest.raises(InputError, match=r"is not a file: give gas_drift\.parquet"):
        load_gas_drift(tmp_path / "nothing")


def test_a_shared_folder_above_the_working_directory_is_looked_into(tmp_path, monkeypatch):
    inside = tmp_path / "project" / "docs"
    inside.mkdir(parents=True)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert _cache.shared_file("table.parquet") is None
    (tmp_path / "shared" / "data" / "table.parquet").touch()
    assert _cache.shared_file("table.parquet") == tmp_path / "shared" / "data" / "table.parquet"


@pytest.mark.skipif(not GAS_FILE.exists(), reason="the gas sensors' table is not here")
def test_the_real_table(cache, offline):
    data = load_gas_drift(GAS_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((3275, 128), (3422, 128))
    assert set(data.y_train) == set(_gas_drift.GASES)
