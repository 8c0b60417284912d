"""A small table in every format."""

import numpy as np
import pandas as pd
import pytest

ROWS = 60
KINDS = {
    "whole": "number",
    "gapped": "number",
    "flag": "boolean",
    "when": "time",
    "word": "text",
    "code": "text",
}


@pytest.fixture
def frame():
    """One column of each kind, and a target."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "whole": np.arange(ROWS),
            "gapped": np.where(np.arange(ROWS) % 7, rng.normal(size=ROWS), np.nan),
            "flag": rng.random(ROWS) > 0.5,
            "when": pd.date_range("2020-01-01", periods=ROWS, freq="h"),
            "word": np.where(np.arange(ROWS) % 5, "a,b", 'qu"ote\nd'),
            "code": [f"{k % 4:02d}x" for k in range(ROWS)],
            "y": np.arange(ROWS) % 2,
        }
    )


@pytest.fixture(params=["t.csv", "t.csv.gz", "t.parquet", "folder"])
def path(request, frame, tmp_path):
    """The table in a file of each format."""
    place = tmp_path / request.param
    if request.param == "folder":
        place.mkdir()
        frame[:25].to_parquet(place / "1.parquet", index=False)
        frame[25:].to_parquet(place / "2.parquet", index=False)
    elif request.param.startswith("t.csv"):
        frame.to_csv(place, index=False)
    else:
        frame.to_parquet(place, index=False)
    return place
