"""Votes of models that leave windows out, asked for only until a label and a radius are settled.

Knows a function that answers questions, each an image and a model; nothing here knows networks.
What is found must equal :class:`partita.rules.Agreement` on all votes: a set of windows counts as
unanimous only when every model that leaves it out was asked.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from .._support import Array
from ..rules import Agreement, blocks, supersets

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
