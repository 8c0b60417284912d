"""Outliers and scales are those of the training columns, one column at a time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from partita.deployments._column_treatments import MedianForOutliers, RobustColumns
from partita.ensemble import TableBoostingClassifier

TRAINING = pd.DataFrame({"a": np.arange(101.0), "b": np.arange(101.0) * 10, "text": ["x"] * 101})
Y = np.arange(101) % 2


def test_outliers_become_the_training_median():
    model = MedianForOutliers(TableBoostingClassifier(), share=0.05).fit(TRAINING, Y)
    rows = pd.DataFrame({"a": [4.0, 5.0, 1e9], "b": [np.nan, 960.0, 300.0], "text": list("xyz")})
    treated = model._treat(rows)
    assert treated["a"].tolist() == [50.0, 5.0, 50.0]
    assert treated["b"].tolist()[1:] == [500.0, 300.0]
    assert np.isnan(treated["b"][0])
    assert treated["text"].tolist() == list("xyz")


def test_robust_columns_are_scaled_by_quartiles_and_clipped():
    model = RobustColumns(TableBoostingClassifier(), limit=2.0).fit(TRAINING, Y)
    rows = pd.DataFrame({"a": [50.0, 100.0, -1e9], "b": [500.0, np.nan, 1e9], "text": ["x"] * 3})
    treated = model._treat(rows)
    assert treated["a"].tolist() == [0.0, 1.0, -2.0]
    assert treated["b"].tolist()[::2] == [0.0, 2.0]
    assert list(treated.columns) == ["a", "b", "text"]


def test_a_column_without_width_is_not_scaled():
    X = pd.DataFrame({"a": [1.0] * 9 + [5.0]})
    model = RobustColumns(DecisionTreeClassifier()).fit(X, np.arange(10) % 2)
    assert model._treat(X)["a"].tolist() == [0.0] * 9 + [3.0]


@pytest.mark.parametrize("kind", [MedianForOutliers, RobustColumns])
def test_training_rows_are_treated_too(kind, cancer):
    model = kind(TableBoostingClassifier()).fit(cancer.X_train, cancer.y_train)
    direct = TableBoostingClassifier().fit(model._treat(cancer.X_train), cancer.y_train)
    expected = direct.predict_proba(model._treat(cancer.X_test))
    assert np.array_equal(model.predict_proba(cancer.X_test), expected)
    assert (model.predict(cancer.X_test) == cancer.y_test).mean() > 0.9
