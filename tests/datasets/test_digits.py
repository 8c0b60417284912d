"""scikit-learn's digits."""

import numpy as np
from sklearn.datasets import load_digits as sklearn_digits

from partita.datasets import load_digits
from partita.datasets._image_data import array_sha256


def test_every_image_is_there_once_with_its_label():
    data = load_digits()
    assert data.image_shape == (8, 8, 1)
    assert (data.X_train.shape, data.X_test.shape) == ((1437, 64), (360, 64))
    assert (data.X_train.dtype, data.y_train.dtype) == (np.uint8, np.int64)
    assert np.array_equal(np.unique(data.X_train), np.arange(17) * 15)
    X, y = sklearn_digits(return_X_y=True)
    images = np.vstack([data.X_train, data.X_test]) / 15
    both = np.column_stack([images, np.concatenate([data.y_train, data.y_test])])
    assert sorted(map(tuple, both)) == sorted(map(tuple, np.column_stack([X, y])))


def test_the_split_never_changes():
    data = load_digits()
    assert np.bincount(data.y_test, minlength=10).min() >= 25
    digest = "2a8b60a5547a121d585bbe67a84ccc6559f7483a36dbfc8117ae50d261401669"
    assert array_sha256(data.X_test) == digest
