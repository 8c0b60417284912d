"""FeaturePartitionClassifier: a classifier whose predictions carry a proof."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._support.arrays import array_of
from .._support.types import Array
from ..certificates import Certificates
from ..errors import InputError
from ..rules import Median, Rule, TopK
from ..tables._table import Table
from ._ballots import FLOOR, class_scores, has_scores
from ._base import FeaturePartitionEnsemble, target_array
from ._default_estimator import TableBoostingClassifier
from ._empty_proofs import ENOUGH_ROWS, NEARLY_ALL
from ._joint_training import ballots_together
from ._label_attacks import UNLABELLED, class_positions
from ._soundness import wants_integers


class FeaturePartitionClassifier(ClassifierMixin, FeaturePartitionEnsemble):
    """A classifier whose predictions carry a proof: they cannot change unless an attacker owns more
    than ``radius`` units.

    The columns are dealt out to submodels, each trained on its own columns alone; a rule decides
    from their scores. Whatever is written into one column, in training, in the row, or both,
    changes one submodel at most.

    Parameters
    ----------
    estimator : scikit-learn classifier or Pipeline, default=None
        Cloned for every submodel. Preprocessing belongs inside it. None: gradient boosting for
        tables with texts and gaps.
    n_submodels : int or "auto", default="auto"
        "auto": 21, or the largest odd number of units below (docs/defaults.md).
    partition : "random", "strided", "spiral", "patch", a Partition, or a list of lists of columns,
    default="random"
        Which submodel owns which columns.
    image_shape : (height, width, channels), default=None
        The columns are a flattened image, and a pixel with its channels is one unit. "spiral" and
        "patch" need it.
    units : mapping, array of ids, function of the column's name, or Units, default=None
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``. Columns not
        named are units of their own.
    spread : int, default=1
        In how many submodels a unit appears. Above 1 the submodels' sets overlap, and there are
        ``spread`` times ``n_submodels`` of them.
    trusted : list of columns, default=()
        Columns out of the attacker's reach: every submodel sees them.
    rule : "plurality", "runoff", "tournament", or a rule object, default="tournament"
        What a rule leaves open, ``fit`` fills in: ``Tournament(margin=0.25, prior=1, offset=0.25)``
        where the submodels give probabilities.
    label_attacks : None, "rows" or "labels", default=None
        The radius counts flipped training labels too. "rows": every submodel trains on its own
        share of the rows; "labels": on all rows, of which only its share has labels (self-training,
        unless the estimator learns from rows labelled -1 itself).
    classes : list of labels, default=None
        All labels there are; required with ``label_attacks``.
    strict : bool, default=False
        A SoundnessWarning becomes an error.
    on_failure : "raise" or "vote", default="raise"
        What a submodel that fails on its own columns does: raise an error, or cast a fixed vote, so
        that the proof covers crashes too. A lack of memory, files or threads concerns all
        submodels, and is raised in any case.
    random_state : int, default=0
        Decides the random partition and the seed of every submodel.
    n_jobs : int, default=None
        Threads; None: all cores, or what a joblib ``parallel_config`` says. Results do not depend
        on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    classes_ : array of the labels
    estimators_ : list of the fitted submodels
    partition_ : Partition
    units_ : Units
    rule_ : the rule, with what it needed from the training labels
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from partita import FeaturePartitionClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(n_submodels=11).fit(X[::2], y[::2])
    >>> proof = clf.certify(X[1::2])
    >>> proof.counts.what, bool((proof.radius >= 2).mean() > 0.5)
    ('columns', True)
    """

    _default_estimator = TableBoostingClassifier

    def __init__(
        self,
        estimator=None,
        n_submodels="auto",
        partition="random",
        image_shape=None,
        units=None,
        spread=1,
        trusted=(),
        rule="tournament",
        label_attacks=None,
        classes=None,
        strict=False,
        on_failure="raise",
        random_state=0,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_submodels = n_submodels
        self.partition = partition
        self.image_shape = image_shape
        self.units = units
        self.spread = spread
        self.trusted = trusted
        self.rule = rule
        self.label_attacks = label_attacks
        self.classes = classes
        self.strict = strict
        self.on_failure = on_failure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one submodel on each set of columns.

        Parameters
        ----------
        X : array, pandas or polars frame, sparse matrix, or list of rows
        y : labels of any type, one a row
        sample_weight : array, default=None
            Passed to every submodel; an error where the estimator cannot take it.
        """
        return self._fit(X, y, sample_weight)

    def _target(self, y: Any) -> Array:
        if self.label_attacks:
            if self.classes is None:
                raise InputError(
                    "classes is missing: under label_attacks the list of labels must be a "
                    "constant that you give"
                )
            self.classes_ = self._given_classes()
            positions = class_positions(column_or_1d(np.asarray(y, dtype=object)), self.classes_)
            if np.all(positions == UNLABELLED):
                raise InputError(
                    "y holds no label that is in classes: give classes of the same type as the "
                    "labels"
                )
            return positions
        labels = target_array(self, y)
        try:
            check_classification_targets(labels)
            self.classes_ = np.unique(labels)
        except TypeError as exc:
            raise InputError(
                "y mixes labels that cannot be sorted, such as texts and numbers: make them all "
                "one type"
            ) from exc
        if self.classes is not None:
            unknown = self.classes_[~np.isin(self.classes_, self._given_classes())]
            if len(unknown):
                raise InputError(
                    f"y holds the label {unknown.tolist()[0]!r}, which is not in classes: add it "
                    "or leave classes out"
                )
            self.classes_ = self._given_classes()
        return labels

    def _given_classes(self) -> Array:
        classes = array_of(
            "classes", list(self.classes) if isinstance(self.classes, Iterable) else self.classes
        )
        if classes.ndim != 1 or not len(classes):
            raise InputError(f"classes is {self.classes!r}: give the list of all labels")
        try:
            return np.unique(classes)
        except TypeError as exc:
            raise InputError(
                f"classes is {self.classes!r}, which cannot be put in order: give labels of one "
                "type"
            ) from exc

    def _fixed_ballot(self, y: Array) -> Array:
        label = (
            0
            if self.label_attacks
            else int(np.argmax([np.count_nonzero(y == label) for label in self.classes_]))
        )
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
        if rule.needs_scores and not has_scores(estimator):
            raise InputError(
                f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
                "predict_proba nor decision_function: "
                "use rule='plurality' or TopK"
            )

    def ballots(self, X: Any) -> Array:
        """Every submodel's score for every class: float32 (rows, submodels, classes)."""
        return self._ballots(X)[1]

    def _ballots(self, X: Any) -> tuple[Table, Array]:
        check_is_fitted(self, "estimators_")
        if hasattr(self.estimators_, "scores"):
            table = self._open(X, reset=False)
            return table, ballots_together(self.estimators_, table, self.classes_)
        table, scores = self._gather(X, self._score())
        ballots = np.empty(
            (table.n_rows, len(self.estimators_), len(self.classes_)), dtype=np.float32
        )
        for t, own in enumerate(scores):
            ballots[:, t] = own
        return table, ballots

    def _score(self) -> Callable[..., Array]:
        in_places = self.label_attacks == "labels" or wants_integers(
            self._submodel()
        )  # what submodels know the labels as
        return partial(
            class_scores, classes=np.arange(len(self.classes_)) if in_places else self.classes_
        )

    def _constant(self, ballots: Array) -> list[str]:
        if len(ballots) < ENOUGH_ROWS or len(self.classes_) < 2:
            return []
        counts = np.bincount(self.rule_.decide(ballots), minlength=len(self.classes_))
        label, share = (
            self.classes_[counts.argmax() : counts.argmax() + 1].tolist()[0],
            counts.max() / len(ballots),
        )
        if share <= NEARLY_ALL:
            return []
        return [
            f"{share:.1%} of {len(ballots)} training rows are predicted {label!r}: the model is "
            "nearly a constant, and its radii say "
            "little; fewer submodels, another rule or a larger prior may help"
        ]

    def predict(self, X: Any) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Labels, as they were given to :meth:`fit`.
        """
        ballots = self.ballots(X)
        return np.asarray(self.classes_[self.rule_.decide(ballots)])

    def predict_proba(self, X: Any) -> Array:
        """Scores for ranking rows, one for each class: positive, with sum 1, the largest for the
        label that ``predict`` gives.

        They are made of the submodels' mean scores (for plurality, of their votes first), with the
        rule's prior and offset, and agree with the rule's decision. They are not calibrated, and
        nothing is proven about them: a radius is about the label alone.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        ballots = self.ballots(X)
        return self.rule_.probabilities(ballots)

    def certify(
        self, X: Any, labels: Any = None, cover: str = "bound", time_limit: float = 10.0
    ) -> Certificates:
        """Predict every row, and prove how many units an attacker must own to change it.

        ``labels`` is for ``rule=TopK(k)`` alone: certify that these labels (say, the true ones)
        stay among the top k. With ``spread`` > 1, ``cover="exact"`` solves an integer program for
        every row that the bound leaves in doubt, ``time_limit`` seconds each."""
        table, ballots = self._ballots(X)
        return self._proof(table, ballots, labels, cover, time_limit)

    def _proof(
        self,
        table: Table,
        ballots: Array,
        labels: Any = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        over = self._over(cover, time_limit)
        if labels is None:
            proof = self.rule_.certify(ballots, **over)
        elif isinstance(self.rule_, TopK):
            proof = self._certify_labels(ballots, np.asarray(labels), over)
        else:
            raise InputError(
                f"labels is for rule=TopK(k); {self.rule_!r} certifies its own prediction"
            )
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        prediction = self.classes_[proof.prediction] if proof.truth is None else proof.truth
        return self._in_units(replace(proof, prediction=prediction, runner_up=runner_up), table)

    def _certify_labels(self, ballots: Array, labels: Array, over: dict[str, Any]) -> Certificates:
        if labels.shape != (len(ballots),):
            raise InputError(
                f"labels has shape {labels.shape}: give one label for each of the {len(ballots)} "
                "rows"
            )
        known = np.isin(labels, self.classes_)
        proof = self.rule_.certify(
            ballots,
            np.searchsorted(self.classes_, np.where(known, labels, self.classes_[0])),
            **over,
        )
        return replace(proof, truth=labels, radius=np.where(known, proof.radius, -1))
