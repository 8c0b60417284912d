"""A masked column keeps nothing: tables that differ only there are the same to the last bit."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from partita import InputError
from partita.tables import open_table
from partita.tables._masking import MaskedColumns, draw_masks, mask_columns, stack_rows

N = 6


def columns(word, number):
    """What a column of every type holds, from a word and a number."""
    return {
        "whole": np.arange(N) * number,
        "unsigned": np.arange(N, dtype=np.uint8) + number,
        "float": np.arange(N) / number,
        "small": np.arange(N, dtype=np.float32) / number,
        "truth": np.arange(N) % number == 0,
        "text": [f"{word}{k}" for k in range(N)],
        "objects": [word, number, None, 1.5, (number,), word],
        "category": pd.Categorical([word, None, "z", "z", word, word]),
        "ordered": pd.Categorical([word, "z"] * 3, categories=["z", word], ordered=True),
        "numbered": pd.Categorical([number, 77] * 3),
        "date": pd.date_range(f"200{number}-01-01", periods=N),
        "zoned": pd.date_range(f"200{number}-01-01", periods=N, tz="UTC"),
        "span": pd.to_timedelta(np.arange(N) * number, unit="s"),
        "nullable": pd.array([None, *range(N - 1)], dtype="Int64") * number,
        "maybe": pd.array([None, number == 3, True] * 2, dtype="boolean"),
        "arrow": pd.array([None, *range(N - 1)], dtype="int32[pyarrow]") * number,
        "string": pd.array([word, None] * 3, dtype="string"),
    }


NAMES = list(columns("a", 2))
CATEGORIES = ("category", "ordered", "numbered")
INDEX = [3, 3, 1, "x", 3, 0]


def frame(masked_only=(), word="apple", number=2):
    """A table of every type; the columns ``masked_only`` hold another word and number."""
    other = columns("a much longer word", 3)
    own = columns(word, number)
    return pd.DataFrame(
        {name: other[name] if name in masked_only else own[name] for name in NAMES}
    ).set_axis(INDEX, axis=0)


def assert_same(first, second):
    """The same to the last bit: values, types and their categories, index, names."""
    pd.testing.assert_frame_equal(first, second, check_exact=True, check_column_type=True)
    for name in first.columns:
        assert first[name].dtype == second[name].dtype
        if isinstance(first[name].dtype, pd.CategoricalDtype):
            pair = first[name].dtype.categories, second[name].dtype.categories
            pd.testing.assert_index_equal(*pair, exact=True)
        if first[name].dtype == float:
            assert first[name].to_numpy().tobytes() == second[name].to_numpy().tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_pandas_keeps_nothing_of_a_masked_column(name):
    honest, attacked = frame(), frame(masked_only=[name])
    numeric = open_table(honest).numeric()
    masked = mask_columns(honest, [NAMES.index(name)], numeric)
    assert_same(masked, mask_columns(attacked, [NAMES.index(name)], numeric))
    assert masked[name].isna().all()
    unmasked = mask_columns(honest, [], numeric)
    assert_same(masked.drop(columns=name), unmasked.drop(columns=name))
    assert list(masked.index) == INDEX
    assert list(masked.columns) == NAMES
    if name not in CATEGORIES:
        assert masked[name].dtype == unmasked[name].dtype


@pytest.mark.parametrize("kind", ["pandas", "array"])
def test_an_estimator_that_works_in_place_changes_no_other_table(kind):
    own = frame() if kind == "pandas" else np.arange(12.0).reshape(6, 2)
    numeric = open_table(own).numeric()
    rows = MaskedColumns(own, numeric)
    honest = [rows.masked([0]), rows.masked([])]
    for table in (rows.masked([0]), rows.masked([])):
        if kind == "array":
            table[:] = 7
            continue
        for column in ("whole", "float", "nullable"):
            values = table[column].to_numpy()
            values.setflags(write=True)
            values.fill(7.0)
        table.loc[:, ["text", "objects"]] = "x"
    again = [rows.masked([0]), rows.masked([])]
    for before, after in zip(honest, again, strict=True):
        if kind == "array":
            assert np.array_equal(before, after, equal_nan=True)
        else:
            assert_same(before, after)


def test_all_columns_at_once_and_none():
    honest, attacked = frame(), frame(masked_only=NAMES)
    numeric = open_table(honest).numeric()
    everything = range(len(NAMES))
    masked = mask_columns(honest, everything, numeric)
    assert_same(masked, mask_columns(attacked, everything, numeric))
    assert masked.isna().all(axis=None)
    unmasked = mask_columns(honest, [], numeric)
    assert unmasked["text"].tolist() == honest["text"].tolist()
    assert unmasked["category"].dtype == honest["category"].dtype
    floats = [name for name, is_number in zip(NAMES, numeric, strict=True) if is_number]
    assert floats == ["whole", "unsigned", "float", "small", "truth", "nullable", "maybe", "arrow"]
    assert (unmasked[floats].dtypes == np.float64).all()
    for name in floats:
        expected = honest[name].astype("Float64").to_numpy(np.float64, na_value=np.nan)
        assert np.array_equal(unmasked[name].to_numpy(), expected, equal_nan=True)


@pytest.mark.parametrize("cells", [["n/a", *range(N - 1)], [10**400] * N, [[1], {}, None] * 2])
def test_what_a_column_of_numbers_holds_now_does_not_show(cells):
    """One text makes objects of a pandas column; a member that leaves it out must not notice."""
    honest, attacked = frame(), frame()
    numeric = open_table(honest).numeric()
    attacked["whole"] = pd.Series(cells, index=attacked.index, dtype=object)
    attacked["float"] = pd.Categorical(["n/a"] * N)
    both = [NAMES.index("whole"), NAMES.index("float")]
    assert_same(mask_columns(honest, both, numeric), mask_columns(attacked, both, numeric))
    seen = mask_columns(attacked, [], numeric)
    assert seen["whole"].tolist() == cells


def test_labels_that_are_no_strings():
    honest = frame().set_axis([*range(5), "a", *range(6, len(NAMES))], axis=1)
    numeric = open_table(honest).numeric()
    masked = mask_columns(honest, [0, 7], numeric)
    assert list(masked.columns) == list(honest.columns)
    assert masked[0].isna().all()
    assert masked[7].isna().all()
    assert not masked["a"].isna().any()


def test_categories_stay_where_they_are_trusted():
    honest = frame()
    numeric = open_table(honest).numeric()
    masked = mask_columns(honest, range(len(NAMES)), numeric, keep_categories=True)
    for name in CATEGORIES:
        assert masked[name].dtype == honest[name].dtype
        assert masked[name].isna().all()


def polars_frame(word, number):
    return pl.DataFrame(
        {
            "whole": np.arange(N) * number,
            "float": [None, *(np.arange(N - 1) / number)],
            "truth": [None, number == 2] * 3,
            "text": [f"{word}{k}" for k in range(N)],
            "category": pl.Series([word, "z"] * 3, dtype=pl.Categorical),
            "fixed": pl.Series(["x", "y" if number == 2 else "x"] * 3, dtype=pl.Enum(["x", "y"])),
            "date": pl.Series([f"200{number}-01-01"] * N).str.to_date(),
            "decimal": pl.Series([Decimal(f"{number}.50")] * N),
            "list": [[number]] * N,
            "objects": pl.Series([(word,)] * N, dtype=pl.Object),
        }
    )


@pytest.mark.parametrize("position", range(10))
def test_polars_keeps_nothing_of_a_masked_column(position):
    honest = polars_frame("apple", 2)
    other = polars_frame("a much longer word", 3)
    attacked = honest.with_columns(other[:, position])
    numeric = open_table(honest).numeric()
    assert numeric == [name in ("whole", "float", "truth", "decimal") for name in honest.columns]
    if pl.__version__.startswith("1.20.") and honest.columns[position] == "objects":
        pytest.skip("polars 1.20 cannot shift objects")
    masked = mask_columns(honest, [position], numeric)
    again = mask_columns(attacked, [position], numeric)
    assert masked.schema == again.schema
    own = masked[:, position].to_list()
    assert all(cell is None or np.isnan(cell) for cell in own)
    assert repr(own) == repr(again[:, position].to_list())
    comparable = [name for name in honest.columns if name != "objects"]
    assert masked[comparable].equals(again[comparable])
    unmasked = mask_columns(honest, [], numeric)
    assert masked.schema == unmasked.schema
    others = [name for name in comparable if name != honest.columns[position]]
    assert masked[others].equals(unmasked[others])


def arrow_table(word, number):
    return pa.table(
        {
            "whole": np.arange(N) * number,
            "truth": pa.array([None, number == 2] * 3),
            "text": [f"{word}{k}" for k in range(N)],
            "category": pa.array([word, "z"] * 3).dictionary_encode(),
            "time": pa.array(np.arange(N) * number, pa.timestamp("ms")),
            "decimal": pa.array([number] * N, pa.decimal128(5)),
            "nothing": pa.nulls(N),
        }
    )


@pytest.mark.parametrize("position", range(7))
def test_pyarrow_keeps_nothing_of_a_masked_column(position):
    honest, other = arrow_table("apple", 2), arrow_table("a much longer word", 3)
    attacked = honest.set_column(position, honest.field(position), other.column(position))
    numeric = open_table(honest).numeric()
    masked = mask_columns(honest, [position], numeric)
    again = mask_columns(attacked, [position], numeric)
    assert masked.schema == again.schema
    assert masked.schema.names == honest.schema.names
    column = masked.column(position)
    assert all(cell is None or np.isnan(cell) for cell in column.to_pylist())
    if pa.types.is_dictionary(column.type):
        assert not any(len(chunk.dictionary) for chunk in column.chunks)
    for name in masked.schema.names:
        assert repr(masked[name].to_pylist()) == repr(again[name].to_pylist())


# ---- arrays ----


@pytest.mark.parametrize(
    ("honest", "attacked", "dtype"),
    [
        (np.arange(12.0), np.inf, np.float64),
        (np.arange(12, dtype=np.float32), np.nan, np.float32),
        (np.arange(12), 2**62 + 1, np.float64),
        (np.arange(12, dtype=np.uint8), 255, np.float64),
        (np.arange(12) % 2 == 0, True, np.float64),
        (np.array(["a", None, 1.5, 2] * 3, dtype=object), "word", object),
        (np.array(list("abcdefghijkl")), "a much longer word", object),
        (np.array(list("abcdefghijkl")).astype("S"), b"a much longer word", object),
        (np.arange(12).astype("M8[D]"), np.datetime64("2030-01-01"), np.dtype("M8[D]")),
        (np.arange(12).astype("m8[s]"), np.timedelta64(99, "s"), np.dtype("m8[s]")),
    ],
    ids=["float", "float32", "int", "uint8", "bool", "object", "text", "bytes", "date", "span"],
)
def test_an_array_keeps_nothing_of_masked_columns(honest, attacked, dtype):
    before = honest.reshape(4, 3)
    after = before.copy()
    if dtype is object and before.dtype.kind in "US":  # room for the attacker's longest text
        after = after.astype(np.asarray(attacked).dtype)
    after[:, 1] = attacked
    numeric = open_table(before).numeric()
    untouched = before.copy()
    masked, again = (mask_columns(X, [1], numeric) for X in (before, after))
    assert masked.dtype == again.dtype == dtype
    assert repr(masked.tolist()) == repr(again.tolist())
    assert pd.isna(masked[:, 1]).all()
    assert masked[:, [0, 2]].tolist() == before[:, [0, 2]].tolist()
    assert np.array_equal(before, untouched)
    assert mask_columns(before, [], numeric).dtype == dtype
    assert masked.flags.c_contiguous


def test_what_comes_back_is_a_copy():
    """An estimator that works in place reaches no other member's table."""
    array, table = np.arange(6.0).reshape(2, 3), frame()
    assert not np.shares_memory(mask_columns(array, [], [True] * 3), array)
    masked = mask_columns(table, [0], open_table(table).numeric())
    for name in ("float", "objects", "date"):
        assert not np.shares_memory(masked[name].to_numpy(), table[name].to_numpy())


