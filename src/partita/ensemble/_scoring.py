"""Ballots of all submodels: from one pass where their trees are flat, else one by one."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import get_config

from .._support import Array, on_one_thread, run_each
from ..errors import SubmodelWarning
from ..tables import Table, one_row, open_table
from ._canary import canaries, check_same_fit, check_same_scores, sample_rows
from ._failures import FixedVote, score_one
from ._one_pass import one_pass
from ._plan import Plan

FEW_ROWS = 1000  # for fewer rows starting threads takes longer than scoring


class Scoring:
    """How an ensemble asks its submodels."""

    estimators_: Any
    partition_: Any
    trusts_training: Any
    fixed_ballot_: Array
    on_failure: str
    n_jobs: int | None
    verbose: int
    _score: Any
    _tree_score: Any
    columns_of: Any
    describe: Any

    def _scores(self, table: Table) -> Iterator[Array]:
        """Yield each submodel's ballots for all rows."""
        together = self._scores_together(table)
        if together is None:
            yield from self._scores_one_by_one(table)
        else:
            yield from np.moveaxis(together, 1, 0)

    def _scores_together(self, table: Table) -> Array | None:
        """Return all ballots from one pass; None where submodels must be asked one by one."""
        columns = [self.columns_of(t) for t in range(len(self.estimators_))]
        found = one_pass(self, self.estimators_, columns) if table.reads_apart else None
        fixed = np.asarray(self.fixed_ballot_)
        return None if found is None else found.ballots(table, self._tree_score(), fixed)

    def _rows_of_submodels(self, table: Table) -> Callable[..., Any]:
        """Return what reads submodel t's part of the table: of all rows, or of some."""
        return lambda t, rows=None: table.take(self.columns_of(t), rows)

    def refusing(self, table: Table) -> Array:
        """Return which submodels raise an error on these rows.

        Parameters
        ----------
        table : Table
            The rows, as ``read`` returns them.

        Returns
        -------
        array of bool, shape (n_submodels,)
            A fixed vote refuses nothing.
        """
        rows_of, score = self._rows_of_submodels(table), self._score()

        def refuses(t: int) -> bool:
            submodel = self.estimators_[0 if self.trusts_training else t]
            if isinstance(submodel, FixedVote):
                return False
            try:
                score(submodel, rows_of(t))
            except MemoryError:
                raise
            except Exception:  # a submodel may raise anything
                return True
            return False

        return np.array([refuses(t) for t in range(len(self.partition_))])

    def _scores_one_by_one(self, table: Table) -> Iterator[Array]:
        score, may_fail = self._score(), self.on_failure == "vote"
        settings = (one_row, table.n_rows, self.fixed_ballot_)
        rows_of = self._rows_of_submodels(table)
        jobs = (
            (score, model, rows_of(t), *settings, self.describe(t), may_fail)
            for t, model in enumerate(self.estimators_)
        )
        n_jobs = self.n_jobs if table.n_rows >= FEW_ROWS else 1
        for scores, failure in run_each(
            score_one, jobs, n_jobs, len(self.estimators_), "scored", max(0, self.verbose - 1)
        ):
            if failure:
                warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=4)
            yield scores

    def _check_canaries(
        self, table: Table, plan: Plan, fitted: list[Any], again: list[Any]
    ) -> Array:
        """Compare the canaries with what they were before; return the ballots of the rows."""
        rows = sample_rows(table.n_rows)
        score, config = self._score(), get_config()

        def scores(model: Any, t: int) -> Array:
            X = table.take(plan.columns[t], rows)
            job = (score, model, X, one_row, len(rows), self.fixed_ballot_, plan.names[t], True)
            ballot: Array = on_one_thread(config, score_one, *job)[0]
            return ballot

        found = one_pass(self, fitted, plan.columns) if table.reads_apart else None
        sample = table.take_all(rows) if found else None
        fixed = np.asarray(self.fixed_ballot_)
        ballots = found.ballots(open_table(sample), self._tree_score(), fixed) if found else None
        if ballots is None:
            ballots = np.stack([scores(model, t) for t, model in enumerate(fitted)], axis=1)
        for t, model in zip(canaries(len(plan), table.n_rows), again, strict=True):
            check_same_fit(fitted[t], model, plan.names[t])
            check_same_scores(ballots[:, t], scores(model, t), plan.names[t])
        return ballots
