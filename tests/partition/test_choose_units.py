"""The units that an estimator's arguments ask for."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from partita import FeaturePartitionClassifier, InputError, Units, families, pixels
from partita.partition._partition import choose_units

NAMES = ["alcohol", "malic_acid", "ash", "hue", "proline", "flavanoids", "colour", "phenols"]
LABS = {"lab A": ["alcohol", "malic_acid", "ash"], "lab B": ["hue", "proline"]}


def lab_of(name):
    return next((lab for lab, columns in LABS.items() if name in columns), None)


FORMS = {
    "mapping": LABS,
    "positions": {"lab A": [0, 1, 2], "lab B": (3, 4)},
    "function": lab_of,
    "ids": [lab_of(name) for name in NAMES],
    "array of ids": np.array([lab_of(name) for name in NAMES], dtype=object),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_same_units_and_the_rest_are_units_of_their_own(form):
    units = choose_units(FORMS[form], NAMES, (), None)
    assert units.names == ("lab A", "lab B", "flavanoids", "colour", "phenols")
    assert units.columns == ((0, 1, 2), (3, 4), (5,), (6,), (7,))
    assert units.kind == "units"


def test_without_units_each_column_is_one_or_each_pixel():
    units = choose_units(None, NAMES, (), None)
    assert (len(units), units.kind, units.names) == (8, "columns", tuple(NAMES))
    assert choose_units(None, NAMES, (), (2, 2, 2)) == pixels((2, 2, 2))


def test_trusted_columns_belong_to_no_unit():
    units = choose_units(None, NAMES, ["hue", 0], None)
    assert units.trusted == (0, 3)
    assert len(units) == 6
    grouped = choose_units(LABS, NAMES, ["phenols"], None)
    assert grouped.trusted == (7,)
    assert "phenols" not in grouped.names


def test_a_trusted_column_leaves_given_units():
    given = Units(((0, 1), (2, 3, 4), (5,)), ("a", "b", "c"), "units", trusted=(6, 7))
    units = choose_units(given, NAMES, ["alcohol", "flavanoids"], None)
    assert units == Units(((1,), (2, 3, 4)), ("a", "b"), "units", trusted=(0, 5, 6, 7))


def test_units_are_ordered_by_their_first_columns():
    units = choose_units({"late": [7], "early": [6, 0]}, NAMES, (), None)
    assert units.names[0] == "early"
    assert units.names[-1] == "late"


@pytest.mark.parametrize(
    ("units", "trusted", "message"),
    [
        (
            {"lab": ["alcohol", "magnesium"]},
            (),
            r"units\['lab'\] names the column 'magnesium', which the table does not have",
        ),
        ({"lab": [99]}, (), "names the column 99"),
        ({"a": ["hue"], "b": ["hue"]}, (), "column 'hue' in 'a' and in 'b': it belongs to one"),
        ({"a": []}, (), r"units\['a'\] has no columns"),
        ({"a": "hue"}, (), "give a list"),
        ({"hue": ["proline"]}, (), "a unit 'hue', and a column of that name outside"),
        ({1: ["hue"], "1": ["ash"]}, (), "two units of one name"),
        ([1, 2, 3], (), "units has 3 ids, but X has 8 columns: give one per column"),
        ([[1]] * 8, (), "neither a string nor a number: give one id per column"),
        (7, (), "units is 7: give a list"),
        (None, ["magnesium"], "trusted names the column 'magnesium'"),
        (None, "hue", "trusted is 'hue': give a list"),
        (None, NAMES, "trusted names every column"),
        ({"a": ["hue"]}, ["hue"], "it cannot be both"),
        (pixels((2, 2, 1)), (), "units makes 4 columns, but X has 8"),
        (
            Units(((0, 1, 2, 3), (4, 5, 6, 7)), ("a", "a"), "units"),
            (),
            "units has two units of one name: rename one",
        ),
    ],
)
def test_wrong_units_are_named(units, trusted, message):
    with pytest.raises(InputError, match=message):
        choose_units(units, NAMES, trusted, None)


def test_units_and_an_image_must_agree():
    with pytest.raises(InputError, match="image_shape makes 9 columns, but X has 8"):
        choose_units(None, NAMES, (), (3, 3, 1))
    with pytest.raises(InputError, match="as many units as image_shape has pixels, but they"):
        choose_units([0, 1, 0, 1, 2, 2, 3, 3], NAMES, (), (2, 2, 2))


# ---- through fit ----


def test_a_fitted_model_counts_its_units():
    clf = FeaturePartitionClassifier(GaussianNB(), units=[0, 0, 1, 1, 2, 2, 3, 3], trusted=[7])
    X = np.random.default_rng(0).normal(size=(40, 8))
    proof = clf.fit(X, np.arange(40) % 2).certify(X)
    assert (proof.counts.what, proof.counts.total) == ("units", 4)
    assert all(7 in clf.units_.columns_of(clf.partition_[t]) for t in range(len(clf.partition_)))
    assert proof.counts.trusted == ("7",)
    assert "out of reach: 7" in str(proof.counts)


def test_one_hot_columns_of_a_table_become_families():
    names = ["colour_r", "colour_g", "size_s", "size_m", "mass"]
    assert choose_units(families(), names, (), None).names == ("colour", "size", "mass")
