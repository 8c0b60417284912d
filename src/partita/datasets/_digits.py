"""scikit-learn's handwritten digits, 8 x 8: they come with the library, nothing is downloaded."""

import numpy as np

from ._image_data import ImageData

FACTOR = 15  # 0..16 becomes 0..240: whole numbers, and different values stay different
TEST_ROWS = 360  # a fifth


def load_digits() -> ImageData:
    """Load 1,437 and 360 handwritten digits of 8 x 8 grey values.

    They come with scikit-learn and are always split in the same way.

    Returns
    -------
    ImageData
        Images as rows, labels, and the images' shape.

    See Also
    --------
    load_mnist : Larger ones, which are downloaded.

    Examples
    --------
    >>> from partita.datasets import load_digits
    >>> data = load_digits()
    >>> data.X_train.shape, data.X_test.shape, data.image_shape
    ((1437, 64), (360, 64), (8, 8, 1))
    """
    from sklearn.datasets import load_digits as sklearn_digits

    X, y = sklearn_digits(return_X_y=True)
    images = np.minimum(X * FACTOR, 255).astype(np.uint8)
    test = np.zeros(len(y), dtype=bool)
    # RandomState: numpy promises that its numbers never change
    test[np.random.RandomState(0).permutation(len(y))[:TEST_ROWS]] = True
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
