"""From ballots to labels and their certificates: the classifier's half that no submodel is in.

Predictions, scores for ranking and certificates all go through one gate, so that they agree: the
vote's label where its radius is large enough, else the fallback's. Nothing may be proven of a row
that the fallback answers.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError, SubmodelWarning
from ..partition._partition import Partition
from ..rules import Rule
from ..rules._ballots import mean_scores, softmax, with_winner
from ..rules._gate import check_gate, gated, is_open
from ..rules._statements import LabelStatement, Statement
from ..tables._table import Table
from ._base import FeaturePartitionEnsemble
from ._empty_proofs import constant_warnings
from ._failures import FixedVote
from ._fallback import check_fallback, fallback_scores, fit_fallback
from ._plan import Plan


class LabelDecisions(FeaturePartitionEnsemble):
    """The hooks of FeaturePartitionClassifier that turn ballots into labels and proofs."""

    classes_: Array
    fallback: Any
    gate: int
    fallback_model_: Any

    # ---- the fallback ----

    def _gate(self) -> int:
        return 0 if self.fallback is None else int(self.gate)

    def _check_gate(self, rule: Rule) -> None:
        """Refuse a gate that the certificates of this rule do not allow."""
        if self.fallback is not None:
            check_fallback(self.fallback)
            check_gate(rule, self._gate(), overlapping=self.spread > 1)

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: Any) -> None:
        if self.fallback is None:
            return
        params = self._fit_params(self.fallback, y, sample_weight, "fallback")
        self.fallback_model_ = fit_fallback(self.fallback, plan, table, y, params)
        if isinstance(self.fallback_model_, FixedVote):
            cause = self.fallback_model_.cause
            warnings.warn(f"{cause}; it casts a fixed vote", SubmodelWarning, stacklevel=4)

    def _fallback_scores(self, table: Table, rows: Array | None = None) -> Array | None:
        return fallback_scores(self, table, rows) if self._gate() else None

    # ---- labels and proofs ----

    def _vote(self, ballots: Array, cover: str = "bound", time_limit: float = 10.0) -> Certificates:
        """Return the vote's own certificates, in class indexes."""
        proof: Certificates = self.rule_.certify(ballots, **self._reach_options(cover, time_limit))
        return proof

    def _behind_gate(self, proof: Certificates, fallback: Array | None) -> Certificates:
        """Return the vote's certificates with the fallback's answers behind the gate."""
        gate = self._gate()
        if not gate:
            return proof
        if fallback is None:
            raise ValueError("behind a gate, ballots decide together with the fallback's scores")
        check_gate(self.rule_, gate, not isinstance(self.partition_, Partition))
        return gated(proof, gate, fallback.argmax(axis=1))

    def _decide(self, ballots: Array, fallback: Array | None = None) -> Array:
        if not self._gate():
            return np.asarray(self.classes_[self.rule_.decide(ballots)])
        proof = self._behind_gate(self._vote(ballots), fallback)
        return np.asarray(self.classes_[proof.prediction])

    def _by_fallback(self, ballots: Array) -> Array:
        gate = self._gate()
        if not gate:
            return np.zeros(len(ballots), dtype=bool)
        return ~is_open(self._vote(ballots), gate)

    def _votes(self, ballots: Array) -> Array:
        return np.asarray(self.classes_[self.rule_.votes(ballots)])

    def _probabilities(self, ballots: Array, fallback: Array | None) -> Array:
        """Return scores for ranking: the rule's, or the fallback's for the rows it answers."""
        shares = np.asarray(self.rule_.probabilities(ballots))
        if fallback is None:
            return shares
        own = with_winner(softmax(mean_scores(fallback[:, None])), fallback.argmax(axis=1))
        return np.where(self._by_fallback(ballots)[:, None], own, shares)

    def _constant_warnings(
        self, ballots: Array, y: Array, fallback: Array | None = None
    ) -> list[str]:
        decided = np.searchsorted(self.classes_, self._decide(ballots, fallback))
        common = float(np.unique(y, return_counts=True)[1].max() / len(y))
        return constant_warnings(decided, self.classes_, common)

    def _statement(
        self, prediction: Array, tolerance: Any = None, relative: Any = None, around: Any = None
    ) -> Statement:
        if tolerance is not None or relative is not None:
            raise InputError(
                "tolerance and relative are for models of numbers, and this one predicts labels: "
                "leave them out"
            )
        return LabelStatement(prediction)

    def _certificates(
        self,
        ballots: Array,
        statement: Statement,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
        fallback: Array | None = None,
    ) -> Certificates:
        proof = self._behind_gate(self._vote(ballots, cover, time_limit), fallback)
        return self._with_labels(proof, table)

    def _correct(
        self, prediction: Array, truth: Array, tolerance: Any = None, relative: Any = None
    ) -> Array:
        return LabelStatement(truth).holds(prediction)

    def _certify_labels(
        self, table: Table, ballots: Array, labels: Array, cover: str, time_limit: float
    ) -> Certificates:
        """Certify given labels; one that is not among the classes has radius -1."""
        if not self.rule_.needs_labels:
            raise InputError(
                f"labels is for rule=TopK(k); {self.rule_!r} certifies its own prediction"
            )
        if labels.shape != (len(ballots),):
            raise InputError(
                f"labels has shape {labels.shape}: give one label for each of the {len(ballots)} "
                "rows"
            )
        known = np.isin(labels, self.classes_)
        positions = np.searchsorted(self.classes_, np.where(known, labels, self.classes_[0]))
        proof = self.rule_.certify(ballots, positions, **self._reach_options(cover, time_limit))
        radius = np.where(known, proof.radius, -1)
        return self._with_labels(replace(proof, truth=labels, radius=radius), table)

    def _with_labels(self, proof: Certificates, table: Table | None) -> Certificates:
        """Return a rule's proof with labels for class indexes, counted in units."""
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        prediction = self.classes_[proof.prediction] if proof.truth is None else proof.truth
        return self._in_units(replace(proof, prediction=prediction, runner_up=runner_up), table)
