"""Ballots: what every submodel says about every row, and the rule of the model that asked them.

The waist of partita: what trains models ends here, and what decides and proves begins. Ballots of a
fitted model carry its rule, so that nobody certifies another decision than the model's by mistake.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._support.types import Array

__all__ = ["Ballots"]


@dataclass(frozen=True, eq=False, repr=False)
class Ballots(np.lib.mixins.NDArrayOperatorsMixin):
    """Every submodel's scores or values for every row, as a fitted model gives them.

    They can be used like the array of scores: compared, sliced, given to numpy. Rows that are
    chosen by a slice, a mask or a list are ballots again; any other index gives a plain array.

    Attributes
    ----------
    scores : array of shape (n_samples, n_submodels, n_classes) or (n_samples, n_submodels)
        Each submodel's score for each class, or its value.
    rule : Rule or None
        How the model decides; None for an array from anywhere.
    fallback : array of shape (n_samples, n_classes) or None
        The scores of the model that answers where the vote proves little, if there is one. No
        certificate depends on them.

    See Also
    --------
    certify : Takes ballots, or a plain array and a rule.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from partita import FeaturePartitionClassifier, certify
    >>> X, y = load_iris(return_X_y=True)
    >>> ballots = FeaturePartitionClassifier(n_submodels=3).fit(X, y).ballots(X)
    >>> ballots
    Ballots(150 rows, 3 submodels, 3 classes; rule Tournament(margin=0.25, prior=1.0, offset=0.25))
    >>> certify(ballots).prediction[:3].tolist(), np.asarray(ballots).shape
    ([0, 0, 0], (150, 3, 3))
    """

    scores: Array
    rule: Any = None
    fallback: Array | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy:
            return np.array(self.scores, dtype=dtype)
        return np.asarray(self.scores, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [one.scores if isinstance(one, Ballots) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the scores."""
        return self.scores.shape

    @property
    def dtype(self) -> Any:
        """The type of the scores."""
        return self.scores.dtype

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, slice | list | np.ndarray):
            return self.scores[rows]
        fallback = None if self.fallback is None else self.fallback[rows]
        return replace(self, scores=self.scores[rows], fallback=fallback)

    def __repr__(self) -> str:
        names = ("rows", "submodels", "classes")
        sizes = [f"{size:,} {name}" for size, name in zip(self.shape, names, strict=False)]
        rule = "" if self.rule is None else f"; rule {self.rule.brief()!r}"
        return f"Ballots({', '.join(sizes)}{rule})"