def test_a_sparse_matrix_is_refused():
    with pytest.raises(InputError, match=r"X is a sparse matrix, .* use X.toarray\(\)"):
        mask_columns(scipy.sparse.eye(3).tocsr(), [0], [True] * 3)


# ---- rows to learn from ----


def test_parts_are_stacked_in_their_order():
    honest = frame()
    numeric = open_table(honest).numeric()
    parts = [
        mask_columns(honest, [], numeric),
        mask_columns(honest[:2], range(len(NAMES)), numeric, keep_categories=True),
    ]
    stacked = stack_rows(parts)
    assert len(stacked) == N + 2
    assert stacked[N:].isna().all(axis=None)
    assert_same(stacked[:N], parts[0])
    polars = polars_frame("apple", 2).drop("objects")
    numeric = open_table(polars).numeric()
    masked = mask_columns(polars, range(9), numeric, keep_categories=True)
    stacked = stack_rows([mask_columns(polars, [], numeric), masked])
    assert stacked.height == 2 * N
    assert stacked.schema == masked.schema
    array = np.arange(6.0).reshape(2, 3)
    assert stack_rows([array, array[:1]]).tolist() == [*array.tolist(), array[0].tolist()]


def test_every_row_gets_a_mask_in_every_copy():
    drawn = draw_masks(100, 7, 4, seed=0)
    assert len(drawn) == 7
    rows, counts = np.unique(np.concatenate(drawn), return_counts=True)
    assert np.array_equal(rows, np.arange(100))
    assert (counts == 4).all()
    assert min(map(len, drawn)) > 30
    again, other = draw_masks(100, 7, 4, seed=0), draw_masks(100, 7, 4, seed=1)
    assert all(np.array_equal(one, two) for one, two in zip(drawn, again, strict=True))
    assert not all(np.array_equal(one, two) for one, two in zip(drawn, other, strict=True))
