"""Checkpoints of randomized ablation on images: its network, and the votes of finished rows.

Votes belong to one network. Where the network, or the request it was trained for, is gone, the
votes are thrown away too.
"""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from partita._support import Array, Progress, write_atomic

from .runs import Run

PARTS = 10  # in which rows are certified
NETWORK_FILE, REQUEST_FILE = "network.pt", "asked.json"


def prepare(folder: Path, run: Run) -> Path:
    """Return the file of this run's network; what belongs to another network is removed.

    The network is saved to it while it trains, and stays there: a run that is interrupted later
    does not train again.
    """
    request, network = folder / REQUEST_FILE, folder / NETWORK_FILE
    own = json.dumps(run.request).encode()
    if not (network.exists() and request.exists() and request.read_bytes() == own):
        shutil.rmtree(folder, ignore_errors=True)
        write_atomic(request, own)
    return network


def votes_by_parts(model: Any, X: Array, folder: Path) -> tuple[Array, Array]:
    """The label and the votes of every row, written part by part.

    A row's votes do not depend on the other rows, so parts can be computed in separate sessions.
    """
    labels, votes = [], []
    parts = np.array_split(np.arange(len(X)), min(PARTS, len(X)))
    for rows in Progress("certified", len(parts), "parts of the rows").over(parts):
        file = folder / f"votes-{rows[0]}-{rows[-1]}.npz"
        if not file.exists():
            content = io.BytesIO()
            np.savez(content, label=model.predict(X[rows]), votes=model.votes(X[rows]))
            write_atomic(file, content.getvalue())
        with np.load(file) as part:
            labels.append(part["label"])
            votes.append(part["votes"])
    return np.concatenate(labels), np.concatenate(votes)
