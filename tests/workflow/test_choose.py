"""choose judges every setting as fitting and certifying it would, and learns no validation row."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from partita import InputError, choose
from partita.metrics import certified_accuracy

X, Y = load_wine(return_X_y=True)
TRAIN, VALID = (X[::2], Y[::2]), (X[1::2], Y[1::2])


@pytest.fixture(scope="module")
def found():
    return choose(*TRAIN, *VALID, estimator=GaussianNB(), submodels=[3, 7], groups=[4, 6])


def test_shares_are_those_of_the_estimator_itself(found):
    assert len(found.settings) == 2 * 5 + 2
    for one in found.settings:
        proof = one.estimator.fit(*TRAIN).certify(VALID[0])
        assert one.accuracy == certified_accuracy(VALID[1], proof, 0)
        assert one.certified == certified_accuracy(VALID[1], proof, 1)


def test_one_model_and_a_constant_stand_beside_them(found):
    assert found.one_model["accuracy"] == GaussianNB().fit(*TRAIN).score(*VALID)
    assert found.constant["accuracy"] == np.mean(VALID[1] == 1)
    assert (found.counts, found.rows) == ("13 columns", len(VALID[1]))
    assert "chosen on the validation rows" in found.depends


def test_the_recommended_estimator_is_the_best(found):
    assert found.best.certified == max(one.certified for one in found.settings)
    assert found.estimator is found.best.estimator


def test_numbers_are_chosen_by_their_tolerance():
    A, b = load_diabetes(return_X_y=True)
    found = choose(
        A[::2], b[::2], A[1::2], b[1::2], estimator=Ridge(), relative=0.4, submodels=[5], groups=[6]
    )
    for one in found.settings:
        proof = one.estimator.fit(A[::2], b[::2]).certify(A[1::2], around=b[1::2], relative=0.4)
        assert one.certified == np.mean(proof.radius >= 1)
        assert one.balanced is None
    predicted = Ridge().fit(A[::2], b[::2]).predict(A[1::2])
    assert found.one_model["accuracy"] == np.mean(np.abs(predicted - b[1::2]) <= 0.4 * b[1::2])


def test_units_and_trusted_columns_reach_both_methods():
    A, b = load_breast_cancer(return_X_y=True, as_frame=True)
    units = {f"device {k}": list(A.columns[k:27:9]) for k in range(9)}
    trusted = list(A.columns[27:])
    found = choose(
        A[::2],
        b[::2],
        A[1::2],
        b[1::2],
        units=units,
        trusted=trusted,
        estimator=GaussianNB(),
        submodels=[5],
        groups=[5],
    )
    assert found.counts.startswith("9 ")
    for one in found.settings:
        assert one.estimator.units == units
        assert one.estimator.trusted == trusted


def test_too_few_units_are_refused_in_one_sentence():
    with pytest.raises(InputError, match="radius is 7, which needs at least 15 units, but there "):
        choose(*TRAIN, *VALID, radius=7, estimator=GaussianNB())
    with pytest.raises(InputError, match="want is 'most'"):
        choose(*TRAIN, *VALID, estimator=GaussianNB(), want="most")
