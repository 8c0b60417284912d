"""Sources instead of columns: units, trusted columns, overlapping sets, and partitions that deal
out information."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partita import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    Informed,
    InputError,
    Partition,
    SoundnessError,
    SoundnessWarning,
    families,
    pixels,
)
from partita.partition._partition import Overlap, random_partition
from partita.rules import RunOff, TopK, Tournament

WINE = load_wine(as_frame=True)
X, Y = WINE.data, WINE.target.to_numpy()
NB = GaussianNB()
SOURCES = {
    "lab A": ["alcohol", "malic_acid", "ash"],
    "lab B": ["hue", "proline"],
    "lab C": ["flavanoids", "color_intensity"],
}


@pytest.mark.parametrize(
    "units",
    [
        SOURCES,
        {
            name: [X.columns.get_loc(column) for column in columns]
            for name, columns in SOURCES.items()
        },
        lambda name: next((source for source, columns in SOURCES.items() if name in columns), None),
        np.array(
            [
                next((source for source, columns in SOURCES.items() if name in columns), None)
                for name in X.columns
            ],
            dtype=object,
        ),
    ],
    ids=["mapping", "positions", "function", "ids"],
)
@pytest.mark.parametrize("frame", [lambda table: table, pl.from_pandas])
def test_units(units, frame):
    clf = FeaturePartitionClassifier(NB, units=units).fit(frame(X), Y)
    assert {"lab A", "lab B", "lab C", "magnesium"} <= set(clf.units_.names)
    assert len(clf.units_) == 3 + 6
    proof = clf.certify(frame(X))
    assert (proof.counts.what, proof.counts.total) == ("units", 9)
    for name, columns in SOURCES.items():
        unit = clf.units_.names.index(name)
        assert {X.columns[c] for c in clf.units_.columns[unit]} == set(columns)
        assert sum(unit in clf.partition_[t] for t in range(len(clf.partition_))) == 1


def test_trusted_columns_go_everywhere():
    clf = FeaturePartitionClassifier(NB, units=SOURCES, trusted=["magnesium"]).fit(X, Y)
    magnesium = X.columns.get_loc("magnesium")
    assert all(
        magnesium in clf.units_.columns_of(clf.partition_[t]) for t in range(len(clf.partition_))
    )
    assert len(clf.units_) == 8
    proof = clf.certify(X)
    assert proof.counts.trusted == ("magnesium",)
    assert "out of reach: magnesium" in str(proof.counts)


def test_one_hot_families():
    table = pd.get_dummies(
        pd.DataFrame(
            {"colour": list("rgb") * 20, "size": list("sm") * 30, "mass": np.arange(60.0)}
        ),
        dtype=float,
    )
    clf = FeaturePartitionClassifier(NB, units=families("_")).fit(table, np.arange(60) % 3)
    assert set(clf.units_.names) == {"colour", "size", "mass"}
    assert pickle.loads(pickle.dumps(clf)).units("colour_r") == "colour"


def test_pixels_are_units():
    digits, y = load_digits(return_X_y=True)
    rgb = np.repeat(digits, 3, axis=1)[:400]
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(), units=pixels((8, 8, 3)), n_submodels=16
    ).fit(rgb, y[:400])
    assert clf.certify(rgb).counts.what == "pixels"
    assert clf.units_.columns[5] == (15, 16, 17)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"units": {"lab": ["alcohol", "colour"]}},
            "names the column 'colour', which the table does not have",
        ),
        ({"units": {"lab": [99]}}, "names the column 99"),
        ({"units": {"a": ["hue"], "b": ["hue"]}}, "column 'hue' in 'a' and in 'b'"),
        ({"units": {"a": []}}, r"units\['a'\] has no columns"),
        ({"units": {"a": "hue"}}, "give a list"),
        ({"units": {"hue": ["proline"]}}, "a unit 'hue', and a column of that name outside"),
        ({"units": [1, 2, 3]}, "units has 3 ids, but X has 13 columns"),
        ({"units": 7}, "units is 7: give a list"),
        ({"trusted": ["colour"]}, "trusted names the column 'colour'"),
        ({"trusted": "hue"}, "trusted is 'hue': give a list"),
        ({"trusted": list(X.columns)}, "trusted names every column"),
        ({"units": {"a": ["hue"]}, "trusted": ["hue"]}, "it cannot be both"),
        ({"units": pixels((2, 2, 1))}, "units makes 4 columns, but X has 13"),
        ({"units": SOURCES, "n_submodels": 10}, "only 9 units"),
        ({"units": SOURCES, "partition": [[0, 1], list(range(2, 13))]}, "splits the unit 'lab A'"),
        ({"spread": 0}, "spread"),
        (
            {"spread": 3, "n_submodels": 5},
            "n_submodels is 5 times spread=3, but there are only 13 columns: choose at most 4",
        ),
    ],
)
def test_wrong_units_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FeaturePartitionClassifier(NB, **settings).fit(X, Y)


def test_overlapping_sets():
    partition = Overlap.from_seed(random_partition(24, 12, 0), 3, random_state=5)
    reach = partition.incidence()
    assert reach.shape == (24, 12)
    assert np.all(reach.sum(axis=1) == 3)  # every unit is in three submodels
    for t in range(12):
        assert set(partition[t]) == set(np.flatnonzero(reach[:, t]))
    assert partition == Overlap.from_seed(random_partition(24, 12, 0), 3, random_state=5)
    assert (
        partition.shifts != Overlap.from_seed(random_partition(24, 12, 0), 3, random_state=6).shifts
    )
    with pytest.raises(InputError, match="spread is 3, but there are only 2 subsets"):
        Overlap.from_seed(random_partition(24, 2, 0), 3, random_state=0)


@pytest.mark.parametrize(
    "rule", ["plurality", "tournament", RunOff(), Tournament(margin=0.5), TopK(2)]
)
def test_spread(rule):
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(max_depth=3), n_submodels=7, spread=3, rule=rule
    ).fit(cancer[::2], y[::2])
    assert clf.ballots(cancer[:5]).shape == (5, 21, 2)
    labels = [y[1::2]] if isinstance(rule, TopK) else [None]
    proof = clf.certify(cancer[1::2], *labels)
    assert (proof.counts.what, proof.counts.total) == ("columns", 30)
    exact = clf.certify(
        cancer[1:40:2], *(y[1:40:2] if one is not None else None for one in labels), cover="exact"
    )
    assert np.all(exact.radius >= proof.radius[:20])


def test_spread_survives_refitting():
    """The guarantee on real training, with overlapping sets: corrupt columns, refit, compare."""
    cancer, y = load_breast_cancer(return_X_y=True)
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(max_depth=3), n_submodels=9, spread=2, rule="plurality"
    )
    before = clf.fit(cancer[::2], y[::2]).certify(cancer[1::2], cover="exact")
    rng = np.random.default_rng(0)
    met = 0
    for r in (1, 2):
        for _ in range(3):
            chosen = rng.choice(30, size=r, replace=False)
            train, test = cancer[::2].copy(), cancer[1::2].copy()
            train[:, chosen], test[:, chosen] = y[::2, None], 1 - y[1::2, None]
            after = clone(clf).fit(train, y[::2]).certify(test)
            safe = before.radius >= r
            assert np.array_equal(after.prediction[safe], before.prediction[safe])
            met += safe.sum()
    assert met > 300


def test_regression_with_sources_and_spread():
    diabetes, y = load_diabetes(return_X_y=True)
    reg = FeaturePartitionRegressor(
        DecisionTreeRegressor(max_depth=3),
        units=[0, 0, 1, 2, 3, 4, 4, 5, 6, 7],
        n_submodels=4,
        spread=2,
    )
    reg.fit(diabetes, y)
    proof = reg.certify(diabetes, tolerance=40)
    assert proof.counts.total == 8
    low, high = reg.interval(diabetes, radius=1)
    survives = (low >= proof.prediction - 40) & (high <= proof.prediction + 40)
    assert np.all(proof.radius[survives] >= 1)


def test_informed_deals_in_a_snake():
    reference, rest = np.arange(0, 178, 2), np.arange(1, 178, 2)
    informed = Informed(X.iloc[reference], Y[reference])
    clf = FeaturePartitionClassifier(NB, partition=informed, n_submodels=5).fit(
        X.iloc[rest], Y[rest]
    )
    order = np.argsort(-informed.information(), kind="stable")
    assert clf.partition_ == Partition(
        [
            [order[0], order[9], order[10]],
            *[[order[t], order[9 - t], order[10 + t]] for t in (1, 2)],
            *[[order[t], order[9 - t]] for t in (3, 4)],
        ]
    )
    assert clone(clf).fit(X.iloc[rest], Y[rest]).partition_ == clf.partition_
    assert (
        len(
            FeaturePartitionClassifier(NB, partition=informed).fit(X.iloc[rest], Y[rest]).partition_
        )
        == 13
    )


def test_informed_takes_text_gaps_and_numbers():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    table = pd.DataFrame(
        {
            "noise": rng.normal(size=300),
            "text": np.where(y > 0, "high", "low"),
            "gaps": np.where(rng.random(300) < 0.3, np.nan, y),
        }
    )
    information = Informed(table, y).information()
    assert information[1] > information[0]
    assert information[2] > information[0]


def test_a_reference_that_is_part_of_the_training_table():
    shared = Informed(X.iloc[:60], Y[:60])
    with pytest.warns(
        SoundnessWarning, match="60 of 60 rows of X_ref are rows of the training table"
    ):
        FeaturePartitionClassifier(NB, partition=shared).fit(X, Y)
    with pytest.raises(SoundnessError, match="keep the reference rows out of X"):
        FeaturePartitionClassifier(NB, partition=shared, strict=True).fit(X, Y)
    with pytest.raises(InputError, match="X_ref has 12 columns, but X has 13"):
        FeaturePartitionClassifier(NB, partition=Informed(X.iloc[:60, 1:], Y[:60])).fit(X, Y)


def test_a_source_can_be_corrupted_as_a_whole():
    """The guarantee on real training, for sources of several columns, with a trusted column:
    everything a source says is rewritten."""
    cancer, y = load_breast_cancer(return_X_y=True)
    sources = np.arange(30) % 10  # mean, error and worst value of ten measurements: one device each
    clf = FeaturePartitionClassifier(
        DecisionTreeClassifier(max_depth=4), units=sources, trusted=[3], n_submodels=9
    )
    before = clf.fit(cancer[::2], y[::2]).certify(cancer[1::2])
    assert before.counts.total == 10
    changed = met = 0
    rng = np.random.default_rng(0)
    for r in (1, 2, 3):
        for _ in range(3):
            owned = np.isin(sources, rng.choice(10, size=r, replace=False)) & (np.arange(30) != 3)
            train, test = cancer[::2].copy(), cancer[1::2].copy()
            train[:, owned], test[:, owned] = y[::2, None], 1 - y[1::2, None]
            after = clone(clf).fit(train, y[::2]).certify(test)
            safe = before.radius >= r
            assert np.array_equal(after.prediction[safe], before.prediction[safe])
            met, changed = (
                met + safe.sum(),
                changed + np.count_nonzero(after.prediction != before.prediction),
            )
    assert met > 500
    assert changed > 5
