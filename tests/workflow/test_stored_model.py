"""A stored model knows its training table, and is opened once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, store
from partita.rules import TopK
from partita.store import _files
from partita.workflow._stored_model import StoredModel, known_kinds, open_model

from .cancer import COLUMNS, cancer, fit


@pytest.fixture
def data(tmp_path):
    frame = cancer().drop(columns="value")
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    return tmp_path / "t.parquet"


@pytest.fixture
def stored(data, tmp_path):
    return fit(data, tmp_path / "m", ignore=["part"], split=("part", "train"))


def test_the_manifest_and_every_file_are_read_once(stored, monkeypatch):
    names = []
    read = _files._read

    def counted(folder, name, most):
        names.append(name)
        return read(folder, name, most)

    monkeypatch.setattr(_files, "_read", counted)
    opened = open_model(stored, jobs=1)
    assert sorted(names) == sorted({*opened.manifest["files"], "manifest.json"})
    assert (opened.model.n_jobs, opened.model.verbose) == (1, 0)


def test_the_training_rows_are_read_as_fit_read_them(stored, data):
    X, y = open_model(stored).training_rows(data)
    train = cancer()[cancer()["part"] == "train"]
    assert np.array_equal(X.to_numpy(), train[COLUMNS].to_numpy(np.float64))
    assert y.tolist() == train["y"].tolist()


def test_the_training_table_is_recognised_by_its_footers(stored, data, tmp_path):
    model = open_model(stored)
    assert model.is_training_table(data)
    cancer().drop(columns="value")[::-1].to_parquet(tmp_path / "other.parquet", index=False)
    assert not model.is_training_table(tmp_path / "other.parquet")
    assert model.holds_training_rows(data, None)
    assert model.holds_training_rows(data, ("part", "train"))
    assert not model.holds_training_rows(data, ("part", "test"))


def test_tables_are_compared_by_hash_or_by_footers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    sha256 = "9d1c31ecf2ae3ab72e5d31b2a5ac4b8d3c4fc6d3b0b8ae4b5b0a4b1b1b1b1b1b"
    for known in ({}, {"sha256": sha256}, {"footers": "f"}):  # CSV has no footers
        assert not StoredModel(None, {"about": {"data": known}}, "m").is_training_table(path)


def test_a_model_that_rows_from_outside_cannot_be_read_for_is_refused(tmp_path):
    frame = cancer()
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3)
    clf.fit(frame[COLUMNS].to_numpy(), frame["y"])
    with pytest.raises(InputError, match="array without column names"):
        known_kinds(clf)
    clf.fit(frame[COLUMNS], frame["y"]).kinds_["c3"] = None
    with pytest.raises(InputError, match="'c3' held something that no file gives back"):
        known_kinds(clf)


def test_a_model_from_python_has_no_training_table(tmp_path, data):
    frame = cancer()
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=TopK(k=1))
    model = open_model(store.save(clf.fit(frame[COLUMNS], frame["y"]), tmp_path / "m"))
    assert model.about == {}
    assert not model.is_training_table(data)
    with pytest.raises(InputError, match="does not say which column it predicts"):
        model.training_rows(data)
    with pytest.raises(InputError, match="the model's rule is TopK"):
        model.check_rule()


def test_the_digest_names_the_model(stored, tmp_path, data):
    other = fit(data, tmp_path / "other", ignore=["part"], split=("part", "test"))
    assert open_model(stored).digest == open_model(stored).digest != open_model(other).digest
    pd.testing.assert_frame_equal(
        open_model(stored).training_rows(data)[0], open_model(stored).training_rows(data)[0]
    )
