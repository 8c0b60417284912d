"""Which reference rows count as rows of the training table, and which merely look like some."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from partita import Informed, SoundnessError, SoundnessWarning
from partita.partition._informed import describe_shared_rows, row_hashes
from partita.tables import open_table

RNG = np.random.default_rng(0)
UNIQUE = RNG.normal(size=(1300, 5))
SOME_TWINS = np.vstack([UNIQUE[:1260], UNIQUE[:40]])[RNG.permutation(1300)]
FEW_KINDS = RNG.integers(0, [3, 4, 2, 5, 3], size=(1300, 5))  # 360 different rows at most
WARNING = "of 300 rows of X_ref are rows of the training table"


def check(reference, table, strict=False):
    """What fit does before it trains; the targets play no part."""
    Informed(reference, None).check_disjoint(open_table(table), strict)


def split(table, n_overlap=0, seed=0):
    """A random reference of 300 rows and the other rows, with some rows of the reference among
    them; both are copies."""
    order = np.random.default_rng(seed).permutation(len(table))
    rest = np.concatenate([order[300:], order[:n_overlap]])
    return table[order[:300]], table[rest]


# ---- natural duplicates are no overlap ----


@pytest.mark.parametrize(
    "table", [UNIQUE, SOME_TWINS, FEW_KINDS], ids=["unique", "some twins", "few kinds"]
)
def test_a_random_split_is_no_overlap_even_if_rows_repeat(table):
    for seed in range(5):
        check(*split(table, seed=seed), strict=True)


def test_a_table_of_text_split_at_random_is_no_overlap():
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde")).astype(str)
    reference, table = frame[:300].reset_index(drop=True), frame[300:].reset_index(drop=True)
    check(reference, table, strict=True)


def test_one_pair_of_twins_is_no_overlap():
    twin = np.vstack([UNIQUE[300:], UNIQUE[:1]])
    check(UNIQUE[:300].copy(), twin, strict=True)


# ---- true overlaps are found ----


@pytest.mark.parametrize("share", [0.01, 0.1, 1.0])
def test_an_overlap_of_unique_rows_is_found(share):
    reference, table = split(UNIQUE, n_overlap=int(300 * share))
    with pytest.warns(SoundnessWarning, match=f"{int(300 * share)} {WARNING}"):
        check(reference, table)
    with pytest.raises(SoundnessError, match="keep the reference rows out of X"):
        check(reference, table, strict=True)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_an_overlap_is_found_beside_natural_duplicates(share):
    with pytest.warns(SoundnessWarning, match=WARNING):
        check(*split(SOME_TWINS, n_overlap=int(300 * share)))


def test_the_training_table_itself_is_found_though_all_its_rows_repeat():
    with pytest.warns(SoundnessWarning, match="1300 of 1300 rows"):
        check(FEW_KINDS.copy(), FEW_KINDS[::-1].copy())
    polars = pl.DataFrame(FEW_KINDS, schema=list("abcde"))
    with pytest.warns(SoundnessWarning, match="1300 of 1300 rows"):
        check(polars, polars.reverse())


# ---- provenance ----


def test_slices_of_one_array_are_told_by_their_memory():
    twice = np.vstack([FEW_KINDS[:650], FEW_KINDS[:650]])
    with pytest.warns(
        SoundnessWarning, match=r"300 of 300 rows of X_ref .*\(the two share memory\)"
    ):
        check(FEW_KINDS[:300], FEW_KINDS)
    with pytest.warns(SoundnessWarning, match="share memory"):
        check(FEW_KINDS[:300], FEW_KINDS[299:])
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde"))
    with pytest.warns(SoundnessWarning, match="share memory"):
        check(frame[:300], frame)
    check(FEW_KINDS[:300], FEW_KINDS[300:], strict=True)
    check(twice[::2][:300], twice[1::2], strict=True)
    # 30 pairs of twins, each with one in either part
    both = np.vstack([UNIQUE[:300], UNIQUE[:30], UNIQUE[330:]])
    check(both[:300], both[300:], strict=True)
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}"):
        check(both[:300].copy(), both[300:].copy())


def parts_with_twins():
    """A frame in which 30 of the first 300 rows, and no other rows, have a twin in the rest."""
    frame = pd.DataFrame(
        np.vstack([UNIQUE[:300], UNIQUE[:30], UNIQUE[330:]]), columns=list("abcde")
    )
    return frame, frame.iloc[np.arange(300)].copy(), frame.iloc[np.arange(300, len(frame))].copy()


def test_index_labels_tell_twins_from_the_same_row():
    frame, reference, table = parts_with_twins()
    # other labels: other rows, though chance would not explain 30 twins
    check(reference, table, strict=True)
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}"):
        check(reference.reset_index(drop=True), table.reset_index(drop=True))
    chosen = frame.iloc[np.r_[270:300, 330:1000]].copy()
    with pytest.warns(
        SoundnessWarning, match=rf"30 {WARNING} \(both have the index label 270, for example\)"
    ):
        check(reference, chosen)
    dates = pd.date_range("2020-01-01", periods=len(frame))
    with pytest.warns(
        SoundnessWarning, match=r"both have the index label Timestamp\('2020-09-27 00:00:00'\)"
    ):
        check(reference.set_axis(dates[:300]), chosen.set_axis(dates[np.r_[270:300, 330:1000]]))


def test_the_first_rows_of_a_table_are_found_though_all_its_rows_repeat():
    frame = pd.DataFrame(FEW_KINDS, columns=list("abcde"))
    with pytest.warns(SoundnessWarning, match=f"300 {WARNING}"):
        check(frame[:300].copy(), frame.copy())
    mostly_zeros = pd.DataFrame(
        (RNG.random((1300, 5)) < 0.004).astype(float), columns=list("abcde")
    )
    # equal rows at equal places, by chance
    check(mostly_zeros[:300].copy(), mostly_zeros[300:].reset_index(drop=True), strict=True)


def test_index_labels_of_another_numbering_prove_nothing():
    _, reference, table = parts_with_twins()
    # its labels 0, 1, ... are those of other rows of the reference
    renumbered = table.reset_index(drop=True)
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}, where"):
        check(reference.sample(frac=1, random_state=0), renumbered)
    everything = pd.concat([table, reference])
    # disjoint labels, and yet all of its rows
    with pytest.warns(SoundnessWarning, match=f"300 {WARNING}, where"):
        check(reference, everything.set_axis(np.arange(5000, 5000 + len(everything))))
    # labels that are not unique tell no rows apart
    with pytest.warns(SoundnessWarning, match=f"30 {WARNING}, where"):
        check(reference.set_axis(["a"] * 300), table.set_axis(["b"] * len(table)))


# ---- equal rows ----


def test_equal_rows_have_equal_hashes_in_every_kind_of_table():
    frame = pd.DataFrame(FEW_KINDS[:50].astype(float), columns=list("abcde"))
    tables = [
        frame,
        pl.from_pandas(frame),
        frame.to_numpy(),
        frame.to_numpy().tolist(),
        scipy.sparse.csr_array(frame.to_numpy()),
        frame.astype("Int64"),
    ]
    hashes = [row_hashes(open_table(table)).tolist() for table in tables]
    assert all(found == hashes[0] for found in hashes)
    assert len(set(hashes[0])) == len(frame.drop_duplicates())


def test_zero_has_one_sign_and_columns_have_an_order():
    zeros = row_hashes(open_table(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])))
    assert zeros[0] == zeros[1] != zeros[2]


def test_tables_without_a_common_row_share_nothing():
    assert describe_shared_rows(open_table(UNIQUE[:300]), open_table(UNIQUE[300:])) is None
