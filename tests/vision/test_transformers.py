"""The transformers of pixel sets: masks, positions, gradients."""

import pytest
import torch

from partita.vision._pixel_sets import (
    PixelSetTransformers,
    _images_per_matrix,
    parameter_groups,
    weights_per_network,
)


def perturbed(networks, scale):
    """Weights away from their initial values, which score every label alike."""
    with torch.no_grad():
        for k, value in enumerate(networks.parameters()):
            generator = torch.Generator().manual_seed(k)
            value.add_(scale * torch.randn(value.shape, generator=generator))
    return networks


def inputs(generator, images=12, tokens=5, channels=3):
    values = torch.randn(2, images, tokens, channels, generator=generator)
    positions = torch.rand(2, images, tokens, 2, generator=generator)
    present = torch.rand(2, images, tokens, generator=generator) > 0.4
    present[..., 0] = True
    return values, positions, present


def test_several_images_in_one_attention_matrix_change_nothing():
    """Attention over groups of images, as in training, equals attention image by image."""
    networks = perturbed(PixelSetTransformers([1, 2], 3, 5, 16, 2, 2, 2), 0.3)
    values, positions, present = inputs(torch.Generator().manual_seed(0))
    assert _images_per_matrix(12, 5) == 4
    grouped = networks.train()(values, positions, present)
    alone = networks.eval()(values, positions, present)
    assert torch.allclose(grouped, alone, atol=1e-5)


def test_absent_tokens_are_not_looked_at():
    networks = perturbed(PixelSetTransformers([1, 2], 3, 5, 16, 2, 2, 2), 0.3).eval()
    values, positions, present = inputs(torch.Generator().manual_seed(0))
    other = values.clone()
    other[~present] = 9.0
    assert torch.allclose(
        networks(other, positions, present), networks(values, positions, present), atol=1e-6
    )


def test_a_network_never_meets_another_s_numbers():
    """Gradients of one network's scores with respect to the other's weights are zero."""
    networks = perturbed(PixelSetTransformers([1, 2], 3, 5, 16, 1, 2, 2), 0.3)
    networks(*inputs(torch.Generator().manual_seed(0)))[0].square().sum().backward()
    for name, value in networks.named_parameters():
        assert value.grad[0].any(), name
        assert not value.grad[1].any(), name


def test_initial_weights_are_the_seed_s_own():
    together = PixelSetTransformers([3, 4, 5], 1, 10, 8, 1, 2, 2).state_dict()
    alone = PixelSetTransformers([4], 1, 10, 8, 1, 2, 2).state_dict()
    assert all(torch.equal(alone[name][0], value[1]) for name, value in together.items())
    assert not torch.equal(together["weights.qkv_0"][0], together["weights.qkv_0"][1])


def test_weight_decay_applies_to_matrices_only():
    networks = PixelSetTransformers([1], 1, 10, 8, 2, 2, 3)
    matrices, rest = parameter_groups(networks)
    assert rest["weight_decay"] == 0.0
    assert all(value.dim() == 3 and value.shape[1] > 1 for value in matrices["params"])
    assert len(matrices["params"]) + len(rest["params"]) == len(list(networks.parameters()))
    assert sum(value.numel() for value in matrices["params"]) == weights_per_network(8, 2, 3, 1, 10)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # the compiler's libraries warn of each other
def test_compiled_and_plain_have_the_same_gradients():
    """In bfloat16, as on a GPU, a compiled graph's gradients are finite and near the plain ones."""
    gradients = []
    for compiled in (False, True):
        networks = perturbed(PixelSetTransformers([1, 2], 1, 3, 16, 1, 2, 2), 0.1)
        values, positions, _ = inputs(torch.Generator().manual_seed(0), 8, 5, 1)
        run = torch.compile(networks, dynamic=False) if compiled else networks
        present = torch.ones(2, 8, 5, dtype=torch.bool)
        run(values.bfloat16(), positions, present).square().sum().backward()
        gradients.append({name: value.grad for name, value in networks.named_parameters()})
    for name, plain in gradients[0].items():
        assert gradients[1][name].isfinite().all(), name
        assert (gradients[1][name] - plain).norm() <= 0.1 * plain.norm() + 1e-3, name
