"""What every training here shares: device, seeds, determinism, steps, averages, checkpoints.

Nothing here may draw from PyTorch's global generator: other code in the process draws from it, and
a submodel must depend on its own seed alone. An average of weights is taken number by number, so
networks side by side stay apart: nothing here may combine two entries of a tensor. A checkpoint is
believed only if everything that its weights follow from is the same: the fingerprint of data,
settings and seed, and the environment that the bits depend on.
"""

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import NamedTuple, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from .. import __version__
from .._support import Array, JsonObject, PathLike, Progress, write_atomic
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


Network = TypeVar("Network", bound=nn.Module)


def place(network: Network, device: torch.device) -> Network:
    """A network on a device, laid out as its convolutions prefer."""
    return network.to(device).to(memory_format=memory_layout(device))  # type: ignore[call-overload]  # PyTorch leaves it out


def half_precision(device: torch.device) -> torch.autocast:
    """Convolutions in bfloat16 on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def sgd(network: nn.Module, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """SGD with momentum; weight decay applies to matrices and kernels only."""
    return torch.optim.SGD(
        decayed_groups(network, weight_decay),
        lr=learning_rate,
        momentum=0.9,
        nesterov=True,
        fused=on_gpu(network),
    )


def decayed_groups(network: nn.Module, weight_decay: float) -> list[JsonObject]:
    """For an optimizer: weight decay applies to matrices and kernels, not to norms and biases."""
    parameters = list(network.parameters())
    return [
        {"params": [one for one in parameters if one.dim() > 1], "weight_decay": weight_decay},
        {"params": [one for one in parameters if one.dim() <= 1], "weight_decay": 0.0},
    ]


def on_gpu(network: nn.Module) -> bool:
    return next(network.parameters()).is_cuda


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


FORMAT = 3  # of the file of a network that is trained in its turn
SECONDS = 120.0  # between two checkpoints of a training, at the ends of epochs
Weights = dict[str, Tensor]


class Checkpoint:
    """The file of one training, which is saved from time to time or at the end.

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
    cure : str, default="remove it"
        What to do with the file of another training.
    """

    def __init__(
        self,
        path: PathLike | None,
        version: int,
        fingerprint: Callable[[], str],
        environment: JsonObject,
        cure: str = "remove it",
    ) -> None:
        self.path = None if path is None else Path(path)
        self._facts: JsonObject = {
            "format": version,
            "fingerprint": "" if path is None else fingerprint(),
            "environment": environment,
        }
        self._cure, self._saved_at = cure, time.monotonic()

    def save(self, epochs: int, state: Callable[[], JsonObject], last: bool = False) -> None:
        """Write the state after so many epochs, if it is time to, or if they are the last."""
        if self.path is None or not (last or time.monotonic() - self._saved_at >= SECONDS):
            return
        self._saved_at = time.monotonic()
        buffer = io.BytesIO()
        torch.save(self._facts | {"epochs": epochs} | state(), buffer)
        write_atomic(self.path, buffer.getvalue())

    def resume(self, load: Callable[[JsonObject], None], device: torch.device) -> int:
        """Hand a saved state to ``load``, if there is one; return how many epochs it finished."""
        if self.path is None or not self.path.exists():
            return 0
        name = f"checkpoint {str(self.path)!r}"
        try:
            state = torch.load(self.path, map_location=device, weights_only=True)
            facts = {key: state.get(key, {}) for key in ("format", "fingerprint", "environment")}
            epochs = int(state["epochs"])
        except Exception as exc:
            raise InputError(
                f"{name} cannot be read ({type(exc).__name__}): remove it to train from the start"
            ) from exc
        if facts["format"] != self._facts["format"]:
            raise InputError(
                f"{name} was written by another version of partita: remove it to train from the "
                "start"
            )
        if facts["fingerprint"] != self._facts["fingerprint"]:
            raise InputError(
                f"{name} belongs to other images, labels, columns, seeds or settings: "
                f"{self._cure}, or choose another"
            )
        check_environment(self.path, facts["environment"], self._facts["environment"])
        try:
            load(state)
        except Exception as exc:
            raise InputError(
                f"{name} is damaged ({type(exc).__name__}): remove it to train from the start"
            ) from exc
        return epochs

    def remove(self) -> None:
        """Remove the file once the training has ended."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def fingerprint(facts: object, *arrays: Array) -> str:
    """A hash of everything that a network's weights follow from."""
    digest = hashlib.sha256(json.dumps(facts, default=str).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@contextmanager
def enough_memory(advice: str) -> Iterator[None]:
    """Within the block, say for which networks a GPU's memory is too small, and what helps."""
    try:
        yield
    except torch.OutOfMemoryError as exc:
        raise InputError(f"the GPU's memory is too small for {advice}") from exc


def compile_if(wanted: bool, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return torch.compile(function, dynamic=False) if wanted else function


class Training:
    """A network, or several side by side, in training: its optimizer, averages and steps.

    Parameters
    ----------
    network : Module
        It is trained in place.
    optimizer : Optimizer
        With the peak of the learning rate.
    average : float
        The decay of the averages of weights and statistics.
    n_images, batch_size, epochs : int
        An epoch has as many steps as there are whole batches of images.
    share : callable, default=one_cycle
        The learning rate's share of its peak, given the share of the training that is done.
    middle : float, default=0.0
        Where in a step that share is taken: 0.5 for its middle.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        average: float,
        n_images: int,
        batch_size: int,
        epochs: int,
        share: Callable[[float], float] = one_cycle,
        middle: float = 0.0,
    ) -> None:
        self.network, self.optimizer, self.epochs = network.train(), optimizer, epochs
        self.device = next(network.parameters()).device
        state = network.state_dict().values()
        self.averages = WeightAverages(
            (value for value in state if value.is_floating_point()), average
        )
        self.n_images, self.batch = n_images, min(batch_size, n_images)
        self.steps = n_images // self.batch
        self._share, self._middle = share, middle

    def batches(self, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the positions of each batch's images, in a random order."""
        order = torch.randperm(self.n_images, generator=generator, device=self.device)
        yield from order[: self.steps * self.batch].split(self.batch)

    def take_steps(self, epoch: int, losses: Iterator[Tensor]) -> Tensor:
        """Take an epoch's steps, each down the next loss; return the mean loss."""
        total = torch.zeros((), device=self.device)
        for step in range(epoch * self.steps, (epoch + 1) * self.steps):
            done = (step + self._middle) / (self.epochs * self.steps)
            for group in self.optimizer.param_groups:
                group["lr"] = self.optimizer.defaults["lr"] * self._share(done)
            loss = next(losses)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.averages.update(step + 1)
            total += loss.detach()
        return total / self.steps

    def run(
        self, file: Checkpoint, run_epoch: Callable[[int], Tensor], verbose: bool, stays: bool
    ) -> None:
        """Train from the checkpoint on, and apply the averages; the file stays or goes."""
        first = file.resume(self._load, self.device)
        progress = Progress("trained", self.epochs, "epochs", before=first, enabled=verbose)
        with progress:
            for epoch in range(first, self.epochs):
                loss = run_epoch(epoch)
                progress.update(epoch + 1, note=f"loss {float(loss):.4f}")
                last = epoch + 1 == self.epochs
                if stays or not last:
                    file.save(epoch + 1, self._state, last)
        self.averages.apply()
        if not stays:
            file.remove()

    def _state(self) -> JsonObject:
        return {
            "networks": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "averages": self.averages.tensors,
        }

    def _load(self, state: JsonObject) -> None:
        self.network.load_state_dict(state["networks"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.averages.load(state["averages"])


class Trainee(NamedTuple):
    """A network that is trained in its turn: its name in a checkpoint, and its weights."""

    name: str
    fingerprint: Callable[[], str]
    use: Callable[[Weights], object]
    weights: Callable[[], Weights]

    def load(self, state: JsonObject) -> None:
        self.use(dict(state["weights"]))

    def state(self) -> JsonObject:
        return {"weights": dict(self.weights())}


def train_in_turn(
    trainees: Sequence[Trainee],
    fit: Callable[[list[int]], Iterator[Tensor]],
    what: str,
    advice: str,
    *,
    epochs: int,
    device: torch.device,
    deterministic: bool,
    checkpoint: PathLike | None,
    verbose: int,
    together: int = 1,
) -> None:
    """Train networks one group after the other, but for those in the checkpoint.

    ``fit`` trains the networks at these positions, and yields the loss after each epoch; ``advice``
    says for which networks a GPU's memory may be too small, and what helps.
    """
    environment = training_environment(device, deterministic)
    files = [
        Checkpoint(
            None if checkpoint is None else Path(checkpoint) / f"{one.name}.pt",
            FORMAT,
            one.fingerprint,
            environment,
            cure="remove the folder",
        )
        for one in trainees
    ]
    cpu = torch.device("cpu")
    missing = [k for k, one in enumerate(trainees) if not files[k].resume(one.load, cpu)]
    groups = [missing[start : start + together] for start in range(0, len(missing), together)]
    progress = Progress("trained", len(groups) * epochs, "epochs", enabled=bool(verbose))
    finished = iter(range(1, len(groups) * epochs + 1))
    with enough_memory(advice), deterministic_algorithms(deterministic), progress:
        for group in groups:
            note = f"{what} {group[-1] + 1} of {len(trainees)}"
            for loss in fit(group):
                progress.update(next(finished), note=f"{note}, loss {float(loss):.4f}")
            for k in group:
                files[k].save(epochs, trainees[k].state, last=True)
