"""From ballots to labels and their certificates: the classifier's half that no submodel is in.

Predictions, scores for ranking and certificates come from the rule of the ballots, so that they
agree.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from .._support.types import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError, SubmodelWarning
from ..rules import Rule
from ..rules._gate import check_gate
from ..rules._silence_cost import with_silence
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

    def _decide(self, ballots: Ballots) -> Array:
        return np.asarray(self.classes_[ballots.rule.decide(ballots)])

    def _votes(self, ballots: Ballots) -> Array:
        return np.asarray(self.classes_[ballots.rule.votes(ballots)])

    def _constant_warnings(self, ballots: Ballots, y: Array) -> list[str]:
        decided = ballots.rule.decide(ballots)
        common = float(np.unique(y, return_counts=True)[1].max() / len(y))
        return constant_warnings(decided, self.classes_, common, self._constant_cure)

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
        ballots: Ballots,
        statement: Statement | None,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        def certify(filled: Ballots, rows: Array) -> Certificates:
            return self._in_units(self._certified(filled), None)

        proof = self._certified(ballots, cover=cover, time_limit=time_limit)
        labelled = self._with_labels(proof, table)
        return with_silence(self.units_.names, ballots, labelled, proof.prediction, certify)

    def _correct(
        self, prediction: Array, truth: Array, tolerance: Any = None, relative: Any = None
    ) -> Array:
        return LabelStatement(truth).holds(prediction)

    def _certify_labels(
        self,
        ballots: Ballots,
        labels: Array,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify given labels; one that is not among the classes has radius -1."""
        if not ballots.rule.needs_labels:
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

        def certify(filled: Ballots, rows: Array) -> Certificates:
            proof = self._in_units(self._certified(filled, positions[rows]), None)
            return replace(proof, radius=np.where(known[rows], proof.radius, -1))

        proof = self._certified(ballots, positions, cover=cover, time_limit=time_limit)
        proof = replace(proof, truth=labels, radius=np.where(known, proof.radius, -1))
        labelled = self._with_labels(proof, table)
        return with_silence(self.units_.names, ballots, labelled, positions, certify)

    def _with_labels(self, proof: Certificates, table: Table | None) -> Certificates:
        """Return a rule's proof with labels for class indexes, counted in units."""
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        prediction = self.classes_[proof.prediction] if proof.truth is None else proof.truth
        return self._in_units(replace(proof, prediction=prediction, runner_up=runner_up), table)
