"""Columns that look like one raw column in one-hot form: whoever owns the raw column owns all of
them, so they should be one unit."""

from collections.abc import Mapping, Sequence

import numpy as np

from .._support.types import Array
from ..tables._table import Table

SEPARATORS = ("_", "=", ":", ".", " ")
FEWEST = 3  # columns; two columns of zeros and ones are often something else
NEARLY_ALL = 0.95  # rows in which exactly one column of a family is 1


def one_hot_families(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Families of columns with a common beginning of their names, all zeros and ones, exactly one
    of them 1 in nearly every row.

    It looks at the values, so what it finds must not decide a model by itself: it is for a user to
    read."""
    binary = {
        name: values
        for j, name in enumerate(names)
        if (values := _zeros_and_ones(table, j)) is not None
    }
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for separator in SEPARATORS:
        for prefix, members in _by_beginning(
            [name for name in binary if name not in taken], separator
        ).items():
            ones = np.sum([binary[name] for name in members], axis=0)
            if len(members) >= FEWEST and np.mean(ones == 1) >= NEARLY_ALL and ones.max() <= 1:
                found[prefix] = members
                taken |= set(members)
    return found


def as_units_toml(families: Mapping[str, Sequence[str]]) -> str:
    """The families as lines for a units.toml."""
    lines = [
        f"{_quoted(name)} = [{', '.join(map(_quoted, members))}]"
        for name, members in families.items()
    ]
    return "\n".join(["[units]", *lines])


def _zeros_and_ones(table: Table, column: int) -> Array | None:
    if not table.numeric()[column]:
        return None
    part = table.take([column])
    values = np.asarray(
        part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64
    ).reshape(-1)
    return values if np.isin(values, (0.0, 1.0)).all() else None


def _by_beginning(names: Sequence[str], separator: str) -> dict[str, list[str]]:
    """The longest beginnings that several names share, up to a separator."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if separator in name:
            groups.setdefault(name.split(separator, 1)[0], []).append(name)
    found: dict[str, list[str]] = {}
    for prefix, members in groups.items():
        # marital_status_single, marital_status_married: the raw name goes on as long as all agree
        while True:
            rest = {
                member[len(prefix) + len(separator) :].split(separator, 1)[0] for member in members
            }
            if len(rest) != 1 or any(
                member[len(prefix) :].count(separator) < 2 for member in members
            ):
                break
            prefix = prefix + separator + rest.pop()
        found[prefix] = members
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
