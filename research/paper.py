"""The paper's numbers, from the CSV files in ``paper_tables``."""

import csv
from functools import cache
from pathlib import Path

from partita.errors import InputError

Line = dict[str, str]


@cache
def paper_table(name: str) -> tuple[Line, ...]:
    """The lines of the table whose file's name begins so, such as "table25a".

    A line maps columns to the texts of its cells.
    """
    matches = [
        file
        for file in (Path(__file__).parent / "paper_tables").iterdir()
        if file.name.startswith(name)
    ]
    if len(matches) != 1:
        raise InputError(
            f"name is {name!r}: {len(matches)} tables of the paper begin so; give one, such as "
            "'table25a'"
        )
    return tuple(csv.DictReader(matches[0].read_text(encoding="utf-8").splitlines()))


def parse_number(text: str) -> float | None:
    """A cell's number; None where there is none.

    A mean with its deviation is the mean; "<1" is not a number.

    Examples
    --------
    >>> from research.paper import parse_number
    >>> [parse_number(text) for text in ("78.9 ± 1.5", "3,134×", "95.40%", "-inf", "<1", "")]
    [78.9, 3134.0, 95.4, -inf, None, None]
    """
    plain = text.split("±")[0].strip().rstrip("%\N{MULTIPLICATION SIGN}").replace(",", "")
    return None if not plain or plain.startswith("<") else float(plain)


def radii_of(line: Line) -> list[int]:
    """The radii at which a line has certified accuracies: its columns r0, r13, ..."""
    return [int(column[1:]) for column in line if column[0] == "r" and column[1:].isdigit()]
