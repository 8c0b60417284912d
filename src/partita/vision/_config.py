"""The settings of pixel-set networks and of their training."""

from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any

from ..errors import InputError

WHOLE = ("width", "blocks", "heads", "expand", "epochs", "batch_size", "members")
VIEWS = [
    (0, 0),
    (0, 1),
    (1, 0),
    (0, -1),
    (-1, 0),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
]  # pixels down and to the right


@dataclass(frozen=True)
class Settings:
    """What a set of networks is and how it is trained. See PixelSetClassifier for what each
    means."""

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
    flip: bool = True
    shift: int = 2
    views: int = 1

    def check(self) -> None:
        for name in WHOLE:
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}: it must be a whole number, 1 or above")
        if self.width % self.heads:
            raise InputError(
                f"width is {self.width}, which is no multiple of heads={self.heads}: change one "
                "of them"
            )
        if not isinstance(self.shift, Integral) or self.shift < 0:
            raise InputError(
                f"shift is {self.shift!r}: it must be a whole number of pixels, 0 or above"
            )
        if self.views not in (1, 5, 9) or (self.views > 1 and self.shift < 1):
            raise InputError(
                f"views is {self.views!r}: give 1, 5 or 9, and with shift=0 only 1, since the "
                "networks saw no shifted image"
            )
        for name, most in (
            ("learning_rate", float("inf")),
            ("weight_decay", float("inf")),
            ("token_drop", 1.0),
            ("label_smoothing", 1.0),
        ):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= value < most:
                raise InputError(
                    f"{name} is {value!r}: it must be a number, at least 0"
                    + (f" and below {most:g}" if most < 2 else "")
                )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]
