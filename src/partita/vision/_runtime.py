"""What every training here shares: device, seeds, determinism, schedule, averages, checkpoints.

Nothing here may draw from PyTorch's global generator: other code in the process draws from it, and
a submodel must depend on its own seed alone. An average of weights is taken number by number, so
networks side by side stay apart: nothing here may combine two entries of a tensor. A checkpoint is
believed only if everything that its weights follow from is the same: the fingerprint of data,
settings and seed, and the environment that the bits depend on.
"""

import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import cast

import numpy as np
import torch
from torch import Tensor

from .. import __version__
from .._support import JsonObject, PathLike, write_atomic
from ..errors import InputError

_GLOBAL_GENERATOR = RLock()
RISE = 0.2  # the share of steps in which a learning rate rises
# after n steps an average of weights reaches back by at most about n / 10 of them
AVERAGE_WARM_UP = 10


def choose_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as exc:
        raise InputError(f"device is {name!r}: give 'auto', 'cpu' or 'cuda'") from exc
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device is {name!r}, but this PyTorch sees no GPU: use 'cpu', or 'auto'")
    return device


def torch_seeds(seed: int | list[int] | np.random.SeedSequence, count: int) -> list[int]:
    """Independent seeds, each within the 63 bits that PyTorch's generators accept."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    state = sequence.generate_state(count, np.uint64) >> np.uint64(1)
    return [int(one) for one in state]


@contextmanager
def deterministic_algorithms(wanted: bool) -> Iterator[None]:
    """Within the block, use algorithms that give the same bits every time, at some cost."""
    before = torch.are_deterministic_algorithms_enabled()
    with ExitStack() as restored:
        restored.callback(torch.use_deterministic_algorithms, before)
        torch.use_deterministic_algorithms(wanted or before)
        if wanted:  # a compiled graph's kernels are otherwise chosen by timing them
            restored.enter_context(_no_timed_choices())
        yield


def _no_timed_choices() -> AbstractContextManager[None]:
    """Within the block, torch.compile chooses kernels by rule; as far as this PyTorch can."""
    from torch._inductor import config  # what compiles is loaded only where it is needed

    known = {"deterministic": True} if hasattr(config, "deterministic") else {}
    return cast(AbstractContextManager[None], config.patch(known))


@contextmanager
def seeded_weights(seed: int) -> Iterator[None]:
    """Within the block, modules draw their initial weights from this seed.

    PyTorch initialises modules from its global generator, so it is set and then put back. One
    thread at a time may do so.
    """
    with _GLOBAL_GENERATOR, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def training_environment(device: torch.device, deterministic: bool) -> JsonObject:
    """What the bits of a trained network depend on, besides data, settings and seed."""
    return {
        "device": device.type if device.type == "cpu" else torch.cuda.get_device_name(device),
        "deterministic": bool(deterministic),
        "torch": str(torch.__version__),
        "partita": __version__,
        "threads": torch.get_num_threads() if device.type == "cpu" else None,
    }


def check_environment(path: PathLike | None, stored: JsonObject, current: JsonObject) -> None:
    """Refuse a checkpoint whose bits a training here would not reproduce."""
    for name, value in current.items():
        if stored.get(name) != value:
            raise InputError(
                f"checkpoint {str(path)!r} was trained with {name}={stored.get(name)!r}, and here "
                f"it is {value!r}, which gives other weights: remove it, or resume with the same "
                f"{name}"
            )


def memory_layout(device: torch.device) -> torch.memory_format:
    """The order of an image's numbers that convolutions on this device prefer."""
    return torch.channels_last if device.type == "cuda" else torch.contiguous_format


def one_cycle(done: float) -> float:
    """The learning rate's share of its peak: a linear rise, then a cosine down to zero."""
    if done < RISE:
        return 0.04 + 0.96 * done / RISE
    return 0.5 * (1 + float(np.cos(np.pi * (done - RISE) / (1 - RISE))))


class WeightAverages:
    """Averages of tensors that training changes in place.

    Parameters
    ----------
    current : iterable of Tensor
        The weights, and the statistics that belong to them.
    decay : float
        The share of the average that stays at each step, once there were enough of them; 0 for no
        averages at all.
    """

    def __init__(self, current: Iterable[Tensor], decay: float) -> None:
        self.decay = decay
        self.current = [value.detach() for value in current] if decay else []
        self.tensors = [value.clone() for value in self.current]

    def update(self, step: int) -> None:
        """Take in the weights after this many steps."""
        if self.tensors:
            decay = min(self.decay, step / (AVERAGE_WARM_UP + step))
            torch._foreach_lerp_(self.tensors, self.current, 1 - decay)

    def apply(self) -> None:
        """Replace the weights by their averages."""
        for value, average in zip(self.current, self.tensors, strict=True):
            value.copy_(average)

    def load(self, tensors: Iterable[Tensor]) -> None:
        """Continue from averages that were saved."""
        for average, saved in zip(self.tensors, tensors, strict=True):
            average.copy_(saved)


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

    def __init__(self, path: PathLike | None, environment: JsonObject) -> None:
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
        path: PathLike | None,
        version: int,
        fingerprint: Callable[[], str],
        environment: JsonObject,
    ) -> None:
        self.path = None if path is None else Path(path)
        self._version, self._environment = version, environment
        self._fingerprint = "" if path is None else fingerprint()
        self._saved_at = time.monotonic()

    def save(self, epochs: int, state: Callable[[], JsonObject], last: bool = False) -> None:
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

    def resume(self, load: Callable[[JsonObject], None], device: torch.device) -> int:
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
