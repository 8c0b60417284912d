"""What a search tries: both methods in several sizes, and what can vary without another fit.

A candidate is an ensemble that is fitted once, with the variants that its ballots are judged under:
rules with their settings, and a full model behind the vote. A variant is a dict of options of
``partita fit``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import comb
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Estimator, JsonObject, TableLike, log
from ..ensemble import has_scores, is_balanced
from ..errors import InputError
from ..rules import Rule
from ..tables import Table
from ..workflow import AUTO, Task, named_estimator
from ._evaluation import LEAVE_OUT, PARTITION

RULES = ("plurality", "runoff", "tournament")
RULE_SETTINGS = ("margin", "prior", "offset", "stretch")
EXAMPLES = {"submodels": "5,11,21", "offsets": "0,0.5, or head starts such as fraud=-1,fraud=2"}

Options = JsonObject


@dataclass(frozen=True)
class Grid:
    """The settings to try; None: the usual ones.

    Attributes
    ----------
    submodels : sequence of int, optional
        Numbers of submodels; 1 is one model on all columns, for comparison.
    groups : sequence of int, optional
        Numbers of groups of leave-out ensembles.
    rules : sequence of str, optional
        Some of plurality, runoff and tournament.
    margins, priors : sequences of float, optional
        For the tournament.
    offsets : sequence of float or of mappings, optional
        For the tournament: multiples of the log shares of the labels, or head starts in votes by
        label, which move its threshold.
    stretches : sequence of float, optional
        For targets of numbers.
    learners : sequence of str, optional
        Names of estimators (``--estimator``), for both methods; "auto" is each method's own.
    gates : sequence of int, optional
        Of a full model behind the vote, for the first of the rules.
    """

    submodels: Sequence[int] | None = None
    groups: Sequence[int] | None = None
    rules: Sequence[str] | None = None
    margins: Sequence[float] | None = None
    priors: Sequence[float] | None = None
    offsets: Sequence[object] | None = None
    stretches: Sequence[float] | None = None
    learners: Sequence[str] | None = None
    gates: Sequence[int] | None = None

    @classmethod
    def parse(cls, *lists: str | None) -> "Grid":
        """Read lists such as "5,11,21", in the order of the attributes."""
        readers: list[Callable[[str], object]]
        readers = [int, int, _read_rule, float, float, _read_offset, float, str]
        names = [one.name for one in fields(cls)]
        return cls(*map(_parse_list, names, lists, readers))

    def filled(self, radius: int | None) -> "Grid":
        """The same with the usual settings for one radius, or for all, where none are given."""
        usual = ALL_RADII if radius is None else ONE_RADIUS
        missing = [one.name for one in fields(self) if getattr(self, one.name) is None]
        return replace(self, **{name: getattr(usual, name) for name in missing})

    def sizes(self, n_units: int, radius: int | None) -> list[int]:
        """The numbers of submodels to try: those given, or the usual ones up to the units."""
        if self.submodels is not None:
            return _checked("submodels", self.submodels, n_units, radius)
        sizes = {size for size in self.filled(radius).submodels or () if size <= n_units}
        if radius is not None:
            return sorted(size for size in sizes if size > 2 * radius)
        odd = n_units if n_units % 2 or n_units == 1 else n_units - 1  # the largest
        return sorted(sizes | ({odd} if odd < max(ALL_RADII.submodels or ()) else set()))

    def group_counts(self, n_units: int, radius: int, most: int) -> list[int]:
        """The numbers of groups to try, where at most ``most`` models are fitted."""
        if self.groups is not None:
            return _checked("groups", self.groups, n_units, radius)
        fits = [g for g in range(2 * radius + 1, n_units + 1) if comb(g, 2 * radius) <= most]
        usual = [g for g in self.filled(radius).groups or () if g in fits and g < n_units]
        return sorted({*usual, *fits[-1:]})

    def learners_of(self, method: str, task: Task, estimator: Estimator) -> Sequence[str]:
        """The names of the estimators to try with a method; one "auto": the ensemble's own."""
        if self.learners is None:
            return [AUTO] if estimator is not None else USUAL_LEARNERS[method, task.name]
        if estimator is not None:
            raise InputError("estimator and learners are both given: choose one")
        if not self.learners:
            raise InputError("learners is empty: give names of estimators, such as auto,trees")
        return self.learners

    def variants(
        self, task: Task, estimator: Estimator, name: str, radius: int | None, verbose: int
    ) -> list[Options]:
        """Every rule with its settings, as far as ``fit`` accepts it with this estimator."""
        filled = self.filled(radius)
        if task.name == "regression":
            if self.offsets:
                raise InputError(
                    "offsets are for labels, and the target holds numbers: use stretches"
                )
            return [
                {} if stretch == 1 else {"stretch": stretch} for stretch in filled.stretches or ()
            ]
        rules = filled.rules or ()
        found: list[Options] = [{"rule": rule} for rule in rules if rule != "tournament"]
        if "tournament" in rules:
            if self.margins is None and self.priors is None and self.offsets is None:
                found.append({})  # as fit decides by default
            grid = product(filled.margins or (), filled.priors or (), filled.offsets or (0,))
            found += [
                {
                    name: value
                    for name, value in (("margin", margin), ("prior", prior), ("offset", offset))
                    if value or name != "offset"
                }
                for margin, prior, offset in grid
            ]
        found = _possible(sorted(found, key=bool), estimator, name, verbose)
        return found + [found[0] | {"gate": gate} for gate in filled.gates or ()]


