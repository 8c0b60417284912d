"""Images in PNG sheets, labels in JSON."""

import sys

import numpy as np
import pytest

from partita import MissingExtraError
from partita.datasets._fetch_limits import FetchError
from partita.datasets._png_sheets import read_labels, read_sheet

from .made_data import cifar_sheets

ARRAYS = {
    "X_train": np.random.default_rng(0).integers(256, size=(10, 3072), dtype=np.uint8),
    "y_train": np.arange(10),
    "X_test": np.zeros((3, 3072), np.uint8),
    "y_test": np.arange(3),
}
FILES = cifar_sheets(ARRAYS)
SHEET = FILES["package/data_batch_2.png"]


def test_images_come_back_row_by_row():
    found = read_sheet(SHEET, "data_batch_2", 2, (32, 32, 3))
    assert np.array_equal(found, ARRAYS["X_train"][2:4])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no picture", "s is not a valid PNG file"),
        (SHEET[:3000], "s is not a valid PNG file"),
        (FILES["package/test_batch.png"], "s is not an RGB sheet of 1024 x 2 pixels"),
    ],
)
def test_bad_sheets_are_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_sheet(content, "s", 2, (32, 32, 3))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2", "l is not valid JSON"),
        (b"[" * 100_000, "l is not valid JSON"),
        (b"[1, 2, 10]", "l is not a list of labels from 0 to 9"),
        (b"[1, true]", "l is not a list of labels"),
        (b'{"a": 1}', "l is not a list of labels"),
    ],
)
def test_bad_labels_are_refused(content, message):
    with pytest.raises(FetchError, match=message):
        read_labels(content, "l", 10)


def test_labels_are_int64():
    assert read_labels(b"[0, 9]", "l", 10).dtype == np.int64


def test_pillow_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image", raising=False)
    with pytest.raises(
        MissingExtraError,
        match="reading CIFAR10 from PNG sheets needs PIL, which is not installed: pip install "
        "pillow",
    ):
        read_sheet(SHEET, "s", 2, (32, 32, 3))
