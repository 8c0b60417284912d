"""Patches: all pixels under a square are rewritten, wherever it does most harm."""

import numpy as np

from .._support import Array
from ..partition import LeaveOut
from ..patches import certify_patches
from ._evasion import Evader, RewrittenRows

SIDES = (1, 2, 3, 4, 5)  # of the squares that are tried
POSITIONS = 6  # for each image, those that look worst


def patch_attacks(evader: Evader, side: int) -> tuple[Array, list[RewrittenRows]] | None:
    """Which images are certified against a square of that side, and attacks with it.

    None where no image is certified, the square does not fit, or a fallback may answer: a patch's
    certificate is the vote's.
    """
    claims = evader.claims
    model = claims.model
    sets, shape = model.partition_, model.image_shape
    assert shape is not None  # else there are no patches to attack
    height, width = map(int, shape[:2])
    if (
        model.task != "classification"
        or isinstance(sets, LeaveOut)
        or model.gate_
        or side > min(height, width)
        or len(model.units_) != height * width
    ):
        return None
    proof = certify_patches(claims.ballots, sets, shape, (side, side), claims.certified.rule)
    if not (proof.radius >= 1).any():
        return None
    gains, choices = evader.gains(claims.goals.of_rows(claims.ballots)[0])
    harm = np.maximum(np.where(np.isfinite(gains), gains, 0), 0).reshape(height, width, -1)
    windows = np.lib.stride_tricks.sliding_window_view(harm, (side, side), axis=(0, 1)).sum(
        axis=(-2, -1)
    )
    places = np.argsort(-windows.reshape(-1, windows.shape[2]), axis=0, kind="stable")[:POSITIONS]
    attacks = []
    for place in places:  # one position for each image
        plans = []
        for row, position in enumerate(place):
            top, left = divmod(int(position), width - side + 1)
            units = [
                (top + down) * width + left + across
                for down in range(side)
                for across in range(side)
            ]
            plans.append(
                [(unit, int(choices[unit, row])) for unit in units if evader.options[unit]]
            )
        attacks.append(evader.write(plans))
    return proof.radius, attacks
