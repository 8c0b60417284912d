"""The rows of a table with a prediction and a certificate each, all from one set of ballots.

Every row is certified once: results are computed when first used, and a change of rule or of the
statement makes a new object without results.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._support import Array, TableLike
from ..ballots import Ballots
from ..certificates import Certificates
from ..collective import Collective, certify_collective, criticality
from ..ensemble import FittedEnsemble, full_predictions
from ..rules import Gated, Rule, Statement
from ..tables import Table
from ._schema import TASKS


@dataclass(frozen=True, eq=False)
class CertifiedTable:
    """Predictions and certificates for the rows of a table.

    Make one with :meth:`of`. Without a tolerance, a regressor's rows have intervals and no radius.

    Attributes
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted.
    table : Table
        The rows.
    ballots : Ballots
        What the submodels say about them, and the rule; everything else is computed from these.
    tolerance, relative : float, optional
        For a regressor: how far a prediction may move and still count as unchanged.
    truth : array, optional
        The right labels or values, where they are known.
    by_truth : bool
        Whether a value must stay near the truth, not near the prediction (:attr:`against_truth`).
    """

    model: FittedEnsemble
    table: Table
    ballots: Ballots
    tolerance: float | None = None
    relative: float | None = None
    truth: Array | None = None
    by_truth: bool = False

    @classmethod
    def of(
        cls,
        model: FittedEnsemble,
        X: TableLike,
        tolerance: float | None = None,
        relative: float | None = None,
        truth: Array | None = None,
        silent: Any = None,
        **more: Any,
    ) -> Self:
        """Cast the ballots for the rows of X; ``silent``: as ``certify`` takes it."""
        TASKS[model.task].check_tolerance(tolerance, relative)
        table = model.read(X, silent)
        return cls(model, table, model.ballots(table, silent), tolerance, relative, truth, **more)

    def under(self, rule: Rule) -> Self:
        """Decide and certify the same ballots by another rule, behind the same gate."""
        decides = Gated(rule, self.gate) if self.gate else rule
        return replace(self, ballots=replace(self.ballots, rule=decides))

    def __len__(self) -> int:
        return len(self.ballots)

    @property
    def rule(self) -> Rule:
        """Return the rule of the vote."""
        rule = self.ballots.own_rule
        return rule.rule if isinstance(rule, Gated) else rule

    @property
    def gate(self) -> int:
        """Return the least radius at which the vote decides; 0: it always does."""
        rule = self.ballots.rule
        return int(rule.gate) if isinstance(rule, Gated) else 0

    @property
    def silent_units(self) -> Array | None:
        """Return which sources are silent, bool (rows, units); None if not covered."""
        silence = self.ballots.abstentions
        return None if silence is None else silence.units

    @cached_property
    def prediction(self) -> Array:
        """Return one label or value per row."""
        return np.asarray(self.model.decide(self.ballots))

    @cached_property
    def by_fallback(self) -> Array:
        """Return the rows, bool, that the full model behind the vote answers, unproven."""
        rule = self.ballots.rule
        if isinstance(rule, Gated):
            return rule.by_fallback(self.ballots)
        return np.zeros(len(self), dtype=bool)

    @cached_property
    def statement(self) -> Statement | None:
        """Return what is certified of each row; None for a regressor without a tolerance."""
        around = self.truth if self.by_truth else None
        statement: Statement | None = self.model.statement(
            self.prediction, self.tolerance, self.relative, around
        )
        return statement

    @cached_property
    def proof(self) -> Certificates | None:
        """Return the certificates of the statement; None where nothing is stated."""
        if self.statement is None:
            return None
        proof: Certificates = self.model.certificates(self.ballots, self.statement, self.table)
        return proof

    @cached_property
    def against_truth(self) -> Self:
        """State of the same ballots that a value stays within the tolerance of the truth.

        Certified accuracy is about these certificates. A value that is outside now has radius -1,
        and counts as one that any attacker can change. For labels, and for values without a
        tolerance, this is the table itself.
        """
        if self.by_truth or self.statement is None or not self.statement.bounds:
            return self
        assert self.truth is not None
        return replace(self, by_truth=True)

    def correct(self, predictions: Array) -> Array:
        """Return which of these predictions, one per row, are right; the truth must be known."""
        assert self.truth is not None
        return np.asarray(
            self.model.correct(predictions, self.truth, self.tolerance, self.relative)
        )

    @cached_property
    def critical_units(self) -> Array | None:
        """Return which units could, each alone, break a row's statement, bool (units, rows)."""
        if self.statement is None:
            return None
        return criticality(self.ballots, None, self._incidence, **self.statement.bounds)

    def collective(
        self, radius: int, time_limit: float = 10.0, rows: Array | None = None
    ) -> Collective | None:
        """Return what one attacker can break who owns the same ``radius`` units in every row.

        ``rows``: a mask of the rows to count, where it is not all of them.
        """
        if self.statement is None:
            return None
        ballots, statement = self.ballots, self.statement
        if rows is not None:
            ballots, statement = ballots[rows], statement.take(rows)
        return certify_collective(
            ballots, radius, None, self._incidence, **statement.bounds, time_limit=time_limit
        )

    @cached_property
    def intervals(self) -> dict[int, tuple[Array, Array]]:
        """Return the lowest and highest value that r units can bring about, by r."""
        return dict(self.model.intervals(self.ballots))

    def agreement(self) -> Array:
        """Return each submodel's share of rows in which its own vote fulfils the statement."""
        if self.statement is None:
            return np.full(self.ballots.shape[1], np.nan)
        holds = self.statement.holds(self.model.votes(self.ballots))
        if self.ballots.abstentions is None:
            return np.asarray(holds.mean(axis=0))
        voted = ~self.ballots.abstentions.submodels
        with np.errstate(invalid="ignore"):  # nothing is known of one that never votes
            return np.asarray((holds & voted).sum(axis=0) / voted.sum(axis=0))

    @property
    def _incidence(self) -> Array:
        return np.asarray(self.model.partition_.incidence())

    @cached_property
    def full_model_prediction(self) -> Array | None:
        """Return what one model on all columns predicts; None without one, or where it fails."""
        return full_predictions(self.model, self.table)
