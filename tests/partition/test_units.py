"""Units of images and of one-hot columns."""

import pickle

import pytest

from partita import InputError, Units, families, pixels


def test_a_submodel_sees_the_columns_of_its_units_and_the_trusted_ones():
    units = Units(((4, 0), (1,), (3,)), ("a", "b", "c"), "units", trusted=(2,))
    assert len(units) == 3
    assert units.columns_of([0, 2]) == [0, 2, 3, 4]
    assert units.columns_of([]) == [2]


def test_a_pixel_is_a_unit_with_all_its_channels():
    units = pixels((2, 3, 2))
    assert len(units) == 6
    assert units.kind == "pixels"
    assert units.columns[4] == (8, 9)
    assert units.names[4] == "pixel (1, 1)"


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 0), (8, 8, 1.0), (8, 8, "1"), ()])
def test_a_shape_that_is_no_image_is_refused(shape):
    with pytest.raises(InputError, match=r"image_shape is .*: give \(height, width, channels\)"):
        pixels(shape)


@pytest.mark.parametrize("separator", ["_", "="])
def test_one_hot_columns_stay_with_their_raw_column(separator):
    names = [
        f"job{separator}blue_collar",
        f"job{separator}retired",
        f"job{separator}self{separator}employed",
        "age",
        f"{separator}hidden",
    ]
    expected = ["job", "job", "job", "age", f"{separator}hidden"]
    assert [families(separator)(name) for name in names] == expected


def test_raw_names_decide_where_they_are_given():
    unit_of = families(names=["capital_gain", "marital_status", "job"])
    columns = [
        "capital_gain",
        "marital_status_single",
        "job_blue_collar",
        "capital_loss",
        "jobless",
    ]
    expected = ["capital_gain", "marital_status", "job", "capital_loss", "jobless"]
    assert [unit_of(column) for column in columns] == expected
    with pytest.raises(InputError, match="names has 'job' and 'job_type'"):
        families(names=["job", "job_type"])
    with pytest.raises(InputError, match="names is 'job': give a list"):
        families(names="job")


def test_families_can_be_stored():
    for unit_of in (families("_"), families(names=["colour"])):
        assert pickle.loads(pickle.dumps(unit_of))("colour_red") == "colour"
