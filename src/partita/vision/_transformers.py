"""Many small transformers side by side, each over its own pixels.

Every weight has the shape (networks, ...) and is applied by batched matrix products, so all
networks run in one graph. No number of one network may ever meet a number of another: there are no
shared weights, and no statistics or norms across networks.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# sines and cosines an octave apart encode a position; the finest period is two pixels of a side of
# 32
OCTAVES = 6
TOKENS_PER_MATRIX = 80  # in training, images share an attention matrix of up to so many tokens


class PixelSetTransformers(nn.Module):
    """Transformers over sets of pixels, as one module.

    Each network embeds its tokens (the pixel's values and the encoding of its position), applies
    pre-norm attention and MLP blocks, pools the tokens by mean and maximum, and ends in a linear
    head.

    Parameters
    ----------
    seeds : sequence of int
        One per network; each network's initial weights come from its own seed.
    channels, classes : int
        Values per pixel and labels to score.
    width, blocks, heads, expand : int
        The size of a network; see PixelSetClassifier.
    """

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
        shapes: dict[str, tuple[int, ...]] = {"embed": (channels + 4 * OCTAVES, width)}
        for block in range(blocks):
            shapes |= {
                f"qkv_{block}": (width, 3 * width),
                f"attn_out_{block}": (width, width),
                f"mlp_in_{block}": (width, expand * width),
                f"mlp_out_{block}": (expand * width, width),
            }
        shapes["head"] = (2 * width, classes)
        generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
        weights, biases = {}, {}
        for name, shape in shapes.items():
            drawn = torch.stack(
                [torch.randn(shape, generator=generator) for generator in generators]
            )
            weights[name] = nn.Parameter(drawn * _initial_scale(name, shape[0], blocks))
            biases[name] = nn.Parameter(torch.zeros(len(seeds), 1, shape[1]))
        self.weights, self.biases = nn.ParameterDict(weights), nn.ParameterDict(biases)
        norms = [f"{part}_{block}" for part in ("attn", "mlp") for block in range(blocks)]
        self.norms = nn.ParameterDict(
            {name: nn.Parameter(torch.ones(len(seeds), 1, 1, width)) for name in [*norms, "head"]}
        )

    def forward(self, values: Tensor, positions: Tensor, present: Tensor) -> Tensor:
        """Scores of shape (networks, images, classes).

        ``values`` is (networks, images, tokens, channels), ``positions`` (..., 2) in [-1, 1], and
        ``present`` says which tokens exist: sets smaller than the largest are padded.
        """
        encoded = _position_encoding(positions).to(values.dtype)
        x = self._linear("embed", torch.cat([values, encoded], dim=-1))
        for block in range(self.blocks):
            qkv = self._linear(f"qkv_{block}", self._normed(f"attn_{block}", x))
            x = x + self._linear(f"attn_out_{block}", self._attention(qkv, present))
            hidden = self._linear(f"mlp_in_{block}", self._normed(f"mlp_{block}", x))
            x = x + self._linear(f"mlp_out_{block}", F.gelu(hidden, approximate="tanh"))
        x = self._normed("head", x)
        mask = present.unsqueeze(-1)
        mean = (x * mask).sum(dim=2) / mask.sum(dim=2)
        # not amax: it looks for its value again in the backward pass, which a compiled graph may
        # miss
        maximum = x.masked_fill(~mask, -1e4).max(dim=2).values
        pooled = torch.cat([mean, maximum], dim=-1).unsqueeze(2)
        return self._linear("head", pooled).squeeze(2).float()

    def _linear(self, name: str, x: Tensor) -> Tensor:
        images, tokens = x.shape[1:3]
        weight, bias = self.weights[name].to(x.dtype), self.biases[name].to(x.dtype)
        # not baddbmm: a compiled graph fuses the sum with what comes next
        return (torch.bmm(x.flatten(1, 2), weight) + bias).unflatten(1, (images, tokens))

    def _normed(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:]) * self.norms[name].to(x.dtype)

    def _attention(self, qkv: Tensor, present: Tensor) -> Tensor:
        """What each token takes from the other tokens of its image.

        Few tokens make poor matrices, so in training several images share one, separated by a mask.
        At prediction they do not, so that no number of one image, be it infinite, can touch
        another.
        """
        networks, images, tokens, _ = qkv.shape
        group = _images_per_matrix(images, tokens) if self.training else 1
        batch = (networks, images // group, self.heads)
        # each of the three: (networks x groups x heads, tokens, depth)
        query, key, value = (
            qkv.reshape(networks, images // group, group * tokens, 3, self.heads, -1)
            .permute(3, 0, 1, 4, 2, 5)
            .flatten(1, 3)
        )
        logits = (query @ key.transpose(1, 2)).unflatten(0, batch)
        image = torch.arange(group * tokens, device=qkv.device) // tokens
        visible = (image[:, None] == image) & present.reshape(
            networks, images // group, 1, 1, group * tokens
        )
        attention = (
            (logits.float() / math.sqrt(query.shape[-1]))
            .masked_fill(~visible, -1e30)
            .softmax(dim=-1)
            .to(value.dtype)
        )
        mixed = (attention.flatten(0, 2) @ value).unflatten(0, batch)
        return mixed.transpose(2, 3).reshape(networks, images, tokens, -1)


def _initial_scale(name: str, inputs: int, blocks: int) -> float:
    """The head starts at zero; what is added to the residual stream shrinks with the depth."""
    scale = (0.0 if name == "head" else 1.0) / math.sqrt(inputs)
    residual = name.startswith(("attn_out", "mlp_out"))
    return scale / (math.sqrt(2 * blocks) if residual else 1.0)


def _images_per_matrix(images: int, tokens: int) -> int:
    """The largest power of two that divides the images and keeps their shared matrix small."""
    group = 1
    while images % (2 * group) == 0 and 2 * group * tokens <= TOKENS_PER_MATRIX:
        group *= 2
    return group


def _position_encoding(positions: Tensor) -> Tensor:
    """Sines and cosines of both coordinates, an octave apart."""
    octaves = (
        math.pi / 2 * 2.0 ** torch.arange(OCTAVES, device=positions.device, dtype=torch.float32)
    )
    angles = (positions.unsqueeze(-1) * octaves).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def parameter_groups(networks: nn.Module) -> list[dict[str, Any]]:
    """For an optimizer: weight decay applies to matrices, not to norms and biases."""
    matrices = [value for name, value in networks.named_parameters() if name.startswith("weights.")]
    rest = [value for name, value in networks.named_parameters() if not name.startswith("weights.")]
    return [{"params": matrices}, {"params": rest, "weight_decay": 0.0}]


def weights_per_network(width: int, blocks: int, expand: int, channels: int, classes: int) -> int:
    """How many numbers the matrices of one network hold."""
    return width * (channels + 4 * OCTAVES + blocks * (4 + 2 * expand) * width + 2 * classes)
