"""Choosing settings on validation rows: methods, sizes, rules, margins, priors and offsets.

``choose`` compares both methods for one radius, ``sweep`` a grid at all radii; ``search_rules`` and
``search_offsets`` try rules on an ensemble that is fitted already.

The way of one search: a door (``_choose``) says on which rows (``_splits``) what is tried
(``_grid``); ``_search`` fits every candidate once and judges it under all its variants;
``_evaluation`` says what that shows and which one to take, and ``_choice`` is the result.
"""

from typing import TYPE_CHECKING

from .._support.lazy import lazy_names

if TYPE_CHECKING:
    from ._choice import Choice, read_choice
    from ._choose import Trial, choose, choose_file, sweep
    from ._default import default_ensemble, default_options, try_default
    from ._evaluation import LEAVE_OUT, PARTITION, Evaluation, Objective
    from ._fitted import search_offsets, search_rules
    from ._grid import Grid
    from ._splits import training_order

__all__ = ["Choice", "choose", "default_ensemble", "search_offsets", "search_rules", "sweep"]

__getattr__, __dir__ = lazy_names(__name__)
