"""Averages of weights, beside the obvious way to compute them."""

import pytest
import torch

from partita.vision._runtime import WeightAverages


def followed(decay, values):
    """The average of one weight that takes these values."""
    weight = torch.tensor([values[0]])
    averages = WeightAverages([weight], decay)
    for step, value in enumerate(values[1:], 1):
        weight.fill_(value)
        averages.update(step)
    averages.apply()
    return float(weight)


def test_the_average_is_exponential_and_short_at_first():
    values = [3.0, 1.0, -2.0, 5.0] + [0.5] * 60 + [2.0] * 5
    expected = values[0]
    for step, value in enumerate(values[1:], 1):
        decay = min(0.8, step / (10 + step))
        expected = decay * expected + (1 - decay) * value
    assert followed(0.8, values) == pytest.approx(expected, rel=1e-5)


def test_without_a_decay_the_weights_stay():
    assert followed(0.0, [3.0, 1.0, -2.0]) == -2.0


def test_entries_do_not_meet():
    """One that is not a number leaves its neighbour alone."""
    weights = torch.tensor([1.0, 1.0])
    averages = WeightAverages([weights], 0.5)
    weights[0] = torch.nan
    weights[1] = 2.0
    averages.update(1)
    averages.apply()
    assert weights[0].isnan()
    assert float(weights[1]) == pytest.approx(1 + 10 / 11)


def test_saved_averages_continue():
    weight = torch.ones(2)
    first, second = WeightAverages([weight], 0.9), WeightAverages([weight], 0.9)
    first.tensors[0].fill_(7.0)
    second.load([value.clone() for value in first.tensors])
    assert second.tensors[0].tolist() == [7.0, 7.0]
    with pytest.raises(ValueError, match="argument"):
        second.load([])
