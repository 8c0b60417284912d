"""A deployment: real rows, the sources their columns come from, and what the user fears.

It only holds data: nothing here loads, fits or decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._support.types import Array


@dataclass(frozen=True, eq=False)
class Deployment:
    """A table of several sources, split by time or at random, with what is at stake.

    Parameters
    ----------
    name : str
        A short name, such as ``"gas"``.
    title : str
        What it is, for headings.
    question : str
        One sentence: what is predicted, and who could lie.
    X_train : DataFrame
        Rows to learn from.
    y_train : array
        Their labels or values.
    X_valid : DataFrame
        Rows to choose settings on.
    y_valid : array
        Their labels or values.
    X_test : DataFrame
        Rows to report on.
    y_test : array
        Their labels or values.
    units : mapping from str to tuple of str
        The columns of each source.
    trusted : tuple of str, default=()
        Columns that no attacker can touch.
    source : str, default="source"
        What a source is called in texts: "sensor", "station", "feed".
    tolerance : float, optional
        For numbers: how far from the truth a prediction counts as right. None: labels.
    positive : label, optional
        The rare class, where there is one.
    radius : int, default=1
        How many sources the user fears.

    See Also
    --------
    under_attack : Attacks models on it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partita.deployments import Deployment
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> units = {name: (name,) for name in X}
    >>> parts = [part[k::3] for k in range(3) for part in (X, y.to_numpy())]
    >>> wine = Deployment("wine", "Three wines", "Which one?", *parts, units, source="lab")
    >>> len(wine.units), wine.radius
    (13, 1)
    """

    name: str
    title: str
    question: str
    X_train: Any
    y_train: Array
    X_valid: Any
    y_valid: Array
    X_test: Any
    y_test: Array
    units: Mapping[str, tuple[str, ...]]
    trusted: tuple[str, ...] = ()
    source: str = "source"
    tolerance: float | None = None
    positive: Any = None
    radius: int = 1
