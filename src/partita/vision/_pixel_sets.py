"""Pixel-set networks: many small transformers side by side, their training and their scores.

Every weight has the shape (networks, ...) and is applied by batched matrix products, so all
networks run in one graph. No number of one network may ever meet a number of another: there are no
shared weights, and no statistics or norms across networks. A network is given its own pixels only;
which pixels those are is decided here and nowhere else.

In training, the order of the images, the augmentation and the dropped tokens are drawn from seeds
alone. The loss is a sum of one mean per network, so each network's gradient is its own; nothing
(scaling, clipping, early stopping) may be decided from the sum.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array, JsonObject, PathLike, TableLike
from ..ensemble import FLOOR
from ..errors import InputError
from ._images import NetworkConfig, as_images, check_settings, normalise
from ._runtime import (
    Checkpoint,
    Training,
    choose_device,
    compile_if,
    deterministic_algorithms,
    enough_memory,
    fingerprint,
    torch_seeds,
    training_environment,
)

VIEW_SHIFTS = [  # pixels down and to the right, by which an image is shifted at prediction
    (0, 0),
    (0, 1),
    (1, 0),
    (0, -1),
    (-1, 0),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
]


@dataclass(eq=False, repr=False, kw_only=True)
class PixelSetSettings:
    """The settings of pixel-set networks; PixelSetClassifier documents them."""

    width: int = 128
    blocks: int = 3
    heads: int = 4
    expand: int = 2
    members: int = 1
    epochs: int = 30
    batch_size: int = 512
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    token_drop: float = 0.05
    label_smoothing: float = 0.0
    average: float = 0.0
    flip: bool = True
    shift: int = 2
    views: int = 1


class PixelSetConfig(PixelSetSettings, NetworkConfig):
    """The architecture and the training of a set of pixel-set networks."""

    def check(self) -> None:
        """Refuse values that no network can be built or trained with."""
        check_settings(self, {"shift": 0})
        if self.width % self.heads:
            raise InputError(
                f"width is {self.width}, which is not a multiple of heads={self.heads}: change one "
                "of them"
            )
        check_views(self.views, self.shift)


def check_views(views: object, shift: int) -> None:
    """Refuse views at prediction that training did not prepare the networks for."""
    if views not in (1, 5, 9) or (views > 1 and shift < 1):
        raise InputError(
            f"views is {views!r}: give 1, 5 or 9, and only 1 with shift=0, since the networks saw "
            "no shifted image in training"
        )


# sines and cosines an octave apart encode a position; the finest period is two pixels of a side of
# 32
OCTAVES = 6
TOKENS_PER_MATRIX = 80  # in training, images share an attention matrix of up to so many tokens


class PixelSetTransformers(nn.Module):
    """Transformers over sets of pixels, as one module.

    Each network embeds its tokens (the pixel's values and the encoding of its position), applies
    pre-norm attention and MLP blocks, pools the tokens by mean and maximum, and ends in a linear
    head.

    Parameters
    ----------
    seeds : sequence of int
        One per network; each network's initial weights come from its own seed.
    channels, classes : int
        Values per pixel and labels to score.
    width, blocks, heads, expand : int
        The size of a network; see PixelSetClassifier.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        channels: int,
        classes: int,
        width: int,
        blocks: int,
        heads: int,
        expand: int,
    ) -> None:
        super().__init__()
        self.heads, self.blocks = heads, blocks
        shapes: dict[str, tuple[int, ...]] = {"embed": (channels + 4 * OCTAVES, width)}
        for block in range(blocks):
            shapes |= {
                f"qkv_{block}": (width, 3 * width),
                f"attn_out_{block}": (width, width),
                f"mlp_in_{block}": (width, expand * width),
                f"mlp_out_{block}": (expand * width, width),
            }
        shapes["head"] = (2 * width, classes)
        generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
        weights, biases = {}, {}
        for name, shape in shapes.items():
            drawn = torch.stack(
                [torch.randn(shape, generator=generator) for generator in generators]
            )
            weights[name] = nn.Parameter(drawn * _initial_scale(name, shape[0], blocks))
            biases[name] = nn.Parameter(torch.zeros(len(seeds), 1, shape[1]))
        self.weights, self.biases = nn.ParameterDict(weights), nn.ParameterDict(biases)
        norms = [f"{part}_{block}" for part in ("attn", "mlp") for block in range(blocks)]
        self.norms = nn.ParameterDict(
            {name: nn.Parameter(torch.ones(len(seeds), 1, 1, width)) for name in [*norms, "head"]}
        )

    def forward(self, values: Tensor, positions: Tensor, present: Tensor) -> Tensor:
        """Scores of shape (networks, images, classes).

        ``values`` is (networks, images, tokens, channels), ``positions`` (..., 2) in [-1, 1], and
        ``present`` says which tokens exist: sets smaller than the largest are padded.
        """
        encoded = _position_encoding(positions).to(values.dtype)
        x = self._linear("embed", torch.cat([values, encoded], dim=-1))
        for block in range(self.blocks):
            qkv = self._linear(f"qkv_{block}", self._normed(f"attn_{block}", x))
            x = x + self._linear(f"attn_out_{block}", self._attention(qkv, present))
            hidden = self._linear(f"mlp_in_{block}", self._normed(f"mlp_{block}", x))
            x = x + self._linear(f"mlp_out_{block}", F.gelu(hidden, approximate="tanh"))
        x = self._normed("head", x)
        mask = present.unsqueeze(-1)
        mean = (x * mask).sum(dim=2) / mask.sum(dim=2)
        # not amax: it looks for its value again in the backward pass, which a compiled graph may
        # miss
        maximum = x.masked_fill(~mask, -1e4).max(dim=2).values
        pooled = torch.cat([mean, maximum], dim=-1).unsqueeze(2)
        return self._linear("head", pooled).squeeze(2).float()

    def _linear(self, name: str, x: Tensor) -> Tensor:
        images, tokens = x.shape[1:3]
        weight, bias = self.weights[name].to(x.dtype), self.biases[name].to(x.dtype)
        # not baddbmm: a compiled graph fuses the sum with what comes next
        return (torch.bmm(x.flatten(1, 2), weight) + bias).unflatten(1, (images, tokens))

    def _normed(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:]) * self.norms[name].to(x.dtype)

    def _attention(self, qkv: Tensor, present: Tensor) -> Tensor:
        """What each token takes from the other tokens of its image.

        Few tokens make poor matrices, so in training several images share one, separated by a mask.
        At prediction they do not, so that no number of one image, be it infinite, can touch
        another.
        """
        networks, images, tokens, _ = qkv.shape
        group = _images_per_matrix(images, tokens) if self.training else 1
        batch = (networks, images // group, self.heads)
        # each of the three: (networks x groups x heads, tokens, depth)
        query, key, value = (
            qkv.reshape(networks, images // group, group * tokens, 3, self.heads, -1)
            .permute(3, 0, 1, 4, 2, 5)
            .flatten(1, 3)
        )
        logits = (query @ key.transpose(1, 2)).unflatten(0, batch)
        image = torch.arange(group * tokens, device=qkv.device) // tokens
        visible = (image[:, None] == image) & present.reshape(
            networks, images // group, 1, 1, group * tokens
        )
        attention = (
            (logits.float() / math.sqrt(query.shape[-1]))
            .masked_fill(~visible, -1e30)
            .softmax(dim=-1)
            .to(value.dtype)
        )
        mixed = (attention.flatten(0, 2) @ value).unflatten(0, batch)
        return mixed.transpose(2, 3).reshape(networks, images, tokens, -1)


def _initial_scale(name: str, inputs: int, blocks: int) -> float:
    """The head starts at zero; what is added to the residual stream shrinks with the depth."""
    scale = (0.0 if name == "head" else 1.0) / math.sqrt(inputs)
    residual = name.startswith(("attn_out", "mlp_out"))
    return scale / (math.sqrt(2 * blocks) if residual else 1.0)


def _images_per_matrix(images: int, tokens: int) -> int:
    """The largest power of two that divides the images and keeps their shared matrix small."""
    group = 1
    while images % (2 * group) == 0 and 2 * group * tokens <= TOKENS_PER_MATRIX:
        group *= 2
    return group


def _position_encoding(positions: Tensor) -> Tensor:
    """Sines and cosines of both coordinates, an octave apart."""
    octaves = (
        math.pi / 2 * 2.0 ** torch.arange(OCTAVES, device=positions.device, dtype=torch.float32)
    )
    angles = (positions.unsqueeze(-1) * octaves).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def parameter_groups(networks: nn.Module) -> list[JsonObject]:
    """For an optimizer: weight decay applies to matrices, not to norms and biases."""
    matrices = [value for name, value in networks.named_parameters() if name.startswith("weights.")]
    rest = [value for name, value in networks.named_parameters() if not name.startswith("weights.")]
    return [{"params": matrices}, {"params": rest, "weight_decay": 0.0}]


def weights_per_network(width: int, blocks: int, expand: int, channels: int, classes: int) -> int:
    """How many numbers the matrices of one network hold."""
    return width * (channels + 4 * OCTAVES + blocks * (4 + 2 * expand) * width + 2 * classes)


Config = TypeVar("Config", bound=NetworkConfig)


class NetworkSets(Generic[Config]):
    """One or more networks for each of several sets of pixels.

    Parameters
    ----------
    sets : list of lists of int
        The pixels of each submodel, as positions in a flattened (height, width) image.
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    n_classes : int
        How many labels the networks score.
    config : NetworkConfig
        Architecture and training.
    seeds : list of int
        One per submodel; each of its members has a seed derived from it.
    """

    def __init__(
        self,
        sets: Sequence[Sequence[int]],
        image_shape: Sequence[int],
        n_classes: int,
        config: Config,
        seeds: Sequence[int],
    ) -> None:
        self.image_shape = tuple(int(side) for side in image_shape)
        self.sets = [list(map(int, pixels)) for pixels in sets]
        self.config, self.n_classes = config, n_classes
        self.seeds = [int(seed) for seed in seeds]
        # the members of a submodel follow one another
        self.network_seeds = [
            member for seed in self.seeds for member in torch_seeds(seed, config.members)
        ]
        self._build()

    def _build(self) -> None:
        """Make the networks."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.sets)

    def scores(self, X: TableLike) -> Array:
        """Logarithms of probabilities averaged over members and views.

        The result is float32 of shape (images, submodels, classes).
        """
        raise NotImplementedError


class PixelSetSubmodels:
    """What FeaturePartitionClassifier holds in ``estimators_`` after a joint training.

    It is a sequence with one entry per submodel; ``scores(X)`` scores all of them at once.
    """

    def __init__(self, model: NetworkSets[Any], classes: Array) -> None:
        self.model, self.classes_ = model, classes

    def __len__(self) -> int:
        return len(self.model)

    def __getitem__(self, t: int) -> "PixelSetSubmodel":
        return PixelSetSubmodel(self, range(len(self))[t])

    def __iter__(self) -> Iterator["PixelSetSubmodel"]:
        return (PixelSetSubmodel(self, t) for t in range(len(self)))

    def scores(self, X: TableLike) -> Array:
        """Log-probabilities float32 (images, submodels, classes) of whole images."""
        return self.model.scores(X)


class PixelSetSubmodel:
    """One submodel: it is given whole images and looks at its own pixels alone."""

    def __init__(self, submodels: PixelSetSubmodels, t: int) -> None:
        self._submodels, self._t = submodels, t
        self.pixels = tuple(submodels.model.sets[t])
        self.classes_ = submodels.classes_

    def __repr__(self) -> str:
        return f"PixelSetSubmodel({self._t} of {len(self._submodels)}, {len(self.pixels)} pixels)"

    def predict_proba(self, X: TableLike) -> Array:
        """Probabilities of shape (images, classes)."""
        return np.asarray(np.exp(self._submodels.scores(X)[:, self._t]))

    def predict(self, X: TableLike) -> Array:
        """The most probable label of each image."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


IMAGES_PER_BATCH = 256


class PixelSets(NetworkSets[PixelSetConfig]):
    """Transformers for each of several sets of pixels."""

    def _build(self) -> None:
        config = self.config
        height, width, channels = self.image_shape
        self.networks = PixelSetTransformers(
            self.network_seeds,
            channels,
            self.n_classes,
            config.width,
            config.blocks,
            config.heads,
            config.expand,
        )
        n_tokens = max(map(len, self.sets))
        pixels = torch.zeros(len(self.sets), n_tokens, dtype=torch.long)
        present = torch.zeros(len(self.sets), n_tokens, dtype=torch.bool)
        for t, own in enumerate(self.sets):
            pixels[t] = own[0]  # padding: a pixel of the set's own, marked as not present
            pixels[t, : len(own)] = torch.tensor(own)
            present[t, : len(own)] = True
        self.pixels = pixels.repeat_interleave(config.members, dim=0)  # (networks, tokens)
        self.present = present.repeat_interleave(config.members, dim=0)
        rows, columns = self.pixels // width, self.pixels % width
        self.positions = torch.stack(
            [(2 * rows + 1) / height - 1, (2 * columns + 1) / width - 1], dim=-1
        ).float()  # (networks, tokens, 2)
        self.pixel_size = torch.tensor([2 / height, 2 / width])

    def to(self, device: torch.device) -> "PixelSets":
        """Move the networks and their pixel indices to a device."""
        self.networks.to(device)
        for name in ("pixels", "present", "positions", "pixel_size"):
            setattr(self, name, getattr(self, name).to(device))
        return self

    @property
    def device(self) -> torch.device:
        return self.pixels.device

    def values(self, images: Tensor) -> Tensor:
        """Each network's own pixels of (images, pixels, channels).

        The shape is (networks, images, tokens, channels).
        """
        own = images[:, self.pixels].transpose(0, 1)
        number = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        return normalise(own).to(number)

    def _views(self) -> Iterator[Tensor]:
        """Positions of the tokens at prediction: shifted, and mirrored if trained with flips."""
        mirrors = [(1.0, 1.0), (1.0, -1.0)] if self.config.flip else [(1.0, 1.0)]
        for shift in VIEW_SHIFTS[: self.config.views]:
            for mirror in mirrors:
                yield (
                    self.positions * torch.tensor(mirror, device=self.device)
                    + torch.tensor(shift, device=self.device) * self.pixel_size
                )

    def scores(self, X: TableLike, batch_size: int = IMAGES_PER_BATCH) -> Array:
        images = as_images(X, self.image_shape)
        out = np.empty((len(images), len(self), self.n_classes), dtype=np.float32)
        views = list(self._views())
        self.networks.eval()
        with torch.no_grad():
            for start in range(0, len(images), batch_size):
                batch = torch.from_numpy(images[start : start + batch_size]).to(self.device)
                values = self.values(batch)
                shape = values.shape[:3]
                present = self.present[:, None, :].expand(shape)
                total = torch.zeros(
                    len(self.pixels), len(batch), self.n_classes, device=self.device
                )
                for positions in views:
                    total += self.networks(
                        values, positions[:, None].expand(*shape, 2), present
                    ).log_softmax(dim=-1)
                mean = (total / len(views)).unflatten(0, (len(self), -1)).mean(dim=1)
                out[start : start + len(batch)] = mean.transpose(0, 1).cpu().numpy()
        out[~np.isfinite(out)] = FLOOR  # a network that diverged scores every label alike
        return out


# 1 named the weights differently, 2 had no averages, 3 did not say where it was trained
CHECKPOINT_FORMAT = 4


def train(
    model: PixelSets,
    X: Array,
    y: Array,
    *,
    device: str = "auto",
    deterministic: bool = False,
    checkpoint: PathLike | None = None,
    compiled: bool | None = None,
    verbose: int = 1,
) -> PixelSets:
    """Train a model's networks on flattened images.

    Parameters
    ----------
    model : PixelSets
        Its networks are trained in place.
    X : array of uint8 of shape (images, values)
        Flattened images.
    y : array of int
        The class of each image, from 0.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train.
    deterministic : bool, default=False
        Use algorithms that give the same bits every time on this device, at some cost.
    checkpoint : path, optional
        A file that the state is saved to from time to time. Training resumes from it if it exists,
        and removes it at the end.
    compiled : bool, optional
        Whether to compile the networks (torch.compile); by default on a GPU only.
    verbose : int, default=1
        Whether to show progress on standard error.
    """
    on = choose_device(device)
    training = PixelSetTraining(
        model.to(on), as_images(X, model.image_shape), np.asarray(y), deterministic, compiled
    )
    file = Checkpoint(
        checkpoint,
        CHECKPOINT_FORMAT,
        lambda: training.fingerprint,
        training_environment(on, deterministic),
    )
    config = model.config
    advice = (
        f"{len(model)} submodels of {config.members} member(s) with batch_size="
        f"{config.batch_size}: lower batch_size first, then members or width"
    )
    with enough_memory(advice), deterministic_algorithms(deterministic):
        training.run(file, training.run_epoch, bool(verbose), stays=False)
    return model


class PixelSetTraining(Training):
    """Networks, optimizer and images on one device."""

    def __init__(
        self, model: PixelSets, images: Array, y: Array, deterministic: bool, compiled: bool | None
    ) -> None:
        if len(y) != len(images) or not len(y):
            raise InputError(
                f"y has {len(y)} labels for {len(images)} images: expected one per image, and at "
                "least one image"
            )
        config, device = model.config, model.device
        on_gpu = device.type == "cuda"
        optimizer = torch.optim.AdamW(
            parameter_groups(model.networks),
            lr=config.learning_rate,
            betas=(0.9, 0.95),
            weight_decay=config.weight_decay,
            fused=on_gpu,
        )
        parameters = list(model.networks.parameters())
        optimizer.register_step_pre_hook(lambda *_: clip_each_network(parameters))
        super().__init__(
            model.networks, optimizer, config.average, len(y), config.batch_size, config.epochs
        )
        self.model = model
        facts = [config.as_dict(), model.sets, model.image_shape, model.seeds, model.n_classes]
        self.fingerprint = fingerprint(facts, images, y.astype(np.int64))
        self.images = torch.from_numpy(images).to(device)
        self.labels = torch.from_numpy(y.astype(np.int64)).to(device)
        self.loss = compile_if(on_gpu if compiled is None else compiled, self._loss)
        if deterministic and on_gpu:
            torch.backends.cuda.enable_flash_sdp(False)
            torch.backends.cuda.enable_mem_efficient_sdp(False)

    def run_epoch(self, epoch: int) -> Tensor:
        """Pass over the images once; return the mean loss of a network."""
        (seed,) = torch_seeds([epoch, *self.model.seeds], 1)
        generator = torch.Generator(self.device).manual_seed(seed)
        return self.take_steps(epoch, self._losses(generator)) / len(self.model.pixels)

    def _losses(self, generator: torch.Generator) -> Iterator[Tensor]:
        for chosen in self.batches(generator):
            values = self.model.values(self.images[chosen])
            positions, present = self._augment(values, generator)
            yield self.loss(values, positions, present, self.labels[chosen])

    def _augment(self, values: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Random positions and dropped tokens for a batch.

        Flips and shifts move positions, not pixels, so no pixel reaches another network.
        """
        config, model = self.model.config, self.model
        networks, images, tokens, _ = values.shape
        mirror = torch.ones(images, 2, device=self.device)
        if config.flip:
            mirror[:, 1] -= 2.0 * torch.randint(
                2, (images,), generator=generator, device=self.device
            )
        shift = torch.zeros(images, 2, device=self.device)
        if config.shift:
            pixels = torch.randint(
                -config.shift,
                config.shift + 1,
                (images, 2),
                generator=generator,
                device=self.device,
            )
            shift = pixels * model.pixel_size
        positions = model.positions[:, None] * mirror[None, :, None] + shift[None, :, None]
        present = model.present[:, None].expand(networks, images, tokens)
        if config.token_drop:
            drawn = torch.rand(networks, images, tokens, generator=generator, device=self.device)
            left = present & (drawn >= config.token_drop)
            # an image that would lose all its tokens keeps them
            present = torch.where(left.any(dim=2, keepdim=True), left, present)
        return positions, present

    def _loss(self, values: Tensor, positions: Tensor, present: Tensor, labels: Tensor) -> Tensor:
        scores = self.model.networks(values, positions, present)
        losses = F.cross_entropy(
            scores.flatten(0, 1),
            labels.repeat(len(scores)),
            reduction="none",
            label_smoothing=self.model.config.label_smoothing,
        )
        return losses.unflatten(0, (len(scores), -1)).mean(dim=1).sum()


def clip_each_network(parameters: Sequence[Tensor]) -> None:
    """Clip each network's gradient to length 1, independently of the other networks.

    A network whose gradient is not finite skips the step.
    """
    gradients = [one.grad for one in parameters if one.grad is not None]
    squares = torch.stack(
        [gradient.flatten(1).float().square().sum(dim=1) for gradient in gradients]
    ).sum(dim=0)
    scale, lost = squares.sqrt().clamp(min=1.0).reciprocal(), ~squares.isfinite()
    for gradient in gradients:
        shape = (-1, *[1] * (gradient.dim() - 1))
        gradient.mul_(scale.view(shape)).masked_fill_(lost.view(shape), 0.0)
