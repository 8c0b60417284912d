"""Files that an interrupted training resumes from: of trained networks, and of one in training.

A file is believed only if everything that its weights follow from is the same: the fingerprint of
data, settings and seed, and the environment that the bits depend on.
"""

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .._support import write_atomic
from ..errors import InputError
from ._runtime import check_environment

FORMAT = 2  # of a network folder's files
SECONDS = 120.0  # between two checkpoints of a training, at the ends of epochs
Weights = dict[str, Tensor]


class NetworkFolder:
    """The networks that were trained so far.

    Parameters
    ----------
    path : path or None
        The folder; None keeps nothing.
    environment : dict
        Of the training (``training_environment``).
    """

    def __init__(self, path: Any, environment: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.environment = environment

    def save(
        self, name: str, fingerprint: Callable[[], str], weights: Mapping[str, Tensor]
    ) -> None:
        """Write a trained network."""
        if self.path is None:
            return
        buffer = io.BytesIO()
        state = {
            "format": FORMAT,
            "environment": self.environment,
            "fingerprint": fingerprint(),
            "weights": dict(weights),
        }
        torch.save(state, buffer)
        write_atomic(self.path / f"{name}.pt", buffer.getvalue())

    def load(
        self, name: str, fingerprint: Callable[[], str], use: Callable[[Weights], object]
    ) -> bool:
        """Hand a trained network's weights to ``use``; return whether there was one.

        ``use`` raises an error if they are not those of such a network.
        """
        file = None if self.path is None else self.path / f"{name}.pt"
        if file is None or not file.exists():
            return False
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            same = (state["format"], state["fingerprint"]) == (FORMAT, fingerprint())
            if same:
                check_environment(file, state["environment"], self.environment)
                use(dict(state["weights"]))
        except InputError:
            raise
        except Exception as exc:
            raise InputError(
                f"checkpoint {str(file)!r} cannot be read ({type(exc).__name__}): remove it to "
                "train this network again"
            ) from exc
        if not same:
            raise InputError(
                f"checkpoint {str(file)!r} belongs to other images, labels, columns, seeds or "
                "settings: remove the folder, or choose another"
            )
        return True


class Checkpoint:
    """The file of one training, which is saved from time to time.

    Parameters
    ----------
    path : path or None
        The file; None keeps nothing.
    version : int
        Of what the file holds.
    fingerprint : callable
        Returns a hash of everything that the weights follow from.
    environment : dict
        Of the training (``training_environment``).
    """

    def __init__(
        self,
        path: Any,
        version: int,
        fingerprint: Callable[[], str],
        environment: dict[str, Any],
    ) -> None:
        self.path = None if path is None else Path(path)
        self._version, self._environment = version, environment
        self._fingerprint = "" if path is None else fingerprint()
        self._saved_at = time.monotonic()

    def save(self, epochs: int, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """Write the state after so many epochs, if it is time to, or if they are the last."""
        if self.path is None or not (last or time.monotonic() - self._saved_at >= SECONDS):
            return
        self._saved_at = time.monotonic()
        buffer = io.BytesIO()
        facts = {
            "format": self._version,
            "fingerprint": self._fingerprint,
            "environment": self._environment,
            "epochs": epochs,
        }
        torch.save(facts | state(), buffer)
        write_atomic(self.path, buffer.getvalue())

    def resume(self, load: Callable[[dict[str, Any]], None], device: torch.device) -> int:
        """Hand a saved state to ``load``, if there is one; return how many epochs it finished."""
        if self.path is None or not self.path.exists():
            return 0
        try:
            state = torch.load(self.path, map_location=device, weights_only=True)
            version, fingerprint = state.get("format", 1), state["fingerprint"]
            epochs = int(state["epochs"])
        except Exception as exc:
            raise InputError(
                f"checkpoint {str(self.path)!r} cannot be read ({type(exc).__name__}): remove it "
                "to train from the start"
            ) from exc
        if version != self._version:
            raise InputError(
                f"checkpoint {str(self.path)!r} was written by another version of partita: remove "
                "it to train from the start"
            )
        if fingerprint != self._fingerprint:
            raise InputError(
                f"checkpoint {str(self.path)!r} belongs to other images or settings: remove it, or "
                "choose another file"
            )
        check_environment(self.path, state["environment"], self._environment)
        try:
            load(state)
        except (RuntimeError, KeyError, ValueError, TypeError) as exc:
            raise InputError(
                f"checkpoint {str(self.path)!r} is damaged ({type(exc).__name__}): remove it to "
                "train from the start"
            ) from exc
        return epochs

    def remove(self) -> None:
        """Remove the file once the training has ended."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
