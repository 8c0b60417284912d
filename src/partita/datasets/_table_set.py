"""Tables with a value to predict: what a loaded one is, and what a known one must be bit for
bit."""

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from .._support.types import Array
from ..errors import InputError
from ._progress import SourceError, reason

LIMIT = 2**24  # no table that is known bit for bit needs more bytes


@dataclass(frozen=True, eq=False)
class TableData:
    """A table, split into rows to learn from and rows to certify, and what counts as right.

    Attributes
    ----------
    name : str
        What the data set is called.
    X_train, X_test : pandas.DataFrame
        Columns of numbers and of texts, NaN for a gap.
    y_train, y_test : float array
        The values to predict.
    target : str
        What they are.
    units : mapping or None
        For ``units=``: the columns of each source; None where every column is a unit.
    trusted : tuple of str
        For ``trusted=``: columns out of an attacker's reach.
    tolerance : float or None
        A prediction is right within this distance of the value; ``bounds`` says where that is.
    relative : float or None
        Instead of a tolerance, where ``y`` is log1p of a price: a prediction is right within this
        share of the price.
    sha256 : mapping
        The hash of each file that was read, by its name.
    """

    name: str
    X_train: Any = field(repr=False)
    y_train: Array = field(repr=False)
    X_test: Any = field(repr=False)
    y_test: Array = field(repr=False)
    target: str
    units: Mapping[str, tuple[str, ...]] | None = field(default=None, repr=False)
    trusted: tuple[str, ...] = ()
    tolerance: float | None = None
    relative: float | None = None
    sha256: Mapping[str, str] = field(default_factory=dict, repr=False)

    def bounds(self, y: Any) -> tuple[Array, Array]:
        """The lowest and the highest prediction that is right, for each of these values:
        ``certify(X, lower=lower, upper=upper)``.

        A radius of r then means: whatever is written into r units, the prediction stays right; -1:
        it is not right now. The share of rows with a radius of at least r is the certified accuracy
        at r.

        With ``relative``, the bounds lie at equal shares of the price, not at equal distances of
        its logarithm: 15 % below and above 100,000 dollars is 85,000 to 115,000, whose log1p are
        0.163 below and 0.140 above. Since log1p keeps the order, and with it the median, this is
        the same question as the paper's, which turns every submodel's value into dollars first.

        Examples
        --------
        >>> import numpy as np
        >>> from partita.datasets import TableData
        >>> y = np.log1p([100_000.0])
        >>> data = TableData("one house", None, y, None, y, "log1p(price)", relative=0.15)
        >>> [np.expm1(bound).round().tolist() for bound in data.bounds(y)]
        [[85000.0], [115000.0]]
        """
        values = np.asarray(y, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise InputError("y must hold finite numbers: leave out the rows without one")
        if self.relative is not None:
            price = np.expm1(values)
            if np.any(price < 0):
                raise InputError(
                    "y holds a number below 0, which is log1p of no price: give values such as "
                    "y_test"
                )
            return np.log1p(price * (1 - self.relative)), np.log1p(price * (1 + self.relative))
        if self.tolerance is None:
            raise InputError(
                f"{self.name} says nothing of a tolerance: give lower and upper of your own to "
                "certify"
            )
        return values - self.tolerance, values + self.tolerance


@dataclass(frozen=True)
class ExactTable:
    """The one content a table can have: a CSV file in one way of writing."""

    name: str
    sha256: str

    @property
    def kept_as(self) -> str:
        return f"{self.name}.csv"

    def check(self, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise SourceError("the sha256 of its content differs from that of the original")

    def read(self, file: IO[bytes]) -> bytes:
        return file.read(LIMIT)

    def written(self, content: bytes) -> bytes:
        return content


def csv_of(names: Sequence[str], columns: Iterable[Iterable[str]]) -> bytes:
    """The one way of writing: commas, quotes where needed, a newline after every row, an empty cell
    for a gap."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def csv_columns(content: bytes) -> dict[str, list[str]]:
    """The cells of a CSV file, column by column, as texts."""
    try:
        header, *rows = csv.reader(
            io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True
        )
    except (ValueError, csv.Error) as exc:
        raise SourceError(f"it is no CSV file: {reason(exc)}") from exc
    if any(len(row) != len(header) for row in rows):
        raise SourceError(f"it is no CSV file with {len(header)} cells in every row")
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def shortest(value: float) -> str:
    """A number's text: the shortest that gives it back, without a point where it is whole."""
    return (
        ""
        if np.isnan(value)
        else repr(int(value))
        if float(value).is_integer()
        else repr(float(value))
    )
