"""What the leave-out estimators share: groups of units, and members that leave sets of them out.

A member must learn nothing from the groups it leaves out; where training can be trusted, one model
takes the part of all members and sees rows in which those groups are masked.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._support import Array, run_each
from ..ballots import Ballots
from ..certificates import TRAINING_TABLE, Counts
from ..errors import EmptyProofWarning, InputError, SubmodelWarning
from ..partition import (
    Columns,
    LeaveOut,
    Partition,
    choose_members,
    choose_partition,
    count_groups,
    left_out_size,
)
from ..rules import PooledRule
from ..tables import MaskedColumns, Table, one_row, open_table
from ._base import Ensemble
from ._canary import sample_rows
from ._empty_proofs import LEAVE_OUT_CURE
from ._failures import fit_one, score_one
from ._joint_training import trains_jointly
from ._masked_training import accepts_missing, masked_rows
from ._one_pass import one_pass
from ._scoring import FEW_ROWS

FEWEST_TREES = 18  # of a default member


class LeaveOutEnsemble(Ensemble):
    """Base class of LeaveOutClassifier and LeaveOutRegressor."""

    radius: int
    n_groups: int | str
    max_models: int
    leave_out: int | str
    training: str

    partition_: LeaveOut

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "radius": [Interval(Integral, 1, None, closed="left")],
        "n_groups": [StrOptions({"auto"}), Interval(Integral, 3, None, closed="left")],
        "max_models": [Interval(Integral, 3, None, closed="left")],
        "leave_out": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "partition": [StrOptions({"random", "strided"}), Partition, HasMethods(["deal"]), list],
        "training": [StrOptions({"attackable", "trusted"})],
    }

    constant_cure: ClassVar[str] = LEAVE_OUT_CURE
    _with_fallback: ClassVar[bool]  # whether a model on all columns is fitted too
    _model_trees: ClassVar[int]  # of a model at least, over the default members it is the mean of

    def _choose_rule(self, estimator: Any, target: Array, sample_weight: Any) -> None:
        """Check the estimator; the rule follows from the groups."""
        self._check_estimator(estimator)
        if trains_jointly(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} trains all submodels of a partition at "
                "once, which models that leave groups out do not: give another estimator"
            )
        if self.training == "trusted" and not accepts_missing(estimator):
            raise InputError(
                f"training='trusted' masks columns as missing values, which "
                f"{type(estimator).__name__} does not accept: use an estimator that does, or put "
                "a SimpleImputer before it"
            )

    def _member_settings(self) -> dict[str, Any]:
        """Return fewer trees for the default members, where a model is the mean of several."""
        if self.estimator is not None or self.training == "trusted":
            return {}
        smallest_pool = int(np.diff(self.partition_.pools()[0]).min())
        alone = self._default_estimator().n_estimators
        return {
            "n_estimators": max(FEWEST_TREES, min(alone, -(-self._model_trees // smallest_pool)))
        }

    def _check_estimator(self, estimator: Any) -> None:
        """Refuse an estimator that is made for the other task."""
        raise NotImplementedError

    def _choose_sets(self, columns: Columns, seed: int) -> LeaveOut:
        given = not isinstance(self.partition, str) and not hasattr(self.partition, "deal")
        limits = (self.radius, self.max_models, len(self.units_), self.units_.kind)
        n_groups = count_groups(self.n_groups, *limits)
        how = (self.units_, columns, None, seed, self.verbose)
        groups = choose_partition(self.partition, "auto" if given else n_groups, 1, *how)
        assert isinstance(groups, Partition)
        if given and self.n_groups not in ("auto", len(groups)):
            raise InputError(
                f"n_groups is {self.n_groups}, but partition has {len(groups)} groups: leave "
                "n_groups out"
            )
        if len(groups) <= 2 * self.radius:
            raise InputError(
                f"partition has {len(groups)} groups: radius {self.radius} needs at least "
                f"{2 * self.radius + 1}"
            )
        size = left_out_size(self.leave_out, self.radius, len(groups))
        members = choose_members(len(groups), self.radius, size, self.max_models, seed)
        everything: list[tuple[int, ...]] = [()] if self._with_fallback else []
        sets = LeaveOut(groups, self.radius, (*members, *everything))
        self.rule_ = self._agreement_rule(sets)
        return sets

    def _agreement_rule(self, sets: LeaveOut) -> Any:
        """Return the rule that pools members and asks models for agreement."""
        raise NotImplementedError

    def describe(self, t: int) -> str:
        """Describe member t by the units it leaves out.

        Parameters
        ----------
        t : int
            The member's index.

        Returns
        -------
        str
            Such as ``"submodel 3 (without columns age, income)"``.
        """
        hidden = self.partition_.hidden(t)
        if not hidden:
            return f"submodel {t} (of all columns)"
        shown = ", ".join(self.units_.names[unit] for unit in hidden[:5])
        more = ", ..." if len(hidden) > 5 else ""
        return f"submodel {t} (without {self.units_.kind} {shown}{more})"

    def _check_decision(self, ballots: Ballots) -> None:
        """Refuse all but agreement, which counts groups: q units lie in at most q groups.

        Another rule would count members, and one unit is seen by many of them.
        """
        if not isinstance(ballots.rule, PooledRule):
            raise InputError(
                f"rule is {ballots.rule!r}, but models that leave units out are decided by "
                "agreement alone: for another rule use a FeaturePartitionClassifier or "
                "...Regressor"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.training == "trusted":
            tags.input_tags.sparse = False
        return tags

    def _group_of_unit(self, sets: LeaveOut) -> Array:
        """Return the group of each unit."""
        return np.asarray(sets.groups.incidence().argmax(axis=1))

    def _counts(self, names: list[str], n_rows: int) -> Counts:
        counts = super()._counts(names, n_rows)
        if self.training == "attackable":
            return counts
        return replace(counts, trusted=(*counts.trusted, TRAINING_TABLE))

    # ---- one model for all members, where training is trusted ----

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the members, or one model that takes the part of all."""
        if self.training == "attackable":
            return super()._fit(X, y, sample_weight)
        table, target, plan = self._plan(X, y, sample_weight)
        rows, labels, params = masked_rows(table, target, plan, self._hidden_columns())
        job = (plan.submodel(0), rows, labels, params, "the model of masked rows", False)
        self.estimators_ = list(run_each(fit_one, [job], 1, 1, "fitted", self.verbose, plan.serial))
        sample = table.take_all(sample_rows(table.n_rows))
        scores = self._all_scores(open_table(sample))
        self.warnings_ = self._constant_warnings(self.ballots_from(scores), target)
        for message in self.warnings_:
            warnings.warn(message, EmptyProofWarning, stacklevel=3)
        return self

    @property
    def trusts_training(self) -> bool:
        return len(self.estimators_) < len(self.partition_)  # `training` may be set anew

    @property
    def full_member(self) -> Any:
        # a model of masked rows is no member: one that sees whole rows is fitted beside it
        return self.estimators_[-1] if self._with_fallback and not self.trusts_training else None

    @property
    def n_fitted(self) -> int:
        return len(self.partition_) if self.training == "attackable" else 1

    def _hidden_columns(self) -> list[list[int]]:
        """Return the columns that each member leaves out."""
        everything = set(range(self.n_features_in_))
        return [sorted(everything - set(self.columns_of(t))) for t in range(len(self.partition_))]

    def _scores_together(self, table: Table) -> Array | None:
        if not self.trusts_training:
            return super()._scores_together(table)
        everything = list(range(table.n_columns))
        found = one_pass(self, self.estimators_, [everything]) if table.reads_apart else None
        fixed, masks = np.asarray(self.fixed_ballot_), self._hidden_columns()
        return None if found is None else found.ballots(table, self._tree_score(), fixed, masks)

    def _rows_of_submodels(self, table: Table) -> Callable[..., Any]:
        if not self.trusts_training:
            return super()._rows_of_submodels(table)
        masked, hidden = MaskedColumns(table.take_all(), self.numeric_), self._hidden_columns()

        def rows_of(t: int, rows: Array | None = None) -> Any:
            part = masked.masked(hidden[t])
            return part if rows is None else open_table(part).take_all(rows)

        return rows_of

    def _scores_one_by_one(self, table: Table) -> Iterator[Array]:
        if not self.trusts_training:
            yield from super()._scores_one_by_one(table)
            return
        score, may_fail = self._score(), self.on_failure == "vote"
        settings = (one_row, table.n_rows, self.fixed_ballot_)
        rows_of, n_members = self._rows_of_submodels(table), len(self.partition_)
        jobs = (
            (score, self.estimators_[0], rows_of(t), *settings, self.describe(t), may_fail)
            for t in range(n_members)
        )
        n_jobs = self.n_jobs if table.n_rows >= FEW_ROWS else 1
        verbose = max(0, self.verbose - 1)
        for scores, failure in run_each(score_one, jobs, n_jobs, n_members, "scored", verbose):
            if failure:
                warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=4)
            yield scores
