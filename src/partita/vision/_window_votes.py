"""Votes of networks that leave windows out, for trusted and for attackable training.

A question is an image and a model. Questions are answered in batches of one size, always, so that
an answer does not depend on how many are asked.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .._support.types import Array
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
    """One submodel or several for every model: the mean of their probabilities votes.

    Parameters
    ----------
    submodels : sequence of sequences of MaskedSubmodel
        The members of each model; those of the last model leave nothing out.
    X : array of uint8, shape (images, values)
        What questions are about.
    """

    def __init__(self, submodels: Sequence[Sequence[MaskedSubmodel]], X: Array) -> None:
        self._submodels, self._X = submodels, X

    def __call__(self, images: Array, models: Array) -> Array:
        """Return the label of each question, as a class index."""
        labels = np.empty(len(images), dtype=np.int64)
        for model in np.unique(models):
            own = np.flatnonzero(models == model)
            labels[own] = self._shares(self._submodels[model], images[own]).argmax(axis=1)
        return labels

    def _shares(self, members: Sequence[MaskedSubmodel], images: Array) -> Array:
        """The sum of the members' probabilities."""
        size = QUESTIONS_PER_BATCH.get(members[0].device.type, 64)
        full = np.zeros((-(-len(images) // size) * size, self._X.shape[1]), dtype=np.uint8)
        full[: len(images)] = self._X[images]
        shares = sum(np.exp(member.scores(full, size)) for member in members)
        return np.asarray(shares)[: len(images)]
