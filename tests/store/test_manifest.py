"""A manifest holds everything but the submodels; what a radius counts is not read from it."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, StoreError, store
from partita.rules import Tournament
from partita.store._manifest import from_manifest, to_manifest

from .models import MODELS, X, Y, change_manifest, fitted


@pytest.mark.parametrize("name", MODELS)
def test_a_manifest_of_the_model_it_describes_is_the_same(name):
    manifest = json.loads(json.dumps(to_manifest(fitted(name), {}), allow_nan=False))
    model = from_manifest(manifest)
    model.fallback = fitted(name).fallback  # estimators are in files of their own
    again = json.loads(json.dumps(to_manifest(model, {}), allow_nan=False))
    assert again | {"stored": ""} == manifest | {"stored": ""}


def test_what_a_radius_counts_is_not_taken_from_the_file(saved):
    change_manifest(
        saved,
        lambda manifest: manifest.update(counts={"what": "galaxies", "total": 1000, "trusted": []}),
    )
    with pytest.raises(StoreError, match="its counts are not those of its units"):
        store.load(saved)


def test_columns_may_be_named_by_numbers(tmp_path):
    frame = pd.DataFrame(X)
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(frame, Y)
    loaded = store.load(store.save(clf, tmp_path / "m"))
    assert np.array_equal(loaded.ballots(frame), clf.ballots(frame))


def test_no_more_threads_are_used_than_there_are_submodels(saved):
    change_manifest(saved, lambda manifest: manifest["settings"].update(n_jobs=10**12))
    assert store.load(saved).n_jobs == 3
    change_manifest(saved, lambda manifest: manifest["settings"].update(n_jobs=-2))
    assert store.load(saved).n_jobs == -2


def test_a_setting_without_an_end_is_not_stored(tmp_path):
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, rule=Tournament(margin=0.5))
    clf.fit(X, Y).rule_.margin = np.inf
    with pytest.raises(StoreError, match="a setting is inf, which cannot be stored"):
        store.save(clf, tmp_path / "m")


def test_a_model_says_when_it_was_stored(saved):
    stored = datetime.fromisoformat(store.manifest(saved)["stored"])
    assert stored.utcoffset() == timedelta(0)
    assert timedelta(0) <= datetime.now(UTC) - stored < timedelta(minutes=5)
