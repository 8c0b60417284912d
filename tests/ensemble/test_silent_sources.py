"""Silent sources on real tables: certified predictions stay when columns really go blank."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutRegressor,
)
from partita.ensemble._silent_sources import detect_silence
from partita.errors import InputError
from partita.rules import Median, TopK, Tournament
from partita.tables import open_table

WINE, WINE_Y = load_wine(return_X_y=True, as_frame=True)
SOURCES = {f"source {k}": list(WINE.columns[k::6]) for k in range(6)}
TRAIN, TEST = WINE[::2], WINE[1::2]
Y_TRAIN = WINE_Y[::2]


@pytest.fixture(scope="module")
def classifier():
    return FeaturePartitionClassifier(
        GaussianNB(), n_submodels=6, units=SOURCES, partition="strided"
    ).fit(TRAIN, Y_TRAIN)


@pytest.fixture(scope="module")
def regressor():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return FeaturePartitionRegressor(Ridge(), n_submodels=9).fit(X[::2], y[::2]), X[1::2]


def blank(X, units, sources=SOURCES):
    """The rows with the columns of some units missing."""
    out = X.astype(float).copy()
    for unit in units:
        out[sources[unit]] = np.nan
    return out


def corrupt(X, units, rng, sources=SOURCES, may_be_silent=True):
    """The rows with something else, or nothing, in the columns of some units."""
    out = X.astype(float).copy()
    for unit in units:
        for column in sources[unit]:
            donors = rng.permutation(out[column].to_numpy())
            out[column] = rng.choice([1, -1, 1e6]) * donors
        if may_be_silent and rng.random() < 0.3:
            out[sources[unit]] = np.nan
    return out


RULES = ["plurality", "runoff", "tournament", Tournament(margin=0.5, prior=1.0, offset=1.0)]


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, marks=[pytest.mark.long] * (rule in ("plurality", "runoff")))
        for rule in RULES
    ],
    ids=str,
)
def test_predictions_stay_when_sources_really_fall_silent(rule):
    """Every set of silent sources, really blanked; the silence is declared and detected."""
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=6, units=SOURCES, partition="strided", rule=rule
    ).fit(TRAIN, Y_TRAIN)
    proof = clf.certify(TEST)
    stayed = 0
    for m in range(1, 6):
        sure = proof.survives(0, m)
        for units in combinations(SOURCES, m):
            gone = blank(TEST, units)
            declared = clf.predict(gone, silent=list(units))
            detected = clf.predict(gone, silent="detect")
            assert np.array_equal(declared, detected)
            assert np.array_equal(declared[sure], proof.prediction[sure])
        stayed += sure.sum()
    assert stayed > 100


def test_predictions_stay_when_some_lie_and_others_are_silent(classifier):
    proof, rng = classifier.certify(TEST), np.random.default_rng(0)
    tried = 0
    for r, m in ((1, 1), (1, 2), (2, 1)):
        sure = proof.survives(r, m)
        for units in combinations(SOURCES, r + m):
            liars = rng.permutation(units)[:r]
            quiet = [unit for unit in units if unit not in liars]
            table = blank(corrupt(TEST, liars, rng), quiet)
            predicted = classifier.predict(table, silent="detect")
            assert np.array_equal(predicted[sure], proof.prediction[sure])
            tried += sure.sum()
    assert tried > 100


def test_a_row_with_silence_keeps_its_prediction_under_attack(classifier):
    """Detected: liars also break the silence of a source, and fake that of others."""
    rng = np.random.default_rng(1)
    gone = blank(TEST, ["source 2"])
    proof = classifier.certify(gone, silent="detect")
    assert (proof.radius >= 1).sum() > 20
    for liar in SOURCES:
        attacked = corrupt(gone, [liar], rng)
        if liar == "source 2":
            attacked[SOURCES[liar]] = TEST[SOURCES[liar]].to_numpy() * -1e3
        predicted = classifier.predict(attacked, silent="detect")
        sure = proof.radius >= 1
        assert np.array_equal(predicted[sure], proof.prediction[sure])


def test_refitting_on_corrupted_sources_changes_no_certified_row():
    rng = np.random.default_rng(2)
    clf = FeaturePartitionClassifier(
        GaussianNB(), n_submodels=6, units=SOURCES, partition="strided"
    ).fit(TRAIN, Y_TRAIN)
    proof = clf.certify(TEST, silent=["source 0"])
    sure = proof.radius >= 1
    assert sure.sum() > 20
    for liar in SOURCES:
        lied = TRAIN.copy()
        lied[SOURCES[liar]] = rng.normal(size=lied[SOURCES[liar]].shape)
        again = FeaturePartitionClassifier(
            GaussianNB(), n_submodels=6, units=SOURCES, partition="strided"
        ).fit(lied, Y_TRAIN)
        predicted = again.predict(TEST, silent=["source 0"])
        assert np.array_equal(predicted[sure], proof.prediction[sure])


def test_all_ways_to_say_who_is_silent_agree(classifier):
    by_name = classifier.certify(TEST, silent=["source 1", "source 4"])
    mask = np.zeros((len(TEST), 6), dtype=bool)
    mask[:, [1, 4]] = True
    for silent in ([1, 4], np.array([4, 1]), ("source 4", 1), {"source 1", "source 4"}, mask):
        other = classifier.certify(TEST, silent=silent)
        assert np.array_equal(other.prediction, by_name.prediction)
        assert np.array_equal(other.radius, by_name.radius)
    assert np.array_equal(classifier.certify(TEST, silent=mask.tolist()).radius, by_name.radius)
    nobody = classifier.certify(TEST, silent=[])
    assert np.array_equal(nobody.radius, classifier.certify(TEST).radius)


def test_a_mask_counts_row_by_row(classifier):
    mask = np.zeros((len(TEST), 6), dtype=bool)
    mask[::2, 3] = True
    proof, full = classifier.certify(TEST, silent=mask), classifier.certify(TEST)
    quiet = classifier.certify(TEST, silent=["source 3"])
    assert np.array_equal(proof.radius[::2], quiet.radius[::2])
    assert np.array_equal(proof.radius[1::2], full.radius[1::2])
    assert proof.silence.abstained.tolist() == [1 - i % 2 for i in range(len(TEST))]
    assert np.array_equal(proof.silence.units, mask)
    assert (proof.silence.without >= proof.radius).all()
    assert "source 3 in 45 rows" in str(proof.silence)


def test_declared_silence_ignores_whatever_stands_there(classifier):
    junk = TEST.astype(float).copy()
    junk[SOURCES["source 5"]] = 1e9
    ordinary = classifier.predict(TEST, silent=["source 5"])
    assert np.array_equal(classifier.predict(junk, silent=["source 5"]), ordinary)


def test_a_frame_may_lack_the_columns_of_silent_sources(classifier):
    there = TEST.drop(columns=SOURCES["source 5"])
    declared = classifier.certify(there, silent=["source 5"])
    assert np.array_equal(declared.radius, classifier.certify(TEST, silent=["source 5"]).radius)
    detected = classifier.predict(there, silent="detect")
    assert np.array_equal(detected, declared.prediction)
    with pytest.raises(ValueError, match="feature names"):
        classifier.certify(there, silent=["source 1"])
    with pytest.raises(ValueError, match="feature names"):
        classifier.certify(there)


def test_submodels_that_cannot_read_missing_values_are_not_asked(classifier):
    """GaussianNB refuses NaN, so a source that is only partly missing stops it."""
    gone = blank(TEST, ["source 0"])
    with pytest.raises(Exception, match="NaN"):
        classifier.predict(gone)
    classifier.predict(gone, silent="detect")
    for column in SOURCES["source 0"]:
        partly = TEST.astype(float).copy()
        partly.loc[:, column] = np.nan
        with pytest.raises(Exception, match="NaN"):
            classifier.predict(partly, silent="detect")


def test_a_source_is_silent_where_all_of_its_columns_are_missing(classifier):
    first, *_, last = SOURCES["source 0"]
    gone = TEST[:3].astype(float).copy()
    gone.loc[gone.index[0], SOURCES["source 0"]] = np.nan
    gone.loc[gone.index[1], first] = np.nan
    gone.loc[gone.index[2], last] = np.nan
    found = detect_silence(open_table(gone), classifier.units_)
    assert found[:, 0].tolist() == [True, False, False]
    assert not found[:, 1:].any()


def test_a_submodel_abstains_if_any_of_its_units_is_silent():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3, units=SOURCES).fit(TRAIN, Y_TRAIN)
    for unit in range(6):
        proof = clf.certify(TEST, silent=[unit])
        assert (proof.silence.abstained == 1).all()
    shared = next(units for units in clf.partition_ if len(units) > 1)
    assert (clf.certify(TEST, silent=list(shared)).silence.abstained == 1).all()


def test_a_row_in_which_everybody_is_silent_gets_the_commonest_label(classifier):
    gone = blank(TEST[:5], SOURCES)
    proof = classifier.certify(gone, silent="detect")
    assert (proof.prediction == Y_TRAIN.mode()[0]).all()
    assert (proof.radius == 0).all()
    assert np.array_equal(classifier.predict(gone, silent="detect"), proof.prediction)


@pytest.mark.parametrize(
    ("silent", "message"),
    [
        ("source 1", r"silent is 'source 1': give a list"),
        (["nobody"], r"silent names 'nobody', which is not among the sources|units"),
        ([9], r"silent holds 9: the model has 6"),
        ([True], r"silent holds True: give names or positions"),
        (7, r"silent is 7: give a list"),
        (np.zeros((2, 6), dtype=bool), r"a mask must be bool of shape \(89, 6\)"),
        (np.zeros((89, 6)), r"holds float64: a mask must be bool"),
    ],
)
def test_what_is_not_understood_is_said(classifier, silent, message):
    with pytest.raises(InputError, match=message):
        classifier.certify(TEST, silent=silent)


def test_silence_is_not_detected_in_sparse_matrices():
    from scipy.sparse import csr_array

    X = csr_array(TRAIN.to_numpy())
    clf = FeaturePartitionClassifier(DecisionTreeClassifier(), n_submodels=5).fit(X, Y_TRAIN)
    assert (clf.certify(X, silent=[0]).silence.abstained == 1).all()
    with pytest.raises(InputError, match="sparse matrix has none of"):
        clf.certify(X, silent="detect")


def test_values_stay_in_their_bounds_when_columns_go_blank(regressor):
    reg, X = regressor
    proof = reg.certify(X, tolerance=40)
    for m in (1, 2):
        sure = proof.survives(0, m)
        assert sure.sum() > 10
        for columns in combinations(X.columns, m):
            gone = X.copy()
            gone[list(columns)] = np.nan
            moved = reg.predict(gone, silent="detect")
            assert np.array_equal(moved, reg.predict(gone, silent=list(columns)))
            assert (abs(moved - proof.prediction)[sure] <= 40).all()


def test_intervals_hold_beside_silence(regressor):
    reg, X = regressor
    rng = np.random.default_rng(0)
    gone = X.copy()
    gone[["bmi", "s5"]] = np.nan
    low, high = reg.interval(gone, radius=1, silent="detect")
    assert np.isfinite(low).all()
    for column in X.columns:
        attacked = gone.copy()
        attacked[column] = rng.choice([-5.0, 5.0, np.nan], size=len(X))
        moved = reg.predict(attacked, silent="detect")
        assert ((low <= moved) & (moved <= high)).all()
    proof = reg.certify(gone, lower=low, upper=high, silent="detect")
    assert (proof.radius >= 1).all()
    assert (proof.silence.abstained >= 1).all()


def test_a_stretched_median_and_its_silence(regressor):
    _, X = regressor
    y = load_diabetes(return_X_y=True)[1]
    full = load_diabetes(return_X_y=True, as_frame=True)[0]
    reg = FeaturePartitionRegressor(Ridge(), n_submodels=9, rule=Median(stretch=1.4))
    reg.fit(full[::2], y[::2])
    proof = reg.certify(X, tolerance=30, silent=["bmi"])
    assert np.array_equal(proof.prediction, reg.predict(X, silent=["bmi"]))
    assert (proof.silence.without >= proof.radius).all()


def test_overlapping_sets_with_silence():
    clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5, spread=2).fit(TRAIN, Y_TRAIN)
    proof, rng = clf.certify(TEST), np.random.default_rng(3)
    columns = {name: [name] for name in WINE.columns}
    sure = proof.survives(0, 1)
    assert sure.sum() > 20
    for name in WINE.columns:
        predicted = clf.predict(blank(TEST, [name], columns), silent="detect")
        assert np.array_equal(predicted[sure], proof.prediction[sure])
    quiet = clf.certify(blank(TEST, ["alcohol"], columns), silent="detect")
    assert (quiet.silence.abstained == 2).all()
    sure = quiet.radius >= 1
    for name in WINE.columns:
        attacked = corrupt(blank(TEST, ["alcohol"], columns), [name], rng, columns)
        predicted = clf.predict(attacked, silent="detect")
        assert np.array_equal(predicted[sure], quiet.prediction[sure])


def test_a_fallback_behind_the_vote_and_silence():
    clf = FeaturePartitionClassifier(
        GaussianNB(),
        n_submodels=6,
        units=SOURCES,
        partition="strided",
        fallback=DecisionTreeClassifier(),
        gate=1,
    ).fit(TRAIN, Y_TRAIN)
    proof = clf.certify(TEST)
    for unit in SOURCES:
        gone = blank(TEST, [unit])
        quiet = clf.certify(gone, silent="detect")
        assert np.array_equal(quiet.prediction, clf.predict(gone, silent="detect"))
        sure = proof.survives(0, 1)
        assert np.array_equal(quiet.prediction[sure], proof.prediction[sure])
    assert proof.survives(0, 1).sum() > 20


def test_top_k_labels_and_silence():
    clf = FeaturePartitionClassifier(
        LogisticRegression(max_iter=5000), n_submodels=6, units=SOURCES, rule=TopK(2)
    ).fit(TRAIN, Y_TRAIN)
    proof = clf.certify(TEST, labels=WINE_Y[1::2], silent=["source 0"])
    assert (proof.silence.abstained == 1).all()
    assert (proof.silence.without >= proof.radius).all()
    assert (proof.silence_radius >= proof.radius).all()


@pytest.fixture(scope="module")
def leave_out():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    units = {f"source {k}": list(X.columns[k::6]) for k in range(6)}
    clf = LeaveOutClassifier(GaussianNB(), radius=2, n_groups=6, units=units)
    return clf.fit(X[::2], y[::2]), X[1::2], y[1::2], units


@pytest.mark.parametrize("m", [1, 2, 3])
def test_leave_out_predictions_stay_when_sources_fall_silent(leave_out, m):
    clf, X, _, units = leave_out
    proof = clf.certify(X)
    sure = proof.survives(0, m)
    assert sure.sum() > 100
    for names in combinations(units, m):
        gone = blank(X, names, units)
        predicted = clf.predict(gone, silent="detect")
        assert np.array_equal(predicted, clf.predict(gone, silent=list(names)))
        assert np.array_equal(predicted[sure], proof.prediction[sure])


@pytest.mark.parametrize("silent", ["detect", "declared"])
def test_leave_out_rows_with_silence_under_attack(leave_out, silent):
    clf, X, y, units = leave_out
    rng = np.random.default_rng(4)
    gone = blank(X, ["source 1"], units)
    how = "detect" if silent == "detect" else ["source 1"]
    proof = clf.certify(gone, silent=how)
    assert (proof.prediction == y).mean() > 0.85
    sure = proof.radius >= 1
    assert sure.sum() > 100
    assert (proof.radius <= 1).all()
    for liar in units:
        attacked = corrupt(gone, [liar], rng, units, may_be_silent=how == "detect")
        predicted = clf.predict(attacked, silent=how)
        assert np.array_equal(predicted[sure], proof.prediction[sure])


def test_leave_out_with_more_silent_sources_than_any_model_leaves_out(leave_out):
    clf, X, _, units = leave_out
    proof = clf.certify(X, silent=list(units)[:5])
    assert (proof.radius == 0).all()
    assert clf.predict_proba(X, silent=list(units)[:5]).argmax(axis=1).tolist() == [
        list(clf.classes_).index(label) for label in proof.prediction
    ]


def test_leave_out_values_and_silence():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    reg = LeaveOutRegressor(Ridge(), radius=1, n_groups=5).fit(X[::2], y[::2])
    rows = X[1::2]
    proof = reg.certify(rows, tolerance=60)
    sure = proof.survives(0, 1)
    assert sure.sum() > 50
    for column in X.columns:
        gone = rows.copy()
        gone[column] = np.nan
        moved = reg.predict(gone, silent="detect")
        assert (abs(moved - proof.prediction)[sure] <= 60).all()
    low, high = reg.interval(rows, 1, silent=["bmi"])
    assert np.isinf(low).all()  # one of the two models' worth of radius is used up
    assert np.isinf(high).all()


def test_one_model_of_masked_rows_and_silence():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = LeaveOutClassifier(radius=1, n_groups=4, training="trusted").fit(X[::2], y[::2])
    proof = clf.certify(X[1::2])
    sure = proof.survives(0, 1)
    assert sure.sum() > 100
    for column in ("mean radius", "worst area", "mean texture"):
        gone = X[1::2].copy()
        gone[column] = np.nan
        predicted = clf.predict(gone, silent="detect")
        assert np.array_equal(predicted[sure], proof.prediction[sure])


def test_texts_and_their_missing_values():
    rng = np.random.default_rng(6)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue"], 200),
            "size": rng.normal(size=200),
            "shape": rng.choice(["round", "flat"], 200),
        }
    )
    y = (X["colour"] == "red") & (X["size"] > -1)
    clf = FeaturePartitionClassifier(n_submodels=3).fit(X, y)
    gone = X.copy()
    gone.loc[::2, "colour"] = None
    proof = clf.certify(gone, silent="detect")
    assert proof.silence.units[:, 0].tolist() == [i % 2 == 0 for i in range(200)]
    assert not proof.silence.units[:, 1:].any()
