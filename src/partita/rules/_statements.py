"""Statements: what a certificate says about each row.

A classifier's statement is "the prediction is this label", a regressor's "the prediction lies
between these bounds". Code that compares predictions with what was certified asks the statement and
need not know which kind of model it has. Nothing here knows models or ballots.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support import Array


@dataclass(frozen=True, eq=False)
class LabelStatement:
    """The prediction of each row is this label."""

    labels: Array

    def __len__(self) -> int:
        return len(self.labels)

    def holds(self, predictions: Array) -> Array:
        """Return which predictions, of shape (rows,) or (rows, ...), make the statement true."""
        return np.asarray(predictions == _as_column(self.labels, predictions))

    def take(self, rows: Any) -> "LabelStatement":
        """Return the statement about some of the rows."""
        return LabelStatement(self.labels[rows])

    @property
    def bounds(self) -> dict[str, Array]:
        """No keyword arguments: a rule certifies the label it predicts."""
        return {}


@dataclass(frozen=True, eq=False)
class BoundStatement:
    """The prediction of each row lies in [lower, upper]; ``truth`` if they lie around the truth."""

    lower: Array
    upper: Array
    truth: Array | None = None

    def __len__(self) -> int:
        return len(self.lower)

    def holds(self, predictions: Array) -> Array:
        """Return which predictions, of shape (rows,) or (rows, ...), make the statement true."""
        lower, upper = (_as_column(bound, predictions) for bound in (self.lower, self.upper))
        return np.asarray((predictions >= lower) & (predictions <= upper))

    def take(self, rows: Any) -> "BoundStatement":
        """Return the statement about some of the rows."""
        truth = None if self.truth is None else self.truth[rows]
        return BoundStatement(self.lower[rows], self.upper[rows], truth)

    @property
    def bounds(self) -> dict[str, Array]:
        """The keyword arguments of ``Median.certify``, ``certify_collective`` and the like."""
        return {"lower": self.lower, "upper": self.upper}


Statement = LabelStatement | BoundStatement


def _as_column(values: Array, predictions: Array) -> Array:
    """One value per row, shaped to be compared with predictions of any shape (rows, ...)."""
    return values.reshape(-1, *[1] * (np.ndim(predictions) - 1))
