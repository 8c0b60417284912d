"""Networks over cells of pixels: side by side, their training and their scores.

An image is cut into square cells whose pixels become channels, so the convolutions work on fewer
and fuller positions. Several networks run as the groups of one convolution. The first axis of every
weight and statistic is (networks x ...): no number of one network may ever meet a number of
another, so every norm is over one channel, which is one network's. A network is given an image that
holds its own pixels and zeros, and a channel that says which pixels those are; both are decided
here and nowhere else.

A network is trained on its own pixels alone, which are masked first and augmented then. Every
network draws from a generator of its own seed, and its loss is a mean of its own. Nothing may
outlive a network in what trains the next: not a weight, not a statistic, not a momentum.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, PathLike, TableLike
from ..ensemble import FLOOR
from ..errors import InputError
from ._images import (
    NetworkConfig,
    as_images,
    augment,
    check_settings,
    check_sides,
    moved,
    normalise,
)
from ._pixel_sets import VIEW_SHIFTS, NetworkSets, check_views
from ._runtime import (
    Trainee,
    Training,
    choose_device,
    compile_if,
    fingerprint,
    half_precision,
    memory_layout,
    place,
    sgd,
    torch_seeds,
    train_in_turn,
)


@dataclass(eq=False, repr=False, kw_only=True)
class CellSettings:
    """The settings of networks over cells; CellImageClassifier documents them."""

    width: int = 128
    blocks: int = 1
    cell: int = 2
    members: int = 1
    epochs: int = 20
    batch_size: int = 512
    learning_rate: float = 0.4
    weight_decay: float = 5e-4
    label_smoothing: float = 0.1
    average: float = 0.99
    flip: bool = True
    shift: int = 2
    erase: int = 0
    views: int = 1


class CellConfig(CellSettings, NetworkConfig):
    """The architecture and the training of networks over cells."""

    def check(self, image_shape: Sequence[int]) -> None:
        """Refuse values that no network can be built or trained with for such images."""
        check_settings(self)
        check_sides(self, image_shape)
        check_views(self.views, self.shift)


STAGES = 3  # each twice as wide as the one before, at half its height and width
CELU_ALPHA = 0.075
HEAD_SCALE = 1 / 8  # of the scores
MOMENTUM = 0.1  # of the running statistics

Shapes = dict[str, tuple[int, ...]]


class CellNetworks(nn.Module):
    """Residual networks of the same size side by side.

    Parameters
    ----------
    seeds : sequence of int
        One per network; each network's initial weights come from its own seed.
    inputs, classes : int
        Values per cell and labels to score.
    width, blocks : int
        The size of a network; see CellImageClassifier.
    """

    def __init__(
        self, seeds: Sequence[int], inputs: int, classes: int, width: int, blocks: int
    ) -> None:
        super().__init__()
        self.count, self.blocks = len(seeds), blocks
        generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
        weights, scales, shifts = {}, {}, {}
        for name, shape in weight_shapes(inputs, classes, width, blocks).items():
            drawn = torch.cat([torch.randn(shape, generator=generator) for generator in generators])
            # the head has its inputs first, a convolution its outputs
            fan_in = shape[0] if name == "head" else math.prod(shape[1:])
            gain = 1.0 if name == "head" else math.sqrt(2)
            weights[name] = nn.Parameter(drawn * (gain / math.sqrt(fan_in)))
            if name != "head":
                channels = self.count * shape[0]
                scales[name] = nn.Parameter(torch.ones(channels))
                shifts[name] = nn.Parameter(torch.zeros(channels))
                self.register_buffer(f"mean_{name}", torch.zeros(channels))
                self.register_buffer(f"variance_{name}", torch.ones(channels))
        self.weights = nn.ParameterDict(weights)
        self.scales, self.shifts = nn.ParameterDict(scales), nn.ParameterDict(shifts)

    def forward(self, cells: Tensor) -> Tensor:
        """Scores (networks, images, classes).

        ``cells`` is (images, networks x inputs, height, width).
        """
        x = self._layer("stem", cells)
        for stage in range(STAGES):
            if stage:
                x = F.max_pool2d(self._layer(f"widen_{stage}", x), 2, ceil_mode=True)
            for block in range(self.blocks):
                inner = self._layer(f"first_{stage}_{block}", x)
                x = x + self._layer(f"second_{stage}_{block}", inner)
        # not amax: it looks for its value again in the backward pass, which a compiled graph may
        # miss
        pooled = x.flatten(2).max(dim=2).values.unflatten(1, (self.count, -1)).transpose(0, 1)
        head = self.weights["head"].unflatten(0, (self.count, -1))
        return torch.bmm(pooled, head.to(pooled.dtype)).float() * HEAD_SCALE

    def _layer(self, name: str, x: Tensor) -> Tensor:
        """A 3 x 3 convolution, its norm and its activation."""
        x = F.conv2d(x, self.weights[name], padding=1, groups=self.count)
        normed = F.batch_norm(
            x,
            getattr(self, f"mean_{name}"),
            getattr(self, f"variance_{name}"),
            self.scales[name],
            self.shifts[name],
            training=self.training,
            momentum=MOMENTUM,
        )
        return F.celu(normed, CELU_ALPHA)


def weight_shapes(inputs: int, classes: int, width: int, blocks: int) -> Shapes:
    """The shape of every weight of one network."""
    shapes: Shapes = {"stem": (width, inputs, 3, 3)}
    for stage in range(STAGES):
        wide = width * 2**stage
        if stage:
            shapes[f"widen_{stage}"] = (wide, wide // 2, 3, 3)
        for block in range(blocks):
            shapes[f"first_{stage}_{block}"] = (wide, wide, 3, 3)
            shapes[f"second_{stage}_{block}"] = (wide, wide, 3, 3)
    return shapes | {"head": (width * 2 ** (STAGES - 1), classes)}


def weights_per_network(inputs: int, classes: int, width: int, blocks: int) -> int:
    """How many numbers the weights of one network hold, without listing them."""
    kernels = width * inputs
    for stage in range(STAGES):
        wide = width * 2**stage
        kernels += wide * (wide // 2 if stage else 0) + 2 * blocks * wide**2
    return 9 * kernels + width * 2 ** (STAGES - 1) * classes


def fold(images: Tensor, cell: int) -> Tensor:
    """Cut images (images, height, width, channels) into cells.

    The result is (images, channels x cell x cell, rows of cells, columns of cells); the last row
    and column are filled up with zeros.
    """
    height, width = images.shape[1:3]
    filled = F.pad(images, (0, 0, 0, -width % cell, 0, -height % cell))
    return F.pixel_unshuffle(filled.permute(0, 3, 1, 2), cell)


IMAGES_PER_BATCH = 512


class CellSets(NetworkSets[CellConfig]):
    """Convolutions over cells for each of several sets of pixels."""

    def _build(self) -> None:
        self.device = torch.device("cpu")
        self._pixels = [torch.tensor(own, dtype=torch.long) for own in self.sets]
        self.networks = [self.build([seed]) for seed in self.network_seeds]

    def build(self, seeds: Sequence[int]) -> CellNetworks:
        """New networks side by side, one for each seed."""
        config, channels = self.config, self.image_shape[2]
        inputs = values_per_cell(config, channels)
        return CellNetworks(seeds, inputs, self.n_classes, config.width, config.blocks)

    def to(self, device: torch.device) -> "CellSets":
        """Move the networks and their pixel indices to a device."""
        self.device = device
        self._pixels = [pixels.to(device) for pixels in self._pixels]
        for network in self.networks:
            place(network, device)
        return self

    def masked(self, own: Tensor, submodel: int) -> Tensor:
        """Images (images, height, width, channels + 1) from a submodel's own pixels.

        Other pixels are zero; the last channel is one where a pixel is the submodel's.
        """
        height, width, channels = self.image_shape
        images = torch.zeros(len(own), height * width, channels + 1, device=own.device)
        known = torch.ones(*own.shape[:2], 1, device=own.device)
        images[:, self._pixels[submodel]] = torch.cat([normalise(own), known], dim=2)
        return images.unflatten(1, (height, width))

    def cells(self, images: Sequence[Tensor]) -> Tensor:
        """What networks side by side are given: the masked images of each, as cells."""
        folded = torch.cat([fold(one, self.config.cell) for one in images], dim=1)
        return folded.contiguous(memory_format=memory_layout(self.device))

    def _views(self, masked: Tensor) -> Iterator[Tensor]:
        """Masked images at prediction: shifted, and mirrored if trained with flips."""
        for down, right in VIEW_SHIFTS[: self.config.views]:
            for mirror in (False, True) if self.config.flip else (False,):
                yield moved(masked, down, right, mirror)

    def scores(self, X: TableLike, batch_size: int = IMAGES_PER_BATCH) -> Array:
        images = as_images(X, self.image_shape)
        out = np.empty((len(images), len(self), self.n_classes), dtype=np.float32)
        for t in range(len(self)):
            for start in range(0, len(images), batch_size):
                own = torch.from_numpy(images[start : start + batch_size, self.sets[t]])
                out[start : start + len(own), t] = self._scores(own.to(self.device), t)
        out[~np.isfinite(out)] = FLOOR  # a network that diverged scores every label alike
        return out

    def _scores(self, own: Tensor, submodel: int) -> Array:
        members = self.config.members
        networks = self.networks[submodel * members : (submodel + 1) * members]
        with torch.no_grad(), half_precision(self.device):
            answers = [
                network.eval()(cells)[0].log_softmax(dim=1)
                for view in self._views(self.masked(own, submodel))
                for cells in [self.cells([view])]
                for network in networks
            ]
        mean = torch.stack(answers).logsumexp(dim=0) - float(np.log(len(answers)))
        return np.asarray(mean.cpu().numpy())


def values_per_cell(config: CellConfig, channels: int) -> int:
    """The channels of an image and of its mask, for every pixel of a cell."""
    return (channels + 1) * int(config.cell) ** 2


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
    config = model.config
    training = CellTraining(model, images, y, on.type == "cuda" if compiled is None else compiled)
    trainees = [
        Trainee(
            "{:04d}-{}".format(*divmod(k, config.members)),
            partial(training.fingerprint, k, together),
            network.load_state_dict,
            network.state_dict,
        )
        for k, network in enumerate(model.networks)
    ]
    train_in_turn(
        trainees,
        training.fit,
        "network",
        f"networks of width={config.width} with batch_size={config.batch_size}: lower one of them",
        epochs=config.epochs,
        device=on,
        deterministic=deterministic,
        checkpoint=checkpoint,
        verbose=verbose,
        together=together,
    )
    return model


class CellTraining:
    """Trains networks side by side; what is compiled serves all groups of the same size."""

    def __init__(self, model: CellSets, images: Array, y: Array, compiled: bool) -> None:
        self.model, self.images, self.y, self.compiled = model, images, y, compiled
        self.labels = torch.from_numpy(y.astype(np.int64)).to(model.device)
        self._losses: dict[int, tuple[CellNetworks, Callable[..., Tensor]]] = {}

    def own(self, network: int) -> Array:
        """A network's own pixels (images, pixels, channels)."""
        return self.images[:, self.model.sets[network // self.model.config.members]]

    def fit(self, group: list[int]) -> Iterator[Tensor]:
        """Train these networks; yield the mean loss of a network after each epoch."""
        model, config = self.model, self.model.config
        networks, loss_of = self._side_by_side(len(group))
        _join([model.networks[k] for k in group], networks)
        training = Training(
            networks,
            sgd(networks, config.learning_rate, config.weight_decay),
            config.average,
            len(self.y),
            config.batch_size,
            config.epochs,
        )
        feeds = zip(*(self._feed(k, training) for k in group), strict=True)
        losses = (
            loss_of(model.cells(images), torch.stack(labels))
            for images, labels in (zip(*batches, strict=True) for batches in feeds)
        )
        for epoch in range(config.epochs):
            yield training.take_steps(epoch, losses) / len(group)
        training.averages.apply()
        _split(networks, [model.networks[k] for k in group])

    def _feed(self, network: int, training: Training) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of a network's masked and augmented images, and their labels, without end."""
        model, config = self.model, self.model.config
        (seed,) = torch_seeds([model.network_seeds[network], 1], 1)
        generator = torch.Generator(model.device).manual_seed(seed)
        own = torch.from_numpy(self.own(network)).to(model.device)
        while True:
            for chosen in training.batches(generator):
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
        return fingerprint(facts, self.own(network), self.y.astype(np.int64))

    def _side_by_side(self, count: int) -> tuple[CellNetworks, Callable[..., Tensor]]:
        """Networks to be overwritten, and their loss."""
        if count not in self._losses:
            model = self.model
            networks = place(model.build([0] * count), model.device)

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

            self._losses[count] = networks, compile_if(self.compiled, loss)
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
