"""Networks that leave windows out, and their votes until a label and a radius are settled.

For trusted training one network is trained with windows masked, of some random ones those that it
is worst at, and takes the part of every model that leaves windows out. Its proof rests on one
thing: masked pixels never enter it. Masks are therefore laid on last, after any augmentation,
exactly where prediction lays them.

What settled votes find must equal :class:`partita.rules.Agreement` on all votes: a set of windows
counts as unanimous only when every model that leaves it out was asked. A question is an image and a
model. Questions are answered in batches of one size, always, so that an answer does not depend on
how many are asked.
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .._support import Array
from ..rules import Agreement, blocks, supersets
from ._images import augment, normalise
from ._masked_classifier import MaskedSubmodel, TrainingImages
from ._paper_networks import Recipe
from ._runtime import place

UNKNOWN = -1
# (images, models), one of each for a question; the last model, numbered beyond those that leave
# windows out, is the one that decides where no set of windows is unanimous
Ask = Callable[[Array, Array], Array]


class SettledVotes:
    """The votes on some images, asked for as needed.

    Parameters
    ----------
    ask : callable
        Takes the image and the model of each question and returns labels, as class indices.
    n_images : int
        How many images there are.
    left_out : array of bool, shape (models, windows)
        Which windows each model leaves out, in the order of ``itertools.combinations``.
    n_patches : int
        How many patches an attacker places.
    """

    def __init__(self, ask: Ask, n_images: int, left_out: Array, n_patches: int) -> None:
        self._ask, self._left_out, self._n_patches = ask, left_out, n_patches
        n_windows = left_out.shape[1]
        # the models of each set of n_patches windows
        self._models_of = supersets(n_windows, n_patches, 2 * n_patches)
        self._n_models = comb(n_windows, 2 * n_patches)
        self.votes = np.full((n_images, self._n_models), UNKNOWN, dtype=np.int32)
        self.questions = np.zeros(n_images, dtype=np.int64)

    def labels(self) -> Array:
        """Predict each image: the label of a unanimous set, else that of the last model."""
        labels = np.full(len(self.votes), UNKNOWN)
        left = np.arange(len(self.votes))
        while len(left):
            settled, chosen = self._next_sets(left)
            labels[left] = settled
            nobody, unsettled = chosen < 0, settled == UNKNOWN
            last = left[unsettled & nobody]
            labels[last] = self._answers(last, np.full(len(last), self._n_models))
            more = unsettled & ~nobody
            left = left[more]
            self._complete(left, self._models_of[chosen[more]])
        return labels

    def certify(self) -> tuple[Array, Array]:
        """Predict each image, and count the patches that it survives."""
        if self._n_patches > 1:
            every = np.arange(len(self.votes))
            self._complete(every, np.broadcast_to(np.arange(self._n_models), self.votes.shape))
            proof = Agreement(self._n_patches).certify(self.votes, self._left_out)
            return self.labels(), proof.radius
        # one patch is survived if all models agree: two votes that differ settle it
        left = np.arange(len(self.votes))
        for models in self._models_of:
            self._complete(left, np.broadcast_to(models, (len(left), len(models))))
            own = self.votes[left]
            left = left[(own[:, models] == own[:, self._models_of[0][:1]]).all(axis=1)]
        radius = np.zeros(len(self.votes), dtype=np.int64)
        radius[left] = 1
        return self.labels(), radius

    def _next_sets(self, images: Array) -> tuple[Array, Array]:
        """Return each image's label, where it is settled, and else the set to ask about next.

        That is the set with the fewest models to ask, of those whose votes do not differ yet; -1
        where there is none.
        """
        labels, chosen = np.full((2, len(images)), UNKNOWN)
        for rows in blocks(len(images), self._models_of.size):
            votes = self.votes[images[rows]][:, self._models_of]
            known = votes != UNKNOWN
            most = votes.max(axis=2)
            agree = ((votes == most[:, :, None]) | ~known).all(axis=2)
            missing = np.where(agree, (~known).sum(axis=2), votes.shape[2] + 1)
            first = missing.argmin(axis=1)
            fewest = missing.min(axis=1)
            row = np.arange(len(first))
            labels[rows] = np.where(fewest == 0, most[row, first], UNKNOWN)
            chosen[rows] = np.where(fewest <= votes.shape[2], first, UNKNOWN)
        return labels, chosen

    def _complete(self, images: Array, models: Array) -> None:
        """Ask the models (images, models) that were not asked yet about each image."""
        row, column = np.nonzero(self.votes[images[:, None], models] == UNKNOWN)
        chosen, asked = images[row], models[row, column]
        self.votes[chosen, asked] = self._answers(chosen, asked)

    def _answers(self, images: Array, models: Array) -> Array:
        np.add.at(self.questions, images, 1)
        return self._ask(images, models) if len(images) else np.empty(0, dtype=np.int64)


# the share of training images in which nothing is masked, so that the network is good on whole
# images too: it decides where no models agree
WHOLE_IMAGES = 0.1
# sets of windows drawn for an image in training: that which the network is worst at is masked, as
# an image is certified only if no set misleads the network
CANDIDATES = 4
# decay of the exponential moving average of the weights, after a start, batch norm's statistics
# included; it averages out the noise of fresh masks
EMA_DECAY = 0.999


class WindowNetwork(MaskedSubmodel):
    """One network over all pixels and a channel that says which of them are masked.

    Parameters
    ----------
    windows : array of bool, shape (windows, height * width)
        Which pixels each window covers.
    n_masked : int
        How many windows are masked at a time.
    image_shape : tuple of (height, width, channels)
        The shape of an image.
    classes : array
        The labels, sorted.
    network : str
        The network's name, for people and for the checkpoint.
    recipe : Recipe
        How it is built and trained.
    seed : int
        Everything random comes from it.
    device : torch.device
        Where it is trained and predicts.
    compiled : bool, optional
        Whether training and prediction are compiled; by default on a GPU.
    """

    def __init__(
        self,
        windows: Array,
        n_masked: int,
        image_shape: Sequence[int],
        classes: Array,
        network: str,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        compiled: bool | None = None,
    ) -> None:
        every_pixel = list(range(windows.shape[1]))
        super().__init__(every_pixel, image_shape, classes, network, recipe, seed, device, compiled)
        self.n_masked = n_masked
        self._outlines = windows.tolist()
        # the last window, beyond those of the grid, is empty
        masks = torch.zeros(len(windows) + 1, windows.shape[1], dtype=torch.bool)
        masks[:-1] = torch.from_numpy(windows)
        self._masks = masks.to(device)

    def loaded(self) -> nn.Module:
        """The trained network on its device, ready to predict."""
        return self._predictor(place(self._load(), self.device).eval())

    def probabilities(self, loaded: nn.Module, images: Tensor, windows: Tensor) -> Tensor:
        """Probabilities (images, classes) of bytes (images, pixels, channels).

        ``windows`` (images, n_masked) are masked; the number beyond those of the grid is of an
        empty window. A network that diverged gives every label the same.
        """
        logits = self._logits(loaded, self.hide(self.mask(images), windows))
        return logits.softmax(dim=1).nan_to_num()

    def mask(self, own: Tensor) -> Tensor:
        """Images (images, height, width, channels) with all their pixels."""
        height, width, _ = self.image_shape
        return normalise(own).unflatten(1, (height, width))

    def hide(self, images: Tensor, windows: Tensor) -> Tensor:
        """The same images with these windows zero, and one more channel: 1 where they are."""
        height, width, _ = self.image_shape
        hidden = self._masks[windows].any(dim=1).view(-1, height, width, 1)
        return torch.cat([images.masked_fill(hidden, 0.0), hidden.to(images.dtype)], dim=3)

    @property
    def _average_decay(self) -> float:
        return EMA_DECAY

    def _training_images(self, network: nn.Module) -> TrainingImages:
        """Augmented images, in most of which windows are masked: those the network is worst at."""
        predict = self._predictor(network)
        n_windows = len(self._masks) - 1

        def shown(own: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
            augmented = augment(self.mask(own), self.recipe, generator)
            drawn = torch.rand(
                CANDIDATES, len(own), n_windows, generator=generator, device=self.device
            )
            windows = drawn.argsort(dim=2)[:, :, : self.n_masked]
            network.eval()
            losses = self._losses(predict, augmented, codes, windows)
            network.train()
            hardest = windows[losses.argmax(dim=0), torch.arange(len(own), device=self.device)]
            whole = torch.rand(len(own), 1, generator=generator, device=self.device) < WHOLE_IMAGES
            return self.hide(augmented, hardest.masked_fill(whole, n_windows))

        return shown

    def _predictor(self, network: nn.Module) -> nn.Module:
        """The network, compiled where that is wanted."""
        return cast(nn.Module, torch.compile(network, dynamic=False)) if self.compiled else network

    def _losses(self, predict: nn.Module, images: Tensor, codes: Tensor, windows: Tensor) -> Tensor:
        """Losses (candidates, images) with windows (candidates, images, n_masked) masked."""
        candidates = len(windows)
        with torch.no_grad():
            masked = self.hide(images.repeat(candidates, 1, 1, 1), windows.flatten(0, 1))
            logits = self._logits(predict, masked)
            losses = F.cross_entropy(logits, codes.repeat(candidates), reduction="none")
        return losses.view(candidates, -1)

    def _facts(self) -> list[object]:
        return [
            *super()._facts(),
            self._outlines,
            self.n_masked,
            WHOLE_IMAGES,
            CANDIDATES,
            EMA_DECAY,
        ]

    def _build(self) -> nn.Module:
        height, width, channels = self.image_shape
        return self.recipe.build(channels + 1, len(self.classes_), height, width)


QUESTIONS_PER_BATCH = {"cpu": 64, "cuda": 2048}


class TrustedVotes:
    """Networks that see images with windows masked: the mean of their probabilities votes.

    Parameters
    ----------
    networks : sequence of WindowNetwork
        The members.
    images : array of uint8, shape (images, pixels, channels)
        What questions are about.
    sets : array of int, shape (models, n_masked)
        The windows that each model leaves out. One more model leaves nothing out.
    n_windows : int
        How many windows there are.
    """

    def __init__(
        self, networks: Sequence[WindowNetwork], images: Array, sets: Array, n_windows: int
    ) -> None:
        self._networks = [(one, one.loaded()) for one in networks]
        self._device = networks[0].device
        nothing = np.full((1, sets.shape[1]), n_windows)
        self._images = torch.from_numpy(images).to(self._device)
        self._sets = torch.from_numpy(np.concatenate([sets, nothing])).to(self._device)

    def __call__(self, images: Array, models: Array) -> Array:
        """Return the label of each question, as a class index."""
        size = QUESTIONS_PER_BATCH.get(self._device.type, 64)
        image, model = (torch.from_numpy(ids).to(self._device) for ids in (images, models))
        labels = torch.empty_like(image)
        with torch.no_grad():
            for batch in torch.arange(len(image), device=self._device).split(size):
                full = F.pad(batch, (0, size - len(batch)))  # filled up with the first question
                shares = self._shares(self._images[image[full]], self._sets[model[full]])
                labels[batch] = shares[: len(batch)].argmax(dim=1)
        return labels.cpu().numpy()

    def _shares(self, images: Tensor, windows: Tensor) -> Tensor:
        """The sum of the members' probabilities."""
        first, *others = (
            one.probabilities(loaded, images, windows) for one, loaded in self._networks
        )
        for other in others:
            first = first + other
        return first


