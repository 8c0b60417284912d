"""What the report says of models that leave units out: who disagrees, and what explains it.

These are hints for people, and no certificates: nothing that is proven depends on them.
"""

from typing import Any

import numpy as np

from .._support import Array, shortened
from ..ensemble import FittedEnsemble
from ..partition import LeaveOut
from ..watch import Disagreement as GroupDisagreement

SHOWN_UNITS = 3  # of a group, in a sentence
LONGEST_NAME = 40


class Disagreement(GroupDisagreement):
    """The same, in words and tables of the report."""

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
        votes, n_models = self.votes[i], self.votes.shape[1]
        own, other = (int(np.sum(votes == one)) for one in (label, runner_up))
        bar = [round(100 * count / n_models, 2) for count in (own, other)]
        return found | {"lead": own - other, "bar": bar}

    def _sentence(self, i: int, label: int | None, suspects: Array) -> str:
        if label is None:
            return f"narrow only without {self._names(suspects)}" if len(suspects) else ""
        n_models, own = self.votes.shape[1], int(np.sum(self.votes[i] == label))
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


def leave_out_numbers(model: FittedEnsemble, disagreement: Disagreement) -> dict[str, Any]:
    """What the report says of an ensemble whose models leave units out."""
    sets = model.partition_
    assert isinstance(sets, LeaveOut)
    left_out = [list(groups) for groups in sets.left_out]
    return {
        "radius": int(sets.radius),
        "groups": disagreement.groups,
        "models": int(disagreement.votes.shape[1]),
        "left_out": [groups for groups in left_out if groups],
        "with_full_member": not all(left_out),
        "suspects": disagreement.to_dict(),
    }
