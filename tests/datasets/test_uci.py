"""UCI's tables: the same numbers from Parquet, UCI's archive and the cache, and no others."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import InputError
from partita.datasets import _tables, load_beijing_air, load_gas_drift
from partita.datasets._fetch import KnownDataSet

from .made_data import known_arrays, with_urls

# not part of the project
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
GAS_FILE = SHARED / "gas_drift.parquet"
AIR_FILE = SHARED / "beijing_air.parquet"
NUMBERS = np.arange(4, dtype=np.float32)


def read(start):
    return lambda content: {"x": NUMBERS + start + len(content) - 5}


@pytest.fixture
def table(server, offline):
    """Files of five bytes hold the numbers; Parquet files start with PAR1."""
    known = known_arrays("four", {"x": NUMBERS})
    editions = _tables._uci_editions(7, "f.parquet", "f.zip", read(0), read(0))
    by_hand = "f.zip (from UCI's data set 7) or f.parquet"
    made = KnownDataSet("", (1, 1), 1, "", "", "", known, editions, by_hand, "the four numbers")
    return with_urls(made, 1, (f"{server.url}/7/f.zip",))


def test_a_file_in_the_cache_comes_before_a_download(table, cache, server):
    server.pages["/7/f.zip"] = b"12345"
    (cache / "f.parquet").write_bytes(b"PAR1!")
    assert np.array_equal(table.load(None)["x"], NUMBERS)


def test_other_bits_are_not_believed(table, cache, server, tmp_path):
    server.pages["/7/f.zip"] = b"123456"
    with pytest.raises(
        InputError, match=r"put f\.zip \(from UCI's data set 7\) or f\.parquet into"
    ):
        table.load(None)
    (tmp_path / "f").write_bytes(b"123456")
    with pytest.raises(InputError, match=r"is not the four numbers .*the sha256 of x differs"):
        table.load(tmp_path / "f")
    server.pages["/7/f.zip"] = b"12345"
    assert np.array_equal(table.load(None)["x"], NUMBERS)


# ---- gas sensors ----


@pytest.fixture
def tiny_gas(monkeypatch):
    """Three rows of every batch, and what their content must be."""
    rng = np.random.default_rng(0)
    batch = np.repeat(_tables.GAS_BATCHES, 3)
    values = rng.normal(size=(len(batch), len(_tables.GAS_COLUMNS))).round(6)
    gas = rng.integers(1, 7, size=len(batch))
    arrays = _tables._gas_arrays(values, gas, batch)
    own = replace(_tables.GAS_DRIFT, known=known_arrays("gas_drift", arrays))
    monkeypatch.setattr(_tables, "GAS_DRIFT", own)
    return pd.DataFrame(arrays["X"], columns=list(_tables.GAS_COLUMNS)).assign(
        gas=[_tables.GASES[code - 1] for code in gas], batch=batch
    )


def gas_as_published(frame, head="{code};10.000000", packed=True):
    """UCI's archive: texts with numbered cells, perhaps in an archive inside; batch 7 is there."""
    texts = io.BytesIO()
    with zipfile.ZipFile(texts, "w") as archive:
        for number in range(1, 11):
            lines = [
                head.format(code=_tables.GASES.index(row["gas"]) + 1)
                + "".join(f" {k}:{row[name]:.8f}" for k, name in enumerate(_tables.GAS_COLUMNS, 1))
                for _, row in frame[frame["batch"] == number].iterrows()
            ]
            archive.writestr(f"Dataset/batch{number}.dat", "\n".join(lines))
    if not packed:
        return texts.getvalue()
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("Dataset.zip", texts.getvalue())
    return outer.getvalue()


