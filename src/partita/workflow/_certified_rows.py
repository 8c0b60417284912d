"""What a fitted ensemble says about the rows of a table, and what is proven of it: all from one set
of ballots."""

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from .._support.types import Array
from ..certificates import Certificates
from ..collective import Collective, certify_collective, criticality
from ..ensemble._regressor import FeaturePartitionRegressor
from ..errors import InputError
from ..rules import Rule
from ..rules._bounds import bounds_around


class Answers:
    """Predictions and proofs for the rows of X.

    Parameters
    ----------
    model : a fitted FeaturePartitionClassifier or FeaturePartitionRegressor
    X : a table
    tolerance, relative : float, default=None
        For a regressor: how far from its value a prediction may move and still count as unchanged;
        without one of them there is no radius.
    """

    def __init__(
        self, model: Any, X: Any, tolerance: float | None = None, relative: float | None = None
    ) -> None:
        self.of_values = isinstance(model, FeaturePartitionRegressor)
        if not self.of_values and (tolerance is not None or relative is not None):
            raise InputError(
                "tolerance and relative are for models of numbers, and this one predicts labels: "
                "leave them out"
            )
        if tolerance is not None and relative is not None:
            raise InputError("tolerance and relative are both given: choose one")
        for name, width in (("tolerance", tolerance), ("relative", relative)):
            if width is not None and not 0 <= width < np.inf:
                raise InputError(f"{name} is {width}: it must be a finite number, 0 or above")
        self.model, self.tolerance, self.relative = model, tolerance, relative
        self.table, self.ballots = model._ballots(X)
        self.rule: Rule = model.rule_

    def under(self, rule: Rule) -> "Answers":
        """The same ballots, decided and certified by another rule."""
        other = copy(self)
        for name in ("prediction", "proof", "hangs_on", "_proof_of_label", "_bounds"):
            other.__dict__.pop(name, None)
        other.model = copy(self.model)
        other.model.rule_ = other.rule = rule
        return other

    def __len__(self) -> int:
        return len(self.ballots)

    @cached_property
    def prediction(self) -> Array:
        if self.of_values:
            return np.asarray(self.rule.decide(self.ballots))
        return np.asarray(self._proof_of_label.prediction)

    @cached_property
    def _proof_of_label(self) -> Certificates:
        proof: Certificates = self.model._proof(self.table, self.ballots)
        return proof

    @cached_property
    def proof(self) -> Certificates | None:
        """That each prediction stays what it is, or within the tolerance; None where a regressor
        has no tolerance."""
        if not self.of_values:
            return self._proof_of_label
        return (
            None
            if self._bounds is None
            else self.model._proof(self.table, self.ballots, *self._bounds)
        )

    def proof_of_truth(self, truth: Array) -> Certificates | None:
        """The proof that certified accuracy is about: that the prediction stays right, or within
        the tolerance of the truth."""
        return self.around(truth).proof

    def around(self, truth: Array) -> "Answers":
        """The same ballots, where a value must stay within the tolerance of the truth, not of the
        prediction.

        Labels, and values without a tolerance, stay as they are. A value that is outside now has
        radius -1, and counts as one that any attacker can change."""
        if self._bounds is None:
            return self
        other = copy(self)
        for name in ("proof", "hangs_on"):
            other.__dict__.pop(name, None)
        other._bounds = bounds_around(
            self.prediction, tolerance=self.tolerance, relative=self.relative, around=truth
        )
        return other

    def count_right(self, values: Array, truth: Array) -> int:
        """For a regressor: how many of these values lie within the tolerance of the truth."""
        low, high, _ = bounds_around(
            values, tolerance=self.tolerance, relative=self.relative, around=truth
        )
        return int(np.count_nonzero((values >= low) & (values <= high)))

    @cached_property
    def hangs_on(self) -> Array | None:
        """bool (units, rows): which units could, each alone, change a row's prediction; None
        without a radius."""
        if self.proof is None:
            return None
        return criticality(self.ballots, self.rule, self._reach, **self._between)

    def collective(
        self, radius: int, time_limit: float = 10.0, rows: Array | None = None
    ) -> Collective | None:
        """What one attacker who owns the same ``radius`` units in every row can change at once.

        ``rows``: a mask of the rows to count, where it is not all of them.
        """
        if self.proof is None:
            return None
        ballots, between = self.ballots, self._between
        if rows is not None:
            ballots, between = (
                ballots[rows],
                {name: np.asarray(bound)[rows] for name, bound in between.items()},
            )
        return certify_collective(
            ballots, radius, self.rule, self._reach, **between, time_limit=time_limit
        )

    def intervals(self) -> dict[int, tuple[Array, Array]]:
        """For a regressor: the lowest and highest value that r units can bring about, for every r
        with an end to it."""
        found: dict[int, tuple[Array, Array]] = {}
        for radius in range(1, self.ballots.shape[1] + 1) if self.of_values else ():
            low, high = self.model.rule_.interval(
                self.ballots, radius, self.model._over("bound", 1.0).get("reach")
            )
            if np.isinf(low).all() and np.isinf(high).all():
                break
            found[radius] = (low, high)
        return found

    def agreement(self) -> Array:
        """For every submodel, the share of rows in which it sides with the prediction (for values:
        lies within the tolerance of it)."""
        if not self.of_values:
            votes = np.asarray(self.model.classes_)[self.ballots.argmax(axis=2)]
            return np.asarray((votes == self.prediction[:, None]).mean(axis=0))
        if self._bounds is None:
            return np.full(self.ballots.shape[1], np.nan)
        votes = self.model.rule_._stretched(self.ballots)
        lower, upper = (np.asarray(bound)[:, None] for bound in self._bounds[:2])
        return np.asarray(((votes >= lower) & (votes <= upper)).mean(axis=0))

    @cached_property
    def _bounds(self) -> tuple[Any, Any, Any] | None:
        """Where a regressor's predictions must stay."""
        if not self.of_values or (self.tolerance is None and self.relative is None):
            return None
        return bounds_around(self.prediction, tolerance=self.tolerance, relative=self.relative)

    @property
    def _reach(self) -> Array:
        return np.asarray(self.model.partition_.incidence())

    @property
    def _between(self) -> dict[str, Any]:
        return {} if self._bounds is None else {"lower": self._bounds[0], "upper": self._bounds[1]}
