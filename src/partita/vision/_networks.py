"""Many small transformers side by side, each over its own pixels.

Every weight has the shape (networks, ...) and is applied by batched matrix products, so all
networks run in one graph, but no number of one ever meets a number of another: no shared weights,
no statistics or norms across networks."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# octaves of sines and cosines that tell where a pixel is; the finest turns over within two pixels
# of a 32-pixel side
WAVES = 6
TOKENS_IN_ONE = 80  # images are put together for attention up to so many tokens


class PixelSetNetworks(nn.Module):
    """Networks over sets of pixels: tokens of colour and place, attention blocks with the norm
    before, mean and maximum, a linear head."""

    def __init__(
        self,
        seeds: Sequence[int],
        channels: int,
        classes: int,
        width: int,
        blocks: int,
        heads: int,
        expand: int,
    ) -> None:
        super().__init__()
        self.heads, self.blocks = heads, blocks
        shapes: dict[str, tuple[int, ...]] = {"enter": (channels + 4 * WAVES, width)}
        for block in range(blocks):
            shapes |= {
                f"look_{block}": (width, 3 * width),
                f"mix_{block}": (width, width),
                f"widen_{block}": (width, expand * width),
                f"narrow_{block}": (expand * width, width),
            }
        shapes["leave"] = (2 * width, classes)
        generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
        weights, biases = {}, {}
        for name, shape in shapes.items():
            deep = name.startswith(("mix", "narrow"))
            scale = (
                (0.0 if name == "leave" else 1.0)
                / math.sqrt(shape[0])
                / (math.sqrt(2 * blocks) if deep else 1.0)
            )
            drawn = torch.stack(
                [torch.randn(shape, generator=generator) for generator in generators]
            )
            weights[name] = nn.Parameter(drawn * scale)
            biases[name] = nn.Parameter(torch.zeros(len(seeds), 1, shape[1]))
        self.weights, self.biases = nn.ParameterDict(weights), nn.ParameterDict(biases)
        norms = [f"{part}_{block}" for part in ("look", "widen") for block in range(blocks)] + [
            "leave"
        ]
        self.gains = nn.ParameterDict(
            {name: nn.Parameter(torch.ones(len(seeds), 1, 1, width)) for name in norms}
        )

    def forward(self, colours: Tensor, places: Tensor, present: Tensor) -> Tensor:
        """Scores (networks, images, classes).

        ``colours`` is (networks, images, tokens, channels), ``places`` (..., 2) in [-1, 1],
        ``present`` which tokens are there."""
        x = self._linear("enter", torch.cat([colours, _waves(places).to(colours.dtype)], dim=-1))
        for block in range(self.blocks):
            x = x + self._linear(
                f"mix_{block}",
                self._attended(
                    self._linear(f"look_{block}", self._normed(f"look_{block}", x)), present
                ),
            )
            x = x + self._linear(
                f"narrow_{block}",
                F.gelu(
                    self._linear(f"widen_{block}", self._normed(f"widen_{block}", x)),
                    approximate="tanh",
                ),
            )
        x = self._normed("leave", x)
        there = present.unsqueeze(-1)
        mean = (x * there).sum(dim=2) / there.sum(dim=2)
        most = (
            x.masked_fill(~there, -1e4).max(dim=2).values
        )  # by place: amax looks for the value again, which a compiled graph may miss
        return (
            self._linear("leave", torch.cat([mean, most], dim=-1).unsqueeze(2)).squeeze(2).float()
        )

    def _linear(self, name: str, x: Tensor) -> Tensor:
        images, tokens = x.shape[1:3]
        weight, bias = self.weights[name].to(x.dtype), self.biases[name].to(x.dtype)
        return (torch.bmm(x.flatten(1, 2), weight) + bias).unflatten(
            1, (images, tokens)
        )  # the sum joins what comes next, when compiled

    def _normed(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:]) * self.gains[name].to(x.dtype)

    def _attended(self, looks: Tensor, present: Tensor) -> Tensor:
        """What each token takes from the others of its image.

        Few tokens make poor matrices, so in training several images share one, kept apart by a
        mask. When predicting they do not, so that no number of one image, be it infinite, can touch
        another."""
        networks, images, tokens, _ = looks.shape
        group = _images_in_one(images, tokens) if self.training else 1
        shape = (networks, images // group, group * tokens, 3, self.heads, -1)
        query, key, value = (
            looks.reshape(shape).permute(3, 0, 1, 4, 2, 5).flatten(1, 3)
        )  # each (networks x groups x heads, tokens, depth)
        scores = (query @ key.transpose(1, 2)).unflatten(0, (networks, images // group, self.heads))
        image = torch.arange(group * tokens, device=looks.device) // tokens
        seen = (image[:, None] == image) & present.reshape(
            networks, images // group, 1, 1, group * tokens
        )
        share = (
            (scores.float() / math.sqrt(query.shape[-1]))
            .masked_fill(~seen, -1e30)
            .softmax(dim=-1)
            .to(value.dtype)
        )
        mixed = (share.flatten(0, 2) @ value).unflatten(0, (networks, images // group, self.heads))
        return mixed.transpose(2, 3).reshape(networks, images, tokens, -1)


def _images_in_one(images: int, tokens: int) -> int:
    """How many images share a matrix of attention: the largest power of two that divides them and
    keeps it small."""
    group = 1
    while images % (2 * group) == 0 and 2 * group * tokens <= TOKENS_IN_ONE:
        group *= 2
    return group


def _waves(places: Tensor) -> Tensor:
    """Sines and cosines of both coordinates, an octave apart."""
    octaves = math.pi / 2 * 2.0 ** torch.arange(WAVES, device=places.device, dtype=torch.float32)
    angles = (places.unsqueeze(-1) * octaves).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def parameters_to_decay(networks: nn.Module) -> list[dict[str, Any]]:
    """Matrices shrink towards zero in training; gains and biases do not."""
    matrices = [value for name, value in networks.named_parameters() if name.startswith("weights.")]
    others = [
        value for name, value in networks.named_parameters() if not name.startswith("weights.")
    ]
    return [{"params": matrices}, {"params": others, "weight_decay": 0.0}]
