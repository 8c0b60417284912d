"""units.toml: which columns come from which source, and which are out of the attacker's reach.

::

    trusted = ["month"]            # every submodel sees these; no attacker reaches them
    ignore = ["id"]                # no features at all

    [units]
    "vendor A" = ["price", "stock"]
    BASEL = ["BASEL_*"]            # * and ? stand for any text and any letter

Columns that are not named are units of their own.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError

KNOWN = ("trusted", "ignore", "units")


@dataclass(frozen=True)
class UnitsFile:
    """What a units.toml says, for the columns of one table."""

    units: dict[str, list[str]] | None = None
    trusted: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)


def read_units(path: Any, names: Sequence[str]) -> UnitsFile:
    """Read a units.toml for a table with these columns."""
    place = Path(path)
    try:
        content = tomllib.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise InputError(f"units {str(place)!r} does not exist: give a .toml file") from exc
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as exc:
        raise InputError(
            f"units {str(place)!r} cannot be read as TOML: {str(exc).splitlines()[0]}"
        ) from exc
    for key in content:
        if key not in KNOWN:
            raise InputError(
                f"units {str(place)!r} has the entry {key!r}, which is not known: it may have "
                f"{', '.join(KNOWN)}"
            )
    sources = content.get("units", {})
    if not isinstance(sources, dict):
        raise InputError(
            f"units {str(place)!r}: [units] must be a table of sources and their columns"
        )
    return UnitsFile(
        {
            source: _columns(columns, f"the unit {source!r}", names, place)
            for source, columns in sources.items()
        }
        or None,
        _columns(content.get("trusted", []), "trusted", names, place),
        _columns(content.get("ignore", []), "ignore", names, place),
    )


def _matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, in which * and ? alone have a meaning."""
    parts = re.split(r"([*?])", pattern)
    return (
        re.fullmatch(
            "".join({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in parts),
            name,
            re.DOTALL,
        )
        is not None
    )


def _columns(listed: Any, where: str, names: Sequence[str], place: Path) -> list[str]:
    """The columns that a list of names and patterns stands for."""
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise InputError(f"units {str(place)!r}: {where} must be a list of column names")
    found: list[str] = []
    for pattern in listed:
        matching = [name for name in names if _matches(pattern, name)]
        if pattern in names and matching != [pattern]:
            raise InputError(
                f"units {str(place)!r}: {where} names {pattern!r}, which is a column and a "
                "pattern for others: rename the column"
            )
        if not matching:
            raise InputError(
                f"units {str(place)!r}: {where} names the column {pattern!r}, which the table "
                "does not have"
            )
        found += [name for name in matching if name not in found]
    return found
