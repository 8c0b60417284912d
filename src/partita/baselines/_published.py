"""Published numbers of defences against patches that are not implemented here.

They are those of table 4 of the feature partition aggregation paper; nothing here runs a model.
"""

import csv
from dataclasses import dataclass
from importlib.resources import files

from ..errors import InputError

# what the numbers are about: a square of 5 x 5, and rectangles of 24 pixels of every shape
SQUARE, RECTANGLE_PIXELS = (5, 5), 24


@dataclass(frozen=True)
class Published:
    """A defence's certified accuracy as printed."""

    method: str
    source: str
    certified: float  # a share, not a percentage


def published(data: str, patch: tuple[int, int]) -> list[Published]:
    """The published shares of images that survive a patch of (height, width).

    For a patch of 24 pixels they are about the worst shape of such a rectangle.
    """
    text = files("partita.baselines").joinpath("published.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    known = sorted({row["data"] for row in rows})
    if data not in known:
        raise InputError(
            f"published is {data!r}: there are numbers for {', '.join(map(repr, known))} only"
        )
    if tuple(patch) == SQUARE:
        column = "square_5x5"
    elif patch[0] * patch[1] == RECTANGLE_PIXELS:
        column = "rectangle_24_worst"
    else:
        raise InputError(
            f"patch is {patch!r}: published numbers are for (5, 5) and for rectangles of 24 "
            "pixels only"
        )
    return [
        Published(row["method"], row["source"], float(row[column]) / 100)
        for row in rows
        if row[column]
    ]
