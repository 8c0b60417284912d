"""``reference_rates.json``: beside a model, never in its way."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, StoreError, store
from partita.store._reference_rates import REFERENCE_RATES, read_rates, write_rates

CONTENT = {"rates": [0.5, 0.25], "sources": ["a", "b"]}
DATA = {"name": "clean.csv", "sha256": "0" * 64}


def saved(path):
    X, y = load_wine(return_X_y=True)
    return store.save(FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y), path)


@pytest.fixture(params=["model", "model.zip"])
def path(request, tmp_path):
    return saved(tmp_path / request.param)


def contents(path):
    """All files of a model but reference_rates.json."""
    if path.is_dir():
        return {one.name: one.read_bytes() for one in path.iterdir() if one.name != REFERENCE_RATES}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != REFERENCE_RATES}


def test_it_comes_back_and_touches_nothing_else(path):
    X, _ = load_wine(return_X_y=True)
    before, ballots = contents(path), store.load(path).ballots(X)
    assert read_rates(path) is None
    for _ in range(2):  # also where there is one already
        write_rates(path, CONTENT, DATA)
        assert read_rates(path) == {"usual": CONTENT, "data": DATA}
    assert contents(path) == before
    np.testing.assert_array_equal(store.load(path).ballots(X), ballots)
    assert not list(path.parent.rglob(".*"))


def test_it_is_forgotten_with_the_model_it_was_learnt_for(path):
    write_rates(path, CONTENT, DATA)
    X, y = load_wine(return_X_y=True)
    other = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, rule="plurality").fit(X, y)
    store.save(other, path)  # the same submodels under another rule
    assert read_rates(path) is None


def test_a_damaged_file_is_refused_and_the_model_still_loads(tmp_path):
    path = saved(tmp_path / "model")
    write_rates(path, CONTENT, DATA)
    good = (path / REFERENCE_RATES).read_text()
    for bad in (good.replace("0.25", "0.2"), good[:-5], "[]", "{}", '{"format": 1}'):
        (path / REFERENCE_RATES).write_text(bad)
        with pytest.raises(StoreError, match=r"reference_rates\.json was changed or damaged"):
            read_rates(path)
    (path / REFERENCE_RATES).write_text(json.dumps(json.loads(good) | {"format": 2}))
    with pytest.raises(StoreError, match="newer partita"):
        read_rates(path)
    store.load(path)
