"""Decision rules: predictions and certificates from ballots alone.

Ballots are what submodels say about rows; nothing here knows models or tables. Somebody who already
has an ensemble enters here, with :func:`certify`.
"""

from ._agreement import Agreement
from ._base import Rule
from ._certify import certify, named_rule
from ._gate import Gated
from ._median import Median
from ._plurality import Plurality
from ._runoff import RunOff
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
