"""Ballots: every submodel's scores or values, who abstains, and the rule of the model.

The waist of partita: what trains models ends here, and what decides and proves begins. Ballots of a
fitted model carry its rule, so that no other decision than the model's is certified by mistake.
Abstentions are a mask beside the scores: rules leave the masked scores out, whatever they are.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from ._support import Array
from .errors import InputError

if TYPE_CHECKING:
    from .rules import Rule

__all__ = ["Abstentions", "Ballots"]


@dataclass(frozen=True, eq=False)
class Abstentions:
    """Which submodels abstain in which rows, and whether an attacker could have faked it.

    Attributes
    ----------
    submodels : array of bool, shape (n_samples, n_submodels)
        Who abstains.
    default : array of shape (n_classes,) or ()
        The ballot that decides a row in which all submodels abstain.
    detected : bool
        Whether silence was read from the values, which the owner of a unit can write: then an
        attacker can make a submodel abstain, and can make it vote again.
    groups : array of bool, shape (n_samples, n_groups), or None
        Of models that leave groups out: which groups are silent. It follows from that which
        submodels abstain, but not the other way round.
    units : array of bool, shape (n_samples, n_units), or None
        Which units are silent, for people to read.

    See Also
    --------
    Ballots : Holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import certify
    >>> from partita.ballots import Abstentions, Ballots
    >>> from partita.rules import Plurality
    >>> silent = np.array([[False, False, False, True, True]])
    >>> scores = np.eye(2)[[[0, 0, 0, 1, 1]]]
    >>> ballots = Ballots(scores, Plurality(), abstentions=Abstentions(silent, default=[1.0, 0.0]))
    >>> certify(ballots).radius.tolist()
    [1]
    """

    submodels: Array
    default: Array | list[float] | float
    detected: bool = False
    groups: Array | None = None
    units: Array | None = None

    def take(self, rows: slice | Array | list[int]) -> "Abstentions":
        """Return the abstentions in some of the rows.

        Parameters
        ----------
        rows : slice, mask or list of int
            Which rows.

        Returns
        -------
        Abstentions
            Theirs.
        """
        groups, units = (None if own is None else own[rows] for own in (self.groups, self.units))
        return replace(self, submodels=self.submodels[rows], groups=groups, units=units)


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
    abstentions : Abstentions or None
        Who abstains; None: every submodel votes in every row. The scores of those who abstain are
        numbers without meaning.
    reach : array of bool, shape (n_units, n_submodels), or None
        Which submodels each unit reaches, where units overlap; a radius then counts units.

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
    rule: "Rule | None" = None
    fallback: Array | None = None
    abstentions: Abstentions | None = None
    reach: Array | None = None

    def __post_init__(self) -> None:
        scores = np.asarray(self.scores)
        object.__setattr__(self, "scores", scores)
        silent, rows, labels = self.abstentions, scores.shape[:1], scores.shape[2:]
        if silent is not None:
            mask = np.asarray(silent.submodels)
            if mask.dtype != np.bool_ or mask.shape != scores.shape[:2]:
                raise InputError(
                    f"abstentions holds {mask.dtype} of shape {mask.shape}: give truth values of "
                    f"shape {scores.shape[:2]}, one for each row and submodel"
                )
            if np.shape(silent.default) != labels:
                raise InputError(
                    f"abstentions has a default of shape {np.shape(silent.default)}: give one "
                    f"submodel's ballot, of shape {labels}"
                )
        if self.fallback is not None and np.shape(self.fallback) != (*rows, *labels):
            raise InputError(
                f"fallback has shape {np.shape(self.fallback)}: give one score for each row and "
                f"class, of shape {(*rows, *labels)}"
            )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy:
            return np.array(self.scores, dtype=dtype)
        return np.asarray(self.scores, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **options: object) -> Any:
        plain = [one.scores if isinstance(one, Ballots) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)

    @property
    def own_rule(self) -> "Rule":
        """The rule of the model that gave the ballots; an array from anywhere has none."""
        assert self.rule is not None
        return self.rule

    @property
    def silence_detected(self) -> bool:
        """Whether submodels abstain that an attacker could make vote."""
        return self.abstentions is not None and self.abstentions.detected

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the scores."""
        return self.scores.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the scores."""
        return self.scores.dtype

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, slice | list | np.ndarray):
            return self.scores[rows]
        fallback = None if self.fallback is None else self.fallback[rows]
        silent = None if self.abstentions is None else self.abstentions.take(rows)
        return replace(self, scores=self.scores[rows], fallback=fallback, abstentions=silent)

    @property
    def n_voters(self) -> Array:
        """How many submodels vote in each row: int (n_samples,)."""
        if self.abstentions is None:
            return np.full(len(self), self.shape[1])
        return np.asarray((~self.abstentions.submodels).sum(axis=1))

    def __repr__(self) -> str:
        names = ("rows", "submodels", "classes")
        sizes = [f"{size:,} {name}" for size, name in zip(self.shape, names, strict=False)]
        rule = "" if self.rule is None else f"; rule {self.rule.without_fitted_state()!r}"
        return f"Ballots({', '.join(sizes)}{rule})"
