"""The report's heat map: the share of rows that survive r liars and m silent sources.

Computed from one set of certificates; nothing here knows HTML.
"""

from typing import Any

import numpy as np

from .._support import Array
from ..workflow import CertifiedTable

MOST_LYING, MOST_SILENT = 8, 12  # rows and columns of the table; larger numbers are left out
SHADES = 10


def silence_numbers(stated: CertifiedTable, right: Array | None) -> dict[str, Any] | None:
    """The table, in shares of all rows; None where nothing can fall silent.

    ``right``: which rows are right now, where that is known; only those are counted.
    """
    proof = stated.proof
    if proof is None or proof.frontier is None:
        return None
    counted = np.ones(len(proof), dtype=bool) if right is None else right
    radius = np.where(counted, proof.radius, -1)
    silent = np.where(counted, proof.silence_radius, -1)
    n_lying = int(np.clip(radius.max(initial=0), 0, MOST_LYING))
    n_silent = int(np.clip(silent.max(initial=0), 0, MOST_SILENT))
    shares = [
        [float((proof.survives(r, m) & counted).mean()) for m in range(n_silent + 1)]
        for r in range(n_lying + 1)
    ]
    return {
        "shares": shares,
        "shades": [[round(SHADES * share) for share in line] for line in shares],
        "median": None if not counted.any() else float(np.median(silent[counted])),
        "now": None if proof.silence is None else str(proof.silence),
    }
