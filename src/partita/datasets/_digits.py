"""scikit-learn's handwritten digits, 8 x 8: they come with the library, so nothing is fetched."""

import numpy as np

from ._image_set import ImageData

FACTOR = 15  # 0..16 becomes 0..240: whole numbers, and different values stay different
TEST_ROWS = 360  # a fifth


def load_digits() -> ImageData:
    """1,437 and 360 handwritten digits of 8 x 8 grey values, always split in the same way."""
    from sklearn.datasets import load_digits as sklearn_digits

    X, y = sklearn_digits(return_X_y=True)
    images = np.minimum(X * FACTOR, 255).astype(np.uint8)
    test = np.zeros(len(y), dtype=bool)
    test[np.random.RandomState(0).permutation(len(y))[:TEST_ROWS]] = (
        True  # RandomState: numpy promises that its numbers never change
    )
    labels = y.astype(np.int64)
    return ImageData(
        "digits",
        images[~test],
        labels[~test],
        images[test],
        labels[test],
        (8, 8, 1),
        tuple("0123456789"),
    )
