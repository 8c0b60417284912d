"""One masked network: its mask and its learning rate."""

import numpy as np
import pytest
import torch

from partita.vision._masked_classifier import MaskedSubmodel, learning_rate_share
from partita.vision._paper_networks import PAPER, recipe_for


def test_all_other_pixels_are_zero():
    shape = (8, 8, 2)
    submodel = MaskedSubmodel(
        [0, 9, 63],
        shape,
        np.arange(2),
        "resnet9",
        recipe_for("resnet9", shape, erase=0),
        0,
        torch.device("cpu"),
    )
    masked = submodel.mask(torch.full((2, 3, 2), 255, dtype=torch.uint8))
    assert masked.shape == (2, 8, 8, 2)
    assert masked.flatten(1, 2)[:, [0, 9, 63]].unique().tolist() == [(255 - 127.5) / 64]
    assert masked.count_nonzero() == 2 * 3 * 2
    assert repr(submodel) == "resnet9 on 3 pixels"


def test_learning_rates_rise_and_fall_as_in_the_paper():
    rates = [learning_rate_share(PAPER["resnet9"], step / 80) for step in range(81)]
    assert max(rates) == rates[16] == 1.0
    assert (rates[0], rates[8], rates[48], rates[80]) == pytest.approx((0.0, 0.5, 0.5, 0.0))
    cosine = [learning_rate_share(PAPER["network_in_network"], done) for done in (0.0, 0.5, 1.0)]
    assert cosine == pytest.approx([1.0, 0.5, 0.0])
