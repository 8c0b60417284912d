"""A model that is nearly a constant says so when it is fitted."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import EmptyProofWarning, FeaturePartitionClassifier
from partita.ensemble._tasks import constant_warnings, is_nearly_constant

NAMES = np.array(["no", "yes"])


def test_fit_warns_of_a_constant_and_remembers_it():
    rng = np.random.default_rng(0)
    noise, rare = rng.normal(size=(600, 9)), (rng.random(600) < 0.03).astype(int)
    clf = FeaturePartitionClassifier(GaussianNB(), rule="plurality")
    with pytest.warns(
        EmptyProofWarning, match="training rows are predicted 0: the model is nearly"
    ):
        clf.fit(noise, rare)
    assert len(clf.warnings_) == 1


def test_a_share_of_99_percent_is_not_yet_a_constant():
    decided = np.zeros(1000, dtype=int)
    decided[:10] = 1
    assert constant_warnings(decided, NAMES) == []
    decided[0] = 0
    assert constant_warnings(decided, NAMES)[0].startswith("99.1% of 1000 training rows")
    assert "predicted 'no'" in constant_warnings(decided, NAMES)[0]


def test_few_rows_and_single_classes_are_not_judged():
    assert constant_warnings(np.zeros(49, dtype=int), NAMES) == []
    assert constant_warnings(np.zeros(50, dtype=int), NAMES[:1]) == []
    assert len(constant_warnings(np.zeros(50, dtype=int), NAMES)) == 1


def test_a_model_of_a_very_rare_label_is_no_constant():
    assert is_nearly_constant(predicted=0.992, true=0.9)
    assert not is_nearly_constant(predicted=0.99, true=0.9)
    assert not is_nearly_constant(predicted=0.998, true=0.998)  # as rare as it is
    assert is_nearly_constant(predicted=0.9995, true=0.998)
    decided = (np.arange(1000) < 4).astype(int)
    assert constant_warnings(decided, NAMES, common=0.995) == []
    assert len(constant_warnings(decided, NAMES, common=0.99)) == 1
    assert len(constant_warnings(0 * decided, NAMES, common=0.999)) == 1
