"""Where models that leave units out disagree, and which group of units explains it.

A group is suspect in a row if models agree once it is left out, but never when it is included. That
is a hint for people, and no certificate: nothing that is proven depends on it. Nothing here knows
tables or words.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from .._support import Array
from ..ballots import Ballots
from ..ensemble import FittedEnsemble
from ..rules import PooledLabels, PooledRule, blocks, supersets

# Values agree without a set if they span at most this share of what all models' values span.
NARROWER = 0.5


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Which sets of groups make the models agree if they are left out.

    Attributes
    ----------
    groups : list of lists of str
        The units of each group.
    members_of_sets : bool array of shape (n_sets, n_groups)
        The groups in each set of ``radius`` groups.
    agree : bool array of shape (n_rows, n_sets)
        Whether all models without a set agree on a row.
    contested : bool array of shape (n_rows,)
        Rows on which not all models say the same.
    said : array of shape (n_rows, n_models)
        Every model's label, as an index, or value.
    """

    groups: list[list[str]]
    members_of_sets: Array
    agree: Array
    contested: Array
    said: Array

    @classmethod
    def of(cls, model: FittedEnsemble, ballots: Ballots) -> "Self | None":
        """Ask the models of an ensemble; None where its submodels do not leave units out."""
        rule = model.rule_
        if not isinstance(rule, PooledRule) or ballots.abstentions is not None:
            return None  # with silent groups, models differ in what they may still say
        if isinstance(rule, PooledLabels):
            said = rule.model_votes(ballots)
            agree = ~rule.breakable(ballots, rule.radius)
            contested = np.asarray(~agree.all(axis=1))
        else:
            said = rule.model_values(ballots)  # type: ignore[attr-defined]
            contested = np.asarray(said.max(axis=1) > said.min(axis=1))
            agree = _narrower(said, supersets(rule.n_groups, rule.radius, 2 * rule.radius))
        sets = list(combinations(range(rule.n_groups), rule.radius))
        inside = np.array([[g in chosen for g in range(rule.n_groups)] for chosen in sets])
        names, group_of_unit = model.units_.names, rule.unit_groups()
        groups = [
            [names[unit] for unit in np.flatnonzero(group_of_unit == g)]
            for g in range(rule.n_groups)
        ]
        return cls(groups, inside, agree, contested, said)

    @property
    def unsettled(self) -> Array:
        """Rows on which models disagree, whatever is left out."""
        return np.asarray(~self.agree.any(axis=1))

    @cached_property
    def agree_without(self) -> Array:
        """bool (rows, groups): contested rows on which models agree without a set with a group."""
        return self._some_set(self.members_of_sets) & self.contested[:, None]

    @cached_property
    def suspect(self) -> Array:
        """bool (rows, groups): contested rows on which models agree only without a group."""
        return self.agree_without & ~self._some_set(~self.members_of_sets)

    def _some_set(self, chosen: Array) -> Array:
        """bool (rows, groups): whether models agree without some set that is chosen for a group."""
        return np.asarray(self.agree.astype(np.float32) @ chosen.astype(np.float32) > 0)


def _narrower(values: Array, models_of: Array) -> Array:
    """Whether the values of the models without each set span less than all: (rows, sets)."""
    found = np.empty((len(values), len(models_of)), dtype=bool)
    with np.errstate(over="ignore"):
        spans = values.max(axis=1) - values.min(axis=1)
        for rows in blocks(len(values), models_of.size):
            own = values[rows][:, models_of]
            found[rows] = own.max(axis=2) - own.min(axis=2) <= NARROWER * spans[rows, None]
    return found
