"""Attacks can be repeated from their JSON."""

import numpy as np
import pytest

from partita import FeaturePartitionClassifier, InputError, SubmodelWarning
from partita.attacks import replay

from .leaky_estimators import Own


def test_an_attack_with_strange_values_can_be_repeated(small):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(n_submodels=5, on_failure="vote").fit(X, y)
    broken = {
        "training_values": {},
        "labels": [],
        "row": 3,
        "row_values": {"0": "inf", "1": "-inf", "2": "nan", "3": 1e300},
    }
    row = X_test[3:4].copy()
    row[0, :4] = np.inf, -np.inf, np.nan, 1e300
    assert replay(broken, model, X_test) == model.predict(row)[0]
    objects = X_test.astype(object)
    row = objects[3:4].copy()
    row[0, 0], row[0, 1] = "a text", None
    broken["row_values"] = {"0": "a text", "1": "nan"}
    with pytest.warns(SubmodelWarning, match="'a text' where training had numbers"):
        assert replay(broken, model, objects) == model.predict(row)[0]


def test_a_table_without_the_attacked_column_is_refused(small):
    X, y, X_test, _ = small
    model = FeaturePartitionClassifier(Own(), n_submodels=5).fit(X, y)
    attack = {"row": 0, "labels": [], "row_values": {"age": 1.0}, "training_values": {}}
    with pytest.raises(InputError, match="X lacks the column 'age'"):
        replay(attack, model, X_test)
    with pytest.raises(InputError, match="X_train is missing"):
        replay({**attack, "labels": [3]}, model, X_test)
