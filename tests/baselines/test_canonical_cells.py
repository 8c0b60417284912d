"""Cells in canonical form: the same whatever type holds them, and never confused with another."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita.baselines._row_partition import (
    canonical,
    canonical_column,
    encode_rows,
    series_cells,
)

SAME = [
    [
        1,
        1.0,
        True,
        np.int8(1),
        np.uint64(1),
        np.float32(1),
        np.bool_(True),
        Decimal(1),
        1 + 0j,
        np.complex64(1),
    ],
    [0.0, -0.0, 0, False, np.float32(-0.0), Decimal("-0")],
    [
        None,
        math.nan,
        np.nan,
        -math.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        Decimal("nan"),
    ],
    [2**53, 2**53 + 1, float(2**53), np.int64(2**53 + 1)],
    [10**400, math.inf, 10**999, np.float64("inf")],
    ["a", np.str_("a"), b"a", np.bytes_(b"a")],
    [
        date(2026, 1, 31),
        datetime(2026, 1, 31),
        datetime(2026, 1, 31, tzinfo=UTC),
        datetime(2026, 1, 31, 2, tzinfo=timezone(timedelta(hours=2))),
        pd.Timestamp("2026-01-31"),
        pd.Timestamp("2026-01-31").as_unit("s"),
        pd.Timestamp("2026-01-31 01:00", tz="Europe/Berlin"),
        np.datetime64("2026-01-31"),
        np.datetime64("2026-01-31", "ns"),
        np.datetime64("2026-01-31", "h"),
    ],
    [
        timedelta(seconds=90, microseconds=1),
        pd.Timedelta("90s") + pd.Timedelta("1us"),
        np.timedelta64(90000001, "us"),
    ],
]
OTHERS = [
    2,
    0.1,
    np.float32(0.1),
    -math.inf,
    "",
    "nan",
    "1",
    "A",
    "ab",
    "\ud800",
    "é",
    "e\u0301",
    1e-320,
    [1],
    (1,),
    {},
    object(),
    time(1),
]


def encoding(*cells):
    return next(encode_rows([canonical_column([cell]) for cell in cells]))


def test_a_cell_is_read_by_itself():
    groups = [{encoding(cell) for cell in group} for group in SAME] + [
        {encoding(cell)} for cell in OTHERS
    ]
    assert [len(group) for group in groups] == [1] * len(groups)
    assert len(set.union(*groups)) == len(groups), "what differs has another encoding"
    assert encoding(pd.Timestamp("2026-01-31 00:00:00.25")) == encoding(
        np.datetime64("2026-01-31T00:00:00.250", "ms")
    )
    assert encoding(pd.Timestamp("1969-12-31 23:59:59.5")) == encoding(-0.5)
    assert canonical(datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))) == "<datetime>"


def test_rows_that_differ_do_not_look_the_same():
    rows = [
        ("a", "bc"),
        ("ab", "c"),
        ("abc", ""),
        ("", "abc"),
        ("a", None, "bc"),
        (None, "abc"),
        ("abc", None),
        ("abc",),
    ]
    rows += [
        (1, "a"),
        ("1", "a"),
        (1.5, 2),
        (2, 1.5),
        (None, 0),
        (0, None),
        ("n" + "\0" * 8,),
        (0,),
        ("t", "t"),
        ("tt",),
    ]
    rows += [("a\0", "b"), ("a", "\0b"), ("at", "b"), ("a", "tb"), ("-",), (None,), (None, None)]
    assert len({encoding(*row) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "dtype", [np.int64, np.uint64, np.int8, np.float64, np.float32, np.float16, bool]
)
def test_a_column_of_numbers_is_read_as_its_cells_are(dtype):
    values = np.array([0, 1, -0.0, 3, 100, 2]).astype(dtype)
    if dtype in (np.int64, np.uint64):
        values = np.append(values, np.array([2**53 + 1, 2**62 + 3, 2**63 - 1], dtype=dtype))
    if np.dtype(dtype).kind == "f":
        values = np.append(values, np.array([np.nan, -np.nan, np.inf, 0.1, -1e-8], dtype=dtype))
    slow = [encoding(value) for value in values]
    assert list(encode_rows([canonical_column(values)])) == slow
    assert list(encode_rows([canonical_column(values.astype(object))])) == slow
    mixed = np.append(values.astype(object), "text")
    assert list(encode_rows([canonical_column(mixed)]))[:-1] == slow


def test_integers_that_no_float_is_equal_to_are_read_as_cells_in_every_library():
    values = [2**53 + 1, -(2**62) - 3, 2**63 - 1, 5]
    slow = [encoding(value) for value in values]
    for column in (
        pd.Series(values),
        pd.Series(values, dtype=pd.ArrowDtype(pa.int64())),
        pl.Series(values),
        pa.chunked_array([values]),
    ):
        cells = series_cells(nw.from_native(column, series_only=True))
        assert list(encode_rows([canonical_column(cells)])) == slow
