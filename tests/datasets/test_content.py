"""What loaders return, and what a known data set must be, bit for bit."""

import io

import numpy as np
import pytest

from partita import InputError
from partita.datasets import TableData, _images
from partita.datasets._content import FetchError, KnownTable, array_sha256, canonical
from partita.datasets._fetch import read_cached, write_cached

from .made_data import Touch, known_arrays, make_images, same_images

ARRAYS, MADE = make_images(_images.MNIST, (20, 6))
KNOWN = MADE.known


def test_the_known_bits_survive_a_file():
    KNOWN.check(ARRAYS)
    again = KNOWN.decode(io.BytesIO(KNOWN.encode(ARRAYS)))
    KNOWN.check(again)
    data = KNOWN.to_data(again)
    assert same_images(data, ARRAYS)
    assert (data.name, data.image_shape, len(data.classes)) == ("mnist", (28, 28, 1), 10)
    assert len(KNOWN.encode(ARRAYS)) < KNOWN.most_bytes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_test": np.zeros((6, 784), np.uint8)}, "the sha256 of X_test differs from that of the"),
        (
            {"y_train": np.arange(20, dtype=np.int32)},
            r"y_train is int32 of shape \(20,\), not int64",
        ),
        ({"X_train": ARRAYS["X_train"][:, :-1]}, r"X_train is uint8 of shape \(20, 783\), not"),
    ],
)
def test_other_bits_are_refused(change, message):
    with pytest.raises(FetchError, match=message):
        KNOWN.check(ARRAYS | change)


def test_an_array_that_is_absent_is_named():
    with pytest.raises(FetchError, match="y_test is not in it"):
        KNOWN.check({name: values for name, values in ARRAYS.items() if name != "y_test"})


def test_no_code_in_a_file_is_run(tmp_path):
    content = io.BytesIO()
    hostile = np.array([Touch(tmp_path / "ran")] * 6, dtype=object)
    np.savez(content, **(ARRAYS | {"y_test": hostile}))
    content.seek(0)
    with pytest.raises(ValueError, match="pickle"):
        KNOWN.decode(content)
    assert not (tmp_path / "ran").exists()


def test_a_hash_does_not_depend_on_the_layout_or_the_machine():
    values = np.arange(12, dtype="<i8").reshape(3, 4)
    assert array_sha256(values) == array_sha256(np.asfortranarray(values))
    assert array_sha256(values) == array_sha256(values.astype(">i8"))


# ---- tables ----


def test_equal_numbers_are_equal_bytes():
    other_nan = np.array([0xFFC00001], dtype=np.uint32).view(np.float32)
    first = canonical(np.array([0.0, np.nan, 0.1]))
    second = canonical(np.concatenate([np.float32([-0.0]), other_nan, np.float32([0.1])]))
    assert array_sha256(first) == array_sha256(second)
    assert first.dtype == np.float32


def test_numbers_survive_a_file_and_a_changed_one_is_noticed():
    arrays = {"X": np.arange(6, dtype=np.float32).reshape(2, 3)}
    known = known_arrays("numbers", arrays)
    found = known.decode(io.BytesIO(known.encode(arrays)))
    known.check(found)
    assert known.file_name == "numbers.npz"
    found["X"][1, 2] += 1e-6
    with pytest.raises(FetchError, match="the sha256 of X differs"):
        known.check(found)


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values.view(np.int32),
        lambda values: values.view(np.uint8),
        lambda values: values.reshape(3, 2),
        lambda values: values.reshape(-1),
        lambda values: values[None],
        lambda values: values.view("S4"),
    ],
)
def test_the_same_bytes_as_other_numbers_are_refused(change, cache):
    """A file in the cache could otherwise show a known hash and hold another table."""
    arrays = {"X": np.arange(6, dtype=np.float32).reshape(2, 3)}
    known = known_arrays("numbers", arrays)
    write_cached(cache, known, {"X": change(arrays["X"])})
    assert read_cached(cache, known) is None
    write_cached(cache, known, arrays)
    assert np.array_equal(read_cached(cache, known)["X"], arrays["X"])


def test_a_known_table_is_what_its_hash_says():
    with pytest.raises(FetchError, match="the sha256 of its content differs"):
        KnownTable("known", "0" * 64).check(b"a,b\n1,2\n")


def table(**settings):
    return TableData("made", None, np.zeros(1), None, np.zeros(1), "y", **settings)


def test_bounds_of_a_tolerance():
    lower, upper = table(tolerance=3.0).bounds([-1.5, 20])
    assert (lower.tolist(), upper.tolist()) == ([-4.5, 17], [1.5, 23])


def test_bounds_of_a_share_of_the_price():
    price = np.array([12_789.0, 100_000.0, 755_000.0])
    lower, upper = table(relative=0.15).bounds(np.log1p(price))
    assert np.allclose(np.expm1(lower), 0.85 * price, rtol=1e-12)
    assert np.allclose(np.expm1(upper), 1.15 * price, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1.0], "made says nothing of a tolerance: give lower and upper"),
        ({"tolerance": 3.0}, [1.0, np.nan], "y must hold finite numbers"),
        ({"relative": 0.15}, [12.0, -3.0], "y holds a number below 0, which is log1p of no price"),
    ],
)
def test_bounds_that_cannot_be(settings, y, message):
    with pytest.raises(InputError, match=message):
        table(**settings).bounds(y)
