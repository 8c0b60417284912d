"""The paper's numbers, from the CSV files beside this module."""

import csv
from functools import cache
from importlib.resources import files

from ..errors import InputError

Line = dict[str, str]


@cache
def printed(name: str) -> tuple[Line, ...]:
    """The lines of the table whose file's name begins so, such as "table25a"; a line is a cell's
    text by its column."""
    found = [
        file
        for file in files("partita.reproduce").joinpath("paper").iterdir()
        if file.name.startswith(name)
    ]
    if len(found) != 1:
        raise InputError(
            f"name is {name!r}: {len(found)} tables of the paper begin so; give one, such as "
            "'table25a'"
        )
    return tuple(csv.DictReader(found[0].read_text(encoding="utf-8").splitlines()))


def number(text: str) -> float | None:
    """A cell as a number; None where there is none. A mean with its deviation is the mean, and "<1"
    is no number.

    Examples
    --------
    >>> from partita.reproduce._paper import number
    >>> number("78.9 ± 1.5"), number("3,134×"), number("95.40%"), number("-inf"), number("5.4e0"), number("<1"), number("")
    (78.9, 3134.0, 95.4, -inf, 5.4, None, None)
    """
    plain = text.split("±")[0].strip().rstrip("%\N{MULTIPLICATION SIGN}").replace(",", "")
    return None if not plain or plain.startswith("<") else float(plain)


def radii(line: Line) -> list[int]:
    """The radii at which a line has certified accuracies: its columns r0, r13, ..."""
    return [int(column[1:]) for column in line if column[0] == "r" and column[1:].isdigit()]
