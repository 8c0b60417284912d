"""What an audit found: a line for every attack and r, what was checked, and a reproducer for
whatever broke."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._support.atomic import write_whole
from ..errors import InputError


@dataclass(frozen=True)
class Check:
    """Something that was tried, and what was wrong ("" if nothing)."""

    name: str
    found: str


@dataclass(frozen=True)
class Line:
    """One kind of attack with at most r units, over all rows."""

    attack: str
    r: int
    attacks: int  # how many were tried
    rows: int
    changed: int  # predictions that some of them changed
    certified: int  # predictions that were proven against r
    certified_changed: int  # must be 0
    accuracy: float | None  # rows that stayed right under all of them
    certified_accuracy: float | None


@dataclass(frozen=True)
class Broken:
    """A certified prediction that changed: enough to do it again."""

    attack: str
    r: int
    row: int
    radius: int
    units: tuple[str, ...]
    labels: tuple[int, ...]
    before: Any
    after: Any
    written: Mapping[str, Any]  # the row's cells that were rewritten, by column
    training: Mapping[
        str, Any
    ]  # the training columns that were rewritten, and y if labels were flipped


@dataclass(frozen=True)
class Audit:
    """What was tried and what came of it. ``passed`` is False if a certified prediction changed or
    a check failed."""

    what: str  # what r counts
    lines: list[Line]
    checks: list[Check]
    broken: list[Broken] = field(default_factory=list)
    seconds: float = 0.0
    of: Mapping[str, str] = field(
        default_factory=dict
    )  # the files that were audited, and their hashes
    warnings: list[str] = field(
        default_factory=list
    )  # why the proofs may mean less than they seem to; they do not fail the audit

    @property
    def passed(self) -> bool:
        return not self.broken and not any(check.found for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "what": self.what,
            "of": dict(self.of),
            "seconds": round(self.seconds, 1),
            "warnings": list(self.warnings),
            "lines": [asdict(line) for line in self.lines],
            "checks": [asdict(check) for check in self.checks],
            "broken": [plain(asdict(one)) for one in self.broken],
        }

    def save(self, path: Any) -> Path:
        """Write everything as JSON: for ``partita report --audit``, and to do again what broke."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, json.dumps(self.to_dict(), indent=1).encode())
        return target

    def __str__(self) -> str:
        head = f"{'attack':<28}{'r':>3}{'tried':>7}{'changed':>9}{'certified':>11}{'of them changed':>17}{'right':>8}{'certified right':>17}"
        rows = [
            f"{line.attack:<28}{line.r:>3}{line.attacks:>7}{line.changed:>9}{line.certified:>11}{line.certified_changed:>17}"
            f"{_share(line.accuracy):>8}{_share(line.certified_accuracy):>17}"
            for line in self.lines
        ]
        failed = [f"FAILED: {check.name}: {check.found}" for check in self.checks if check.found]
        fell = [
            f"BROKEN: row {one.row}, radius {one.radius}, by {one.attack} with r = {one.r}: "
            f"{', '.join(one.units)}"
            for one in self.broken
        ]
        done = (
            f"{sum(not check.found for check in self.checks)} of {len(self.checks)} checks passed"
        )
        doubts = [f"WARNING: {doubt}" for doubt in self.warnings]
        return "\n".join([*doubts, head, *rows, done, *failed, *fell])


def read_audit(path: Any) -> dict[str, Any]:
    """What ``Audit.save`` wrote."""
    place = Path(path)
    if not place.is_file():
        raise InputError(
            f"audit {str(place)!r} does not exist: give the .json that partita audit --out wrote"
        )
    try:
        found = json.loads(place.read_bytes())
        lines = [asdict(Line(**line)) for line in found["lines"]]
        checked = [asdict(Check(**check)) for check in found["checks"]]
        return {
            "passed": found["passed"] is True,
            "of": {str(name): str(value) for name, value in found["of"].items()},
            "what": str(found["what"]),
            "warnings": [
                str(doubt) for doubt in found.get("warnings", [])
            ],  # none in what earlier versions wrote
            "lines": lines,
            "checks": checked,
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise InputError(
            f"audit {str(place)!r} is no audit ({type(exc).__name__}): give the .json that "
            "partita audit --out wrote"
        ) from exc


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def plain(value: Any) -> Any:
    """Values as JSON holds them; what it does not hold (NaN, infinities) in words."""
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(own) for own in value.tolist()]
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
