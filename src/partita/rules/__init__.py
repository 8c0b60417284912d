"""Decision rules: predictions and certificates from ballots alone.

Ballots are submodels' scores or values for rows. Users who already have an ensemble enter here,
with :func:`certify`.
"""

from ..certificates import BoundStatement, LabelStatement, Statement, bounds_around
from ._agreement import Agreement, PooledLabels, PooledRule, PooledValues, blocks, supersets
from ._base import GapRule, Rule, as_ballots, vote_shares
from ._certify import RULES, certify, named_rule, prediction_set, rule_of
from ._gate import Gated, check_gate
from ._median import Median
from ._overlap import Reach, solve_cover
from ._silence import with_silence
from ._votes import Plurality, RunOff, TopK, Tournament

__all__ = [
    "Agreement",
    "Gated",
    "Median",
    "Plurality",
    "Rule",
    "RunOff",
    "TopK",
    "Tournament",
    "certify",
    "named_rule",
    "prediction_set",
]
