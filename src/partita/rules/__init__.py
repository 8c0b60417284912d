"""Decision rules: decide and certify, from ballots alone."""

from .base import Rule, certify, named_rule
from .median import Median
from .plurality import Plurality
from .runoff import RunOff
from .topk import TopK
from .tournament import Tournament

__all__ = ["Median", "Plurality", "Rule", "RunOff", "TopK", "Tournament", "certify", "named_rule"]