def same_gas(data, frame):
    X = pd.concat([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    return np.array_equal(X, frame[list(X)]) and list(y) == frame["gas"].tolist()


def test_batches_units_and_labels(tiny_gas, cache, offline, capsys):
    tiny_gas.to_parquet(cache / "gas_drift.parquet")
    data = load_gas_drift()
    assert same_gas(data, tiny_gas)
    assert (set(data.X_train.index), set(data.X_test.index)) == ({1, 2, 3}, {4, 5, 6, 8, 9})
    assert len(data.units) == 16
    assert data.units["sensor16"][0] == "sensor16 DR"
    (cache / "gas_drift.parquet").unlink()
    capsys.readouterr()
    assert same_gas(load_gas_drift(), tiny_gas)  # from the cache
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("head", ["{code};10.000000", "{code}"])
def test_the_published_gas_archive_is_the_same_table(
    head, packed, tiny_gas, cache, offline, tmp_path
):
    file = tmp_path / "gas.zip"
    file.write_bytes(gas_as_published(tiny_gas, head, packed))
    assert same_gas(load_gas_drift(file), tiny_gas)
    assert not list(cache.iterdir())


def test_the_gas_sensors_are_downloaded(tiny_gas, cache, offline, server, monkeypatch):
    server.pages["/gas.zip"] = gas_as_published(tiny_gas)
    own = with_urls(_tables.GAS_DRIFT, 1, (f"{server.url}/gas.zip",))
    monkeypatch.setattr(_tables, "GAS_DRIFT", own)
    assert same_gas(load_gas_drift(), tiny_gas)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lambda tiny_gas: gas_as_published(tiny_gas.assign(gas="Toluene")),
            "the sha256 of gas differs",
        ),
        (lambda tiny_gas: gas_as_published(tiny_gas, "none"), "not a batch of measurements"),
        (lambda tiny_gas: b"PAR1 and no more", "not a Parquet file of the gas sensors"),
        (lambda tiny_gas: b"text", "not a valid zip archive"),
    ],
)
def test_other_gas_tables_are_refused(content, message, tiny_gas, cache, offline, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content(tiny_gas))
    with pytest.raises(InputError, match=f"is not the table of 16 gas sensors .*{message}"):
        load_gas_drift(file)


def test_gas_files_that_are_not_there_are_named(cache, offline, tmp_path):
    with pytest.raises(InputError, match=r"put gas\+sensor.*\.zip .* or gas_drift\.parquet into"):
        load_gas_drift()
    with pytest.raises(InputError, match=r"is not a file: give gas_drift\.parquet"):
        load_gas_drift(tmp_path / "nothing")


