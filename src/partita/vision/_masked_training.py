"""One network on masked images: its pixels on an empty image, its training, its scores, its
checkpoint."""

import hashlib
import io
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support.atomic import write_whole
from .._support.types import Array
from ..ensemble._ballots import FLOOR
from ..errors import InputError
from ._masked_networks import Recipe
from ._pixel_sets import MIDDLE, SPREAD, as_images

Weights = dict[str, Tensor]

PEAK = 0.2  # the share of steps in which the learning rate of a triangle rises
IMAGES_AT_ONCE = 512


class MaskedSubmodel:
    """One network, its pixels and its seed."""

    def __init__(
        self,
        pixels: list[int],
        image_shape: Sequence[int],
        classes: Array,
        network: str,
        recipe: Recipe,
        seed: int,
        device: torch.device,
    ) -> None:
        self.pixels, self.image_shape, self.classes_ = (
            tuple(pixels),
            tuple(map(int, image_shape)),
            classes,
        )
        self.network, self.recipe, self.seed, self.device = network, recipe, seed, device
        self._pixels = torch.tensor(pixels, dtype=torch.long, device=device)
        self.weights: Weights = {}

    def __repr__(self) -> str:
        return f"{self.network} on {len(self.pixels)} pixels"

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(np.exp(self.scores(X)))

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.scores(X).argmax(axis=1)])

    def scores(self, X: Any) -> Array:
        """Log-probabilities float32 (images, classes) from whole images, of which it looks at its
        own pixels alone."""
        own = as_images(X, self.image_shape)[:, self.pixels]
        network = self._placed(self._with_weights()).eval()
        out = np.empty((len(own), len(self.classes_)), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(own), IMAGES_AT_ONCE):
                part = torch.from_numpy(own[start : start + IMAGES_AT_ONCE]).to(self.device)
                out[start : start + len(part)] = (
                    self._asked(network, self._masked(part)).log_softmax(dim=1).cpu().numpy()
                )
        out[~np.isfinite(out)] = FLOOR  # a network that diverged says the same of every label
        return out

    def fit(self, own: Array, labels: Array, t: int, progress: "Progress") -> None:
        """Train on this submodel's own pixels (images, pixels, channels) and the labels."""
        recipe = self.recipe
        start, order = np.random.SeedSequence(self.seed).generate_state(2, np.uint64) >> np.uint64(
            1
        )
        with torch.random.fork_rng(
            devices=[]
        ):  # whoever draws from PyTorch's own generator draws as before
            torch.default_generator.manual_seed(int(start))
            network = self._placed(self._built())
        network.train()
        draw = torch.Generator(self.device).manual_seed(int(order))
        images, codes = (
            torch.from_numpy(own).to(self.device),
            torch.from_numpy(labels.astype(np.int64)).to(self.device),
        )
        optimizer = _optimizer(network, recipe, self.device.type == "cuda")
        batch = min(recipe.batch_size, len(codes))
        steps = len(codes) // batch
        for epoch in range(recipe.epochs):
            shuffled = torch.randperm(len(codes), generator=draw, device=self.device)
            total = torch.zeros((), device=self.device)
            for step in range(steps):
                rate = recipe.learning_rate * _share(
                    recipe, (epoch * steps + step + 0.5) / (recipe.epochs * steps)
                )
                for group in optimizer.param_groups:
                    group["lr"] = rate
                chosen = shuffled[step * batch : (step + 1) * batch]
                scores = self._asked(network, self._augmented(self._masked(images[chosen]), draw))
                loss = F.cross_entropy(
                    scores, codes[chosen], label_smoothing=recipe.label_smoothing
                )
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total += loss.detach()
            progress.tell(t, epoch, total / steps)
        self.weights = {
            name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
        }

    def save(self, file: Path, images: Array, labels: Array) -> None:
        buffer = io.BytesIO()
        torch.save(
            {"fingerprint": self._fingerprint(images, labels), "weights": self.weights}, buffer
        )
        write_whole(file, buffer.getvalue())

    def resume(self, file: Path, images: Array, labels: Array) -> bool:
        """Take the weights from a file, if it is there: whether it was."""
        if not file.exists():
            return False
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
            same, self.weights = (
                state["fingerprint"] == self._fingerprint(images, labels),
                dict(state["weights"]),
            )
            if same:
                self._with_weights()
        except Exception as exc:
            why = f"cannot be read ({type(exc).__name__}): remove it to train this submodel anew"
            raise InputError(f"checkpoint {str(file)!r} {why}") from exc
        if not same:
            why = "is of other images, labels, columns, seeds or settings: remove the folder, or choose another"
            raise InputError(f"checkpoint {str(file)!r} {why}")
        return True

    def _fingerprint(self, images: Array, labels: Array) -> str:
        """Of all that the weights follow from."""
        facts = [
            self.network,
            self.recipe.as_dict(),
            self.image_shape,
            self.pixels,
            self.seed,
            len(self.classes_),
        ]
        digest = hashlib.sha256(json.dumps(facts, default=float).encode())
        digest.update(images[:, self.pixels].tobytes())
        digest.update(labels.astype(np.int64).tobytes())
        return digest.hexdigest()

    @property
    def _layout(self) -> torch.memory_format:
        return torch.channels_last if self.device.type == "cuda" else torch.contiguous_format

    def _built(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels, len(self.classes_), height, width)

    def _with_weights(self) -> nn.Module:
        """The network with its weights, which must be all it has."""
        with torch.device("meta"):
            network = self._built()
        network.load_state_dict(self.weights, assign=True)
        return network

    def _placed(self, network: nn.Module) -> nn.Module:
        return network.to(self.device).to(memory_format=self._layout)  # type: ignore[call-overload]  # PyTorch leaves it out

    def _masked(self, own: Tensor) -> Tensor:
        """Images (images, height, width, channels) with this submodel's pixels on them; all others
        are zero."""
        height, width, channels = self.image_shape
        empty = torch.zeros(len(own), height * width, channels, device=self.device)
        empty[:, self._pixels] = (
            own.float() - MIDDLE
        ) / SPREAD  # by fixed numbers, not by what is computed from images
        return empty.unflatten(1, (height, width))

    def _augmented(self, masked: Tensor, draw: torch.Generator) -> Tensor:
        """Shifted, mirrored and erased at random. What it is given is masked already."""
        count, (height, width), recipe = len(masked), masked.shape[1:3], self.recipe

        def drawn(low: int, high: int) -> Tensor:
            return torch.randint(low, high + 1, (count, 1), generator=draw, device=self.device)

        rows, columns = (
            torch.arange(side, device=self.device).expand(count, side) for side in (height, width)
        )
        if recipe.erase:
            far_down, far_right = (
                rows - drawn(0, height - recipe.erase),
                columns - drawn(0, width - recipe.erase),
            )
            down, right = ((far >= 0) & (far < recipe.erase) for far in (far_down, far_right))
        if recipe.flip:
            columns = torch.where(drawn(0, 1) == 1, width - 1 - columns, columns)
        if recipe.shift:
            rows, columns = (
                _mirrored(rows + drawn(-recipe.shift, recipe.shift), height),
                _mirrored(columns + drawn(-recipe.shift, recipe.shift), width),
            )
        moved = masked[
            torch.arange(count, device=self.device)[:, None, None],
            rows[:, :, None],
            columns[:, None, :],
        ]
        return (
            moved.masked_fill((down[:, :, None] & right[:, None, :]).unsqueeze(-1), 0.0)
            if recipe.erase
            else moved
        )

    def _asked(self, network: nn.Module, images: Tensor) -> Tensor:
        """A network's scores, in the short numbers that GPUs are fast with."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores: Tensor = network(
                images.permute(0, 3, 1, 2).contiguous(memory_format=self._layout)
            )
        return scores.float()


class Progress:
    """A line on standard error, at most every two seconds."""

    def __init__(self, verbose: int, submodels: int, epochs: int, to_do: int) -> None:
        self.verbose, self.submodels, self.epochs, self.to_do, self.done = (
            verbose,
            submodels,
            epochs,
            to_do,
            0,
        )
        self.started = self.told = time.monotonic()

    def tell(self, t: int, epoch: int, loss: Tensor) -> None:
        self.done += 1
        now, last = time.monotonic(), self.done == self.to_do
        if self.verbose and (now - self.told >= 2 or last):
            self.told = now
            left = (now - self.started) / self.done * (self.to_do - self.done)
            print(
                f"partita: submodel {t + 1} of {self.submodels}, epoch {epoch + 1} of "
                f"{self.epochs}, loss {float(loss):.4f}, "
                f"{now - self.started:.0f} s so far, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )


def _optimizer(network: nn.Module, recipe: Recipe, fused: bool) -> torch.optim.Optimizer:
    """The paper's; only matrices and kernels shrink towards zero."""
    groups = [
        {
            "params": [value for value in network.parameters() if value.dim() > 1],
            "weight_decay": recipe.weight_decay,
        },
        {
            "params": [value for value in network.parameters() if value.dim() <= 1],
            "weight_decay": 0.0,
        },
    ]
    if recipe.triangle:
        return torch.optim.SGD(
            groups, lr=recipe.learning_rate, momentum=0.9, nesterov=True, fused=fused
        )
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=fused)


def _share(recipe: Recipe, done: float) -> float:
    """The learning rate's share of its peak."""
    if recipe.triangle:
        return done / PEAK if done < PEAK else (1 - done) / (1 - PEAK)
    return 0.5 * (1 + math.cos(math.pi * done))


def _mirrored(places: Tensor, side: int) -> Tensor:
    """Places beyond an edge as the places that are as far inside of it; the edge itself does not
    come twice."""
    return side - 1 - (side - 1 - places.abs()).abs()
