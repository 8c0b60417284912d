"""Decision rules: predictions and certificates from ballots alone.

Ballots are what submodels say about rows; nothing here knows models or tables. Somebody who already
has an ensemble enters here, with :func:`certify`.
"""

from ._agreement import Agreement
from ._agreement_frontier import blocks
from ._ballots import as_ballots, vote_shares
from ._base import GapRule, Rule
from ._bounds import bounds_around
from ._certify import RULES, certify, named_rule, rule_of
from ._gate import Gated, check_gate
from ._left_out import supersets
from ._median import Median
from ._plurality import Plurality
from ._pooled import PooledLabels, PooledRule, PooledValues
from ._reach import Reach
from ._runoff import RunOff
from ._silence_cost import with_silence
from ._statements import BoundStatement, LabelStatement, Statement
from ._topk import TopK
from ._tournament import Tournament

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
]
