"""The weather of Europe: the same numbers from Parquet, CSV and URLs."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import FeaturePartitionRegressor, InputError
from partita.datasets import _tables, load_weather_europe
from partita.datasets._content import KnownTable

from .made_data import with_urls

# not part of the project
STATIONS_FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "weather_europe.parquet"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def tiny(monkeypatch):
    """A small table of the same form, and what its content must be."""
    rng = np.random.default_rng(0)
    columns = {"DATE": 20000101.0 + np.arange(21), "MONTH": np.ones(21)}
    columns |= {
        f"{station}_{what}": rng.normal(size=21).round(4)
        for station in _tables.STATIONS
        for what in ("humidity", "temp_mean")
    }
    columns["TOURS_humidity"][0] = -0.0
    content = _tables._europe_csv(columns)
    known = KnownTable("weather_europe", sha256(content))
    own = replace(_tables.WEATHER_EUROPE, known=known)
    monkeypatch.setattr(_tables, "WEATHER_EUROPE", own)
    return pd.DataFrame(columns)


def as_published(frame):
    """As a CSV file whose numbers are written otherwise, one bit off in places."""
    return (
        frame.map(lambda value: np.nextafter(value, 1e9))
        .to_csv(index=False, lineterminator="\r\n")
        .encode()
    )


def same(data, frame, station="BASEL"):
    X = pd.concat([data.X_train, data.X_test])
    return X.equals(frame.drop(columns="DATE")[:-1] + 0.0) and np.array_equal(
        np.concatenate([data.y_train, data.y_test]), frame[f"{station}_temp_mean"][1:]
    )


def test_units_rows_and_target(tiny, cache, offline, capsys):
    tiny.to_parquet(cache / "weather_europe.parquet")
    data = load_weather_europe(station="OSLO")
    assert same(data, tiny, "OSLO")
    assert (data.X_train.shape, data.X_test.shape) == ((16, 37), (4, 37))
    assert data.units["DE_BILT"] == ("DE_BILT_humidity", "DE_BILT_temp_mean")
    assert sorted(column for columns in data.units.values() for column in columns) == sorted(
        set(tiny) - {"DATE", "MONTH"}
    )
    assert (data.trusted, data.tolerance) == (("MONTH",), 3.0)
    assert data.sha256 == {
        "weather_europe.csv": sha256((cache / "weather_europe.csv").read_bytes())
    }
    (cache / "weather_europe.parquet").unlink()
    capsys.readouterr()
    assert same(load_weather_europe(), tiny)  # from the cache
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_file_of_the_users_own(form, tiny, cache, offline, tmp_path):
    file = tmp_path / f"table.{form}"
    if form == "parquet":
        tiny.to_parquet(file)
    else:
        file.write_bytes(as_published(tiny))
    assert same(load_weather_europe(file), tiny)
    assert not list(cache.iterdir())


def test_urls_are_tried_one_after_the_other(tiny, cache, offline, server, monkeypatch):
    """The published CSV file; the first URL has another table."""
    server.pages["/changed"], server.pages["/good"] = as_published(tiny + 1), as_published(tiny)
    urls = (f"{server.url}/changed", f"{server.url}/good")
    monkeypatch.setattr(_tables, "WEATHER_EUROPE", with_urls(_tables.WEATHER_EUROPE, 1, urls))
    assert same(load_weather_europe(), tiny)
    assert server.requests == ["/changed", "/good"]
    assert same(load_weather_europe(), tiny)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda tiny: as_published(tiny + 1), "the sha256 of its content differs"),
        (lambda tiny: as_published(tiny[:-1]), "the sha256 of its content differs"),
        (
            lambda tiny: as_published(tiny).replace(b"BASEL_h", b"BASLE_h"),
            "the sha256 of its content differs",
        ),
        (lambda tiny: as_published(tiny)[:-60], "not a valid CSV file with 38 cells in every row"),
        (
            lambda tiny: as_published(tiny).replace(b"20000101", b"2000-01-01"),
            "not all of its cells are numbers",
        ),
        (lambda tiny: b"", "not a valid CSV file"),
        (lambda tiny: b'"', "not a valid CSV file"),
        (lambda tiny: b"\xff\xfe", "not a valid CSV file"),
        (lambda tiny: b"PAR1 and no more", "not a Parquet file of numbers"),
        (lambda tiny: b"0" * 2**25, "has 33,554,432 bytes, more than the 16,777,216 expected"),
    ],
)
def test_other_tables_are_refused(content, message, tiny, cache, offline, tmp_path):
    file = tmp_path / "table"
    file.write_bytes(content(tiny))
    with pytest.raises(
        InputError,
        match=f"is not the table of 18 stations .*(?:{message}).* as they were published",
    ):
        load_weather_europe(file)
    name = "weather_europe.parquet" if b"PAR1" in content(tiny) else _tables.EUROPE_CSV
    (cache / name).write_bytes(content(tiny))
    with pytest.raises(InputError, match=message):
        load_weather_europe()


def test_what_is_not_there_is_named(cache, offline, tmp_path):
    with pytest.raises(
        InputError, match=r"put weather_prediction_dataset\.csv .* or weather_europe\.parquet into"
    ) as caught:
        load_weather_europe()
    assert str(cache) in str(caught.value)
    with pytest.raises(InputError, match=r"is not a file: give weather_europe\.parquet"):
        load_weather_europe(tmp_path / "nothing")
    with pytest.raises(
        InputError, match=r"station is 'PARIS': give one of BASEL, BUDAPEST, .*, TOURS"
    ):
        load_weather_europe(station="PARIS")


# ---- the real data ----

real = pytest.mark.skipif(not STATIONS_FILE.exists(), reason="the 18 stations' table is not here")


@real
@pytest.mark.long
def test_the_real_table(cache, offline):
    data = load_weather_europe(STATIONS_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((2922, 164), (731, 164))
    assert not pd.concat([data.X_train, data.X_test]).isna().any(axis=None)
    given = pd.read_parquet(STATIONS_FILE)
    assert same(data, given)
    days = pd.to_datetime(given["DATE"].astype(str))
    assert (days.diff()[1:] == pd.Timedelta(days=1)).all()  # so the next row is the next day
    assert {len(columns) for columns in data.units.values()} <= set(range(5, 12))


@real
@pytest.mark.long
def test_the_certified_shares_that_the_guide_prints(cache, offline):
    data = load_weather_europe(STATIONS_FILE)
    model = FeaturePartitionRegressor(units=data.units, trusted=data.trusted)
    model.fit(data.X_train, data.y_train)
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(data.X_test, lower=lower, upper=upper)
    assert (proof.counts.total, len(model.estimators_)) == (18, 17)
    shares = [(proof.radius >= r).mean() for r in (0, 3)]
    assert np.allclose(shares, [0.880, 0.740], atol=0.01)  # as in docs/guide/sources.md
