"""Columns that look like one raw column in one-hot form, and so should be one unit.

This looks at values, so what it finds must not decide a model: it is advice for the user to read.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from .._support import Array
from ..tables import Table

SEPARATORS = ("_", "=", ":", ".", " ")
FEWEST_COLUMNS = 3  # two columns of zeros and ones are often something else
NEARLY_ALL = 0.95  # of the rows have exactly one column of a family equal to 1


def one_hot_families(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Families of columns that share a prefix and are zeros and ones, one of them 1 in each row."""
    binary = {
        name: values
        for j, name in enumerate(names)
        if (values := _zeros_and_ones(table, j)) is not None
    }
    families: dict[str, list[str]] = {}
    taken: set[str] = set()
    for separator in SEPARATORS:
        available = [name for name in binary if name not in taken]
        for prefix, members in _by_prefix(available, separator).items():
            ones = np.sum([binary[name] for name in members], axis=0)
            one_each = np.mean(ones == 1) >= NEARLY_ALL and ones.max() <= 1
            if len(members) >= FEWEST_COLUMNS and one_each:
                families[prefix] = members
                taken |= set(members)
    return families


def as_units_toml(families: Mapping[str, Sequence[str]]) -> str:
    """Families as lines for a units.toml."""
    lines = [
        f"{_quote(name)} = [{', '.join(map(_quote, members))}]"
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


def _by_prefix(names: Sequence[str], separator: str) -> dict[str, list[str]]:
    """Names by the longest prefix that they share, up to a separator."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if separator in name:
            groups.setdefault(name.split(separator, 1)[0], []).append(name)
    families: dict[str, list[str]] = {}
    for prefix, members in groups.items():
        # marital_status_single, marital_status_married: the raw name goes on while all agree
        while True:
            rest = {
                member[len(prefix) + len(separator) :].split(separator, 1)[0] for member in members
            }
            if len(rest) != 1 or any(
                member[len(prefix) :].count(separator) < 2 for member in members
            ):
                break
            prefix = prefix + separator + rest.pop()
        families[prefix] = members
    return families


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
