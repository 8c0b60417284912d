"""Training of networks over cells, one or several at a time.

A network is trained on its own pixels alone, which are masked first and augmented then. Every
network draws from a generator of its own seed, and its loss is a mean of its own. Nothing may
outlive a network in what trains the next: not a weight, not a statistic, not a momentum.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, JsonObject, PathLike, Progress
from ..errors import InputError
from ._cell_sets import CellConfig, CellNetworks, CellSets, half_precision
from ._images import augment
from ._runtime import (
    NetworkFolder,
    WeightAverages,
    choose_device,
    deterministic_algorithms,
    one_cycle,
    torch_seeds,
    training_environment,
)

TOGETHER = 1  # networks trained at once


def train_cells(
    model: CellSets,
    images: Array,
    y: Array,
    *,
    device: str = "auto",
    deterministic: bool = False,
    checkpoint: PathLike | None = None,
    compiled: bool | None = None,
    together: int | None = None,
    verbose: int = 1,
) -> CellSets:
    """Train a model's networks.

    Parameters
    ----------
    model : CellSets
        Its networks are trained in place.
    images : array of uint8 of shape (images, pixels, channels)
        Whole images; each network is given its own pixels.
    y : array of int
        The class of each image, from 0.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train.
    deterministic : bool, default=False
        Use algorithms that give the same bits every time on this device, at some cost.
    checkpoint : path, optional
        A folder with a file for every finished network, which is not trained again.
    compiled : bool, optional
        Whether to compile the networks (torch.compile); by default on a GPU only.
    together : int, optional
        Networks trained at once, as groups of the same convolutions. More than one changes the
        rounding, and so the weights.
    verbose : int, default=1
        Whether to show progress on standard error.
    """
    if len(images) < 2:
        raise InputError(f"X has {len(images)} images: give at least two")
    on, together = choose_device(device), TOGETHER if together is None else together
    model.to(on)
    training = _Training(model, images, y, on.type == "cuda" if compiled is None else compiled)
    folder = NetworkFolder(checkpoint, training_environment(on, deterministic))

    def facts(k: int) -> tuple[str, Callable[[], str]]:
        submodel, member = divmod(k, model.config.members)
        return f"{submodel:04d}-{member}", partial(training.fingerprint, k, together)

    missing = [
        k
        for k, network in enumerate(model.networks)
        if not folder.load(*facts(k), network.load_state_dict)
    ]
    groups = [missing[start : start + together] for start in range(0, len(missing), together)]
    epochs, config = len(groups) * model.config.epochs, model.config
    progress = Progress("trained", epochs, "epochs", enabled=bool(verbose))
    finished = iter(range(1, epochs + 1))
    try:
        with deterministic_algorithms(deterministic), progress:
            for group in groups:
                note = f"network {group[-1] + 1} of {len(model.networks)}"
                for loss in training.fit(group):
                    progress.update(next(finished), note=f"{note}, loss {float(loss):.4f}")
                for k in group:
                    folder.save(*facts(k), model.networks[k].state_dict())
    except torch.OutOfMemoryError as exc:
        raise InputError(
            f"the GPU's memory is too small for networks of width={config.width} with "
            f"batch_size={config.batch_size}: lower one of them"
        ) from exc
    return model


class _Training:
    """Trains networks side by side; what is compiled serves all groups of the same size."""

    def __init__(self, model: CellSets, images: Array, y: Array, compiled: bool) -> None:
        self.model, self.images, self.y, self.compiled = model, images, y, compiled
        self.labels = torch.from_numpy(y.astype(np.int64)).to(model.device)
        self.batch = min(model.config.batch_size, len(y))
        self.steps = len(y) // self.batch
        self._losses: dict[int, tuple[CellNetworks, Callable[[Tensor, Tensor], Tensor]]] = {}

    def own(self, network: int) -> Array:
        """A network's own pixels (images, pixels, channels)."""
        return self.images[:, self.model.sets[network // self.model.config.members]]

    def fit(self, group: Sequence[int]) -> Iterator[Tensor]:
        """Train these networks; yield the mean loss of a network after each epoch."""
        model, config = self.model, self.model.config
        networks, loss_of = self._side_by_side(len(group))
        _join([model.networks[k] for k in group], networks)
        networks.train()
        optimizer = _optimizer(networks, config, model.device.type == "cuda")
        averages = WeightAverages(networks.state_dict().values(), config.average)
        feeds = [self._feed(k) for k in group]
        for epoch in range(config.epochs):
            total = torch.zeros((), device=model.device)
            for step in range(epoch * self.steps, (epoch + 1) * self.steps):
                for part in optimizer.param_groups:
                    part["lr"] = config.learning_rate * one_cycle(
                        step / (config.epochs * self.steps)
                    )
                images, labels = zip(*map(next, feeds), strict=True)
                loss = loss_of(model.cells(images), torch.stack(labels))
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                averages.update(step + 1)
                total += loss.detach() / len(group)
            yield total / self.steps
        averages.apply()
        _split(networks, [model.networks[k] for k in group])

    def _feed(self, network: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of a network's masked and augmented images, and their labels, without end."""
        model, config = self.model, self.model.config
        (seed,) = torch_seeds([model.network_seeds[network], 1], 1)
        generator = torch.Generator(model.device).manual_seed(seed)
        own = torch.from_numpy(self.own(network)).to(model.device)
        while True:
            order = torch.randperm(len(own), generator=generator, device=model.device)
            for chosen in order[: self.steps * self.batch].split(self.batch):
                masked = model.masked(own[chosen], network // config.members)
                yield augment(masked, config, generator), self.labels[chosen]

    def fingerprint(self, network: int, together: int) -> str:
        """A hash of everything that a network's weights follow from."""
        model = self.model
        later = ("members", "views")  # how many members there are, and how they are asked
        facts = [
            {name: value for name, value in model.config.as_dict().items() if name not in later},
            model.sets[network // model.config.members],
            model.image_shape,
            model.network_seeds[network],
            model.n_classes,
            together,
        ]
        digest = hashlib.sha256(json.dumps(facts, default=float).encode())
        digest.update(self.own(network).tobytes())
        digest.update(self.y.astype(np.int64).tobytes())
        return digest.hexdigest()

    def _side_by_side(self, count: int) -> tuple[CellNetworks, Callable[[Tensor, Tensor], Tensor]]:
        """Networks to be overwritten, and their loss."""
        if count not in self._losses:
            model = self.model
            networks = model.place(model.build([0] * count))

            def loss(cells: Tensor, labels: Tensor) -> Tensor:
                with half_precision(model.device):
                    scores = networks(cells)
                losses = F.cross_entropy(
                    scores.flatten(0, 1),
                    labels.flatten(),
                    reduction="none",
                    label_smoothing=model.config.label_smoothing,
                )
                return losses.view(labels.shape).mean(dim=1).sum()

            chosen = torch.compile(loss, dynamic=False) if self.compiled else loss
            self._losses[count] = networks, chosen
        return self._losses[count]


def _join(single: Sequence[CellNetworks], networks: CellNetworks) -> None:
    """Overwrite networks side by side, statistics included, by single ones."""
    states = [one.state_dict() for one in single]
    networks.load_state_dict({name: torch.cat([one[name] for one in states]) for name in states[0]})


def _split(networks: CellNetworks, single: Sequence[CellNetworks]) -> None:
    """Overwrite single networks by those side by side."""
    parts = {name: value.chunk(len(single)) for name, value in networks.state_dict().items()}
    for k, one in enumerate(single):
        one.load_state_dict({name: values[k] for name, values in parts.items()})


def _optimizer(networks: nn.Module, config: CellConfig, fused: bool) -> torch.optim.Optimizer:
    """SGD with momentum; weight decay applies to kernels and the head, not to norms."""
    parameters = list(networks.parameters())
    groups: list[JsonObject] = [
        {"params": [value for value in parameters if value.dim() > 1]},
        {"params": [value for value in parameters if value.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.SGD(
        groups,
        lr=config.learning_rate,
        momentum=0.9,
        nesterov=True,
        weight_decay=config.weight_decay,
        fused=fused,
    )
