"""Beijing's air: the same numbers from Parquet and from UCI's archive, and the right hour ahead."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import InputError
from partita.datasets import _beijing_air, _uci, load_beijing_air
from partita.datasets._image_data import array_sha256
from partita.datasets._known_arrays import KnownArrays

# not part of the project
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
AIR_FILE = SHARED / _beijing_air.BEIJING_AIR.parquet
N_HOURS = 60


@pytest.fixture
def tiny(monkeypatch):
    """Sixty hours, and what their content must be."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(_beijing_air, "HOURS", N_HOURS)
    monkeypatch.setattr(_beijing_air, "TEST_START", "2013-03-02 16:00")
    times = pd.date_range(_beijing_air.START, periods=N_HOURS, freq="h")
    frames = []
    for station in _beijing_air.STATIONS:
        values = rng.normal(size=(N_HOURS, len(_beijing_air.MEASURES))).round(1)
        values[rng.random(values.shape) < 0.1] = np.nan
        calendar = {name: getattr(times, name) for name in _beijing_air.CALENDAR}
        frames.append(
            pd.DataFrame(values, columns=list(_beijing_air.MEASURES)).assign(
                **calendar, wd="NNW", station=station
            )
        )
    table = pd.concat(frames, ignore_index=True)
    content = io.BytesIO()
    table.to_parquet(content)
    arrays = _beijing_air._from_parquet(content.getvalue())
    known = KnownArrays("beijing_air", {"air": array_sha256(arrays["air"])})
    monkeypatch.setattr(_beijing_air, "BEIJING_AIR", replace(_beijing_air.BEIJING_AIR, known=known))
    return table


def as_published(table):
    """UCI's archive: an archive in it has one CSV file per station."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for station, own in table.groupby("station"):
            archive.writestr(
                f"PRSA/{_beijing_air.FILE.format(station)}", own.to_csv(index=False, na_rep="NA")
            )
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("data.zip", inner.getvalue())
    return outer.getvalue()


def test_the_target_is_the_station_some_hours_later(tiny, cache, offline):
    tiny.to_parquet(cache / _beijing_air.BEIJING_AIR.parquet)
    data = load_beijing_air(station="Dongsi", hours=3)
    X = pd.concat([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    own = tiny[tiny["station"] == "Dongsi"]
    for time, value in zip(X.index, y, strict=True):
        hour = int((time - pd.Timestamp(_beijing_air.START)).total_seconds()) // 3600
        assert np.float32(own["PM2.5"].iloc[hour + 3]) == value
        now = np.float32(own["CO"].iloc[hour])
        assert np.array_equal(X.loc[time, "Dongsi CO"], now, equal_nan=True)
    assert len(y) == own["PM2.5"].iloc[3:].notna().sum()
    assert (data.X_test.index >= "2013-03-02 16:00").all()
    assert (data.X_train.index < "2013-03-02 16:00").all()
    assert data.trusted == ("hour", "month")
    assert len(data.units["Dongsi"]) == 11


def test_the_published_archive_is_the_same_table(tiny, cache, offline, tmp_path):
    (tmp_path / "air.zip").write_bytes(as_published(tiny))
    tiny.to_parquet(tmp_path / "air.parquet")
    first, second = (load_beijing_air(tmp_path / f"air.{kind}") for kind in ("zip", "parquet"))
    assert first.X_train.equals(second.X_train)
    assert np.array_equal(first.y_test, second.y_test)


def test_it_is_downloaded(tiny, cache, offline, server, monkeypatch):
    own = _beijing_air.BEIJING_AIR
    server.pages[f"/{own.number}/{own.archive}"] = as_published(tiny)
    monkeypatch.setattr(_uci, "SITES", (server.url,))
    assert len(load_beijing_air().units) == 12


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda tiny: as_published(tiny.assign(CO=1.0)), "the sha256 of air differs"),
        (lambda tiny: as_published(tiny[1:]), "its rows are not the 60 hours from 2013-03-01 on"),
        (lambda tiny: as_published(tiny.assign(CO="x")), "not a station's table"),
        (lambda tiny: b"PAR1 and no more", "not a Parquet file of the stations' air"),
        (lambda tiny: b"text", "not a valid zip archive"),
    ],
)
def test_other_tables_are_refused(content, message, tiny, cache, offline, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content(tiny))
    with pytest.raises(InputError, match=f"is not the table of 12 stations .*{message}"):
        load_beijing_air(file)


def test_bad_arguments_are_one_sentence(cache, offline, tmp_path):
    with pytest.raises(InputError, match="station is 'Paris': give one of Aotizhongxin, "):
        load_beijing_air(station="Paris")
    with pytest.raises(InputError, match="hours is 0: give a whole number from 1 to 168"):
        load_beijing_air(hours=0)
    with pytest.raises(InputError, match=r"is not a file: give beijing_air\.parquet"):
        load_beijing_air(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"put beijing\+multi.*\.zip .* into"):
        load_beijing_air()


@pytest.mark.skipif(not AIR_FILE.exists(), reason="the stations' table is not here")
def test_the_real_table(cache, offline):
    data = load_beijing_air(AIR_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((25_558, 134), (8_575, 134))
    assert 0 < data.X_test.isna().mean().mean() < 0.05
