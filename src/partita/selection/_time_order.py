"""Whether the rows of a table are in the order of time, so that a random split says too much."""

import re

import numpy as np

from ..errors import InputError
from ..tables import NUMBER, TEXT, TIME, File, column_values

NAMED_LIKE_TIME = re.compile(r"(?<![a-z])(date|time|datetime|timestamp)(?![a-z])")


def time_order_warnings(file: File, target: str) -> list[str]:
    """What to say if a table whose rows were held out at random has a column of times."""
    for name in file.names:
        if name == target:
            continue
        try:
            kind = file.kind(name)
        except InputError:  # an ignored column of a type that is not read
            continue
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()  # saleDate
        is_named_so = NAMED_LIKE_TIME.search(words) is not None
        if kind != TIME and not (is_named_so and _may_be_time(file, name, kind)):
            continue
        if _is_ordered(file, name, kind):
            return [
                f"Rows look ordered in time (by {name!r}), and were held out at random: --last "
                "0.2 tells more about later rows."
            ]
        return [
            f"The column {name!r} looks like a time, and rows were held out at random. If the "
            "model is for later rows, sort the table by time: --last 0.2 then tells more."
        ]
    return []


def _may_be_time(file: File, name: str, kind: str) -> bool:
    """Whether a column that is named like a time may hold one (OverTime is Yes or No)."""
    if kind != TEXT:
        return kind == NUMBER
    column = file.arrow([name]).column(name).slice(0, 100).to_pylist()
    return any(any(character.isdigit() for character in str(value)) for value in column)


def _is_ordered(file: File, name: str, kind: str) -> bool:
    """Whether the column never falls, or never rises, from one row to the next."""
    try:
        values = column_values(file.arrow([name]).column(name), kind, name)
    except InputError:
        return False
    known = np.asarray(
        [value for value in values.tolist() if value == value],
        dtype=None if kind != TEXT else object,
    )
    rises, falls = known[1:] > known[:-1], known[1:] < known[:-1]
    return len(known) > 1 and bool(np.any(rises) != np.any(falls))
