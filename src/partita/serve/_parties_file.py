"""parties.toml: whom a coordinator asks, and how their ballots decide.

::

    classes = ["benign", "malignant"]   # in the order of the parties' scores; none for values
    timeout = 2.0                       # seconds
    default = "benign"                  # where everybody is silent
    # tolerance = 3.0 or relative = 0.15, for values

    [rule]
    name = "tournament"
    shares = [0.63, 0.37]               # and margin, prior, offset: the rule's own settings

    [[parties]]
    name = "clinic A"
    address = "https://clinic-a.example.org:8001"
    key_file = "clinic-a.key"           # paths begin at this file's folder
    ca = "ca.pem"

Every entry is checked: a name that is misspelt is an error, not a default.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support import read_toml
from ..errors import InputError
from ..rules import RULES, Rule
from ..workflow import TASKS
from ._federation import Federation
from ._parties import Party

ENTRIES = ("classes", "timeout", "default", "tolerance", "relative", "rule", "parties")
PARTY_ENTRIES = ("name", "address", "key_file", "ca")


@dataclass(frozen=True, eq=False)
class PartiesFile:
    """What a parties.toml describes.

    Attributes
    ----------
    federation : Federation
        Whom to ask.
    tolerance, relative : float or None
        For values: how far a prediction may move and still count as unchanged.
    """

    federation: Federation
    tolerance: float | None = None
    relative: float | None = None


def read_parties(path: Any) -> PartiesFile:
    """Read a parties.toml."""
    place = Path(path)
    where = f"parties {str(place)!r}"
    content = read_toml(place, where)
    _check_entries(content, ENTRIES, where)
    listed = content.get("parties")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{where} names no party: add [[parties]] with a name and an address")
    classes = content.get("classes")
    if classes is not None and not isinstance(classes, list):
        raise InputError(f"{where}: classes must be a list of labels")
    try:
        tolerance, relative = (_number(content, name) for name in ("tolerance", "relative"))
        task = TASKS["regression" if classes is None else "classification"]
        task.check_tolerance(tolerance, relative)
        federation = Federation(
            [_party(entry, place.parent, k) for k, entry in enumerate(listed)],
            classes=classes,
            rule=_rule(content.get("rule")),
            timeout=content.get("timeout", 2.0),
            default=content.get("default"),
        )
    except InputError as exc:
        raise InputError(f"{where}: {exc}") from exc
    return PartiesFile(federation, tolerance, relative)


def _party(entry: Any, folder: Path, k: int) -> Party:
    if not isinstance(entry, dict):
        raise InputError("parties must be written as [[parties]], each with a name and an address")
    _check_entries(entry, PARTY_ENTRIES, f"party {k}")
    for name, value in entry.items():
        if not isinstance(value, str):
            raise InputError(f"party {k} has {value!r} as its {name}: give a text")
    files = {name: folder / entry[name] for name in ("key_file", "ca") if name in entry}
    return Party(entry.get("name", ""), entry.get("address", ""), **files)


def _rule(entry: Any) -> Rule | None:
    """A rule by its name, or a table of its name and settings."""
    if entry is None:
        return None
    given = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(given, dict) or given.get("name") not in RULES:
        raise InputError(f"rule must have a name: one of {', '.join(map(repr, RULES))}")
    settings = {name: value for name, value in given.items() if name != "name"}
    return RULES[given["name"]]().set_params(**settings)


def _number(content: dict[str, Any], name: str) -> float | None:
    value = content.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InputError(f"{name} is {value!r}: it must be a number")
    return value


def _check_entries(content: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in content:
        if name not in known:
            raise InputError(
                f"{where} has the entry {name!r}, which is not known: it may have "
                f"{', '.join(known)}"
            )
