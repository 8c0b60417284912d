"""Votes of networks that leave windows out, for trusted and for attackable training.

A question is an image and a model. Questions are answered in batches of one size, always, so that
an answer does not depend on how many are asked.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .._support import Array
from ._masked_submodel import MaskedSubmodel
from ._window_networks import WindowNetwork

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
