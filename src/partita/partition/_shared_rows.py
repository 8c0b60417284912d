"""Whether rows of a reference are rows of the training table, or merely look like some of them.

Compares rows, index labels and memory. Nothing here decides a certificate: the answer becomes a
warning, or an error for the strict.
"""

from typing import Any

import numpy as np
from scipy.special import bdtrc

from .._support import Array
from ..tables import Table, is_missing, table_columns

CHANCE = 0.001  # shared rows that are less probable than this are no coincidence
MOST_WORK: Any = 1_000_000  # steps for finding out whether two arrays share memory
SHARED_ROWS = ".*rows of X_ref are rows of the training table"  # how the finding reads
ONE_RECORD = 0.9  # where labels stand for records, this share of rows with equal labels are equal
MISSING = np.uint64(1)  # stands for a missing cell in a row's hash


def describe_shared_rows(reference: Table, table: Table) -> str | None:
    """Say how many rows of the reference are rows of the table; None where that is natural.

    Rows that share memory or an index label with an equal row of the table are the same rows.
    Otherwise equal rows count only beyond chance: a table of the same origin shares about as many
    rows with X as X has rows with a twin in X (plus two standard deviations).
    """
    here, there = row_hashes(reference), row_hashes(table)
    n_shared = int(np.isin(here, there).sum())
    if not n_shared:
        return None
    finding = f"{n_shared} of {len(here)} rows of X_ref are rows of the training table"
    if _share_memory(reference, table):
        return f"{finding} (the two share memory)"
    places = _same_labels(reference.index, table.index)
    if places is not None and (places >= 0).any():
        equal = here[places >= 0] == there[places[places >= 0]]
        if (
            equal.mean() >= ONE_RECORD
            and bdtrc(equal.sum() - 1, len(equal), _chance_of_equal(here, there)) < CHANCE
        ):
            example = reference.index[int(np.flatnonzero(places >= 0)[np.argmax(equal)])]
            return f"{finding} (both have the index label {example!r}, for example)"
    elif (places is not None or _slices_of_one(reference, table)) and n_shared < len(here):
        return None  # different rows of one origin: natural duplicates
    if np.array_equal(np.sort(here), np.sort(there)):
        return finding
    return None if _by_chance(n_shared, here, there) else finding


def _by_chance(n_shared: int, here: Array, there: Array) -> bool:
    """Whether another table of the same origin would share as many rows with the reference."""
    if n_shared == 1 < len(here):
        return True  # one pair of twins, of which each table has one
    rate = min(1.0, max(_n_twins(there, 2.0) / len(there), _n_twins(here) / len(here)))
    return bool(bdtrc(n_shared - 1, len(here), rate) >= CHANCE)


def _n_twins(rows: Array, deviations: float = 0.0) -> float:
    """How many rows occur more than once, plus this many standard deviations."""
    counts = np.unique(rows, return_counts=True)[1]
    twins = float(counts[counts > 1].sum())
    return float(twins + deviations * np.sqrt(twins))


def _chance_of_equal(here: Array, there: Array) -> float:
    """The probability that a row of each table, both drawn at random, are equal."""
    (rows, one), (other_rows, other) = (
        np.unique(values, return_counts=True) for values in (here, there)
    )
    _, i, j = np.intersect1d(rows, other_rows, assume_unique=True, return_indices=True)
    return float(one[i] @ other[j] / (len(here) * len(there)))


def _same_labels(one: Any, other: Any) -> Array | None:
    """Where each label of one index is in the other (-1: nowhere); None if labels are no names."""
    if (
        one is None
        or other is None
        or one.dtype != other.dtype
        or not (one.is_unique and other.is_unique)
    ):
        return None
    return np.asarray(other.get_indexer(one))


def _share_memory(reference: Table, table: Table) -> bool:
    one, other = reference.memory(), table.memory()
    if one is None or other is None:
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=MOST_WORK))
    except np.exceptions.TooHardError:
        return False


def _slices_of_one(reference: Table, table: Table) -> bool:
    """Whether both are slices of one array."""
    one, other = reference.memory(), table.memory()
    return one is not None and other is not None and one.base is not None and one.base is other.base


def column_values(table: Table, column: int) -> Array:
    """One column of a table, as ``table_columns`` returns it."""
    part = table.take([column])
    return table_columns(part.toarray() if hasattr(part, "toarray") else part)[0]


def row_hashes(table: Table) -> Array:
    """A number for each row, equal for equal rows."""
    mixed = np.zeros(table.n_rows, dtype=np.uint64)
    for column in range(table.n_columns):
        values = column_values(table, column)
        if values.dtype.kind == "f":
            bits = np.where(np.isnan(values), MISSING, (values + 0.0).view(np.uint64))
        else:
            bits = np.array([_cell_hash(value) for value in values], dtype=np.uint64)
        mixed = (mixed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _cell_hash(value: Any) -> int:
    return int(MISSING) if is_missing(value) else hash(str(value)) & (2**64 - 1)
