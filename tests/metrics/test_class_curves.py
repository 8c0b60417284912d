"""Recall and precision of every label at every radius: as the scores at one radius are."""

import numpy as np
import pytest

from partita import InputError, certify
from partita.certificates import Certificates, Counts
from partita.metrics import certified_class_curves, certified_recall, worst_case_precision
from partita.rules import TopK


@pytest.fixture(scope="module")
def random_rows():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.choice(3, 300, p=[0.8, 0.18, 0.02])]
    predicted = np.where(rng.random(300) < 0.7, y, "a")
    return y, Certificates(predicted, rng.integers(0, 5, 300), predicted, Counts("columns", 9))


def test_every_point_is_the_score_at_its_radius(random_rows):
    y, proof = random_rows
    curves = certified_class_curves(y, proof)
    assert list(curves) == ["a", "b", "c"]
    for label, curve in curves.items():
        assert curve.radius.tolist() == [0, 1, 2, 3, 4, 5]
        assert (curve.rows, curve.predicted) == (
            (y == label).sum(),
            (proof.prediction == label).sum(),
        )
        for r in curve.radius:
            assert curve.recall[r] == certified_recall(y, proof, int(r))[label]
            assert curve.precision[r] == worst_case_precision(y, proof, label, int(r))
            assert curve.kept[r] == np.sum((proof.prediction == label) & (proof.radius >= r))


def test_they_end_where_nothing_is_right_and_certified(five):
    curves = certified_class_curves(*five)
    assert all(len(curve.recall) == 7 and curve.recall[-1] == 0 for curve in curves.values())


def test_a_constant_has_one_curve_that_is_not_zero():
    proof = certify(np.eye(2)[[[0] * 5] * 10], rule="plurality")
    curves = certified_class_curves([0] * 9 + [1], proof)
    assert curves[0].recall.tolist() == [1, 1, 1, 0]
    assert curves[0].precision.tolist() == [0.9, 0.9, 0.9, 0]
    assert not curves[1].recall.any()
    assert not curves[1].precision.any()
    assert curves[1].predicted == 0


def test_what_is_not_about_predictions_is_refused():
    proof = TopK(1).certify(np.eye(2)[[[0, 0, 1]]], labels=[0])
    with pytest.raises(InputError, match="about given labels"):
        certified_class_curves([0], proof)
