"""What the classifiers share: reading labels, and from ballots to labels and their certificates.

Predictions, scores for ranking and certificates come from the rule of the ballots, so that they
agree.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, is_regressor

from .._support import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError, SubmodelWarning
from ..rules import LabelStatement, Median, Rule, Statement, check_gate, with_silence
from ..tables import Table
from ._ballots import FLOOR, class_scores, has_scores, tree_scores
from ._base import Ensemble
from ._empty_proofs import constant_warnings
from ._failures import FixedVote
from ._fallback import check_fallback, fallback_scores, fit_fallback
from ._plan import Plan
from ._soundness import wants_integers
from ._target import read_labels


class LabelEnsemble(ClassifierMixin, Ensemble):
    """Base class of the classifiers."""

    task: ClassVar[str] = "classification"
    fallback_model_: Any

    def predict(self, X: Any, silent: Any = None) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        array of shape (n_samples,)
            Labels, of the type given to :meth:`fit`.
        """
        return self.decide(self.ballots(X, silent))

    def predict_proba(self, X: Any, silent: Any = None) -> Array:
        """Compute scores for ranking rows, one per class.

        They combine the submodels' mean scores (for plurality, their votes first) with the rule's
        prior and offset, and agree with the rule's decision; where the fallback answers, they are
        its own. They are not calibrated, and nothing is proven about them: a radius is about the
        label alone.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Positive, with sum 1, and the largest for the predicted label; columns in the order of
            ``classes_``.
        """
        ballots = self.ballots(X, silent)
        return np.asarray(ballots.rule.probabilities(ballots))

    def certify(
        self,
        X: Any,
        *,
        labels: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
        silent: Any = None,
    ) -> Certificates:
        """Predict each row and compute how many units must be corrupted to change it.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows to certify, with the columns seen in :meth:`fit`.
        labels : array-like of shape (n_samples,), optional
            Only with ``rule=TopK(k)``: certify that these labels stay among the top k.
        cover : {"bound", "exact"}, default="bound"
            With ``spread > 1``: a fast sound bound, or an integer program for each row that the
            bound leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent: names or positions of units (in all rows), a mask of shape
            (n_samples, n_units), or "detect" for units whose columns are all missing in a row.
            Submodels that own such a unit abstain, and the rest is certified; ``silence`` of the
            result says what that cost. Whoever owns a unit can fake detected silence, or break it:
            the radius holds all the same. A frame may lack the columns of silent units.

        Returns
        -------
        Certificates
            Prediction, certified radius and runner-up for each row. Where the fallback answers,
            the radius is 0.

        See Also
        --------
        partita.certify : The same from ballots of any ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from partita import FeaturePartitionClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=3).fit(X, y)
        >>> proof = clf.certify(X[:2])
        >>> proof.prediction.tolist(), proof.radius.tolist(), proof.runner_up.tolist()
        ([0, 0], [1, 0], [1, 1])
        """
        table = self.read(X, silent)
        ballots = self.ballots(table, silent)
        if labels is None:
            return self.certificates(ballots, None, table, cover, time_limit)
        return self._certify_labels(ballots, np.asarray(labels), table, cover, time_limit)

    # ---- hooks ----

    def _read_target(self, y: Any) -> Array:
        target, self.classes_ = read_labels(self, y)
        return target

    def _fixed_ballot(self, y: Array) -> Array:
        label = 0
        if not self.label_attacks:
            label = int(np.argmax([np.count_nonzero(y == label) for label in self.classes_]))
        return np.where(np.arange(len(self.classes_)) == label, 0, FLOOR).astype(np.float32)

    def _check_rule(self, rule: Rule, estimator: Any) -> None:
        if isinstance(rule, Median):
            raise InputError(
                "rule is a Median, which is for regression: use a FeaturePartitionRegressor or "
                "another rule"
            )
        if is_regressor(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a regressor: give a classifier, or use "
                "a FeaturePartitionRegressor"
            )
        self._check_gate(rule)
        if rule.needs_scores and not has_scores(estimator):
            raise InputError(
                f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
                "predict_proba nor decision_function: "
                "use rule='plurality' or TopK"
            )

    def _score(self) -> Callable[..., Array]:
        return partial(class_scores, classes=self._labels_of_submodels())

    def _tree_score(self) -> Callable[..., Array]:
        return partial(tree_scores, classes=self._labels_of_submodels())

    def _labels_of_submodels(self) -> Array:
        known_as_positions = self.label_attacks == "labels" or wants_integers(
            self.unfitted_submodel()
        )
        return np.arange(len(self.classes_)) if known_as_positions else self.classes_

    # ---- the fallback ----

    @property
    def gate_(self) -> int:
        return 0 if self.fallback is None else int(self.gate)

    def _check_gate(self, rule: Rule) -> None:
        """Refuse a gate that the certificates of this rule do not allow."""
        if self.fallback is not None:
            check_fallback(self.fallback)
            check_gate(rule, self.gate_, overlapping=self.spread > 1)

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: Any) -> None:
        if self.fallback is None:
            return
        params = self._fit_params(self.fallback, y, sample_weight, "fallback")
        self.fallback_model_ = fit_fallback(self.fallback, plan, table, y, params)
        if isinstance(self.fallback_model_, FixedVote):
            cause = self.fallback_model_.cause
            warnings.warn(f"{cause}; it casts a fixed vote", SubmodelWarning, stacklevel=4)

    def _fallback_scores(self, table: Table, rows: Array | None = None) -> Array | None:
        return fallback_scores(self, table, rows) if self.gate_ else None

    # ---- labels and proofs ----

    def decide(self, ballots: Ballots) -> Array:
        return np.asarray(self.classes_[ballots.rule.decide(ballots)])

    def votes(self, ballots: Ballots) -> Array:
        return np.asarray(self.classes_[ballots.rule.votes(ballots)])

    def _constant_warnings(self, ballots: Ballots, y: Array) -> list[str]:
        decided = ballots.rule.decide(ballots)
        common = float(np.unique(y, return_counts=True)[1].max() / len(y))
        return constant_warnings(decided, self.classes_, common, self.constant_cure)

    def statement(
        self, prediction: Array, tolerance: Any = None, relative: Any = None, around: Any = None
    ) -> Statement:
        if tolerance is not None or relative is not None:
            raise InputError(
                "tolerance and relative are for models of numbers, and this one predicts labels: "
                "leave them out"
            )
        return LabelStatement(prediction)

    def certificates(
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

    def correct(
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
