"""choose judges every setting as fitting and certifying it would, and learns no validation row."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import InputError, SoundnessWarning, choose
from partita.metrics import certified_accuracy
from partita.selection._splits import reference_splits
from partita.workflow import TASKS

X, Y = load_wine(return_X_y=True)
TRAIN, VALID = (X[::2], Y[::2]), (X[1::2], Y[1::2])


@pytest.fixture(scope="module")
def found():
    few = {"submodels": [3, 7], "groups": [4, 6], "margins": [0.5], "priors": [0, 1]}
    return choose(*TRAIN, *VALID, estimator=GaussianNB(), **few)


def test_shares_are_those_of_the_estimator_itself(found):
    assert len(found.settings) == 2 * (2 + 4 + 1) + 2
    for one in found.settings:
        proof = one.estimator.fit(*TRAIN).certify(VALID[0])
        assert one.accuracy == certified_accuracy(VALID[1], proof, 0)
        assert one.certified == certified_accuracy(VALID[1], proof, 1)


def test_one_model_and_a_constant_stand_beside_them(found):
    ordinary = {
        one.options["estimator"]: one for one in found.ordinary if "prior" not in one.options
    }
    assert ordinary["GaussianNB"].accuracy == GaussianNB().fit(*TRAIN).score(*VALID)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    assert ordinary["LogisticRegression"].accuracy == linear.fit(*TRAIN).score(*VALID)
    assert set(ordinary) > {"HistGradientBoosting", "ExtraTrees"}
    assert found.one_model["accuracy"] == max(one.accuracy for one in ordinary.values())
    assert found.constant["accuracy"] == np.mean(VALID[1] == 1)
    assert (found.counts, found.rows) == ("13 columns", len(VALID[1]))
    assert found.chosen == "on-training"
    assert found.depends.startswith(
        "Settings were chosen on the training table: proofs hold given these settings."
    )


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
    predicted = StandardScaler().fit(A[::2]).transform(A)
    predicted = Ridge().fit(predicted[::2], b[::2]).predict(predicted[1::2])
    (ridge,) = (one for one in found.ordinary if one.options["estimator"] == "Ridge")
    assert ridge.accuracy == np.mean(np.abs(predicted - b[1::2]) <= 0.4 * b[1::2])
    assert found.one_model["accuracy"] == max(one.accuracy for one in found.ordinary)


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


REFERENCE = {"estimator": GaussianNB(), "submodels": [3, 7], "groups": [4]}


@pytest.fixture(scope="module")
def trusted():
    return choose(reference=VALID, **REFERENCE)


@pytest.mark.long
def test_a_trusted_sample_is_learnt_and_judged_in_its_own_splits(trusted):
    assert (trusted.chosen, trusted.depends[:47]) == (
        "on-reference",
        "Settings were chosen on a trusted sample alone:",
    )
    splits = reference_splits(VALID[1], TASKS["classification"], 0)
    for one in trusted.settings:
        shares = []
        for learn, held in splits:
            proof = one.estimator.fit(VALID[0][learn], VALID[1][learn]).certify(VALID[0][held])
            shares.append([certified_accuracy(VALID[1][held], proof, r) for r in (0, 1)])
        assert np.allclose(np.mean(shares, axis=0), [one.accuracy, one.certified], atol=1e-12)
    one_model = [
        GaussianNB().fit(VALID[0][a], VALID[1][a]).score(VALID[0][b], VALID[1][b])
        for a, b in splits
    ]
    own = next(one for one in trusted.ordinary if one.options["estimator"] == "GaussianNB")
    assert own.accuracy == pytest.approx(np.mean(one_model))
    assert trusted.constant["accuracy"] == pytest.approx(
        np.mean([np.mean(VALID[1][held] == 1) for _, held in splits])
    )
    assert trusted.best.certified == max(one.certified for one in trusted.settings)
    assert choose(reference=VALID, random_state=1, **REFERENCE).as_dict() != trusted.as_dict()


def shares_of(found):
    return [(one.options, one.accuracy, one.certified, one.balanced) for one in found.settings]


def test_nothing_in_the_training_table_moves_a_choice_on_a_trusted_sample(trusted):
    rng = np.random.default_rng(0)
    honest = TRAIN[0]
    for attacked in (honest, rng.normal(size=honest.shape), np.full(honest.shape, np.nan)):
        found = choose(attacked, TRAIN[1], reference=VALID, **REFERENCE)
        assert shares_of(found) == shares_of(trusted)
        assert found.best.options == trusted.best.options


def test_a_trusted_sample_of_frames_and_numbers():
    A, b = load_diabetes(return_X_y=True, as_frame=True)
    options = {"estimator": Ridge(), "relative": 0.4, "submodels": [5], "groups": []}
    found = choose(reference=(A[:200], b[:200]), **options)
    plain = choose(reference=(A[:200].to_numpy().tolist(), b[:200].tolist()), **options)
    assert shares_of(found) == shares_of(plain)
    assert found.settings[0].balanced is None


def test_rows_of_the_training_table_are_no_trusted_sample():
    with pytest.raises(InputError, match="reference is X itself"):
        choose(X, Y, reference=(X, Y), **REFERENCE)
    with pytest.warns(SoundnessWarning, match="rows of X_ref are rows of the training table"):
        choose(X, Y, reference=(X[::2].copy(), Y[::2]), estimator=GaussianNB(), groups=[])
    with pytest.raises(InputError, match="X_ref has 12 columns, but X has 13"):
        choose(X, Y, reference=(X[:, :12], Y), **REFERENCE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reference": VALID[0]}, r"reference is a ndarray: give the pair \(X_ref, y_ref\)"),
        ({"reference": VALID, "X_valid": X}, "X_valid and y_valid do not go with reference"),
        ({"reference": (VALID[0][:20], VALID[1][:20])}, "reference has 20 rows, too few"),
        ({"reference": (VALID[0], VALID[1][:40])}, "reference has 89 rows and 40 labels"),
        ({"X": X}, r"y is missing: give X, y, X_valid and y_valid, or reference="),
        ({}, "X is missing"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        choose(**arguments, **REFERENCE)


def test_a_validation_set_of_one_label_is_refused():
    only = Y[1::2] == 1
    with pytest.raises(InputError, match="the rows to judge by hold no label but 1, which a const"):
        choose(*TRAIN, VALID[0][only], VALID[1][only], estimator=GaussianNB())


def test_numbers_that_are_taken_for_labels_are_questioned():
    A, b = load_diabetes(return_X_y=True)
    few = {"estimator": GaussianNB(), "submodels": [3], "groups": [], "rules": ["plurality"]}
    found = choose(A[::2], b[::2].round(-1), A[1::2], b[1::2].round(-1), **few)
    boosting = found.ordinary[0]  # with labels of one row it cannot stop early
    assert (boosting.options["estimator"], boosting.warnings) == ("HistGradientBoosting", [])
    assert found.warnings[0].startswith("y holds 33 different numbers, which are taken for labels")
    assert "y holds 33 different" in str(found)
    assert choose(*TRAIN, *VALID, **few).warnings == []
    with pytest.raises(InputError, match="y holds fractions"):
        choose(A[::2], b[::2] + 0.5, A[1::2], b[1::2] + 0.5, **few)


def test_too_few_units_are_refused_in_one_sentence():
    with pytest.raises(InputError, match="radius is 7, which needs at least 15 units, but there "):
        choose(*TRAIN, *VALID, radius=7, estimator=GaussianNB())
    with pytest.raises(InputError, match="want is 'most': give certified"):
        choose(*TRAIN, *VALID, estimator=GaussianNB(), want="most")