class AttackableVotes:
    """Models that are the mean of several networks: the mean of their probabilities votes.

    A network may belong to many models, and is evaluated on an image once.

    Parameters
    ----------
    networks : sequence of sequences of MaskedSubmodel
        Networks that leave out the same windows, one set of windows after the other.
    pools : sequence of arrays of int
        The sets of networks that each model consists of; the last model leaves nothing out.
    X : array of uint8, shape (images, values)
        What questions are about.
    """

    def __init__(
        self, networks: Sequence[Sequence[MaskedSubmodel]], pools: Sequence[Array], X: Array
    ) -> None:
        self._networks, self._pools, self._X = networks, pools, X
        # by set of networks: the images that were asked about, and the sums of probabilities
        self._known: dict[int, tuple[Array, Array]] = {}

    def __call__(self, images: Array, models: Array) -> Array:
        """Return the label of each question, as a class index."""
        labels = np.empty(len(images), dtype=np.int64)
        for model in np.unique(models):
            own = np.flatnonzero(models == model)
            shares = sum(self._shares(int(k), images[own]) for k in self._pools[model])
            labels[own] = np.asarray(shares).argmax(axis=1)
        return labels

    def _shares(self, k: int, images: Array) -> Array:
        """The sum of the probabilities that one set of networks gives to these images."""
        members = self._networks[k]
        if k not in self._known:
            shape = (len(self._X), len(members[0].classes_))
            self._known[k] = np.zeros(len(self._X), dtype=bool), np.zeros(shape, dtype=np.float32)
        known, shares = self._known[k]
        missing = np.unique(images[~known[images]])
        if len(missing):
            shares[missing] = self._evaluated(members, missing)
            known[missing] = True
        return np.asarray(shares[images])

    def _evaluated(self, members: Sequence[MaskedSubmodel], images: Array) -> Array:
        size = QUESTIONS_PER_BATCH.get(members[0].device.type, 64)
        full = np.zeros((-(-len(images) // size) * size, self._X.shape[1]), dtype=np.uint8)
        full[: len(images)] = self._X[images]
        shares = sum(np.exp(member.scores(full, size)) for member in members)
        return np.asarray(shares)[: len(images)]
