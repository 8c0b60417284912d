"""Arrays whose every bit is known: equal tables have one hash, others are refused."""

import io

import numpy as np
import pytest

from partita.datasets._fetch_limits import FetchError
from partita.datasets._image_data import array_sha256
from partita.datasets._known_arrays import KnownArrays, canonical


def test_equal_numbers_are_equal_bytes():
    other_nan = np.array([0xFFC00001], dtype=np.uint32).view(np.float32)
    first = canonical(np.array([0.0, np.nan, 0.1]))
    second = canonical(np.concatenate([np.float32([-0.0]), other_nan, np.float32([0.1])]))
    assert array_sha256(first) == array_sha256(second)
    assert first.dtype == np.float32


def test_what_is_cached_comes_back_and_a_changed_number_is_noticed():
    arrays = {"X": np.arange(6, dtype=np.float32).reshape(2, 3)}
    known = KnownArrays("numbers", {"X": array_sha256(arrays["X"])})
    found = known.decode(io.BytesIO(known.encode(arrays)))
    known.check(found)
    assert known.file_name == "numbers.npz"
    found["X"][1, 2] += 1e-6
    with pytest.raises(FetchError, match="the sha256 of X differs"):
        known.check(found)
