"""What a run of randomized ablation on images keeps on its way, so that it goes on when it was
interrupted: its network, and votes."""

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from .._support.atomic import write_whole
from .._support.types import Array
from ..vision import AblatedImageClassifier
from ._runs import Run

PARTS = 10  # in which rows are certified
NETWORK, ASKED = "network.pt", "asked.json"


class KeptNetwork(AblatedImageClassifier):
    """A network that is kept in a file once it has learnt all; where there is such a file, it does
    not learn again."""

    def __init__(
        self, image_shape: Any, network: str, file: Any, device: str = "auto", random_state: int = 0
    ) -> None:
        super().__init__(image_shape, network, device=device, random_state=random_state)
        self.file = file

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        if not hasattr(self, "network_") and Path(self.file).exists():
            self._build(np.unique(np.asarray(classes)))
            self.average_.load_state_dict(
                torch.load(self.file, map_location=self.device_, weights_only=True)
            )
            self.has_learnt_ = True
        return self if hasattr(self, "has_learnt_") else super().partial_fit(X, y, classes)

    def keep(self) -> None:
        content = io.BytesIO()
        torch.save(self.average_.state_dict(), content)
        write_whole(Path(self.file), content.getvalue())


def begun(folder: Path, run: Run) -> bool:
    """Whether the network of this run has learnt already. If not, whatever else is there is thrown
    away: votes belong to one network."""
    said = folder / ASKED
    if (folder / NETWORK).exists() and said.exists() and said.read_bytes() == _asked(run):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def keep_network(network: KeptNetwork, folder: Path, run: Run) -> None:
    """Keep a network that has learnt all; what was asked for goes last, since the rest counts only
    with it."""
    network.keep()
    write_whole(folder / ASKED, _asked(run))


def _asked(run: Run) -> bytes:
    return json.dumps(run.asked).encode()


def votes_of(model: Any, X: Array, folder: Path) -> tuple[Array, Array]:
    """The label and the votes of every row, kept part by part: what is said of a row does not
    depend on the rows beside it."""
    labels, votes = [], []
    for rows in np.array_split(np.arange(len(X)), min(PARTS, len(X))):
        file = folder / f"votes-{rows[0]}-{rows[-1]}.npz"
        if not file.exists():
            print(f"partita: rows {rows[0]} to {rows[-1]} of {len(X)}", file=sys.stderr, flush=True)
            content = io.BytesIO()
            np.savez(content, label=model.predict(X[rows]), votes=model.votes(X[rows]))
            write_whole(file, content.getvalue())
        with np.load(file) as part:
            labels.append(part["label"])
            votes.append(part["votes"])
    return np.concatenate(labels), np.concatenate(votes)
