"""Targets that are numbers."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from partita import InputError
from partita.baselines._targets import numeric_target


def test_numbers_become_floats_and_texts_are_refused():
    estimator = BaseEstimator()
    assert numeric_target(estimator, [1, 2, True], "Other").dtype == np.float64
    with pytest.raises(InputError, match="not numbers: for labels use a Other"):
        numeric_target(estimator, ["a", "b"], "Other")
