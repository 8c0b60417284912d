"""Pickled frames, read without running what they name."""

import pickle

import numpy as np
import pytest

from partita.datasets import _ames
from partita.datasets._fetch_limits import FetchError
from partita.datasets._pandas_pickle import frame_columns
from partita.datasets._unpack import unxz

from .made_data import Touch


def test_the_columns_of_a_frame_as_the_package_has_it():
    columns = frame_columns(unxz(_ames.SOURCE.installed().read_bytes(), 2**24))
    assert len(columns) == 83
    assert {len(values) for values in columns.values()} == {2930}
    assert columns["price"].dtype.kind in "if"
    assert set(columns["Street"]) == {"Pave", "Grvl"}


def test_no_code_in_a_pickle_is_run(tmp_path):
    with pytest.raises(FetchError, match="which is no part of a table"):
        frame_columns(pickle.dumps(Touch(tmp_path / "ran")))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x05", pickle.dumps({"a": 1}), pickle.dumps(np.dtype(float))]
)
def test_what_is_no_table_is_refused(content):
    with pytest.raises(FetchError, match="not a pickled table"):
        frame_columns(content)
