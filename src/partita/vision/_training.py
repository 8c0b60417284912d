"""Training of all pixel-set networks at once, and its checkpoint.

The order of the images, the augmentation and the dropped tokens are drawn from seeds alone. The
loss is a sum of one mean per network, so each network's gradient is its own; nothing (scaling,
clipping, early stopping) may be decided from the sum.
"""

import hashlib
import json

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .._support import Array, JsonObject, PathLike, Progress
from ..errors import InputError
from ._images import as_images
from ._pixel_sets import PixelSets, parameter_groups
from ._runtime import (
    Checkpoint,
    WeightAverages,
    choose_device,
    deterministic_algorithms,
    one_cycle,
    torch_seeds,
    training_environment,
)

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
    training = _Training(
        model.to(on), as_images(X, model.image_shape), np.asarray(y), on, deterministic, compiled
    )
    config = model.config
    file = Checkpoint(
        checkpoint,
        CHECKPOINT_FORMAT,
        lambda: training.fingerprint,
        training_environment(on, deterministic),
    )
    first = file.resume(training.load, on)
    progress = Progress("trained", config.epochs, "epochs", before=first, enabled=bool(verbose))
    try:
        with deterministic_algorithms(deterministic), progress:
            for epoch in range(first, config.epochs):
                loss = training.run_epoch(epoch)
                progress.update(epoch + 1, note=f"loss {float(loss):.4f}")
                if epoch + 1 < config.epochs:
                    file.save(epoch + 1, training.state)
        training.averages.apply()
    except torch.OutOfMemoryError as exc:
        raise InputError(
            f"the GPU's memory is too small for {len(model)} submodels of {config.members} "
            f"member(s) with batch_size={config.batch_size}: lower batch_size first, then members "
            "or width"
        ) from exc
    file.remove()
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
                f"y has {len(y)} labels for {len(images)} images: expected one per image, and at "
                "least one image"
            )
        self.model, self.device, config = model, device, model.config
        self.fingerprint = _fingerprint(model, images, y)
        self.images = torch.from_numpy(images).to(device)
        self.labels = torch.from_numpy(y.astype(np.int64)).to(device)
        self.batch = min(config.batch_size, len(y))
        self.steps = len(y) // self.batch
        on_gpu = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            parameter_groups(model.networks),
            lr=config.learning_rate,
            betas=(0.9, 0.95),
            weight_decay=config.weight_decay,
            fused=on_gpu,
        )
        self.averages = WeightAverages(model.networks.parameters(), config.average)
        self.loss = self._loss
        if on_gpu if compiled is None else compiled:
            self.loss = torch.compile(self._loss, dynamic=False)
        if deterministic and on_gpu:
            torch.backends.cuda.enable_flash_sdp(False)
            torch.backends.cuda.enable_mem_efficient_sdp(False)

    def run_epoch(self, epoch: int) -> Tensor:
        """Pass over the images once; return the mean loss of a network."""
        config, model = self.model.config, self.model
        model.networks.train()
        (seed,) = torch_seeds([epoch, *model.seeds], 1)
        generator = torch.Generator(self.device).manual_seed(seed)
        order = torch.randperm(len(self.labels), generator=generator, device=self.device)
        total = torch.zeros((), device=self.device)
        for step in range(self.steps):
            before = epoch * self.steps + step
            done = before / max(1, config.epochs * self.steps)
            for group in self.optimizer.param_groups:
                group["lr"] = config.learning_rate * one_cycle(done)
            chosen = order[step * self.batch : (step + 1) * self.batch]
            values = model.values(self.images[chosen])
            positions, present = self._augment(values, generator)
            loss = self.loss(values, positions, present, self.labels[chosen])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            clip_each_network(list(model.networks.parameters()))
            self.optimizer.step()
            self.averages.update(before + 1)
            total += loss.detach() / len(model.pixels)
        return total / self.steps

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

    def state(self) -> JsonObject:
        """What a checkpoint holds."""
        return {
            "networks": self.model.networks.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "averages": self.averages.tensors,
        }

    def load(self, state: JsonObject) -> None:
        """Continue from a checkpoint."""
        self.model.networks.load_state_dict(state["networks"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.averages.load(state["averages"])


def clip_each_network(parameters: list[Tensor]) -> None:
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


def _fingerprint(model: PixelSets, images: Array, y: Array) -> str:
    """A hash of everything that the weights follow from."""
    facts = [model.config.as_dict(), model.sets, model.image_shape, model.seeds, model.n_classes]
    digest = hashlib.sha256(json.dumps(facts).encode())
    digest.update(images.tobytes())
    digest.update(y.astype(np.int64).tobytes())
    return digest.hexdigest()
