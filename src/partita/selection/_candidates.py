"""The settings that ``choose`` compares: both methods, and what each can vary without a new fit.

A candidate is an ensemble that is fitted once, with the variants that its ballots can be judged
under: rules, or a full model behind the vote. Nothing here fits.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import comb
from typing import Any

from sklearn.base import clone

from ..errors import InputError
from ..rules import Median, Plurality, Tournament

SUBMODELS = (3, 5, 7, 11, 15, 21, 31)
GROUPS = (6, 9, 12)  # and as many as "auto" makes
PRIORS = (0.0, 0.5)  # beside the default
STRETCHES = (1.15, 1.3, 1.5)  # beside 1
PARTITION, LEAVE_OUT = "partition", "leave-out"


@dataclass(frozen=True, eq=False)
class Variant:
    """What a fitted ensemble's ballots are judged under.

    Attributes
    ----------
    options : dict
        As ``partita fit`` takes them, without ``--``.
    rule : rule, optional
        Instead of the ensemble's own.
    gate : int, optional
        Of a full model behind the vote.
    """

    options: dict[str, Any] = field(default_factory=dict)
    rule: Any = None
    gate: int | None = None


@dataclass(frozen=True, eq=False)
class Candidate:
    """An ensemble to fit, and the variants to judge it under.

    Attributes
    ----------
    method : {"partition", "leave-out"}
        How the proof is made.
    options : dict
        As ``partita fit`` takes them.
    ensemble : estimator
        Not fitted.
    variants : list of Variant
        At least one.
    """

    method: str
    options: dict[str, Any]
    ensemble: Any
    variants: list[Variant]

    def estimator(self, variant: Variant) -> Any:
        """The unfitted estimator that a variant stands for."""
        made = clone(self.ensemble)
        if variant.rule is not None:
            made.set_params(rule=copy(variant.rule))
        if variant.gate is not None:
            made.set_params(fallback=clone(made.unfitted_submodel()), gate=variant.gate)
        return made


def candidates(
    partition: Any,
    leave_out: Any,
    n_units: int,
    radius: int,
    labels: bool,
    submodels: Sequence[int] | None = None,
    groups: Sequence[int] | None = None,
) -> Iterator[Candidate]:
    """Yield what can be fitted on so many units, for a proof at this radius.

    ``partition`` and ``leave_out`` are the two ensembles with everything set but their sizes.
    """
    variants = label_variants() if labels else value_variants()
    sizes = _given("submodels", submodels, 2 * radius + 1, n_units)
    for size in SUBMODELS if sizes is None else sizes:
        if 2 * radius < size <= n_units:
            ensemble = clone(partition).set_params(n_submodels=size)
            yield Candidate(PARTITION, {"submodels": size}, ensemble, variants)
    sizes = _given("groups", groups, 2 * radius + 1, n_units)
    if sizes is None:
        most = leave_out.max_models
        usual = [size for size in GROUPS if comb(size, 2 * radius) <= most and size < n_units]
        fits = [g for g in range(2 * radius + 1, n_units + 1) if comb(g, 2 * radius) <= most]
        sizes = sorted({*usual, *fits[-1:]})
    for size in sizes:
        if 2 * radius < size <= n_units:
            ensemble = clone(leave_out).set_params(radius=radius, n_groups=size)
            options = {"method": LEAVE_OUT, "radius": radius, "groups": size}
            yield Candidate(LEAVE_OUT, options, ensemble, [Variant()])


def label_variants() -> list[Variant]:
    """The default rule, others on the same ballots, and a full model behind the default."""
    priors = [Variant({"prior": prior}, Tournament(prior=prior)) for prior in PRIORS]
    return [
        Variant(),
        Variant({"rule": "plurality"}, Plurality()),
        *priors,
        Variant({"gate": 1}, gate=1),
    ]


def value_variants() -> list[Variant]:
    """Values as they are, and stretched."""
    return [Variant(), *(Variant({"stretch": s}, Median(stretch=s)) for s in STRETCHES)]


def _given(
    name: str, sizes: Sequence[int] | None, least: int, n_units: int
) -> Sequence[int] | None:
    """The sizes that a user asks for, checked."""
    for size in sizes or ():
        if not least <= size <= n_units:
            raise InputError(
                f"{name} has {size}: with this radius each must be from {least} to {n_units}, the "
                "number of units"
            )
    return sizes
