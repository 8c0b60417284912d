"""PyTorch's device, seeds and determinism."""

from threading import Event, Thread

import pytest
import torch
from torch._inductor import config

from partita import InputError
from partita.vision._runtime import (
    choose_device,
    deterministic_algorithms,
    seeded_weights,
    torch_seeds,
)


def test_devices_are_checked():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(InputError, match="device is 'gpu': give 'auto', 'cpu' or 'cuda'"):
        choose_device("gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_named():
    with pytest.raises(InputError, match="sees no GPU"):
        choose_device("cuda")


def test_seeds_differ_and_fit_into_63_bits():
    seeds = torch_seeds(7, 50)
    assert len(set(seeds)) == 50
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert torch_seeds(7, 3) == seeds[:3]
    assert torch_seeds([7, 1], 3) != seeds[:3]


def test_initial_weights_come_from_the_seed_and_leave_the_global_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with seeded_weights(1):
        first = torch.nn.Linear(3, 3).weight
    assert torch.equal(torch.rand(3), expected)
    with seeded_weights(1):
        assert torch.equal(torch.nn.Linear(3, 3).weight, first)
    with seeded_weights(2):
        assert not torch.equal(torch.nn.Linear(3, 3).weight, first)


def test_one_thread_at_a_time_draws_initial_weights():
    """Two fits in threads of one process would otherwise draw from each other's seed."""
    with seeded_weights(1):
        expected = torch.rand(3)
    drawn, entered = [], Event()

    def other():
        with seeded_weights(2):
            entered.set()
            drawn.append(torch.rand(3))

    thread = Thread(target=other)
    with seeded_weights(1):
        thread.start()
        assert not entered.wait(0.3)
        assert torch.equal(torch.rand(3), expected)
    thread.join()
    with seeded_weights(2):
        assert torch.equal(drawn[0], torch.rand(3))


def test_determinism_ends_with_the_block_even_after_an_error():
    seen = []

    def fail():
        with deterministic_algorithms(True):
            seen.append(torch.are_deterministic_algorithms_enabled())
            seen.append(getattr(config, "deterministic", True))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen == [True, True]
    assert not torch.are_deterministic_algorithms_enabled()
    assert not getattr(config, "deterministic", False)
