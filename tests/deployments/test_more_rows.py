"""Rows are added beside the honest ones, with the labels of the rows they were made from."""

import numpy as np
import pandas as pd

from partita.deployments._more_rows import ATTACKED_ROWS, AttackedRows, SourceDropout
from partita.ensemble import TableBoostingClassifier


def test_whole_sources_are_missing_in_copies_and_never_in_the_rows_themselves():
    X = pd.DataFrame({"a": np.arange(400.0), "b": np.arange(400.0), "c": ["x", "y"] * 200})
    units = {"first": ("a", "b"), "second": ("c",)}
    model = SourceDropout(TableBoostingClassifier(), units, share=0.25, copies=2)
    table, y = model._learn(X, np.arange(400))
    assert np.array_equal(y, np.tile(np.arange(400), 3))
    pd.testing.assert_frame_equal(table[:400].reset_index(drop=True), X)
    gone = table[400:].isna()
    assert (gone["a"] == gone["b"]).all()
    assert 0.15 < gone["a"].mean() < 0.35
    assert 0.15 < gone["c"].mean() < 0.35
    kept = table[400:]["a"].dropna()
    assert np.array_equal(kept, y[400:][~gone["a"].to_numpy()])


def test_attacked_rows_are_added_with_their_own_labels(cancer):
    model = AttackedRows(TableBoostingClassifier(max_iter=10), cancer.units, rounds=2)
    table, y = model._learn(cancer.X_train, cancer.y_train)
    n_rows, rows = len(cancer.X_train), min(ATTACKED_ROWS, len(cancer.X_train))
    assert len(table) == len(y) == n_rows + 2 * rows
    pd.testing.assert_frame_equal(
        table[:n_rows].reset_index(drop=True), cancer.X_train.reset_index(drop=True)
    )
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(n_rows)[:rows])  # the first round's
    added = table[n_rows : n_rows + rows].to_numpy()
    honest = cancer.X_train.to_numpy()[chosen]
    sources = [[table.columns.get_loc(name) for name in own] for own in cancer.units.values()]
    differs = np.column_stack(
        [~np.isclose(added[:, own], honest[:, own], equal_nan=True).all(axis=1) for own in sources]
    )
    assert differs.sum(axis=1).max() == 1  # radius 1
    assert differs.any(axis=1).mean() > 0.5
    assert np.array_equal(y[n_rows : n_rows + rows], cancer.y_train[chosen])
