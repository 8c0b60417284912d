"""RowPartitionClassifier: rows dealt out instead of columns, for attackers who insert and delete
training rows.

Deep partition aggregation (Levine and Feizi, 2021) gives every training row to one submodel, finite
aggregation (Wang, Levine and Feizi, 2022) to several. A row's own content names its bucket, so an
inserted or deleted row changes one bucket and moves no other row; whatever reads that bucket may
then say anything. The rest is the counting that columns get too."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._support.parallel import one_thread_settings, run_each
from .._support.types import Array
from ..certificates import Certificates, Counts
from ..ensemble._ballots import class_scores, has_scores
from ..ensemble._base import FEW_ROWS
from ..ensemble._default_estimator import TableBoostingClassifier
from ..ensemble._failures import FixedVote, fit_one, score_one
from ..ensemble._plan import seeds
from ..errors import InputError, SubmodelWarning
from ..partition._partition import Overlap, strided_partition
from ..rules import Median, Rule, Tournament, named_rule
from ..tables._table import Table, one_row
from ._row_hash import Rows, bucket_of, constant_labels, labels_of

ELSEWHERE = -1  # the position of a label that is in no class
SMALLEST_LEAF = 2  # a submodel has a fraction of the rows, often too few for leaves of the usual 20


class RowCounts(Counts):
    """Inserted or deleted training rows. There is no end to insertions, so ``total`` is the number
    of buckets: that many rows reach all."""

    def __str__(self) -> str:
        return f"{self.what} ({self.total} of them can reach every submodel)"


class OneLabel:
    """A submodel whose rows have one label: it has nothing to learn, and many estimators refuse
    to."""

    def __init__(self, label: Any) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: Any) -> Array:
        return np.ones((len(X), 1))


class RowPartitionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose predictions cannot change unless more than ``radius`` training rows are
    inserted or deleted.

    Every training row, features and label, goes to the submodel that a hash of its own content
    names; a rule decides from the submodels' scores. The row being predicted must be clean. A
    changed row is one deleted and one inserted: it counts 2.

    Every cell is read by itself, as a number, a text or a gap, and rows are sorted before training,
    so neither a column's type nor the order of rows matters. Names and order of columns, the
    settings and ``classes`` are trusted. The estimator must be deterministic given its seed.

    Parameters
    ----------
    estimator : scikit-learn classifier or Pipeline, default=None
        Cloned for every submodel. None: gradient boosting for tables with texts and gaps.
    n_submodels : int, default=50
        Each submodel trains on about this fraction of the rows. Never chosen from the rows: their
        number is the attacker's.
    spread : int, default=1
        1: deep partition aggregation. Above: finite aggregation, ``spread`` times ``n_submodels``
        buckets and as many submodels, each of which trains on ``spread`` buckets.
    rule : "plurality", "runoff", "tournament", or a rule object, default="tournament"
    classes : list of labels
        All labels there are: a constant that you give, all numbers or all texts. Rows with another
        label are not trained on.
    random_state : int, default=0
        Decides the hash, the spread and the seed of every submodel.
    n_jobs : int, default=None
        Threads; None: all cores. Results do not depend on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    classes_ : array of the labels
    estimators_ : list of the fitted submodels; a FixedVote for one that has no rows or could not be
    fitted incidence_ : bool array (buckets, submodels)
        Which submodels train on which buckets.
    rule_ : the rule
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from partita.baselines import RowPartitionClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RowPartitionClassifier(KNeighborsClassifier(1), n_submodels=20, classes=range(10)).fit(X[::2], y[::2])
    >>> proof = clf.certify(X[1::2])
    >>> proof.counts.what, bool((proof.radius >= 4).mean() > 0.5)
    ('training rows inserted or deleted', True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "n_submodels": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Integral, 1, None, closed="left")],
        "rule": [str, Rule],
        "classes": "no_validation",  # constant_labels says what is wrong with them
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_submodels: int = 50,
        spread: int = 1,
        rule: Any = "tournament",
        classes: Any = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_submodels = n_submodels
        self.spread = spread
        self.rule = rule
        self.classes = classes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit every submodel on the rows of its buckets.

        Parameters
        ----------
        X : array, pandas or polars frame, or list of rows
        y : labels, one a row
        """
        self._validate_params()
        self.__dict__.pop(
            "estimators_", None
        )  # a fit that fails leaves no half-new ensemble behind, but an unfitted one
        estimator = _default() if self.estimator is None else self.estimator
        rule = named_rule(self.rule)
        _check_rule(rule, estimator)
        self.classes_, places = constant_labels(self.classes)
        rows = self._read(X, reset=True)
        labels = labels_of(y)
        check_consistent_length(labels, np.empty(len(rows)))
        positions = np.array([places.get(label, ELSEWHERE) for label in labels])
        known = positions != ELSEWHERE
        if not known.any():
            raise InputError(
                "y holds no label that is in classes: give classes of the same type as the labels"
            )
        seed = int(self.random_state)
        self.incidence_ = _incidence(int(self.n_submodels), int(self.spread), seed)
        digests = rows.digests(labels, seed)
        members: list[list[int]] = [[] for _ in range(len(self.incidence_))]
        for i in sorted(
            np.flatnonzero(known).tolist(), key=digests.__getitem__
        ):  # rows of one digest are the same row
            members[bucket_of(digests[i], len(members))].append(i)

        def jobs() -> Iterator[tuple[Any, ...]]:
            for t in range(self.incidence_.shape[1]):
                submodel = clone(estimator)
                submodel.set_params(**one_thread_settings(submodel), **seeds(submodel, seed, t))
                mine = [
                    i for bucket in np.flatnonzero(self.incidence_[:, t]) for i in members[bucket]
                ]
                yield submodel, rows, np.array(mine, dtype=np.int64), positions, self.classes_, t

        fitted = list(
            run_each(
                _fit_one, jobs(), self.n_jobs, self.incidence_.shape[1], "fitted", self.verbose
            )
        )
        causes = [model.cause for model in fitted if isinstance(model, FixedVote)]
        if causes:
            told = f"{len(causes)} of {len(fitted)} submodels cast a fixed vote; the first: {causes[0]}"
            warnings.warn(told, SubmodelWarning, stacklevel=2)
        self.rule_ = type(rule)(**rule.get_params())
        self.n_labelled_ = int(np.count_nonzero(known))
        self.estimators_ = fitted
        return self

    def ballots(self, X: Any) -> Array:
        """Every submodel's score for every class: float32 (rows, submodels, classes)."""
        return self._ballots(X)[1]

    def predict(self, X: Any) -> Array:
        """The labels, as they were given in ``classes``."""
        return np.asarray(self.classes_[self.rule_.decide(self.ballots(X))])

    def predict_proba(self, X: Any) -> Array:
        """The share of the submodels' votes that each class has."""
        votes = self.ballots(X).argmax(axis=2)
        return np.stack(
            [(votes == label).mean(axis=1) for label in range(len(self.classes_))], axis=1
        )

    def certify(self, X: Any, cover: str = "bound", time_limit: float = 10.0) -> Certificates:
        """Predict every row, and prove how many training rows must be inserted or deleted to change
        it.

        A radius as large as ``counts.total``, the number of buckets: no number of rows can. It is
        never as large as the number of training rows, since fit refuses a table without any. With
        ``spread`` > 1, ``cover="exact"`` solves an integer program for every row that the bound
        leaves in doubt, ``time_limit`` seconds each."""
        table, ballots = self._ballots(X)
        apart = self.incidence_.sum(axis=1).max() == 1
        over: dict[str, Any] = (
            {} if apart else {"reach": self.incidence_, "cover": cover, "time_limit": time_limit}
        )
        proof = self.rule_.certify(ballots, **over)
        # Whoever deletes all rows of known labels leaves nothing that fit accepts, so a radius ends
        # before that.
        radius = np.minimum(proof.radius, self.n_labelled_ - 1)
        proof = replace(
            proof,
            prediction=self.classes_[proof.prediction],
            radius=radius,
            frame=table.frame,
            index=table.index,
        )
        runner_up = None if proof.runner_up is None else self.classes_[proof.runner_up]
        return replace(
            proof,
            runner_up=runner_up,
            counts=RowCounts("training rows inserted or deleted", len(self.incidence_)),
        )

    def _read(self, X: Any, reset: bool) -> Rows:
        rows = Rows(X)
        validate_data(
            self,
            X if rows.table.header is None else rows.table.header,
            reset=reset,
            skip_check_array=True,
        )
        return rows

    def _ballots(self, X: Any) -> tuple[Table, Array]:
        check_is_fitted(self, "estimators_")
        rows = self._read(X, reset=False)
        ballots = np.empty((len(rows), len(self.estimators_), len(self.classes_)), dtype=np.float32)
        fixed = np.zeros(
            len(self.classes_), dtype=np.float32
        )  # no opinion, which a constant must stand for
        score = partial(class_scores, classes=self.classes_)
        jobs = (
            (score, model, rows.take(), one_row, len(rows), fixed, f"submodel {t}", True)
            for t, model in enumerate(self.estimators_)
        )
        n_jobs = self.n_jobs if len(rows) >= FEW_ROWS else 1
        failures = []
        for t, (own, failure) in enumerate(
            run_each(
                score_one, jobs, n_jobs, len(self.estimators_), "asked", max(0, self.verbose - 1)
            )
        ):
            ballots[:, t] = own
            failures += [failure] if failure else []
        if failures:
            warnings.warn(
                f"{len(failures)} submodels get a fixed vote, the first: {failures[0]}",
                SubmodelWarning,
                stacklevel=3,
            )
        return rows.table, ballots


