"""What networks over cells are and how they are trained, as one checked value.

CellImageClassifier documents the meaning of every field; nothing here builds or trains.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from .._support import check_number, check_whole
from ..errors import InputError
from ._config import check_views


@dataclass(frozen=True)
class CellConfig:
    """The architecture and the training of networks over cells."""

    width: int = 128
    blocks: int = 1
    cell: int = 2
    members: int = 1
    epochs: int = 20
    batch_size: int = 512
    learning_rate: float = 0.4
    weight_decay: float = 5e-4
    label_smoothing: float = 0.1
    average: float = 0.99
    flip: bool = True
    shift: int = 2
    erase: int = 0
    views: int = 1

    def check(self, image_shape: Sequence[int]) -> None:
        """Refuse values that no network can be built or trained with for such images."""
        for name, least in (
            *((name, 1) for name in ("width", "blocks", "cell", "members", "epochs")),
            ("batch_size", 2),
            ("shift", 0),
            ("erase", 0),
        ):
            check_whole(name, getattr(self, name), least)
        if len(image_shape) != 3:
            raise InputError(f"image_shape is {image_shape!r}: give (height, width, channels)")
        for side in image_shape:
            check_whole("image_shape: a side", side, 1)
        shorter = min(image_shape[:2])
        for name, limit in (("cell", shorter + 1), ("shift", shorter), ("erase", shorter)):
            if getattr(self, name) >= limit:
                raise InputError(
                    f"{name} is {getattr(self, name)}, but an image's shorter side has {shorter} "
                    f"pixels: lower {name}"
                )
        check_views(self.views, self.shift)
        for name, below in (
            ("learning_rate", None),
            ("weight_decay", None),
            ("label_smoothing", 1.0),
            ("average", 1.0),
        ):
            check_number(name, getattr(self, name), below)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]
