"""Printed numbers of defences against patches, from Table 4 of the feature partition aggregation
paper."""

import csv
from dataclasses import dataclass
from importlib.resources import files

from ..errors import InputError

SQUARE, RECTANGLE = (
    (5, 5),
    24,
)  # what the numbers are about: a square of 5 x 5, and rectangles of 24 pixels of every shape


@dataclass(frozen=True)
class Published:
    """A defence's certified accuracy, as it was printed: nothing here was run."""

    method: str
    source: str
    certified: float  # share


def published(data: str, patch: tuple[int, int]) -> list[Published]:
    """The printed shares of images that survive a patch of (height, width); of 24 pixels, for the
    worst shape of such a rectangle."""
    text = files("partita.baselines").joinpath("published.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    known = sorted({row["data"] for row in rows})
    if data not in known:
        raise InputError(
            f"published is {data!r}: there are numbers of {', '.join(map(repr, known))} alone"
        )
    if tuple(patch) == SQUARE:
        column = "square_5x5"
    elif patch[0] * patch[1] == RECTANGLE:
        column = "rectangle_24_worst"
    else:
        raise InputError(
            f"patch is {patch!r}: published numbers are of (5, 5), and of rectangles of 24 "
            "pixels, alone"
        )
    return [
        Published(row["method"], row["source"], float(row[column]) / 100)
        for row in rows
        if row[column]
    ]
