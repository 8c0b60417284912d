"""Tables as CSV in one way of writing, so that equal tables are equal bytes and have one hash."""

import csv
import io
from collections.abc import Iterable, Sequence

import numpy as np

from ._fetch_limits import FetchError, reason


def write_csv(names: Sequence[str], columns: Iterable[Iterable[str]]) -> bytes:
    """Columns of strings as CSV: commas, quotes only where needed, nothing where missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def read_csv(content: bytes) -> dict[str, list[str]]:
    """The cells of a CSV file as strings, column by column."""
    try:
        header, *rows = csv.reader(
            io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True
        )
    except (ValueError, csv.Error) as exc:
        raise FetchError(f"not a valid CSV file: {reason(exc)}") from exc
    if any(len(row) != len(header) for row in rows):
        raise FetchError(f"not a valid CSV file with {len(header)} cells in every row")
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def number_text(value: float) -> str:
    """The shortest text of a number that gives it back, without a point if it is whole."""
    if np.isnan(value):
        return ""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
