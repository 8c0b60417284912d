"""Tables of canonical cells, and their hashes."""

import numpy as np
import pandas as pd
import pytest

from partita import InputError
from partita.baselines._row_partition import (
    CanonicalRows,
    bucket_of,
    canonical_column,
    constant_labels,
    encode_rows,
    labels_of,
)


def test_hashes_are_the_same_on_every_machine():
    rows = CanonicalRows(pd.DataFrame({"a": [1, 2], "b": ["x", None]}))
    digests = rows.digests(labels_of(["yes", "no"]), 7)
    assert [digest.hex()[:16] for digest in digests] == ["b7c275d6f7a32b4e", "1a25f556257d04a8"]
    assert rows.digests(labels_of(["yes", "no"]), 8) != digests
    assert rows.digests(labels_of(["yes", "yes"]), 7)[1] != digests[1], (
        "the label is part of the row"
    )


def test_many_rows_are_dealt_evenly():
    X = np.arange(4000.0).reshape(-1, 1)  # more than a block
    sizes = np.bincount(
        [
            bucket_of(digest, 10)
            for digest in CanonicalRows(X).digests(labels_of(np.zeros(4000)), 0)
        ],
        minlength=10,
    )
    assert sizes.min() > 320
    assert sizes.max() < 480


def test_texts_that_look_like_numbers_stay_texts():
    rows = [["1", 1], ["2", 2], ["3", 3], ["4", 4]]
    alone = [next(encode_rows([canonical_column([cell]) for cell in row])) for row in rows]
    assert alone == list(encode_rows(CanonicalRows(rows).columns))
    assert list(encode_rows(CanonicalRows([*rows, ["x", 5]]).columns))[:4] == list(
        encode_rows(CanonicalRows(rows).columns)
    )


def test_labels_and_classes_are_read_cell_by_cell():
    assert labels_of([1, 1.0, True, np.int8(1), "1", None])[:5].tolist() == [1.0] * 4 + ["1"]
    classes, positions = constant_labels([2.0, 0, 1])
    assert classes.tolist() == [0, 1, 2]
    assert positions == {0.0: 0, 1.0: 1, 2.0: 2}
    with pytest.raises(InputError, match="the target y is None"):
        labels_of(None)


def test_a_column_s_type_depends_on_the_rows_taken():
    rows = CanonicalRows(pd.DataFrame({"a": [1, 2, "x"]}))
    assert rows.take(np.array([0, 1]))["a"].dtype == float
    assert rows.take()["a"].tolist() == [1.0, 2.0, "x"]
