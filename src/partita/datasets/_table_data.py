"""Tables with a value to predict: what a loader returns, and what a known table must be."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from .._support.types import Array
from ..errors import InputError
from ._fetch_limits import FetchError

MOST_BYTES = 2**24  # no table that is known bit for bit needs more


@dataclass(frozen=True, eq=False)
class TableData:
    """A table, split into rows to learn from and rows to certify, and what counts as right.

    Attributes
    ----------
    name : str
        Name of the data set.
    X_train, X_test : pandas.DataFrame
        Columns of numbers and of strings, NaN where a value is missing.
    y_train, y_test : float array of shape (n_rows,)
        The values to predict.
    target : str
        What they are.
    units : mapping of str to tuple of str, or None
        For ``units=``: the columns of each unit; None where every column is a unit.
    trusted : tuple of str
        For ``trusted=``: columns out of an attacker's reach.
    tolerance : float or None
        A prediction is right within this distance of the value; see :meth:`bounds`.
    relative : float or None
        Instead of a tolerance, where ``y`` is log1p of a price: a prediction is right within this
        share of the price.
    sha256 : mapping of str to str
        The hash of each file that was read, by its name.

    See Also
    --------
    partita.datasets.ImageData : Images with labels.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.datasets import TableData
    >>> y = np.array([20.0, 21.5])
    >>> data = TableData("two days", None, y, None, y, "temperature", tolerance=3.0)
    >>> lower, upper = data.bounds(data.y_test)
    >>> lower.tolist(), upper.tolist()
    ([17.0, 18.5], [23.0, 24.5])
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
        """The lowest and the highest prediction that is right, for each of these values.

        With ``certify(X, lower=lower, upper=upper)`` a radius of r means: whatever is written into
        r units, the prediction stays right; -1: it is not right now. The share of rows with a
        radius of at least r is the certified accuracy at r.

        With ``relative``, the bounds lie at equal shares of the price, not at equal distances of
        its logarithm: 15 % below and above 100,000 dollars is 85,000 to 115,000, whose log1p are
        0.163 below and 0.140 above. Since log1p keeps the order, and with it the median, this is
        the same question as the paper's, which turns every submodel's value into dollars first.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            True values, such as ``y_test``.

        Returns
        -------
        tuple of float arrays of shape (n_rows,)
            Lower and upper bounds.

        Raises
        ------
        InputError
            If a value is not finite, or the data set says nothing of a tolerance.

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
class KnownTable:
    """The one content that a table can have: a CSV file in one way of writing."""

    name: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}.csv"

    def check(self, content: bytes) -> None:
        """Raise FetchError unless these are the known bits."""
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise FetchError("the sha256 of its content differs from that of the original")

    def decode(self, file: IO[bytes]) -> bytes:
        """Read the content of a cached file."""
        return file.read(MOST_BYTES)

    def encode(self, content: bytes) -> bytes:
        """The bytes of a file to cache."""
        return content
