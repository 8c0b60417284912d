"""A table as it comes from a file."""

import numpy as np
import pandas as pd


def csv_like(n_rows=400):
    """Numbers, texts, many categories, missing values, dates and booleans."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_rows)
    columns = {
        "size": y + rng.normal(size=n_rows),
        "colour": np.array(["red", "green", "blue"])[(y + (rng.random(n_rows) < 0.3)) % 3],
        "street": [f"street {k}" for k in rng.integers(2000, size=n_rows)],
        "zip": [f"{k:05d}" for k in rng.integers(300, size=n_rows) * 3 + y],
        "day": pd.Timestamp("2020-01-01")
        + pd.to_timedelta(rng.integers(100, size=n_rows) + 10 * y, unit="D"),
        "open": rng.random(n_rows) < y / 3,
        "count": rng.integers(10, size=n_rows) + y,
    }
    frame = pd.DataFrame(columns)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, np.array(["low", "mid", "high"])[y]


FRAME, WORDS = csv_like()
