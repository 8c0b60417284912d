"""FeaturePartitionClassifier: a classifier whose predictions carry a proof."""

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, is_regressor
from sklearn.utils._param_validation import Interval

from .._support.types import Array
from ..ballots import Ballots
from ..certificates import Certificates
from ..errors import InputError
from ..rules import Median, Rule
from ._ballots import FLOOR, class_scores, has_scores, tree_scores
from ._default_estimator import TableBoostingClassifier
from ._label_decisions import LabelDecisions
from ._soundness import wants_integers
from ._target import read_labels


class FeaturePartitionClassifier(ClassifierMixin, LabelDecisions):
    """Classifier whose predictions cannot change unless an attacker owns more than r units.

    The columns are dealt out to submodels, each trained on its own columns alone, and a rule
    decides from their scores. Whatever an attacker writes into one unit (a column, or all columns
    of one source), in the training rows, in the row to predict, or in both, changes one submodel at
    most. The certified radius of a prediction is the number of units that can be corrupted without
    changing it [1]_.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn classifier or Pipeline, cloned for every submodel. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        gradient boosting that reads tables with texts and missing values
        (:class:`partita.ensemble.TableBoostingClassifier`).
    n_submodels : int or "auto", default="auto"
        How many submodels there are. "auto": 21, or the largest odd number of units below that.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which submodel owns which units: "random", "strided", or for images "spiral" or "patch"; or
        your own. It must not depend on the training features.
    image_shape : tuple of int, optional
        (height, width, channels): the columns are a flattened image, and a pixel with its channels
        is one unit. Needed by "spiral" and "patch".
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    spread : int, default=1
        In how many submodels a unit appears. Above 1 the submodels' sets overlap, and there are
        ``spread * n_submodels`` of them.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every submodel sees them.
    rule : {"plurality", "runoff", "tournament"} or Rule, default="tournament"
        How ballots decide. What a rule leaves open, ``fit`` resolves:
        ``Tournament(margin=0.25, prior=1, offset=0.25)`` where the submodels give probabilities.
    label_attacks : {None, "rows", "labels"}, default=None
        If given, the radius counts flipped training labels too. "rows": every submodel trains on
        its own share of the rows. "labels": on all rows, of which only its share has labels
        (self-training, unless the estimator learns from rows labelled -1 itself).
    classes : list of labels, optional
        All labels; required with ``label_attacks``.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a submodel fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        submodels and is raised in any case.
    fallback : estimator, optional
        A classifier that learns from all columns and answers where the vote proves too little,
        which is more often right there. Nothing is proven where it answers: its radius is 0.
    gate : int, default=1
        With ``fallback``: the least radius at which the vote decides. A prediction of the vote is
        certified up to its own radius less ``gate``. Needs plurality or the tournament; above 1,
        ``spread=1``.
    random_state : int, default=0
        Decides the random partition and the seed of every submodel.
    n_jobs : int, optional
        Threads. By default all cores, or what a joblib ``parallel_config`` says. Results do not
        depend on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list of estimators
        The fitted submodels; a :class:`partita.ensemble.FixedVote` for one that failed
        (``failures_`` says why).
    partition_ : Partition or Overlap
        Which submodel owns which units.
    units_ : Units
        What the radius counts.
    rule_ : Rule
        The rule, with what it needed from the training labels.
    counts_ : Counts
        What a radius counts, for people.
    fallback_model_ : estimator
        The fitted ``fallback``, if there is one.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    FeaturePartitionRegressor : The same for numbers.
    certify : Certificates from ballots of any ensemble.
    partita.metrics.certified_accuracy : How many rows are right and certified.

    References
    ----------
    .. [1] Z. Hammoudeh and D. Lowd, "Provable Robustness Against a Union of L0 Adversarial
       Attacks", AAAI 2024. Theory, sections 1 to 4, 6 and 12.

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

    _task: ClassVar[str] = "classification"
    _default_estimator: ClassVar[Any] = TableBoostingClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelDecisions._parameter_constraints,
        "fallback": LabelDecisions._parameter_constraints["estimator"],
        "gate": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_submodels: int | str = "auto",
        partition: Any = "random",
        image_shape: Any = None,
        units: Any = None,
        spread: int = 1,
        trusted: Any = (),
        rule: str | Rule = "tournament",
        label_attacks: str | None = None,
        classes: Any = None,
        strict: bool = False,
        on_failure: str = "raise",
        fallback: Any = None,
        gate: int = 1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
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
        self.fallback = fallback
        self.gate = gate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one submodel on each set of columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Training rows: a numpy array, a pandas or polars frame, a sparse matrix, or a list of
            rows.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to every submodel; an error if the estimator does not take it.

        Returns
        -------
        FeaturePartitionClassifier
            The fitted estimator.

        Raises
        ------
        InputError
            If a parameter or the table is not valid.
        SubmodelError
            If a submodel cannot be fitted and ``on_failure="raise"``.
        SoundnessError
            If a submodel is another when it is fitted again, so that no radius would hold.
        """
        return self._fit(X, y, sample_weight)

    def ballots(self, X: Any, silent: Any = None) -> Ballots:
        """Return every submodel's score for every class.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns seen in :meth:`fit`.
        silent : "detect", list of units, or array of bool, optional
            Sources that are silent, as :meth:`certify` takes them.

        Returns
        -------
        Ballots of float32, shape (n_samples, n_submodels, n_classes)
            Log-probabilities where the submodels have them, else decision values, else votes: all
            that a rule ever sees. They bring the model's rule for :func:`partita.certify`, who
            abstains, and the scores of the fallback if there is one.
        """
        return self._ballots(X, silent)[1]

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
        return self._decide(self.ballots(X, silent))

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
        table, ballots = self._ballots(X, silent)
        if labels is None:
            return self._certificates(ballots, None, table, cover, time_limit)
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
        known_as_positions = self.label_attacks == "labels" or wants_integers(self._submodel())
        return np.arange(len(self.classes_)) if known_as_positions else self.classes_
