"""The same training rows in every kind of table, and the attacks that change them."""

import math
from datetime import datetime
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import polars as pl


def in_rows(rows):
    return [list(row[:-1]) for row in rows], [row[-1] for row in rows]


def in_array(rows):
    """One array of numbers, whose type the rows decide together: integers, floats, or objects."""
    X, y = in_rows(rows)
    objects = any(
        not isinstance(cell, int | float) or (isinstance(cell, int) and abs(cell) > 2**62)
        for row in X
        for cell in row
    )
    return np.array(X, dtype=object) if objects else np.array(X), np.array(
        y, dtype=object if None in y else None
    )


def in_pandas(rows):
    X, y = in_rows(rows)
    try:
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)
    except OverflowError:  # pandas before 3 cannot look at integers beyond a float
        return pd.DataFrame(X, columns=["a", "b"], dtype=object), pd.Series(y)


def in_polars(rows):
    X, y = in_rows(rows)
    odd = any(not isinstance(label, int) for label in y)
    return pl.DataFrame(
        X, schema=["a", "b"], orient="row", strict=False, infer_schema_length=None
    ), y if odd else pl.Series(y)


def attacks(rows, candidates, size):
    """Every table that ``size`` deletions and insertions make of ``rows``."""
    for n_deleted in range(size + 1):
        for deleted in combinations(range(len(rows)), n_deleted):
            kept = [row for i, row in enumerate(rows) if i not in deleted]
            for inserted in combinations_with_replacement(candidates, size - n_deleted):
                yield [*inserted[:1], *kept, *inserted[1:]]


def training_rows(rng, n_rows):
    """Whole numbers around three corners, and their labels."""
    corners = np.array([[0, 0], [8, 0], [0, 8]])
    labels = rng.integers(3, size=n_rows)
    return [
        (*map(int, corners[label] + rng.integers(-2, 3, size=2)), int(label)) for label in labels
    ]


QUERIES = [(1, 1), (7, 1), (1, 6), (4, 3)]
NUMBERS = [(1, 1, 2), (7, 1, 0), (0.5, 1, 1), (math.nan, 2, 0), (10**9, -(10**9), 1), (1, 6, 7)]
ODD = [
    (1, 1, 2),
    (0.5, 1, 1),
    (None, 2, 0),
    (10**400, 1, 0),
    ("text", 1, 1),
    (1, 6, "odd label"),
    (True, [1], 1),
    (1, 1, 0.5),
    (7, 1, None),
]
TABLES = {"lists": in_rows, "array": in_array, "pandas": in_pandas, "polars": in_polars}
STRANGE = {
    "fraction": (0.5, 1, 1),
    "gap": (math.nan, 1, 1),
    "none": (None, 1, 1),
    "huge": (2**80, 1, 1),
    "large": (2**60 + 1, 1, 1),
    "infinite": (-math.inf, 1, 1),
    "boolean": (True, False, 1),
    "fraction of a label": (1, 1, 0.5),
    "label of floats": (1, 1, 1.0),
    "no label": (1, 1, None),
    "unknown label": (1, 1, 9),
    "text": ("text", 1, 1),
    "crash": ("crash", 1, 1),
    "text for a label": (1, 1, "one"),
    "list": ([1, 2], 1, 1),
    "bytes": (b"a", 1, 1),
    "complex": (1j, 1, 1),
    "time": (datetime(2026, 1, 31), 1, 1),
    "object": (object(), 1, 1),
}
CELLS_ONLY = list(STRANGE)[11:]  # what only a table of objects holds
