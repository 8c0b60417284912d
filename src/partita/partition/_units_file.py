"""units.toml: which columns come from which source, and which are out of the attacker's reach.

::

    trusted = ["month"]            # every submodel sees these; no attacker reaches them
    ignore = ["id"]                # not features at all

    [units]
    "vendor A" = ["price", "stock"]
    BASEL = ["BASEL_*"]            # * stands for any text, ? for any character

Columns that are not named are units of their own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._support import read_toml
from ..errors import InputError

ENTRIES = ("trusted", "ignore", "units")


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


def read_units(path: Any, names: Sequence[str]) -> UnitsFile:
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


def _columns(patterns: Any, where: str, names: Sequence[str]) -> list[str]:
    """The columns that a list of names and patterns stands for."""
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
    """Whether a name fits a pattern, in which only * and ? have a meaning."""
    parts = re.split(r"([*?])", pattern)
    expression = "".join({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(expression, name, re.DOTALL) is not None
