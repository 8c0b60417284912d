"""A deployment: rows to learn from, to choose by and to test on, and who could lie about them.

Plain data; nothing here fits or certifies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._support import Array


@dataclass(frozen=True, eq=False)
class Deployment:
    """A table from several sources, split into rows to learn from, to choose by and to test on.

    Attributes
    ----------
    name : str
        As ``partita demo`` takes it, such as ``"gas"``.
    title : str
        One line.
    question : str
        One sentence: what is predicted, and who could lie.
    X_train, X_valid, X_test : pandas.DataFrame
        The rows to learn from, to choose settings by, and to test on.
    y_train, y_valid, y_test : array of shape (n_rows,)
        Their labels or numbers.
    units : mapping of str to tuple of str
        The columns of each source.
    trusted : tuple of str
        Columns out of an attacker's reach.
    source : str
        What a source is called: a singular noun.
    tolerance : float or None
        For numbers: how far from the truth a prediction is right. None for labels.
    positive : object
        The rare label, where there is one.
    radius : int
        How many lying sources the user fears.
    period : array of shape (n_training_rows,) or None
        When each training row was measured, where the world changes. The rows to choose settings by
        are then of the latest period, and settings are judged by models of earlier rows: a random
        split would promise what no later row keeps.

    See Also
    --------
    load_deployment : Loads one by its name.
    under_attack : Attacks models on one.

    Examples
    --------
    >>> from partita.deployments import load_deployment
    >>> loans = load_deployment("credit")  # doctest: +SKIP
    >>> loans.source, loans.positive, len(loans.units)  # doctest: +SKIP
    ('feed', 'bad', 8)
    """

    name: str
    title: str
    question: str
    X_train: Any = field(repr=False)
    y_train: Array = field(repr=False)
    X_valid: Any = field(repr=False)
    y_valid: Array = field(repr=False)
    X_test: Any = field(repr=False)
    y_test: Array = field(repr=False)
    units: Mapping[str, tuple[str, ...]] = field(repr=False)
    trusted: tuple[str, ...] = ()
    source: str = "source"
    tolerance: float | None = None
    positive: Any = None
    radius: int = 1
    period: Array | None = field(default=None, repr=False)

    def rows_to_choose_by(self) -> tuple[Any, Array, Any, Array]:
        """The rows that settings are fitted on and judged by.

        Returns
        -------
        X, y, X_valid, y_valid
            Training rows, of earlier periods if there are periods, and the rows to judge by.
        """
        if self.period is None:
            return self.X_train, self.y_train, self.X_valid, self.y_valid
        earlier = np.asarray(self.period) < np.max(self.period)
        return self.X_train[earlier], self.y_train[earlier], self.X_valid, self.y_valid

    def right(self, predicted: Any, y: Any) -> Array:
        """Compare predictions with the truth.

        Parameters
        ----------
        predicted : array-like of shape (n_rows,)
            Labels or numbers.
        y : array-like of shape (n_rows,)
            The truth.

        Returns
        -------
        array of bool, shape (n_rows,)
            Which are right: equal, or within the tolerance.
        """
        if self.tolerance is None:
            return np.asarray(np.asarray(predicted) == np.asarray(y))
        return np.asarray(np.abs(np.asarray(predicted) - np.asarray(y)) <= self.tolerance)

    def sources(self, number: int) -> str:
        """Say a number of sources.

        Parameters
        ----------
        number : int
            How many.

        Returns
        -------
        str
            Such as ``"one station"`` or ``"3 stations"``.
        """
        return f"one {self.source}" if number == 1 else f"{number} {self.source}s"
