"""What pixel-set networks are and how they are trained, as one checked value.

PixelSetClassifier documents the meaning of every field; nothing here builds or trains.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any

from .._support import check_number, check_whole
from ..errors import InputError

AT_LEAST_ONE = ("width", "blocks", "heads", "expand", "epochs", "batch_size", "members")
VIEW_SHIFTS = [  # pixels down and to the right, by which an image is shifted at prediction
    (0, 0),
    (0, 1),
    (1, 0),
    (0, -1),
    (-1, 0),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
]


@dataclass(frozen=True)
class PixelSetConfig:
    """The architecture and the training of a set of pixel-set networks."""

    width: int = 128
    blocks: int = 3
    heads: int = 4
    expand: int = 2
    members: int = 1
    epochs: int = 30
    batch_size: int = 512
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    token_drop: float = 0.05
    label_smoothing: float = 0.0
    average: float = 0.0
    flip: bool = True
    shift: int = 2
    views: int = 1

    def check(self) -> None:
        """Refuse values that no network can be built or trained with."""
        for name in AT_LEAST_ONE:
            check_whole(name, getattr(self, name), 1)
        if self.width % self.heads:
            raise InputError(
                f"width is {self.width}, which is not a multiple of heads={self.heads}: change one "
                "of them"
            )
        check_whole("shift", self.shift, 0)
        check_views(self.views, self.shift)
        for name, limit in (
            ("learning_rate", None),
            ("weight_decay", None),
            ("token_drop", 1.0),
            ("label_smoothing", 1.0),
            ("average", 1.0),
        ):
            check_number(name, getattr(self, name), limit)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]


def check_views(views: Any, shift: int) -> None:
    """Refuse views at prediction that training did not prepare the networks for."""
    if views not in (1, 5, 9) or (views > 1 and shift < 1):
        raise InputError(
            f"views is {views!r}: give 1, 5 or 9, and only 1 with shift=0, since the networks saw "
            "no shifted image in training"
        )
