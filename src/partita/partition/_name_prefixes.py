"""Columns whose names share a prefix, and so may come from one source.

This looks at names alone. It is advice for the user to read: what is one source, only they know.
"""

from collections.abc import Sequence

SEPARATORS = ("_", " ", ".", ":", "-", "/")
FEWEST_PREFIXES = 3  # a radius over fewer units proves nothing
MOST_COLUMNS = 0.8  # of the columns must share a prefix with another


def shared_prefixes(names: Sequence[str]) -> dict[str, list[str]]:
    """Names by the prefix that they share with others, separator included; empty if few do."""
    for separator in SEPARATORS:
        groups: dict[str, list[str]] = {}
        for name in names:
            first, found, rest = name.partition(separator)
            if first and found and rest:
                groups.setdefault(first + separator, []).append(name)
        shared = {prefix: members for prefix, members in groups.items() if len(members) > 1}
        n_columns = sum(map(len, shared.values()))
        if len(shared) >= FEWEST_PREFIXES and n_columns >= MOST_COLUMNS * len(names):
            return shared
    return {}
