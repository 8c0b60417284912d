"""What labels and values differ in: reading a target, deciding, and certifying.

Predictions, scores for ranking and certificates come from the rule of the ballots, so that they
agree.
"""

import warnings
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils import Tags
from sklearn.utils.validation import column_or_1d

from .._support import Array, Estimator, TableLike, run_each
from ..ballots import Abstentions, Ballots
from ..certificates import Certificates
from ..errors import InputError, SubmodelWarning
from ..rules import (
    BoundStatement,
    LabelStatement,
    Median,
    PooledValues,
    Rule,
    Statement,
    bounds_around,
    check_gate,
)
from ..tables import Table
from ._base import Ensemble
from ._plan import Plan, trains_jointly
from ._protocol import Size
from ._silent_sources import by_rows, without_silent_cells
from ._soundness import shares_a_generator
from ._submodels import (
    FLOOR,
    FixedVote,
    Score,
    class_scores,
    fit_one,
    has_scores,
    score_one,
    values,
    wants_integers,
)
from ._target import Target, numbers_or_missing, numeric_target, read_labels

NEARLY_ALL = 0.99  # a model that predicts one label for more rows than this is nearly a constant
ENOUGH_ROWS = 50  # fewer rows are not enough to tell
FALLBACK = "the fallback (of all columns)"
CURE = "fewer submodels, another rule or a larger prior"


def is_nearly_constant(predicted: float, true: float) -> bool:
    """Return whether one label is given to nearly all rows, though not nearly all rows have it.

    ``predicted``: the share of the label that is predicted most often; ``true``: that of the label
    that is most common. Where more than 98 % of rows have one label, a model gives the others at
    least half as often as they occur.
    """
    return 1 - predicted < min(1 - NEARLY_ALL, (1 - true) / 2)


def constant_warnings(
    decided: Array, classes: Array, common: float = 0.0, cure: str = CURE
) -> list[str]:
    """Return a warning if nearly all of these training rows get one label.

    ``decided`` holds the rows' predicted class indexes, ``common`` is the share of the most common
    training label; ``cure`` says what may help.
    """
    if len(decided) < ENOUGH_ROWS or len(classes) < 2:
        return []
    counts = np.bincount(decided, minlength=len(classes))
    share = counts.max() / len(decided)
    if not is_nearly_constant(share, common):
        return []
    label = classes.tolist()[int(counts.argmax())]
    return [
        f"{share:.1%} of {len(decided)} training rows are predicted {label!r}: the model is "
        f"nearly a constant, and its radii say little; {cure} may help"
    ]


