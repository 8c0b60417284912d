"""A table in Parquet, and models to fit on it."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import (
    FeaturePartitionClassifier,
    fit_parquet,
)

COLUMNS = [f"c{k}" for k in range(12)]
ROWS = 569
BOOSTED = LGBMClassifier(
    n_estimators=5, min_child_samples=5, num_leaves=4, subsample=0.6, subsample_freq=1, verbose=-1
)
LINEAR = make_pipeline(StandardScaler(), LogisticRegression())
UNITS = {"a": ["c0", "c1"], "b": ["c2", "c3", "c4"]}


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X[:, :12].astype(np.float32), columns=COLUMNS)
    return frame.assign(
        part=np.where(np.arange(ROWS) % 3, "train", "test"),
        value=X[:, 20],
        y=np.where(y, "benign", "malignant"),
    )


def in_memory(ensemble, frame=None, target="y"):
    frame = cancer() if frame is None else frame
    return ensemble.fit(frame[COLUMNS].astype(np.float64), frame[target].to_numpy())


def submodels(path):
    """The names of the submodels' files, which carry the hashes of their content."""
    return sorted(file.name for file in path.glob("submodel-*"))


def fit(table, out, **settings):
    clf = FeaturePartitionClassifier(
        **({"estimator": GaussianNB(), "n_submodels": 5} | settings.pop("ensemble", {}))
    )
    return fit_parquet(clf, table, "y", out, **({"ignore": ["part", "value"]} | settings))


def units_ignoring(*names):
    from partita.partition._units_file import UnitsFile

    return UnitsFile(ignore=list(names))


def destroy(file, column):
    """Overwrite the pages of a column."""
    metadata = pq.ParquetFile(file).metadata
    content = bytearray(file.read_bytes())
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(
            metadata.schema.to_arrow_schema().names.index(column)
        )
        start = min(
            place for place in (chunk.data_page_offset, chunk.dictionary_page_offset) if place
        )
        content[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    file.write_bytes(content)


def damage(file):
    file.write_bytes(file.read_bytes()[:-1] + b"x")


def table_without(table, column):
    place = table.parent / "less"
    place.mkdir(exist_ok=True)
    cancer().drop(columns=column).to_parquet(place / "a.parquet", index=False)
    return place
