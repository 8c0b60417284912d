"""Augmentation of masked images: shifted, mirrored and erased at random.

The images it is given are masked already, so that no augmentation can bring in a foreign pixel.
(Where training is trusted they are whole, and masked afterwards: ``_window_networks.py``.)
"""

from typing import Protocol

import torch
from torch import Tensor


class Augmentation(Protocol):
    """How images are augmented; MaskedImageClassifier documents the settings."""

    @property
    def flip(self) -> bool: ...
    @property
    def shift(self) -> int: ...
    @property
    def erase(self) -> int: ...


def augment(masked: Tensor, recipe: Augmentation, generator: torch.Generator) -> Tensor:
    """Images (images, height, width, channels), each augmented by its own random numbers."""
    count, (height, width), device = len(masked), masked.shape[1:3], masked.device

    def draw(low: int, high: int) -> Tensor:
        return torch.randint(low, high + 1, (count, 1), generator=generator, device=device)

    rows = torch.arange(height, device=device).expand(count, height)
    columns = torch.arange(width, device=device).expand(count, width)
    if recipe.erase:
        below = rows - draw(0, height - recipe.erase)
        beyond = columns - draw(0, width - recipe.erase)
        down = (below >= 0) & (below < recipe.erase)
        right = (beyond >= 0) & (beyond < recipe.erase)
    if recipe.flip:
        columns = torch.where(draw(0, 1) == 1, width - 1 - columns, columns)
    if recipe.shift:
        rows = _reflect(rows + draw(-recipe.shift, recipe.shift), height)
        columns = _reflect(columns + draw(-recipe.shift, recipe.shift), width)
    image = torch.arange(count, device=device)[:, None, None]
    moved = masked[image, rows[:, :, None], columns[:, None, :]]
    if not recipe.erase:
        return moved
    return moved.masked_fill((down[:, :, None] & right[:, None, :]).unsqueeze(-1), 0.0)


def moved(masked: Tensor, down: int, right: int, mirror: bool) -> Tensor:
    """All images shifted by the same number of pixels, and mirrored if asked for."""
    height, width = masked.shape[1:3]
    rows = _reflect(torch.arange(height, device=masked.device) - down, height)
    columns = _reflect(torch.arange(width, device=masked.device) - right, width)
    if mirror:
        columns = columns.flip(0)
    return masked[:, rows][:, :, columns]


def _reflect(places: Tensor, side: int) -> Tensor:
    """Places beyond an edge, reflected into the image; the edge itself does not come twice."""
    return side - 1 - (side - 1 - places.abs()).abs()
