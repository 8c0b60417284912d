"""Weather, on made files with the columns of the Shifts project's."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from partita import FeaturePartitionRegressor, InputError
from partita.datasets import _tables, load_weather


def test_rows_columns_and_types(shifts, frames):
    data = load_weather(shifts)
    train, test = (
        frame.dropna(subset="fact_temperature")
        for frame in (pd.concat([frames["train"], frames["dev_in"]]), frames["eval_in"])
    )
    assert (data.X_train.shape, data.X_test.shape) == ((178, 128), (49, 128))
    assert data.X_train.isna().sum().sum() == train.isna().sum().sum() > 15
    assert list(data.X_train) == [name for name in _tables.COLUMNS if name != "fact_temperature"]
    for X, y, frame in ((data.X_train, data.y_train, train), (data.X_test, data.y_test, test)):
        assert np.array_equal(y, frame["fact_temperature"])
        assert np.array_equal(X["fact_time"], frame["fact_time"], equal_nan=True)
        assert X["climate"].isna().any()
        assert X["climate"].fillna("?").tolist() == frame["climate"].fillna("?").tolist()
        numbers = [name for name in X if name not in ("fact_time", "climate")]
        assert np.array_equal(X[numbers], frame[numbers].astype(np.float32), equal_nan=True)
        assert set(X[numbers].dtypes) == {np.dtype(np.float32)}
    assert data.sha256 == {
        f"{part}.csv": hashlib.sha256((shifts / f"{part}.csv").read_bytes()).hexdigest()
        for part in frames
    }
    assert (data.units, data.trusted, data.tolerance) == (None, (), 3.0)


def test_it_can_be_learnt_and_certified(shifts):
    data = load_weather(shifts)
    few = ["climate", "fact_time", "gfs_temperature_sea", "wrf_hail"]  # a word, a time, numbers
    model = FeaturePartitionRegressor(n_submodels=3).fit(data.X_train[few], data.y_train)
    lower, upper = data.bounds(data.y_test)
    proof = model.certify(data.X_test[few], lower=lower, upper=upper)
    assert np.array_equal(proof.radius >= 0, np.abs(proof.prediction - data.y_test) <= 3)


def test_no_column_decides_which_rows_are_learnt_from(shifts, frames):
    """A column that is rewritten with missing values moves its own submodel and no other."""
    quick = make_pipeline(SimpleImputer(keep_empty_features=True), Ridge())
    data = load_weather(shifts)
    numbers = data.X_train.columns.drop("climate")
    honest = FeaturePartitionRegressor(quick, n_submodels=5).fit(
        data.X_train[numbers], data.y_train
    )
    half = np.where(np.arange(len(frames["train"])) % 2, np.nan, 7.0)
    frames["train"].assign(wrf_hail=half).to_csv(shifts / "train.csv", index=False)
    frames["dev_in"].assign(wrf_hail=np.nan).to_csv(shifts / "dev_in.csv", index=False)
    attacked = load_weather(shifts)
    assert np.array_equal(attacked.y_train, data.y_train)
    again = FeaturePartitionRegressor(quick, n_submodels=5)
    again.fit(attacked.X_train[numbers], attacked.y_train)
    X = data.X_test[numbers]
    moved = (again.ballots(X) != honest.ballots(X)).any(axis=0)
    column = list(numbers).index("wrf_hail")
    assert np.flatnonzero(moved).tolist() == [t for t in range(5) if column in honest.partition_[t]]


def test_a_column_without_values_is_read(shifts, frames):
    for part in frames:
        empty = frames[part].assign(wrf_hail=np.nan, climate=np.nan)
        empty.to_csv(shifts / f"{part}.csv", index=False)
    data = load_weather(shifts)
    assert data.X_test[["wrf_hail", "climate"]].isna().all().all()


def test_other_names_another_order_and_the_cache(shifts, frames, cache):
    (cache / "weather").mkdir()
    for part, frame in frames.items():
        mixed = frame[np.random.default_rng(0).permutation(frame.columns)]
        mixed.to_csv(cache / "weather" / f"shifts_canonical_{part}.csv", index=False)
    there, here = load_weather(), load_weather(shifts)
    pd.testing.assert_frame_equal(there.X_train, here.X_train)
    assert list(there.sha256) == [f"shifts_canonical_{part}.csv" for part in frames]


def test_files_that_are_not_there(shifts, cache):
    with pytest.raises(
        InputError,
        match=r"does not exist: download the Shifts project's weather data yourself .* CC "
        r"BY-NC-SA 4\.0",
    ) as caught:
        load_weather()
    assert repr(str(cache / "weather")) in str(caught.value)
    assert "\n" not in str(caught.value)
    (shifts / "eval_in.csv").unlink()
    with pytest.raises(
        InputError,
        match=r"has no eval_in\.csv: download .* put train\.csv, dev_in\.csv and eval_in\.csv into",
    ):
        load_weather(shifts)


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
            lambda frame: frame[list(_tables.COLUMNS[6:])],
            "and 5 more .* features only, as for a challenge, and nothing to predict",
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
def test_other_columns_are_refused(change, message, shifts, frames):
    change(frames["dev_in"]).to_csv(shifts / "dev_in.csv", index=False)
    with pytest.raises(InputError, match=message) as caught:
        load_weather(shifts)
    assert repr(str(shifts / "dev_in.csv")) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b'"', b"\xff\xfe" * 1000, b"a,b\n" * 10, b"x" * 2**17]
)
def test_what_is_no_table_at_all(content, shifts):
    (shifts / "train.csv").write_bytes(content)
    with pytest.raises(
        InputError, match="lacks the column 'fact_time' and 128 more of its columns"
    ):
        load_weather(shifts)
