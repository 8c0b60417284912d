"""Where models that leave units out disagree, and which group of units explains it.

A group is suspect in a row if models agree once it is left out, and never while it is seen. That is
a hint for people, and no certificate: nothing that is proven depends on it.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from .._support.types import Array
from ..rules._agreement_frontier import blocks
from ..rules._left_out import supersets
from ..rules._pooled import PooledLabels, PooledRule
from ..rules._silenced_pools import SilencedPools
from ..workflow._certified_table import CertifiedTable
from ..workflow._wording import shortened

# Values agree without a set if they span at most this share of what all models' values span.
NARROWER = 0.5
SHOWN_UNITS = 3  # of a group, in a sentence
LONGEST_NAME = 40


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
    def of(cls, certified: CertifiedTable) -> "Disagreement | None":
        """Ask the models of a certified table; None where submodels do not leave units out."""
        rule = certified.rule
        if not isinstance(rule, PooledRule) or isinstance(rule, SilencedPools):
            return None  # with silent groups, models differ in what they may still say
        if isinstance(rule, PooledLabels):
            said = rule.model_votes(certified.ballots)
            agree = ~rule.falls(certified.ballots, rule.radius)
            contested = np.asarray(~agree.all(axis=1))
        else:
            said = rule.model_values(certified.ballots)  # type: ignore[attr-defined]
            contested = np.asarray(said.max(axis=1) > said.min(axis=1))
            agree = _narrower(said, supersets(rule.n_groups, rule.radius, 2 * rule.radius))
        sets = list(combinations(range(rule.n_groups), rule.radius))
        inside = np.array([[g in chosen for g in range(rule.n_groups)] for chosen in sets])
        names, group_of_unit = certified.model.units_.names, rule.unit_groups()
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

    def to_dict(self) -> dict[str, Any]:
        """The table of groups, the most suspect first, as plain data."""
        only, without = self.suspect.sum(axis=0), self.agree_without.sum(axis=0)
        order = np.lexsort((-without, -only))
        return {
            "contested": int(self.contested.sum()),
            "unsettled": int((self.unsettled & self.contested).sum()),
            "groups": [
                {
                    "group": int(g),
                    "units": self.groups[g],
                    "only": int(only[g]),
                    "without": int(without[g]),
                }
                for g in order
            ],
        }

    def row(self, i: int, label: int | None = None, runner_up: int | None = None) -> dict[str, Any]:
        """What the models say of row i.

        ``label``, ``runner_up``: the prediction and the next label, as indexes; None for values.

        Returns
        -------
        dict
            ``decided``: a sentence; ``suspects``: the units of suspect groups. For labels also
            ``lead``, in models, and ``bar``: the shares of all models, in %, that side with the
            prediction and with the runner-up.
        """
        suspects = np.flatnonzero(self.suspect[i])
        found: dict[str, Any] = {
            "decided": self._sentence(i, label, suspects),
            "suspects": [unit for g in suspects for unit in self.groups[g]],
        }
        if label is None:
            return found
        votes, n_models = self.said[i], self.said.shape[1]
        own, other = (int(np.sum(votes == one)) for one in (label, runner_up))
        bar = [round(100 * count / n_models, 2) for count in (own, other)]
        return found | {"lead": own - other, "bar": bar}

    def _sentence(self, i: int, label: int | None, suspects: Array) -> str:
        if label is None:
            return f"narrow only without {self._names(suspects)}" if len(suspects) else ""
        n_models, own = self.said.shape[1], int(np.sum(self.said[i] == label))
        if own == n_models:
            return f"all {n_models} models agree"
        if self.unsettled[i]:
            end = "no set agrees, so the model on all columns decides"
        elif len(suspects):
            end = f"agree only without {self._names(suspects)}"
        else:
            size = int(self.members_of_sets[0].sum())
            sets = "groups" if size == 1 else f"sets of {size} groups"
            end = f"agree without any one of {int(self.agree[i].sum())} {sets}"
        return f"{own} of {n_models} models; {end}"

    def _names(self, groups: Array) -> str:
        """The units of these groups, for a sentence."""
        units = [shortened(unit, LONGEST_NAME) for g in groups for unit in self.groups[g]]
        more = f" and {len(units) - SHOWN_UNITS} more" if len(units) > SHOWN_UNITS else ""
        return ", ".join(units[:SHOWN_UNITS]) + more


def leave_out_numbers(model: Any, disagreement: Disagreement) -> dict[str, Any]:
    """What the report says of an ensemble whose models leave units out."""
    left_out = [list(groups) for groups in model.partition_.left_out]
    return {
        "radius": int(model.rule_.radius),
        "groups": disagreement.groups,
        "models": int(disagreement.said.shape[1]),
        "left_out": [groups for groups in left_out if groups],
        "with_full_member": not all(left_out),
        "suspects": disagreement.to_dict(),
    }


def _narrower(values: Array, models_of: Array) -> Array:
    """Whether the values of the models without each set span less than all: (rows, sets)."""
    found = np.empty((len(values), len(models_of)), dtype=bool)
    with np.errstate(over="ignore"):
        spans = values.max(axis=1) - values.min(axis=1)
        for rows in blocks(len(values), models_of.size):
            own = values[rows][:, models_of]
            found[rows] = own.max(axis=2) - own.min(axis=2) <= NARROWER * spans[rows, None]
    return found