# rules and their settings cost no fits: every ensemble is judged under all of them
ALL_RADII = Grid(
    submodels=(3, 5, 11, 21, 31, 51),
    rules=RULES,
    margins=(0.0, 0.25, 0.5, 1.0, 2.0),
    priors=(0.0, 0.5, 0.9, 1.0),
    offsets=(0.0, 0.25),
    stretches=(1.0, 1.15, 1.3, 1.5),
)
ONE_RADIUS = replace(
    ALL_RADII,
    submodels=(3, 5, 7, 11, 15, 21, 31),
    groups=(6, 9, 12),  # and as many as may be fitted
    gates=(1,),
)


USUAL_LEARNERS = {  # the first one is tried in all sizes, and behind a gate
    (PARTITION, "classification"): (AUTO, "trees", "logistic"),
    (PARTITION, "regression"): (AUTO, "trees", "ridge"),
    (LEAVE_OUT, "classification"): (AUTO, "trees-2", "trees-4", "logistic"),
    (LEAVE_OUT, "regression"): (AUTO, "trees-1", "trees-4", "ridge"),
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """An ensemble to fit, and the variants to judge it under.

    Attributes
    ----------
    method : {"partition", "leave-out"}
        How the proof is made.
    options : dict
        Its size, as ``partita fit`` takes it.
    ensemble : estimator
        Not fitted, with the rule of the first variant.
    variants : list of dict
        At least one.
    """

    method: str
    options: Options
    ensemble: Estimator
    variants: list[Options]

    def under(self, variant: Options, name: str) -> Options:
        """Return a variant's options of ``partita fit``; ``name``: the submodels' own."""
        behind = self.options.get("estimator", name)
        return self.options | ({"fallback": behind} if "gate" in variant else {}) | variant

    def estimator(self, variant: Options, task: Task) -> Estimator:
        """Make the unfitted estimator that a variant stands for."""
        made = with_rule(self.ensemble, variant, task)
        if "gate" in variant:
            made.set_params(fallback=clone(made.unfitted_submodel()), gate=variant["gate"])
        return made


def candidates(
    grid: Grid,
    variants: list[Options],
    partition: Estimator,
    leave_out: Estimator,
    n_units: int,
    radius: int | None,
    task: Task,
    table: TableLike = None,
) -> Iterator[Candidate]:
    """Yield what can be fitted on so many units; leave-out ensembles for a proof at one radius.

    ``partition`` and ``leave_out`` are the two ensembles with everything set but their sizes, the
    partition with the rule of the first variant; ``table``: what they learn from.
    """
    sizes = grid.sizes(n_units, radius)
    for k, (options, made) in enumerate(_learners(grid, PARTITION, partition, task, table)):
        own = [one for one in variants if k == 0 or "gate" not in one]
        for size in sizes:
            ensemble = clone(partition).set_params(n_submodels=size, **made)
            yield Candidate(PARTITION, {"submodels": size} | options, ensemble, own)
    if radius is None:
        return
    sizes = grid.group_counts(n_units, radius, leave_out.max_models)
    for k, (options, made) in enumerate(_learners(grid, LEAVE_OUT, leave_out, task, table)):
        # the most groups cost most, and are tried with one learner unless they are asked for
        for size in sizes if k == 0 or grid.groups is not None else sizes[: max(1, len(sizes) - 1)]:
            ensemble = clone(leave_out).set_params(radius=radius, n_groups=size, **made)
            common = {"method": LEAVE_OUT, "radius": radius, "groups": size}
            yield Candidate(LEAVE_OUT, common | options, ensemble, [{}])


def _learners(
    grid: Grid, method: str, ensemble: Estimator, task: Task, table: TableLike
) -> Iterator[tuple[Options, Options]]:
    """Yield each learner as options of ``partita fit`` and as parameters of the ensemble."""
    is_array = isinstance(table, np.ndarray | list)
    is_frame = hasattr(table, "iloc") or isinstance(table, Table)
    has_numbers = is_array and np.asarray(table).dtype.kind in "fiub"
    for name in grid.learners_of(method, task, ensemble.estimator):
        if name == AUTO:
            yield {}, {}
        elif name not in ("logistic", "ridge") or is_frame or has_numbers or grid.learners:
            estimator = named_estimator(name, task, of_frames=not is_array)
            yield {"estimator": name}, {"estimator": estimator}


def rule_of(variant: Options, task: Task) -> Rule | None:
    """Make the rule of a variant; None for the default."""
    settings = {name: variant[name] for name in RULE_SETTINGS if name in variant}
    if not settings and "rule" not in variant:
        return None
    return task.rule(variant.get("rule"), **settings)


def with_rule(ensemble: Estimator, variant: Options, task: Task) -> Estimator:
    """Clone an ensemble with the rule of a variant."""
    rule = rule_of(variant, task)
    return clone(ensemble) if rule is None else clone(ensemble).set_params(rule=rule)


def _possible(found: list[Options], estimator: Estimator, name: str, verbose: int) -> list[Options]:
    """Leave out the rules that ``fit`` would refuse with this estimator."""
    refused: list[tuple[str, Callable[[Options], bool]]] = []
    if estimator is not None and not has_scores(estimator):
        refused.append(
            (
                "rules that compare scores, which it does not have",
                lambda one: one.get("rule") != "plurality",
            )
        )
    if estimator is not None and is_balanced(estimator):
        refused.append(
            (
                "priors above 0, since it weighs its classes by their shares already",
                lambda one: bool(one.get("prior")),
            )
        )
    for what, is_refused in refused:
        fewer = [one for one in found if not is_refused(one)]
        if not fewer:
            raise InputError(
                f"estimator {name!r} goes with none of the settings: it does not take {what}"
            )
        if len(fewer) < len(found) and verbose:
            log(f"left out for {name!r}: {what}")
        found = fewer
    return found


def _checked(name: str, sizes: Sequence[int], n_units: int, radius: int | None) -> list[int]:
    """The sizes that a user asks for; one model on all columns goes with every radius."""
    least = 1 if radius is None else 2 * radius + 1
    for size in sizes:
        if not least <= size <= n_units and not (name == "submodels" and size == 1):
            given = "" if radius is None else "with this radius "
            raise InputError(
                f"{name} has {size}: {given}each must be from {least} to {n_units}, the number of "
                "units"
            )
    return sorted(set(sizes))


def _read_rule(text: str) -> str:
    if text not in RULES:
        raise InputError(f"rules names {text!r}: give some of {', '.join(RULES)}")
    return text


def _read_offset(text: str) -> object:
    """A multiple of the labels' log shares, or LABEL=VOTES."""
    label, equals, votes = text.rpartition("=")
    if equals and not label:
        raise ValueError("no label")
    return {label: float(votes)} if equals else float(text)


def _parse_list(name: str, text: str | None, read: Callable[[str], object]) -> Any:
    if text is None:
        return None
    try:
        return [read(part.strip()) for part in text.split(",")]
    except InputError:
        raise
    except ValueError as exc:
        raise InputError(
            f"{name} is {text!r}: give numbers with commas between them, such as "
            f"{EXAMPLES.get(name, '0,0.5')}"
        ) from exc
