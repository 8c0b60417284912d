"""Choosing settings on validation rows: methods, sizes, rules, margins, priors and offsets.

``choose`` compares both methods for one radius, ``sweep`` a grid at all radii; ``search_rules`` and
``search_offsets`` try rules on an ensemble that is fitted already.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._choice import Choice, Evaluation
    from ._choose import choose
    from ._choose_file import Objective, choose_file
    from ._offset_search import search_offsets
    from ._recommend import best
    from ._rule_search import search_rules
    from ._sweep import sweep
    from ._sweep_file import read_sweep, sweep_file
    from ._sweep_grid import Grid, Trial, parse_list

__all__ = [
    "Choice",
    "choose",
    "search_offsets",
    "search_rules",
    "sweep",
]

__getattr__, __dir__ = lazy_names(__name__)
