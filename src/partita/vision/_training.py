"""Training all networks at once.

The order of the images, the shifts, flips and dropped tokens are drawn from seeds alone. The loss
is a sum of one mean for each network, so the gradient of each is its own; nothing (scaling,
clipping, stopping) is decided from the sum."""

import hashlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .._support.atomic import write_whole
from .._support.types import Array
from ..errors import InputError
from ._networks import parameters_to_decay
from ._pixel_sets import PixelSets, as_images

WARM_UP = 0.2  # the share of steps in which the learning rate rises
CHECKPOINT_EVERY = 120.0  # seconds; and after every epoch that takes longer


def choose_device(name: str) -> torch.device:
    """The device of that name; "auto": a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as exc:
        raise InputError(f"device is {name!r}: give 'auto', 'cpu' or 'cuda'") from exc
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device is {name!r}, but this PyTorch sees no GPU: use 'cpu', or 'auto'")
    return device


def train(
    model: PixelSets,
    X: Array,
    y: Array,
    *,
    device: str = "auto",
    deterministic: bool = False,
    checkpoint: Any = None,
    compiled: bool | None = None,
    verbose: int = 1,
) -> PixelSets:
    """Train a model's networks on images X (uint8, flattened) with labels y (whole numbers from 0).

    Parameters
    ----------
    device : "auto", "cpu" or "cuda"
    deterministic : bool, default=False
        Choose algorithms that give the same bits every time on this device, at some cost.
    checkpoint : path, default=None
        A file that the state is saved to from time to time; if it is there, training goes on from
        it.
    compiled : bool, default=None
        Whether to compile the networks (torch.compile); None: on a GPU.
    verbose : int
        1: a line with loss and time left for every epoch, at most every two seconds.
    """
    place = choose_device(device)
    state = _Training(
        model.to(place),
        as_images(X, model.image_shape),
        np.asarray(y),
        place,
        deterministic,
        compiled,
    )
    saved = None if checkpoint is None else Path(checkpoint)
    first = 0 if saved is None else state.resume(saved)
    started = told = kept = time.monotonic()
    was = torch.are_deterministic_algorithms_enabled()
    try:
        torch.use_deterministic_algorithms(deterministic or was)
        for epoch in range(first, model.settings.epochs):
            loss = state.epoch(epoch)
            now, last = time.monotonic(), epoch + 1 == model.settings.epochs
            if verbose and (now - told >= 2 or last):
                told = now
                left = (now - started) / (epoch + 1 - first) * (model.settings.epochs - epoch - 1)
                print(
                    f"partita: epoch {epoch + 1} of {model.settings.epochs}, loss "
                    f"{float(loss):.4f}, {now - started:.0f} s so far, "
                    f"about {left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )
            if saved is not None and not last and now - kept >= CHECKPOINT_EVERY:
                kept = now
                state.save(saved, epoch + 1)
    except torch.OutOfMemoryError as exc:
        raise InputError(
            f"the GPU's memory is too small for {len(model)} submodels of "
            f"{model.settings.members} member(s) with "
            f"batch_size={model.settings.batch_size}: lower batch_size first, then members or width"
        ) from exc
    finally:
        torch.use_deterministic_algorithms(was)
    if saved is not None:
        saved.unlink(missing_ok=True)
    return model


class _Training:
    """Networks, optimizer and images on one device."""

    def __init__(
        self,
        model: PixelSets,
        images: Array,
        y: Array,
        device: torch.device,
        deterministic: bool,
        compiled: bool | None,
    ) -> None:
        if len(y) != len(images) or not len(y):
            raise InputError(
                f"y has {len(y)} labels for {len(images)} images: give one an image, and at least "
                "one image"
            )
        self.model, self.device, settings = model, device, model.settings
        self.fingerprint = _fingerprint(model, images, y)
        self.images, self.labels = (
            torch.from_numpy(images).to(device),
            torch.from_numpy(y.astype(np.int64)).to(device),
        )
        self.batch = min(settings.batch_size, len(y))
        self.steps = len(y) // self.batch
        on_gpu = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            parameters_to_decay(model.networks),
            lr=settings.learning_rate,
            betas=(0.9, 0.95),
            weight_decay=settings.weight_decay,
            fused=on_gpu,
        )
        loss = self._loss
        self.loss = (
            torch.compile(loss, dynamic=False)
            if (on_gpu if compiled is None else compiled)
            else loss
        )
        if deterministic and on_gpu:
            torch.backends.cuda.enable_flash_sdp(False)
            torch.backends.cuda.enable_mem_efficient_sdp(False)

    def epoch(self, epoch: int) -> Tensor:
        """One pass over the images; the mean loss of a network."""
        settings, model = self.model.settings, self.model
        model.networks.train()
        seed = np.random.SeedSequence([epoch, *model.seeds]).generate_state(1, np.uint64)[
            0
        ] >> np.uint64(1)
        draw = torch.Generator(self.device).manual_seed(int(seed))
        order = torch.randperm(len(self.labels), generator=draw, device=self.device)
        total = torch.zeros((), device=self.device)
        for step in range(self.steps):
            rate = settings.learning_rate * _one_cycle(
                (epoch * self.steps + step) / max(1, settings.epochs * self.steps)
            )
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            chosen = order[step * self.batch : (step + 1) * self.batch]
            colours = model.colours(self.images[chosen])
            loss = self.loss(colours, *self._augmented(colours, draw), self.labels[chosen])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            clip_each(list(model.networks.parameters()))
            self.optimizer.step()
            total += loss.detach() / len(model.pixels)
        return total / self.steps

    def _augmented(self, colours: Tensor, draw: torch.Generator) -> tuple[Tensor, Tensor]:
        """Where the tokens are said to be, and which are left.

        Flips and shifts move places, not pixels, so no pixel reaches another network.
        """
        settings, model = self.model.settings, self.model
        networks, images, tokens, _ = colours.shape
        turn = torch.ones(images, 2, device=self.device)
        if settings.flip:
            turn[:, 1] -= 2.0 * torch.randint(2, (images,), generator=draw, device=self.device)
        moved = torch.zeros(images, 2, device=self.device)
        if settings.shift:
            moved = (
                torch.randint(
                    -settings.shift,
                    settings.shift + 1,
                    (images, 2),
                    generator=draw,
                    device=self.device,
                )
                * model.pixel_size
            )
        places = model.places[:, None] * turn[None, :, None] + moved[None, :, None]
        there = model.there[:, None].expand(networks, images, tokens)
        if settings.token_drop:
            dropped = torch.rand(networks, images, tokens, generator=draw, device=self.device)
            kept = there & (dropped >= settings.token_drop)
            there = torch.where(kept.any(dim=2, keepdim=True), kept, there)
        return places, there

    def _loss(self, colours: Tensor, places: Tensor, there: Tensor, labels: Tensor) -> Tensor:
        scores = self.model.networks(colours, places, there)
        each = F.cross_entropy(
            scores.flatten(0, 1),
            labels.repeat(len(scores)),
            reduction="none",
            label_smoothing=self.model.settings.label_smoothing,
        )
        return each.unflatten(0, (len(scores), -1)).mean(dim=1).sum()

    def save(self, path: Path, epochs: int) -> None:
        buffer = io.BytesIO()
        state = {
            "fingerprint": self.fingerprint,
            "epochs": epochs,
            "networks": self.model.networks.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        torch.save(state, buffer)
        write_whole(path, buffer.getvalue())

    def resume(self, path: Path) -> int:
        """Go on from a checkpoint, if there is one: how many epochs are done."""
        if not path.exists():
            return 0
        try:
            state = torch.load(path, map_location=self.device, weights_only=True)
            fingerprint, done = state["fingerprint"], int(state["epochs"])
        except Exception as exc:
            raise InputError(
                f"checkpoint {str(path)!r} cannot be read ({type(exc).__name__}): remove it to "
                "start anew"
            ) from exc
        if fingerprint != self.fingerprint:
            raise InputError(
                f"checkpoint {str(path)!r} is of other images or settings: remove it, or choose "
                "another place"
            )
        try:
            self.model.networks.load_state_dict(state["networks"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, KeyError, ValueError, TypeError) as exc:
            raise InputError(
                f"checkpoint {str(path)!r} is damaged ({type(exc).__name__}): remove it to start "
                "anew"
            ) from exc
        return done


def clip_each(parameters: list[Tensor]) -> None:
    """Shorten each network's gradient to a length of at most 1; a network whose gradient is not
    finite skips the step. No other notices."""
    gradients = [one.grad for one in parameters if one.grad is not None]
    squares = torch.stack(
        [gradient.flatten(1).float().square().sum(dim=1) for gradient in gradients]
    ).sum(dim=0)
    scale, lost = squares.sqrt().clamp(min=1.0).reciprocal(), ~squares.isfinite()
    for gradient in gradients:
        shape = (-1, *[1] * (gradient.dim() - 1))
        gradient.mul_(scale.view(shape)).masked_fill_(lost.view(shape), 0.0)


def _one_cycle(done: float) -> float:
    """The learning rate's share of its peak: up for a while, then down to zero along a cosine."""
    if done < WARM_UP:
        return 0.04 + 0.96 * done / WARM_UP
    return 0.5 * (1 + float(np.cos(np.pi * (done - WARM_UP) / (1 - WARM_UP))))


def _fingerprint(model: PixelSets, images: Array, y: Array) -> str:
    digest = hashlib.sha256(
        json.dumps(
            [model.settings.as_dict(), model.sets, model.image_shape, model.seeds, model.n_classes]
        ).encode()
    )
    digest.update(images.tobytes())
    digest.update(y.astype(np.int64).tobytes())
    return digest.hexdigest()
