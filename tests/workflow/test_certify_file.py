"""Pieces are certified as the whole; what is written is what was proven."""

import errno

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from partita import (
    FeaturePartitionRegressor,
    InputError,
    certify_parquet,
    fit_parquet,
    store,
)
from partita.metrics import label_set_curve
from partita.tables import CellError
from partita.workflow import _stored_model

from .cancer import COLUMNS, ROWS, cancer, fit, table_without


@pytest.fixture
def few_at_once(monkeypatch):
    monkeypatch.setattr(_stored_model, "CERTIFIED_AT_ONCE", 100)


@pytest.mark.parametrize("spread", [1, 2])
def test_pieces_are_certified_as_the_whole(spread, table, tmp_path, few_at_once, capsys):
    path = fit(table, tmp_path / "m", ignore=["part", "value"], ensemble={"spread": spread})
    frame, loaded = cancer(), store.load(path)
    found = certify_parquet(
        path, table_without(table, "value"), tmp_path / "c.parquet", verbose=1, label_sets=2
    )
    X = frame[COLUMNS].astype(np.float64)
    got, proof = pd.read_parquet(tmp_path / "c.parquet"), loaded.certify(X)
    assert got["prediction"].tolist() == proof.prediction.tolist()
    assert got["radius"].tolist() == proof.radius.tolist()
    assert got["part"].tolist() == frame["part"].tolist()
    right = proof.prediction == frame["y"]
    assert found["certified_accuracy"] == [
        np.mean(right & (proof.radius >= r)) for r in range(proof.radius[right].max() + 1)
    ]
    assert found["certified"] == [np.mean(proof.radius >= r) for r in range(proof.radius.max() + 1)]
    assert found["median_radius"] == np.median(proof.radius)
    assert "partita: certified 569 of 569 rows" in capsys.readouterr().err
    sets = [loaded.prediction_set(X, radius) for radius in range(3)]
    curve = label_set_curve(frame["y"].to_numpy(), sets, loaded.classes_)
    assert found["label_sets"]["size"] == curve.size.tolist()
    assert found["label_sets"]["coverage"] == curve.coverage.tolist()
    for radius in (1, 2):
        expected = [loaded.classes_[own].tolist() for own in sets[radius]]
        assert [own.tolist() for own in got[f"label_set_{radius}"]] == expected
    assert all(
        (len(sources) > 0) == (radius == 0)
        for sources, radius in zip(got["critical_units"], got["radius"], strict=True)
    )


def test_values_are_certified_in_pieces(table, tmp_path, few_at_once):
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=5)
    path = fit_parquet(reg, table, "value", tmp_path / "m", ignore=["part", "y"])
    frame, loaded = cancer(), store.load(path)
    X = frame[COLUMNS].astype(np.float64)
    certify_parquet(path, table, tmp_path / "c.parquet")
    got = pd.read_parquet(tmp_path / "c.parquet")
    assert np.array_equal(got["low_2"], loaded.interval(X, 2)[0])
    found = certify_parquet(path, table, tmp_path / "c.parquet", tolerance=3.0)
    proof = loaded.certify(X, around=frame["value"].to_numpy(), tolerance=3.0)
    assert found["certified_accuracy"] == [
        np.mean(proof.radius >= r) for r in range(proof.radius.max() + 1)
    ]


def test_a_bad_cell_is_named_by_its_row_in_the_table(table, tmp_path, few_at_once):
    path = fit(table, tmp_path / "m", ensemble={"estimator": None})
    frame = cancer().drop(columns=["part", "value"]).astype({"c2": str})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(CellError, match="row 0, column 'c2' holds"):
        certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    frame = (
        cancer()
        .drop(columns=["part", "value"])
        .assign(c2=np.where(np.arange(ROWS) < 450, None, "x"))
    )
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(CellError, match="row 450, column 'c2' holds 'x' where a number is needed"):
        certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    assert not (tmp_path / "c.parquet").exists()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_truth_with_missing_values_is_no_truth(table, tmp_path, few_at_once):
    path = fit(table, tmp_path / "m")
    frame = cancer().drop(columns=["part", "value"])
    frame.assign(y=frame["y"].where(frame.index != 400)).to_parquet(
        tmp_path / "t.parquet", index=False
    )
    with pytest.warns(
        UserWarning, match="has missing values, so nothing is said about being right"
    ):
        found = certify_parquet(path, tmp_path / "t.parquet", tmp_path / "c.parquet")
    assert found["rows"] == ROWS
    assert "certified_accuracy" not in found


def test_the_output_must_be_parquet(table, tmp_path):
    path = fit(table, tmp_path / "m")
    with pytest.raises(InputError, match=r"must end in \.parquet"):
        certify_parquet(path, table, tmp_path / "c.csv")


def test_a_disk_that_fills_leaves_no_file(table, tmp_path, monkeypatch, partita):
    path = fit(table, tmp_path / "m")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    data, out = table_without(table, "value"), tmp_path / "c.parquet"
    code, _, err = partita("certify", path, data, "--out", out)
    assert code == 2
    assert "c.parquet' cannot be written (No space left on device): make room" in err
    assert [file.name for file in tmp_path.iterdir() if "c.parquet" in file.name] == []
