"""Whole numbers stay whole numbers on their way through files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def test_predictions_of_integers_are_integers_in_the_output(partita, tmp_path):
    """The target is a nullable column: its missing values lie in rows that are not learnt from."""
    rng = np.random.default_rng(0)
    columns = dict(zip("abcd", rng.normal(size=(4, 60)), strict=True))
    labels = (columns["a"] + columns["b"] > 0).tolist()
    part = ["train" if k < 50 else "new" for k in range(60)]
    target = [2**40 + label if k < 50 else None for k, label in enumerate(labels)]
    table = pa.table(columns | {"part": part, "y": pa.array(target, pa.int64())})
    pq.write_table(table, tmp_path / "t.parquet")
    pq.write_table(table.drop_columns(["y"]), tmp_path / "new.parquet")
    (tmp_path / "u.toml").write_text('ignore = ["part"]')
    model, out = tmp_path / "m", tmp_path / "c.parquet"
    quick = ("--submodels", 3, "--estimator", "logistic", "--no-full-model")
    rows = ("--target", "y", "--units", tmp_path / "u.toml", "--split", "part=train")
    assert partita("fit", tmp_path / "t.parquet", *rows, *quick, "--out", model)[0] == 0
    assert partita("certify", model, tmp_path / "new.parquet", "--out", out)[0] == 0
    found = pq.read_table(out)
    types = {found.schema.field(name).type for name in ("prediction", "runner_up")}
    assert types == {pa.int64()}
    assert set(found.column("prediction").to_pylist()) <= {2**40, 2**40 + 1}
