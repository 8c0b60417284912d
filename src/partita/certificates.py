"""Certificates: what certify() returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._support.arrays import array_of
from ._support.types import Array
from .errors import InputError, MissingExtraError


@dataclass(frozen=True)
class Counts:
    """What a radius counts: so many of ``total`` things of a kind, in the training data, in the
    row, or in both."""

    what: str
    total: int
    trusted: tuple[str, ...] = ()

    def __str__(self) -> str:
        reach = f", out of reach: {', '.join(self.trusted)}" if self.trusted else ""
        return f"{self.what} ({self.total} in all{reach})"


@dataclass(frozen=True, eq=False, repr=False)
class Certificates:
    """A prediction and its proven radius for every row.

    Attributes
    ----------
    prediction : array of length N
        The label (or value) predicted; for ``TopK``, the label asked about.
    radius : int array of length N
        However an attacker rewrites at most this many of the things counted, the statement stays
        true. -1: it is not even true now (a value outside its bounds, a label outside the top k).
    runner_up : array of length N, or None
        The label nearest to taking over; None where there is no such label (regression, top-k, a
        single class).
    counts : Counts
        What the radius counts.
    truth : array or None
        The true values the statement was made about (``certify(around=y)``, ``TopK`` with
        ``labels=y``), if it was.
    of_values : bool
        Whether predictions are values that stay within bounds (regression), not labels.
    """

    prediction: Array
    radius: Array
    runner_up: Array | None
    counts: Counts
    truth: Array | None = None
    of_values: bool = False
    frame: str = "pandas"
    index: Any = None

    def __len__(self) -> int:
        return len(self.radius)

    def __repr__(self) -> str:
        spread = (
            f", radius {self.radius.min()} to {self.radius.max()}, median "
            f"{np.median(self.radius):g}"
            if len(self)
            else ""
        )
        return f"Certificates({len(self)} rows{spread}; counts {self.counts})"

    def correct(self, y: Any) -> Array:
        """Which rows' statements are about the truth ``y``; together with a radius >= r they are
        certified correct at r."""
        y = array_of("y", y)
        if y.shape != self.radius.shape:
            raise InputError(
                f"y has shape {y.shape}, but the certificates cover {len(self)} rows: give one "
                "true value a row"
            )
        if self.truth is not None:
            if not np.array_equal(y, self.truth):
                raise InputError(
                    "y differs from the values these certificates were made around: certify again "
                    "with this y"
                )
            return self.radius >= 0
        if self.of_values:
            raise InputError(
                "y cannot be compared with certificates made around the prediction: certify(X, "
                "around=y, tolerance=...) asks whether "
                "the prediction stays near the truth"
            )
        return np.asarray(self.prediction == y)

    def to_frame(self) -> Any:
        """A frame of the kind that X was, pandas where it was an array: prediction, radius and
        runner_up."""
        columns = {"prediction": self.prediction, "radius": self.radius}
        if self.runner_up is not None:
            columns["runner_up"] = self.runner_up
        if self.frame == "pandas":
            try:
                import pandas
            except ImportError as exc:
                raise MissingExtraError("pandas", "to_frame() for arrays", "pandas") from exc
            return pandas.DataFrame(columns, index=self.index)
        import narwhals

        return narwhals.from_dict(columns, backend=self.frame).to_native()  # type: ignore[arg-type]