class LabelEnsemble(ClassifierMixin, Ensemble):
    """Base class of the classifiers."""

    task: ClassVar[str] = "classification"
    fallback_model_: Estimator

    def predict(self, X: TableLike, silent: object = None) -> Array:
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

    def predict_proba(self, X: TableLike, silent: object = None) -> Array:
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
        return np.asarray(ballots.own_rule.probabilities(ballots))

    def certify(
        self,
        X: TableLike,
        *,
        labels: ArrayLike | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
        silent: object = None,
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
            result says what that cost. The owner of a unit can fake detected silence, or break it:
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

    def prediction_set(self, X: TableLike, radius: int = 1, silent: object = None) -> Array:
        """List the labels that an attack of a given size may bring about in each row.

        However an attacker rewrites ``radius`` units, in the training data, in the row or in both,
        the predicted label is one of the set. The set is the prediction alone where the certified
        radius is at least ``radius``. Where the fallback may be made to answer, and where models
        that leave groups out need not agree, it holds all labels.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        radius : int, default=1
            How many units the attacker owns.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        array of bool, shape (n_samples, n_classes)
            Which labels belong to each row's set; columns in the order of ``classes_``.

        See Also
        --------
        certify : The radius up to which the prediction stands alone.
        partita.metrics.label_set_curve : How often the truth is in the sets, and their mean size.

        References
        ----------
        Theory, section 13.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from partita import FeaturePartitionClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=4).fit(X, y)
        >>> sets = clf.prediction_set(X[[0, 52]], radius=1)
        >>> [clf.classes_[own].tolist() for own in sets]
        [[0], [1, 2]]
        """
        ballots = self.ballots(X, silent)
        self._check_decision(ballots)
        return ballots.own_rule.prediction_set(ballots, radius)

    # ---- fit ----

    def _read_target(self, y: Target) -> Array:
        target, self.classes_ = read_labels(self, y)
        return target

    def _fixed_ballot(self, y: Array) -> Array:
        label = 0
        if not self.label_attacks:
            label = int(np.argmax([np.count_nonzero(y == label) for label in self.classes_]))
        return np.where(np.arange(len(self.classes_)) == label, 0, FLOOR).astype(np.float32)

    def check_rule(self, rule: Rule, estimator: Estimator) -> None:
        if isinstance(rule, Median):
            raise InputError(
                "rule is a Median, which is for regression: use a FeaturePartitionRegressor or "
                "another rule"
            )
        self._check_estimator(estimator)
        if self.fallback is not None:
            self._check_fallback()
            check_gate(rule, self.gate_, overlapping=self.spread > 1)
        if rule.needs_scores and not has_scores(estimator):
            raise InputError(
                f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
                "predict_proba nor decision_function: use rule='plurality' or TopK"
            )

    def _check_estimator(self, estimator: Estimator) -> None:
        if is_regressor(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a regressor: give a classifier, or use "
                f"a {self._other_task}"
            )

    @property
    def submodel_classes(self) -> Array:
        as_positions = self.label_attacks == "labels" or wants_integers(self.unfitted_submodel())
        return np.arange(len(self.classes_)) if as_positions else self.classes_

    def _score(self) -> Score:
        return partial(class_scores, classes=self.submodel_classes)

    def _constant_warnings(self, ballots: Ballots, y: Array) -> list[str]:
        decided = ballots.own_rule.decide(ballots)
        common = float(np.unique(y, return_counts=True)[1].max() / len(y))
        return constant_warnings(decided, self.classes_, common, self.constant_cure)

    # ---- the fallback: a model on all columns, for rows where the vote proves little ----
    #
    # The owner of one column may own all that it says, so no certificate may depend on its scores.
    # It reads what submodels read, and nothing of it reaches a submodel: it is fitted after them.

    @property
    def gate_(self) -> int:
        return 0 if self.fallback is None else int(self.gate)

    def _check_fallback(self) -> None:
        """Refuse a fallback that is no classifier of its own."""
        name = type(self.fallback).__name__
        if is_regressor(self.fallback):
            raise InputError(f"fallback {name} is a regressor: give a classifier")
        if trains_jointly(self.fallback):
            raise InputError(
                f"fallback {name} trains submodels for sets of columns: give a classifier that "
                "learns from all columns"
            )

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: object) -> None:
        if self.fallback is None:
            return
        # Seeded and held to one thread as a submodel is. Under label attacks it learns from all
        # rows whose label is known: the attacker may own it anyway.
        whole = replace(
            plan,
            estimator=self.fallback,
            columns=[list(range(table.n_columns))],
            names=[FALLBACK],
            label_attacks="rows" if plan.label_attacks else None,
            serial=shares_a_generator(self.fallback),
            as_integers=wants_integers(self.fallback),
            fit_params=self._fit_params(self.fallback, y, sample_weight, "fallback"),
        )
        owner = np.zeros(table.n_rows, dtype=np.int64) if plan.label_attacks else None
        job = whole.fit_arguments(table, y, owner, 0)
        (self.fallback_model_,) = run_each(fit_one, [job], 1, 1, "", 0, whole.serial)
        if isinstance(self.fallback_model_, FixedVote):
            cause = self.fallback_model_.cause
            warnings.warn(f"{cause}; it casts a fixed vote", SubmodelWarning, stacklevel=3)

    def fallback_scores(
        self, table: Table, abstentions: Abstentions | None = None, rows: Array | None = None
    ) -> Array | None:
        if not self.gate_:
            return None
        if abstentions is not None and not abstentions.detected:  # its cells are missing
            parts = without_silent_cells(self, table, abstentions, np.nan)
            return by_rows(
                [(own, self._scores_of_fallback(part.take_all())) for own, part in parts]
            )
        return self._scores_of_fallback(table.take_all(rows))

    def _scores_of_fallback(self, X: TableLike) -> Array:
        """Return scores as float32 (rows, classes): the fixed vote where it may fail and does."""
        as_positions = wants_integers(self.fallback)
        classes = np.arange(len(self.classes_)) if as_positions else self.classes_
        score, may_fail = partial(class_scores, classes=classes), self.on_failure == "vote"
        job = (score, self.fallback_model_, X, self.fixed_ballot_, FALLBACK, may_fail)
        ((scores, failure),) = run_each(score_one, [job], 1, 1, "", 0)
        if failure:
            warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=4)
        return np.asarray(scores, dtype=np.float32)

    # ---- labels and proofs ----

    def statement(
        self, prediction: Array, tolerance: Size = None, relative: Size = None, around: Size = None
    ) -> Statement:
        if tolerance is not None or relative is not None:
            raise InputError(
                "tolerance and relative are for models of numbers, and this one predicts labels: "
                "leave them out"
            )
        return LabelStatement(prediction)

    def correct(
        self, prediction: Array, truth: Array, tolerance: Size = None, relative: Size = None
    ) -> Array:
        return LabelStatement(truth).holds(prediction)

    def _certify_labels(
        self, ballots: Ballots, labels: Array, table: Table, cover: str, time_limit: float
    ) -> Certificates:
        """Certify given labels; one that is not among the classes has radius -1."""
        if not ballots.own_rule.needs_labels:
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
        about = {"truth": labels, "known": known}
        return self._prove(
            ballots, positions, **about, table=table, cover=cover, time_limit=time_limit
        )

    def _in_users_terms(self, predicted: Array) -> Array:
        return np.asarray(self.classes_[predicted])


