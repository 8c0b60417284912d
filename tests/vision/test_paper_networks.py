"""The paper's networks, against its tables 16 and 17."""

import pytest
import torch
from torch import nn

from partita import InputError
from partita.vision._paper_networks import GhostBatchNorm, network_in_network, resnet9


def test_resnet9_is_table_16():
    network = resnet9(3, 10, 32, 32)
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    channels = [3, 64, 128, 128, 128, 256, 512, 512, 512]
    assert [layer.in_channels for layer in convolutions] == channels[:-1]
    assert [layer.out_channels for layer in convolutions] == channels[1:]
    assert all(layer.kernel_size == (3, 3) and layer.padding == (1, 1) for layer in convolutions)
    # kernels 9 * (3*64 + 64*128 + 2*128*128 + 128*256 + 256*512 + 2*512*512) = 6,563,520; norms 2 *
    # (64 + 3*128 + 256 + 3*512) = 4,480; linear, without bias, 512*10 = 5,120
    assert sum(value.numel() for value in network.parameters()) == 6_563_520 + 4_480 + 5_120
    pools = [layer.kernel_size for layer in network.modules() if isinstance(layer, nn.MaxPool2d)]
    assert pools == [2, 2, 2, (4, 4)]
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    assert resnet9(1, 4, 9, 17)(torch.zeros(2, 1, 9, 17)).shape == (2, 4)


def test_network_in_network_is_table_17():
    network = network_in_network(1, 10, 28, 28)
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    assert [layer.kernel_size[0] for layer in convolutions] == [5, 1, 1, 5, 1, 1, 3, 1, 1]
    assert [layer.out_channels for layer in convolutions] == [192, 160, 96] + [192] * 6
    # kernels 25*192 + 192*160 + 160*96 + 25*96*192 + 2*192*192 + 9*192*192 + 2*192*192 = 990,912;
    # norms 2 * (192 + 160 + 96 + 6*192) = 3,200; linear 192*10 + 10 = 1,930. (With the table's
    # three input channels, which MNIST does not have, 2*25*192 more.)
    assert sum(value.numel() for value in network.parameters()) == 990_912 + 3_200 + 1_930
    three = network_in_network(3, 10, 28, 28)
    assert sum(value.numel() for value in three.parameters()) == 996_042 + 9_600
    assert network[:-2](torch.zeros(2, 1, 28, 28)).shape == (2, 192, 7, 7)


def test_ghost_batches_are_normalised_separately():
    """Each 32 images by their own mean and variance; the running statistics average them."""
    x = torch.randn(64, 3, 2, 2, generator=torch.Generator().manual_seed(0)) * 3 + 1
    ghost = GhostBatchNorm(3).train()
    with torch.no_grad():
        ghost.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
        ghost.bias.copy_(torch.tensor([0.5, 0.0, -0.5]))
    plain = []
    for half in (x[0::2], x[1::2]):
        norm = nn.BatchNorm2d(3).train()
        norm.load_state_dict(norm.state_dict() | {"weight": ghost.weight, "bias": ghost.bias})
        plain.append((norm(half), norm.running_mean, norm.running_var))
    normed = ghost(x)
    assert torch.allclose(normed[0::2], plain[0][0], atol=1e-5)
    assert torch.allclose(normed[1::2], plain[1][0], atol=1e-5)
    assert torch.allclose(ghost.running_mean, (plain[0][1] + plain[1][1]) / 2, atol=1e-6)
    assert torch.allclose(ghost.running_var, (plain[0][2] + plain[1][2]) / 2, atol=1e-6)
    whole = nn.BatchNorm2d(3).train()(x) * ghost.weight.view(3, 1, 1) + ghost.bias.view(3, 1, 1)
    assert not torch.allclose(normed, whole, atol=1e-3)


def test_images_that_are_too_small_are_refused():
    with pytest.raises(InputError, match="resnet9 needs at least 8 x 8"):
        resnet9(1, 2, 4, 16)
    with pytest.raises(InputError, match="network_in_network needs at least 4 x 4"):
        network_in_network(1, 2, 3, 16)
