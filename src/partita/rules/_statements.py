"""What a certificate says about each row: a predicted label, or the bounds of a predicted value.

Bounds are given, or a distance from the prediction or the truth. They are checked here, once, for
everything that certifies values, computed in float64 and used as they are: nothing may round them
outwards. Code that compares predictions with what was certified asks the statement.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support import Array, array_of
from ..errors import InputError


@dataclass(frozen=True, eq=False)
class LabelStatement:
    """The prediction of each row is this label."""

    labels: Array

    def __len__(self) -> int:
        return len(self.labels)

    def holds(self, predictions: Array) -> Array:
        """Return which predictions, of shape (rows,) or (rows, ...), make the statement true."""
        return np.asarray(predictions == _as_column(self.labels, predictions))

    def take(self, rows: slice | Array | list[int]) -> "LabelStatement":
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

    def take(self, rows: slice | Array | list[int]) -> "BoundStatement":
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


# ---- bounds ----


def bounds_around(
    prediction: Array,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tolerance: ArrayLike | None = None,
    relative: ArrayLike | None = None,
    around: ArrayLike | None = None,
) -> tuple[Array, Array, Array | None]:
    """Return each row's lowest and highest allowed value, and the truth if ``around`` gave one."""
    by_bounds = lower is not None or upper is not None
    if sum([by_bounds, tolerance is not None, relative is not None]) != 1:
        raise InputError(
            "certify needs to know what must hold: lower and upper, or tolerance, or relative, "
            "and only one of the three"
        )
    n_rows = len(prediction)
    if by_bounds:
        if around is not None:
            raise InputError(
                "around goes with tolerance or relative: lower and upper say where the bounds are"
            )
        low = row_bound("lower", -np.inf if lower is None else lower, n_rows)
        high = row_bound("upper", np.inf if upper is None else upper, n_rows)
        check_order(low, high)
        return low, high, None
    name, given = ("relative", relative) if tolerance is None else ("tolerance", tolerance)
    width = array_of(name, given, np.float64)
    if width.shape not in ((), (n_rows,)) or not np.all(width >= 0):
        raise InputError(
            f"{name} must be a number, 0 or above, or one for each of the {n_rows} rows"
        )
    middle = prediction if around is None else array_of("around", around, np.float64)
    if middle.shape != (n_rows,) or not np.all(np.isfinite(middle)):
        raise InputError(f"around must hold one finite number for each of the {n_rows} rows")
    if relative is not None:
        width = width * np.abs(middle)
    return middle - width, middle + width, None if around is None else middle


def row_bound(name: str, given: ArrayLike, n_rows: int) -> Array:
    """Return one bound per row, from one number or one per row."""
    array = array_of(name, given, np.float64)
    if array.shape not in ((), (n_rows,)) or np.isnan(array).any():
        raise InputError(
            f"{name} must be one number or one for each of the {n_rows} rows, without NaN; its "
            f"shape is {array.shape}"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (n_rows,)))


def check_row_bounds(
    lower: ArrayLike | None, upper: ArrayLike | None, n_rows: int
) -> tuple[Array, Array]:
    """Return the bounds of each row, both of them needed and in order."""
    if lower is None or upper is None:
        raise InputError("lower and upper are both needed: -inf or inf leaves a side open")
    low, high = row_bound("lower", lower, n_rows), row_bound("upper", upper, n_rows)
    check_order(low, high)
    return low, high


def check_order(low: Array, high: Array) -> None:
    """Raise if a lower bound is above its upper bound."""
    if np.any(low > high):
        row = int(np.argmax(low > high))
        raise InputError(f"lower is above upper in row {row} ({low[row]} > {high[row]}): swap them")
