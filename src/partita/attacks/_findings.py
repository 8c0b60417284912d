"""What an audit found: a line for every attack, every check, and how to repeat each break.

These are plain values that go into a JSON file and come back for the report.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .._support import JsonObject, PathLike, json_value, write_atomic
from ..errors import InputError

TRUSTED_TRAINING = (
    "The training table is trusted, so it was not attacked: the certificates are about attacks on "
    "rows to predict alone."
)


@dataclass(frozen=True)
class Check:
    """Something that was tried, and what was wrong ("" if nothing)."""

    name: str
    problem: str = ""


@dataclass(frozen=True)
class Line:
    """One kind of attack with at most r units, over all rows."""

    attack: str
    r: int
    attacks: int  # how many were tried
    rows: int
    changed: int  # predictions that some of them changed
    certified: int  # predictions that were certified against r
    certified_changed: int  # must be 0
    accuracy: float | None  # rows that stayed right under all of them
    certified_accuracy: float | None


@dataclass(frozen=True)
class BrokenCertificate:
    """A certified prediction that changed: enough to repeat it."""

    attack: str
    r: int
    row: int
    radius: int
    units: tuple[str, ...]
    labels: tuple[int, ...]  # training rows whose labels were flipped
    before: object
    after: object
    row_values: Mapping[str, object]  # what was written into the row, by column
    training_values: Mapping[str, object]  # and into training, by column; "y" for flipped labels


@dataclass(frozen=True)
class Audit:
    """What an audit tried and what came of it; :func:`audit` returns it.

    Attributes
    ----------
    what : str
        What r counts.
    lines : list of Line
        For every attack and r: how many predictions changed, and how many of them were certified.
    checks : list of Check
        What was checked, and the problem ("" where there is none).
    broken : list of BrokenCertificate
        Every certified prediction that changed; :func:`replay` repeats one.
    seconds : float
        How long the audit took.
    of : mapping
        Hashes of the audited files, for an audit of files.
    warnings : list of str
        Why the certificates may mean less than they seem to; they do not fail the audit.

    See Also
    --------
    audit : Makes it.

    Examples
    --------
    >>> from partita.attacks import Audit
    >>> from partita.attacks._findings import Check
    >>> Audit("columns", [], [Check("fitted again with n_jobs=2")]).passed
    True
    """

    what: str
    lines: list[Line]
    checks: list[Check]
    broken: list[BrokenCertificate] = field(default_factory=list)
    seconds: float = 0.0
    of: Mapping[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no certified prediction changed and no check failed."""
        changed = any(line.certified_changed for line in self.lines)
        return not (self.broken or changed or any(check.problem for check in self.checks))

    def to_dict(self) -> JsonObject:
        """Convert to what the JSON file holds.

        Returns
        -------
        dict
            Numbers, texts, lists and dicts; NaN and infinities as texts.
        """
        return {
            "passed": self.passed,
            "what": self.what,
            "of": dict(self.of),
            "seconds": round(self.seconds, 1),
            "warnings": list(self.warnings),
            "lines": [asdict(line) for line in self.lines],
            "checks": [asdict(check) for check in self.checks],
            "broken": [json_value(asdict(one), non_finite=str) for one in self.broken],
        }

    def save(self, path: PathLike) -> Path:
        """Write everything as JSON, for ``partita report --audit`` and for :func:`replay`.

        Parameters
        ----------
        path : path
            The file; its folder is made if necessary.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, json.dumps(self.to_dict(), indent=1).encode())
        return target

    def __str__(self) -> str:
        head = (
            f"{'attack':<28}{'r':>3}{'tried':>7}{'changed':>9}{'certified':>11}"
            f"{'of them changed':>17}{'right':>8}{'certified right':>17}"
        )
        rows = [
            f"{line.attack:<28}{line.r:>3}{line.attacks:>7}{line.changed:>9}{line.certified:>11}"
            f"{line.certified_changed:>17}{_percent(line.accuracy):>8}"
            f"{_percent(line.certified_accuracy):>17}"
            for line in self.lines
        ]
        failed = [check for check in self.checks if check.problem]
        lines = [f"WARNING: {warning}" for warning in self.warnings]
        lines += [head, *rows]
        lines.append(f"{len(self.checks) - len(failed)} of {len(self.checks)} checks passed")
        lines += [f"FAILED: {check.name}: {check.problem}" for check in failed]
        lines += [
            f"BROKEN: row {one.row}, radius {one.radius}, by {one.attack} with r = {one.r}: "
            f"{', '.join(one.units)}"
            for one in self.broken
        ]
        return "\n".join(lines)


def read_audit(path: PathLike) -> JsonObject:
    """Return what ``Audit.save`` wrote, as far as a report shows it."""
    file = Path(path)
    if not file.is_file():
        raise InputError(
            f"audit {str(file)!r} does not exist: give the .json that partita audit --out wrote"
        )
    try:
        content = json.loads(file.read_bytes())
        return {
            "passed": content["passed"] is True,
            "of": {str(name): str(value) for name, value in content["of"].items()},
            "what": str(content["what"]),
            "warnings": [str(warning) for warning in content.get("warnings", [])],
            "lines": [asdict(Line(**line)) for line in content["lines"]],
            "checks": [asdict(Check(**check)) for check in content["checks"]],
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise InputError(
            f"audit {str(file)!r} is not an audit ({type(exc).__name__}): give the .json that "
            "partita audit --out wrote"
        ) from exc


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
