"""Exponential averages of networks' weights over the steps of training.

An average is taken number by number, so networks side by side stay apart: nothing here may combine
two entries of a tensor.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

WARM_UP = 10  # after n steps the average reaches back by at most about n / 10 of them


class WeightAverages:
    """Averages of tensors that training changes in place.

    Parameters
    ----------
    current : iterable of Tensor
        The weights, and the statistics that belong to them.
    decay : float
        The share of the average that stays at each step, once there were enough of them; 0 for no
        averages at all.
    """

    def __init__(self, current: Iterable[Tensor], decay: float) -> None:
        self.decay = decay
        self.current = [value.detach() for value in current] if decay else []
        self.tensors = [value.clone() for value in self.current]

    def update(self, step: int) -> None:
        """Take in the weights after this many steps."""
        if self.tensors:
            decay = min(self.decay, step / (WARM_UP + step))
            torch._foreach_lerp_(self.tensors, self.current, 1 - decay)

    def apply(self) -> None:
        """Replace the weights by their averages."""
        for value, average in zip(self.current, self.tensors, strict=True):
            value.copy_(average)

    def load(self, tensors: Iterable[Tensor]) -> None:
        """Continue from averages that were saved."""
        for average, saved in zip(self.tensors, tensors, strict=True):
            average.copy_(saved)
