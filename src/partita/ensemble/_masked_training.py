"""One model in place of all members, where the training table is trusted.

It learns from rows in which the groups of a random member are masked as missing values, and answers
for a member by masking that member's groups in the row. Only the row can be attacked then, and the
certificate says so.
"""

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from .._support import Array
from ..tables import Table, draw_masks, mask_columns, stack_rows
from ._plan import Plan
from ._soundness import parts_of

COPIES = 4  # masked ones of each row, beside the row itself


def accepts_missing(estimator: Any) -> bool:
    """Whether an estimator, or a part of it such as an imputer, takes missing values."""
    return any(
        get_tags(part).input_tags.allow_nan
        for _, part in parts_of(estimator)
        if hasattr(part, "__sklearn_tags__")
    )


def masked_rows(
    table: Table, y: Array, plan: Plan, hidden: list[list[int]]
) -> tuple[Any, Array, dict[str, Any]]:
    """Return the rows to learn from, their targets and their sample weights.

    Every row once as it is and COPIES times with the columns of a random member missing.
    """
    columns, numeric = list(range(table.n_columns)), table.numeric()
    masks = [mask for mask in hidden if mask]
    drawn = draw_masks(table.n_rows, len(masks), COPIES, plan.seed)
    parts = [mask_columns(table.take(columns), [], numeric)]
    parts += [
        mask_columns(table.take(columns, rows), mask, numeric, keep_categories=True)
        for mask, rows in zip(masks, drawn, strict=True)
        if len(rows)
    ]
    order = np.concatenate([np.arange(table.n_rows), *drawn])
    _, labels, params = plan.training_rows(y, None, 0)
    weights = {name: np.asarray(values)[order] for name, values in params.items()}
    return stack_rows(parts), labels[order], weights