@pytest.mark.skipif(not GAS_FILE.exists(), reason="the gas sensors' table is not here")
def test_the_real_gas_sensors(cache, offline):
    data = load_gas_drift(GAS_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((3275, 128), (3422, 128))
    assert set(data.y_train) == set(_tables.GASES)


# ---- the air of Beijing ----

N_HOURS = 60


@pytest.fixture
def tiny_air(monkeypatch):
    """Sixty hours, and what their content must be."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(_tables, "AIR_HOURS", N_HOURS)
    monkeypatch.setattr(_tables, "AIR_TEST_START", "2013-03-02 16:00")
    times = pd.date_range(_tables.AIR_START, periods=N_HOURS, freq="h")
    frames = []
    for station in _tables.AIR_STATIONS:
        values = rng.normal(size=(N_HOURS, len(_tables.AIR_MEASURES))).round(1)
        values[rng.random(values.shape) < 0.1] = np.nan
        calendar = {name: getattr(times, name) for name in _tables.AIR_CALENDAR}
        frames.append(
            pd.DataFrame(values, columns=list(_tables.AIR_MEASURES)).assign(
                **calendar, wd="NNW", station=station
            )
        )
    table = pd.concat(frames, ignore_index=True)
    content = io.BytesIO()
    table.to_parquet(content)
    arrays = _tables._air_from_parquet(content.getvalue())
    known = known_arrays("beijing_air", arrays)
    monkeypatch.setattr(_tables, "BEIJING_AIR", replace(_tables.BEIJING_AIR, known=known))
    return table


def air_as_published(table):
    """UCI's archive: an archive in it has one CSV file per station."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for station, own in table.groupby("station"):
            archive.writestr(
                f"PRSA/{_tables.AIR_FILE.format(station)}", own.to_csv(index=False, na_rep="NA")
            )
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("data.zip", inner.getvalue())
    return outer.getvalue()


def test_the_target_is_the_station_some_hours_later(tiny_air, cache, offline):
    tiny_air.to_parquet(cache / "beijing_air.parquet")
    data = load_beijing_air(station="Dongsi", hours=3)
    X = pd.concat([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    own = tiny_air[tiny_air["station"] == "Dongsi"]
    for time, value in zip(X.index, y, strict=True):
        hour = int((time - pd.Timestamp(_tables.AIR_START)).total_seconds()) // 3600
        assert np.float32(own["PM2.5"].iloc[hour + 3]) == value
        now = np.float32(own["CO"].iloc[hour])
        assert np.array_equal(X.loc[time, "Dongsi CO"], now, equal_nan=True)
    assert len(y) == own["PM2.5"].iloc[3:].notna().sum()
    assert (data.X_test.index >= "2013-03-02 16:00").all()
    assert (data.X_train.index < "2013-03-02 16:00").all()
    assert data.trusted == ("hour", "month")
    assert len(data.units["Dongsi"]) == 11


def test_the_published_air_archive_is_the_same_table(tiny_air, cache, offline, tmp_path):
    (tmp_path / "air.zip").write_bytes(air_as_published(tiny_air))
    tiny_air.to_parquet(tmp_path / "air.parquet")
    first, second = (load_beijing_air(tmp_path / f"air.{kind}") for kind in ("zip", "parquet"))
    assert first.X_train.equals(second.X_train)
    assert np.array_equal(first.y_test, second.y_test)


def test_the_air_is_downloaded(tiny_air, cache, offline, server, monkeypatch):
    server.pages["/air.zip"] = air_as_published(tiny_air)
    own = with_urls(_tables.BEIJING_AIR, 1, (f"{server.url}/air.zip",))
    monkeypatch.setattr(_tables, "BEIJING_AIR", own)
    assert len(load_beijing_air().units) == 12


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda tiny_air: air_as_published(tiny_air.assign(CO=1.0)), "the sha256 of air differs"),
        (
            lambda tiny_air: air_as_published(tiny_air[1:]),
            "its rows are not the 60 hours from 2013-03-01 on",
        ),
        (lambda tiny_air: air_as_published(tiny_air.assign(CO="x")), "not a station's table"),
        (lambda tiny_air: b"PAR1 and no more", "not a Parquet file of the stations' air"),
        (lambda tiny_air: b"text", "not a valid zip archive"),
    ],
)
def test_other_air_tables_are_refused(content, message, tiny_air, cache, offline, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content(tiny_air))
    with pytest.raises(InputError, match=f"is not the table of 12 stations .*{message}"):
        load_beijing_air(file)


def test_bad_arguments_of_the_air_are_one_sentence(cache, offline, tmp_path):
    with pytest.raises(InputError, match="station is 'Paris': give one of Aotizhongxin, "):
        load_beijing_air(station="Paris")
    with pytest.raises(InputError, match="hours is 0: give a whole number from 1 to 168"):
        load_beijing_air(hours=0)
    with pytest.raises(InputError, match=r"is not a file: give beijing_air\.parquet"):
        load_beijing_air(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"put beijing\+multi.*\.zip .* into"):
        load_beijing_air()


@pytest.mark.skipif(not AIR_FILE.exists(), reason="the stations' table is not here")
def test_the_real_air(cache, offline):
    data = load_beijing_air(AIR_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((25_558, 134), (8_575, 134))
    assert 0 < data.X_test.isna().mean().mean() < 0.05
