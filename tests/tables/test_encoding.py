"""Columns as numbers, each encoded on its own."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from partita import InputError
from partita.tables import open_file
from partita.tables._masking import mask_columns
from partita.tables._table import (
    MOST_CATEGORIES,
    NUMBER,
    apply_codes,
    encode_alone,
    learn_codes,
    table_columns,
)

BIG = 2**53 + 1  # the first whole number that a float cannot hold: it becomes 2**53


def words(*values):
    return np.array(values, dtype=object)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "parquet", "csv"])
def test_a_missing_value_changes_no_large_integer_of_its_column(kind, missing, tmp_path):
    """As a float it is the nearest one, with a missing value elsewhere in the column or without."""
    values = [BIG, 5, None if missing else 7, -BIG - 2]
    if kind == "pandas":
        column = table_columns(pd.DataFrame({"n": pd.array(values, dtype="Int64")}))[0]
    elif kind == "polars":
        column = table_columns(pl.DataFrame({"n": pl.Series(values, dtype=pl.Int64)}))[0]
    elif kind == "pyarrow":
        column = table_columns(pa.table({"n": pa.array(values, pa.int64())}))[0]
    else:
        path = tmp_path / f"t.{kind}"
        if kind == "parquet":
            pq.write_table(pa.table({"n": pa.array(values, pa.int64())}), path)
        else:
            path.write_text(
                "n,m\n" + "".join(f"{'' if value is None else value},1\n" for value in values)
            )
        column = open_file(path).table({"n": NUMBER}).take([0])["n"].to_numpy()
        again = open_file(path, kinds={"n": NUMBER}).table({"n": NUMBER}).take([0])["n"].to_numpy()
        assert np.array_equal(column, again, equal_nan=True)
    expected = [float(2**53), 5.0, np.nan if missing else 7.0, -float(2**53 + 4)]
    assert np.array_equal(column, expected, equal_nan=True)


ARROW = {"int64": pa.int64(), "uint64": pa.uint64(), "decimal": pa.decimal128(30, 0)}


def tables_of(values, kind):
    """One column of whole numbers in every table that can hold them."""
    arrow = pa.array([None if v is None else Decimal(v) for v in values], ARROW["decimal"])
    if kind != "decimal":
        arrow = pa.array(values, ARROW[kind])
        plain = pd.array(values, dtype={"int64": "Int64", "uint64": "UInt64"}[kind])
        yield pd.DataFrame({"n": plain})
        yield pd.DataFrame({"n": pd.Categorical(plain)})
        if None not in values:
            yield pd.DataFrame({"n": np.array(values, dtype=kind)})
            yield np.array(values, dtype=kind)[:, None]
    yield pa.table({"n": arrow})
    yield pa.table({"n": pa.chunked_array([arrow[:1], arrow[1:]])})
    yield pl.DataFrame({"n": pl.from_arrow(arrow)})
    yield pd.DataFrame(
        {"n": pd.Series(pd.array(arrow.to_pylist(), dtype=pd.ArrowDtype(arrow.type)))}
    )
    yield pd.DataFrame({"n": pd.Series(arrow.to_pylist(), dtype=object)})
    yield np.array(arrow.to_pylist(), dtype=object)[:, None]


@pytest.mark.parametrize("kind", ARROW)
def test_whole_numbers_of_any_size_are_the_nearest_floats_in_every_table(kind):
    rng, tried = np.random.default_rng(0), 0
    for _ in range(60):
        low = int(rng.integers(-99, 99))
        if kind == "int64":
            values = (2 ** int(rng.integers(50, 63)) * rng.choice([1, -1], 4)).tolist()
            values = [value + low for value in values]
        else:
            most = 64 if kind == "uint64" else 90
            values = [2 ** int(bits) - 100 + low for bits in rng.integers(50, most + 1, 4)]
        values += [None] * int(rng.integers(2))
        expected = [np.nan if value is None else float(value) for value in values]
        for table in tables_of(values, kind):
            (column,) = table_columns(table)
            floats = apply_codes(column, None)
            if kind == "decimal" and not isinstance(table, np.ndarray):
                assert np.allclose(floats, expected, rtol=1e-15, equal_nan=True)
            else:
                assert np.array_equal(floats, expected, equal_nan=True)
            seen = mask_columns(table, [], [True])
            if not isinstance(seen, np.ndarray):
                (again,) = table_columns(seen)
                assert np.array_equal(apply_codes(again, None), floats, equal_nan=True)
            tried += 1
    assert tried > 300


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_times_and_durations_are_numbers(library):
    frame = library(
        {
            "time": [datetime.datetime(1970, 1, 1, 0, 0, 1), None],
            "duration": [datetime.timedelta(seconds=2), None],
        }
    )
    time, duration = table_columns(frame)
    assert np.array_equal(time, [1000.0, np.nan], equal_nan=True)
    assert np.array_equal(duration, [2000.0, np.nan], equal_nan=True)


def test_arrays_of_numbers_and_of_objects():
    assert [column.tolist() for column in table_columns(np.array([[1, 2], [3, 4]]))] == [
        [1.0, 3.0],
        [2.0, 4.0],
    ]
    numbers, texts = table_columns(np.array([[1, "a"], [2, "b"]], dtype=object))
    assert (numbers.tolist(), texts.tolist()) == ([1, 2], ["a", "b"])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        table_columns(scipy.sparse.csr_array([[1.0]]))


def test_codes_are_those_of_training_whatever_the_batch_holds():
    codes = learn_codes(words("b", "a", "b", None))
    assert codes == {"b": 0, "a": 1}  # the most frequent first
    found = apply_codes(words("a", "new", None, "b"), codes)
    assert np.array_equal(found, [1.0, np.nan, np.nan, 0.0], equal_nan=True)


def test_rare_categories_beyond_the_bins_count_as_missing():
    values = [f"v{k:03d}" for k in range(MOST_CATEGORIES + 5)] * 2 + ["v258"]
    codes = learn_codes(words(*values))
    assert len(codes) == MOST_CATEGORIES
    assert codes["v258"] == 0
    assert np.isnan(apply_codes(words("v257"), codes)[0])


def test_a_category_has_one_name_whatever_type_a_batch_gives_it():
    codes = learn_codes(words(1, True, "x", 2.5, 1.0, np.int64(1), np.float32(1)))
    assert codes == {"1": 0, "2.5": 1, "x": 2}
    assert apply_codes(words("1", 1.0, np.bool_(True)), codes).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("other", [1.0, True, Decimal("1.0"), np.str_("a"), b"a", float("nan")])
def test_a_text_has_the_same_code_whatever_stands_beside_it(other):
    """Columns of texts alone are encoded in another way than mixed ones."""
    column = words("b", "a", None, "1", "a", "a\0", "")
    codes = learn_codes(column)
    assert codes == {"a": 0, "": 1, "1": 2, "a\0": 3, "b": 4}
    alone = apply_codes(column, codes)
    assert np.array_equal(alone, [4, 0, np.nan, 2, 0, 3, 1], equal_nan=True)
    beside = apply_codes(words(*column, other), codes)
    assert np.array_equal(beside[:-1], alone, equal_nan=True)


def test_a_word_where_training_had_numbers_is_named():
    assert learn_codes(words(1, 2.5, None)) is None
    with pytest.raises(InputError, match="row 2 holds 'many' where training had numbers"):
        apply_codes(words(1, None, "many"), None)


def test_a_column_without_values_in_training_ignores_whatever_comes_later():
    codes = learn_codes(words(None, None))
    assert codes == {}
    assert np.isnan(apply_codes(words("a", 1.0, None), codes)).all()


def test_one_column_alone_has_no_missing_values_and_no_infinities():
    values, are_codes = encode_alone(np.array([1.0, np.nan, 3.0, np.inf]))
    assert values.tolist() == [1.0, 3.0, 3.0, 1e300]
    assert not are_codes
    values, are_codes = encode_alone(words("a", None, "a", "b"))
    assert values.tolist() == [0.0, -1.0, 0.0, 1.0]
    assert are_codes
    assert encode_alone(np.array([np.nan, np.nan]))[0].tolist() == [-1.0, -1.0]