def _fit_one(
    submodel: Any, rows: Rows, mine: Array, positions: Array, classes: Array, t: int
) -> Any:
    """The submodel fitted on its own rows; whatever stands in for it depends on these rows and on
    constants alone."""
    present = np.unique(positions[mine])
    if len(present) == 0:
        return FixedVote(f"submodel {t} has no training rows")
    if len(present) == 1:
        return OneLabel(classes[present[0]])
    return fit_one(submodel, rows.take(mine), classes[positions[mine]], {}, f"submodel {t}", True)


def _default() -> Any:
    return TableBoostingClassifier(min_samples_leaf=SMALLEST_LEAF)  # type: ignore[no-untyped-call]


def _incidence(n_submodels: int, spread: int, seed: int) -> NDArray[np.bool_]:
    """Which submodels train on which buckets."""
    buckets = strided_partition(n_submodels * spread, n_submodels * spread)
    return (
        buckets.incidence() if spread == 1 else Overlap.from_seed(buckets, spread, seed).incidence()
    )


def _check_rule(rule: Rule, estimator: Any) -> None:
    rule.check()
    if isinstance(rule, Median):
        raise InputError("rule is a Median, which is for regression: use another rule")
    if is_regressor(estimator):
        raise InputError(f"estimator {type(estimator).__name__} is a regressor: give a classifier")
    if rule.needs_scores and not has_scores(estimator):
        raise InputError(
            f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
            "predict_proba nor decision_function: "
            "use rule='plurality'"
        )
    if isinstance(rule, Tournament) and rule.needs_shares and rule.shares is None:
        raise InputError(
            "shares is missing: where rows may be inserted the labels' shares for prior and "
            "offset must be constants that you give"
        )
