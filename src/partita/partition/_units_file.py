"""units.toml: which columns come from which source, and which are out of the attacker's reach.

::

    trusted = ["month"]            # every submodel sees these; no attacker reaches them
    ignore = ["id"]                # not features at all

    [units]
    "vendor A" = ["price", "stock"]
    BASEL = ["BASEL_*"]            # * stands for any text, ? for any character

Columns that are not named are units of their own. What names and values suggest is advice for users
to read, and must not decide a model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._support import Array, PathLike, read_toml
from ..errors import InputError
from ..tables import Table

ENTRIES = ("trusted", "ignore", "units")

# columns of one source share a prefix
SOURCE_SEPARATORS = ("_", " ", ".", ":", "-", "/")
FEWEST_PREFIXES = 3  # a radius over fewer units proves nothing
MOST_COLUMNS = 0.8  # of the columns must share a prefix with another

# one raw column in one-hot form
ONE_HOT_SEPARATORS = ("_", "=", ":", ".", " ")
FEWEST_COLUMNS = 3  # two columns of zeros and ones are often something else
NEARLY_ALL = 0.95  # of the rows have exactly one column of a family equal to 1


@dataclass(frozen=True)
class UnitsFile:
    """What a units.toml says of the columns of one table.

    Attributes
    ----------
    units : dict of str to list of str, or None
        The columns of each unit; None where each column is a unit.
    trusted : list of str
        Columns out of the attacker's reach.
    ignore : list of str
        Columns that are not features.
    """

    units: dict[str, list[str]] | None = None
    trusted: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)


def read_units(path: PathLike, names: Sequence[str]) -> UnitsFile:
    """Read a units.toml for a table with these columns.

    Parameters
    ----------
    path : str or path
        The file. ``[units]`` lists the columns of each unit, ``trusted`` columns that no attacker
        reaches, ``ignore`` columns that are not features; ``*`` and ``?`` in a column's name stand
        for any text and any character.
    names : sequence of str
        The table's columns.

    Returns
    -------
    UnitsFile
        ``units``, ``trusted`` and ``ignore``, with all patterns replaced by columns.

    Raises
    ------
    InputError
        If the file cannot be read, or names columns that the table does not have.

    See Also
    --------
    partita.Units : Units in Python.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita.partition import read_units
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "units.toml")
    ...     _ = file.write_text('trusted = ["month"]\\n[units]\\nBASEL = ["BASEL_*"]\\n')
    ...     found = read_units(file, ["BASEL_temp", "BASEL_wind", "month"])
    >>> found.units, found.trusted
    ({'BASEL': ['BASEL_temp', 'BASEL_wind']}, ['month'])
    """
    place = Path(path)
    where = f"units {str(place)!r}"
    content = read_toml(place, where)
    for key in content:
        if key not in ENTRIES:
            raise InputError(
                f"{where} has the entry {key!r}, which is not known: it may have "
                f"{', '.join(ENTRIES)}"
            )
    units = content.get("units", {})
    if not isinstance(units, dict):
        raise InputError(f"{where}: [units] must be a table of units and their columns")
    return UnitsFile(
        {
            unit: _columns(patterns, f"{where}: the unit {unit!r}", names)
            for unit, patterns in units.items()
        }
        or None,
        _columns(content.get("trusted", []), f"{where}: trusted", names),
        _columns(content.get("ignore", []), f"{where}: ignore", names),
    )


def _columns(patterns: object, where: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a list of names and patterns stands for."""
    if not isinstance(patterns, list) or not all(isinstance(name, str) for name in patterns):
        raise InputError(f"{where} must be a list of column names")
    found: list[str] = []
    for pattern in patterns:
        matching = [name for name in names if _matches(pattern, name)]
        if pattern in names and matching != [pattern]:
            raise InputError(
                f"{where} names {pattern!r}, which is a column and a pattern for others: rename "
                "the column"
            )
        if not matching:
            raise InputError(
                f"{where} names the column {pattern!r}, which is not among the table's features: "
                "it does not exist, or is the target"
            )
        found += [name for name in matching if name not in found]
    return found


def _matches(pattern: str, name: str) -> bool:
    """Return whether a name fits a pattern, in which only * and ? have a meaning."""
    parts = re.split(r"([*?])", pattern)
    expression = "".join({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(expression, name, re.DOTALL) is not None


# ---- what names and values suggest ----


def shared_prefixes(names: Sequence[str]) -> dict[str, list[str]]:
    """Return names by the prefix that they share, separator included; empty if few do."""
    for separator in SOURCE_SEPARATORS:
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


def one_hot_families(table: Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Return columns that share a prefix and are zeros and ones, one of them 1 in each row."""
    binary = {
        name: values
        for j, name in enumerate(names)
        if (values := _zeros_and_ones(table, j)) is not None
    }
    families: dict[str, list[str]] = {}
    taken: set[str] = set()
    for separator in ONE_HOT_SEPARATORS:
        available = [name for name in binary if name not in taken]
        for prefix, members in _by_prefix(available, separator).items():
            ones = np.sum([binary[name] for name in members], axis=0)
            one_each = np.mean(ones == 1) >= NEARLY_ALL and ones.max() <= 1
            if len(members) >= FEWEST_COLUMNS and one_each:
                families[prefix] = members
                taken |= set(members)
    return families


def as_units_toml(families: Mapping[str, Sequence[str]]) -> str:
    """Return families as lines for a units.toml."""
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
    """Group names by the longest prefix that they share, up to a separator."""
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
