"""What a known image data set must be, bit for bit."""

import io

import numpy as np
import pytest

from partita.datasets import _mnist
from partita.datasets._fetch_limits import FetchError
from partita.datasets._image_data import array_sha256

from .made_data import Touch, make_images, same_images

ARRAYS, KNOWN = make_images(_mnist.MNIST, (20, 6))


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
