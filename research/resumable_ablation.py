"""Checkpoints of randomized ablation on images: its network, and the votes of finished rows.

Votes belong to one network. Where the network, or the request it was trained for, is gone, the
votes are thrown away too.
"""

import io
import json
import shutil
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from partita._support import Array, Progress, write_atomic
from partita.vision import AblatedImageClassifier

from .runs import Run

PARTS = 10  # in which rows are certified
NETWORK_FILE, REQUEST_FILE = "network.pt", "asked.json"


class CheckpointedNetwork(AblatedImageClassifier):
    """A network that is read from its file where that exists, instead of being trained again."""

    def __init__(
        self, image_shape: Any, network: str, file: Any, device: str = "auto", random_state: int = 0
    ) -> None:
        super().__init__(image_shape, network, device=device, random_state=random_state)
        self.file = file

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Train on one more pass, unless the weights came from the file."""
        if not hasattr(self, "network_") and Path(self.file).exists():
            self._build(np.unique(np.asarray(classes)))
            weights = torch.load(self.file, map_location=self.device_, weights_only=True)
            self.ema_network_.load_state_dict(weights)
            self.from_file_ = True
        return self if hasattr(self, "from_file_") else super().partial_fit(X, y, classes)

    def save(self) -> None:
        """Write the weights that predict."""
        content = io.BytesIO()
        torch.save(self.ema_network_.state_dict(), content)
        write_atomic(Path(self.file), content.getvalue())


def has_network(folder: Path, run: Run) -> bool:
    """Whether this run's network is trained already; if not, the folder is removed."""
    request = folder / REQUEST_FILE
    if (
        (folder / NETWORK_FILE).exists()
        and request.exists()
        and request.read_bytes() == _request_bytes(run)
    ):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def save_network(network: CheckpointedNetwork, folder: Path, run: Run) -> None:
    """Write a trained network; the request goes last, since the rest counts only with it."""
    network.save()
    write_atomic(folder / REQUEST_FILE, _request_bytes(run))


def _request_bytes(run: Run) -> bytes:
    return json.dumps(run.request).encode()


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