class ValueEnsemble(RegressorMixin, Ensemble):
    """Base class of the regressors."""

    task: ClassVar[str] = "regression"

    def predict(self, X: TableLike, silent: object = None) -> Array:
        """Predict values: the median of the submodels' values.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        array of float64, shape (n_samples,)
            Predicted values.
        """
        return self.decide(self.ballots(X, silent))

    def certify(
        self,
        X: TableLike,
        *,
        lower: Size = None,
        upper: Size = None,
        tolerance: Size = None,
        relative: Size = None,
        around: Size = None,
        cover: str = "bound",
        time_limit: float = 10.0,
        silent: object = None,
    ) -> Certificates:
        """Predict each row and compute how many units must be corrupted to move it out of bounds.

        Give the bounds in one of three ways: ``lower`` and ``upper``, ``tolerance``, or
        ``relative``.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows to certify, with the columns seen in :meth:`fit`.
        lower, upper : float or array-like of shape (n_samples,), optional
            The bounds themselves; one that is left out, or infinite, leaves its side open.
        tolerance : float or array-like of shape (n_samples,), optional
            The bounds lie this far from the middle.
        relative : float or array-like of shape (n_samples,), optional
            The bounds lie this share of the middle's absolute value from it; 0.15 is 15 %.
        around : array-like of shape (n_samples,), optional
            The middle. By default the prediction; ``y`` for the truth, which is what certified
            accuracy needs.
        cover : {"bound", "exact"}, default="bound"
            With ``spread > 1``: a fast sound bound, or an integer program for each row that the
            bound leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent: names or positions of units (in all rows), a mask of shape
            (n_samples, n_units), or "detect" for units whose columns are all missing in a row.
            Submodels that own such a unit are left out of the median; ``silence`` of the result
            says what that cost. A frame may lack the columns of silent units.

        Returns
        -------
        Certificates
            Prediction and certified radius for each row; a radius of -1 means that the prediction
            itself is out of bounds. There is no runner-up.

        See Also
        --------
        interval : The values that an attack of a given size can bring about.
        partita.rules.Median.certify : The same from values of any ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import LinearRegression
        >>> from partita import FeaturePartitionRegressor
        >>> from partita.metrics import certified_accuracy
        >>> X, y = load_diabetes(return_X_y=True)
        >>> reg = FeaturePartitionRegressor(LinearRegression(), n_submodels=5).fit(X[::2], y[::2])
        >>> proof = reg.certify(X[1::2], around=y[1::2], relative=0.3)
        >>> certified_accuracy(y[1::2], proof) > certified_accuracy(y[1::2], proof, radius=1) > 0.2
        True
        """
        table = self.read(X, silent)
        ballots = self.ballots(table, silent)
        now = self.decide(ballots)
        holds = BoundStatement(*bounds_around(now, lower, upper, tolerance, relative, around))
        return self.certificates(ballots, holds, table, cover, time_limit)

    def interval(self, X: TableLike, radius: int, silent: object = None) -> tuple[Array, Array]:
        """Compute the predictions that an attack of a given size can bring about.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        radius : int
            How many units the attacker owns.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        low : array of shape (n_samples,)
            The prediction stays at or above this; -inf where nothing holds it.
        high : array of shape (n_samples,)
            The prediction stays at or below this; inf where nothing holds it.
        """
        return self._interval(self.ballots(X, silent), radius)

    # ---- fit ----

    def _read_target(self, y: Target) -> Array:
        if self.label_attacks:
            return numbers_or_missing(column_or_1d(np.asarray(y, dtype=object)))
        return numeric_target(self, y, self._other_task)

    def _fixed_ballot(self, y: Array) -> Array:
        return np.array(0.0 if self.usual_value is None else self.usual_value)

    def check_rule(self, rule: Rule, estimator: Estimator) -> None:
        if self.label_attacks == "labels":
            raise InputError("label_attacks='labels' is for classification: use 'rows'")
        if not isinstance(rule, Median):
            raise InputError(
                f"rule is {rule!r}, which is for classification: use Median() or a "
                "FeaturePartitionClassifier"
            )
        self._check_estimator(estimator)

    def _check_estimator(self, estimator: Estimator) -> None:
        if is_classifier(estimator):
            raise InputError(
                f"estimator {type(estimator).__name__} is a classifier: give a regressor, or use "
                f"a {self._other_task}"
            )

    def _score(self) -> Score:
        return partial(values, stand_in=float(self.fixed_ballot_))

    # ---- values and proofs ----

    def statement(
        self, prediction: Array, tolerance: Size = None, relative: Size = None, around: Size = None
    ) -> Statement | None:
        if tolerance is None and relative is None:
            return None
        bounds = bounds_around(prediction, None, None, tolerance, relative, around)
        return BoundStatement(*bounds)

    def correct(
        self, prediction: Array, truth: Array, tolerance: Size = None, relative: Size = None
    ) -> Array:
        bounds = bounds_around(prediction, None, None, tolerance, relative, truth)
        return BoundStatement(*bounds).holds(prediction)

    def intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        found: dict[int, tuple[Array, Array]] = {}
        for radius in range(1, ballots.shape[1] + 1):
            low, high = self._interval(ballots, radius)
            if np.isinf(low).all() and np.isinf(high).all():
                break
            found[radius] = (low, high)
        return found

    def _interval(self, ballots: Ballots, radius: int) -> tuple[Array, Array]:
        self._check_decision(ballots)
        rule = ballots.rule
        assert isinstance(rule, Median | PooledValues)
        low, high = rule.interval(ballots, radius)
        return low, high

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a submodel that sees one column of ten stays near the mean, and so does their median
        tags.regressor_tags.poor_score = True
        return tags
