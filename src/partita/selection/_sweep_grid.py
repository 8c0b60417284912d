"""What a sweep tries (Grid), and how it judges each setting (Trial)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..workflow import Task
from ._held_out import check_share

SUBMODELS = (1, 3, 5, 11, 21, 31, 51)  # 1: one model on all columns, for comparison
RULES = ("plurality", "runoff", "tournament")
MARGINS = (0.0, 0.5, 2.0)
PRIORS = (0.0, 0.5, 0.9, 0.99, 1.0)
STRETCHES = (1.0, 1.15, 1.3, 1.5)
EXAMPLES = {"submodels": "5,11,21", "offsets": "0,0.5, or head starts such as fraud=-1,fraud=2"}


@dataclass(frozen=True)
class Grid:
    """The settings to try.

    Attributes
    ----------
    submodels : sequence of int, optional
        Numbers of submodels; None: the usual ones, as far as there are units.
    rules : sequence of str
        Some of plurality, runoff and tournament.
    margins, priors : sequences of float
        For the tournament.
    offsets : sequence of float or of mappings
        For the tournament: multiples of the log shares of the labels, or head starts in votes by
        label, which move its threshold. None are tried unless they are given.
    stretches : sequence of float
        For targets of numbers.
    """

    submodels: Sequence[int] | None = None
    rules: Sequence[str] = RULES
    margins: Sequence[float] = MARGINS
    priors: Sequence[float] = PRIORS
    stretches: Sequence[float] = STRETCHES
    offsets: Sequence[Any] = ()

    @classmethod
    def parse(
        cls,
        submodels: str | None,
        rules: str | None,
        margins: str | None,
        priors: str | None,
        stretches: str | None,
        offsets: str | None = None,
    ) -> "Grid":
        """The settings that lists such as "5,11,21" name; None: the usual ones."""
        usual = cls()
        for rule in parse_list("rules", rules, str) or ():
            if rule not in RULES:
                raise InputError(f"rules names {rule!r}: give some of {', '.join(RULES)}")
        return cls(
            parse_list("submodels", submodels, int),
            parse_list("rules", rules, str) or usual.rules,
            parse_list("margins", margins, float) or usual.margins,
            parse_list("priors", priors, float) or usual.priors,
            parse_list("stretches", stretches, float) or usual.stretches,
            parse_list("offsets", offsets, _parse_offset) or usual.offsets,
        )

    def label_rules(self) -> list[dict[str, Any]]:
        """Every rule for labels with its settings, as options of ``partita fit``."""
        plain: list[dict[str, Any]] = [
            {"rule": rule} for rule in self.rules if rule != "tournament"
        ]
        if "tournament" not in self.rules:
            return plain
        offsets = [{"offset": offset} if offset else {} for offset in self.offsets] or [{}]
        return plain + [
            {"rule": "tournament", "margin": margin, "prior": prior, **offset}
            for margin, prior, offset in product(self.margins, self.priors, offsets)
        ]

    def number_rules(self) -> list[dict[str, Any]]:
        """The same for numbers."""
        if self.offsets:
            raise InputError("offsets are for labels, and the target holds numbers: use stretches")
        return [{"rule": "median", "stretch": stretch} for stretch in self.stretches]

    def sizes(self, n_units: int) -> list[int]:
        """The numbers of submodels to try: those given, or the usual ones up to the units."""
        if self.submodels is None:
            most = n_units if n_units % 2 or n_units == 1 else n_units - 1
            return sorted(
                {size for size in SUBMODELS if size <= n_units}
                | ({most} if most < SUBMODELS[-1] else set())
            )
        too_many = [size for size in self.submodels if not 1 <= size <= n_units]
        if too_many or not self.submodels:
            raise InputError(
                f"submodels is {list(self.submodels)}: each must lie between 1 and {n_units}, the "
                "number of units"
            )
        return sorted(set(self.submodels))


@dataclass(frozen=True)
class Trial:
    """How every setting is tried.

    Attributes
    ----------
    estimator : str
        What each submodel is; "auto": the default of its method.
    holdout : float or path, optional
        The share of rows held out at random (None: a quarter, unless ``last`` or ``group`` is
        given), or another table.
    seed : int
        Decides the split, the partition, and every submodel's seed.
    tolerance, relative : float, optional
        For numbers: what counts as right.
    last : float, optional
        Hold out the last share of the rows, in the order of the table.
    group : str, optional
        A column: rows that share its value are never split.
    score : str, optional
        What settings are compared by: accuracy, balanced (the usual one for labels) or
        recall:LABEL.
    """

    estimator: str = "auto"
    holdout: float | str | Path | None = None
    seed: int = 0
    tolerance: float | None = None
    relative: float | None = None
    last: float | None = None
    group: str | None = None
    score: str | None = None

    def check(self, task: Task) -> None:
        """Refuse settings that do not go together, before anything is fitted."""
        task.check_tolerance(self.tolerance, self.relative, needed=True)
        for name, share in (("holdout", self.holdout), ("last", self.last)):
            if isinstance(share, int | float):
                check_share(name, share)


def _parse_offset(text: str) -> Any:
    """A multiple of the labels' log shares, or LABEL=VOTES."""
    label, equals, votes = text.rpartition("=")
    if equals and not label:
        raise ValueError("no label")
    return {label: float(votes)} if equals else float(text)


def parse_list(name: str, text: str | None, read: Callable[[str], Any]) -> list[Any] | None:
    if text is None:
        return None
    try:
        return [read(part.strip()) for part in text.split(",")]
    except ValueError as exc:
        raise InputError(
            f"{name} is {text!r}: give numbers with commas between them, such as "
            f"{EXAMPLES.get(name, '0,0.5')}"
        ) from exc
