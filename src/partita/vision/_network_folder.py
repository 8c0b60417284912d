"""A folder with a file for every network that is trained, which an interrupted training resumes.

A file is believed only if everything that its weights follow from is the same: the fingerprint of
data, settings and seed, and the environment that the bits depend on.
"""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .._support import write_atomic
from ..errors import InputError
from ._runtime import check_environment

FORMAT = 2
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
