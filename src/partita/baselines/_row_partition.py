"""RowPartitionClassifier: rows dealt out instead of columns.

It is for attackers who insert and delete training rows. Deep partition aggregation (Levine and
Feizi, 2021) gives every training row to one submodel, finite aggregation (Wang, Levine and Feizi,
2022) to several. A row's own content names its bucket, so an inserted or deleted row changes one
bucket and moves no other row; the submodels that read that bucket may then predict anything. The
rest is the counting that columns get too (theory, section 7).
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._support import Array, Estimator, JsonObject, TableLike, one_thread_settings, run_each
from ..ballots import Ballots
from ..certificates import Certificates, Counts, recounted
from ..ensemble import (
    FEW_ROWS,
    FixedVote,
    TableBoostingClassifier,
    class_scores,
    fit_one,
    has_scores,
    score_one,
    seeds,
)
from ..errors import InputError, SubmodelWarning
from ..partition import Overlap, strided_partition
from ..rules import Median, Rule, Tournament, named_rule, vote_shares
from ..tables import Table
from ._canonical_rows import CanonicalRows, bucket_of, constant_labels, labels_of

ROW_TO_PREDICT = "the row being predicted"
UNKNOWN = -1  # the position of a label that is not in classes
SMALLEST_LEAF = 2  # a submodel has a fraction of the rows, often too few for leaves of the usual 20


class RowCounts(Counts):
    """Inserted or deleted training rows.

    There is no end to insertions, so ``total`` is the number of buckets: that many rows reach all.
    """

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.total} of them can reach every submodel, out of reach: "
            f"{', '.join(self.trusted)})"
        )


class SingleLabel:
    """A submodel whose rows have one label: nothing to learn, and many estimators refuse to."""

    def __init__(self, label: object) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: TableLike) -> Array:
        return np.ones((len(X), 1))


@dataclass(eq=False, repr=False)
class RowPartitionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier certified against inserted and deleted training rows.

    Every training row, features and label, goes to the submodel that a hash of its own content
    names; a rule decides from the submodels' scores. The row being predicted must be clean. A
    changed row is one deleted and one inserted: it counts 2.

    Every cell is read by itself, as a number, a text or a missing value, and rows are sorted before
    training, so neither a column's type nor the order of rows matters. Names and order of columns,
    the settings and ``classes`` are trusted. The estimator must be deterministic given its seed.

    Parameters
    ----------
    estimator : scikit-learn classifier or Pipeline, optional
        Cloned for every submodel. By default gradient boosting for tables with texts and missing
        values.
    n_submodels : int, default=50
        Each submodel trains on about this fraction of the rows. It is never chosen from the rows:
        how many there are is up to the attacker.
    spread : int, default=1
        1 is deep partition aggregation. Above 1 it is finite aggregation: ``spread`` times
        ``n_submodels`` buckets and as many submodels, each of which trains on ``spread`` buckets.
    rule : {"plurality", "runoff", "tournament"} or rule object, default="tournament"
        How the submodels' scores decide.
    classes : list of labels
        All labels there are: a constant that you give, all numbers or all texts. Rows with another
        label are not trained on.
    random_state : int, default=0
        Decides the hash, the spread and the seed of every submodel.
    n_jobs : int, optional
        Threads; by default all cores. Results do not depend on it.
    verbose : int, default=0
        1 shows progress of fitting on standard error, 2 of predicting too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list
        The fitted submodels; a fixed vote for one that has no rows or could not be fitted.
    incidence_ : bool array of shape (n_buckets, n_submodels)
        Which submodels train on which buckets.
    rule_ : rule object
        The rule.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where X had names.

    See Also
    --------
    partita.FeaturePartitionClassifier : Columns dealt out instead of rows.

    References
    ----------
    Theory, section 7. Levine and Feizi, *Deep Partition Aggregation: Provable Defenses against
    General Poisoning Attacks*, ICLR 2021; Wang, Levine and Feizi, *Improved Certified Defenses
    against Data Poisoning with (Deterministic) Finite Aggregation*, ICML 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from partita.baselines import RowPartitionClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RowPartitionClassifier(KNeighborsClassifier(1), n_submodels=20, classes=range(10))
    >>> proof = clf.fit(X[::2], y[::2]).certify(X[1::2])
    >>> proof.counts.what, bool((proof.radius >= 4).mean() > 0.5)
    ('training rows inserted or deleted', True)
    """

    _parameter_constraints: ClassVar[JsonObject] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "n_submodels": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Integral, 1, None, closed="left")],
        "rule": [str, Rule],
        "classes": "no_validation",  # constant_labels checks them
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    estimator: Estimator = None
    n_submodels: int = 50
    spread: int = 1
    rule: str | Rule = "tournament"
    classes: Iterable[object] | None = None
    random_state: int = 0
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Fit every submodel on the rows of its buckets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows of numbers, texts and missing values; not sparse.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        self.__dict__.pop("estimators_", None)  # a fit that fails leaves an unfitted ensemble
        estimator = _default_estimator() if self.estimator is None else self.estimator
        rule = named_rule(self.rule)
        _check_rule(rule, estimator)
        self.classes_, places = constant_labels(self.classes)
        rows = self._read(X, reset=True)
        labels = labels_of(y)
        check_consistent_length(labels, np.empty(len(rows)))
        positions = np.array([places.get(label, UNKNOWN) for label in labels])
        known = positions != UNKNOWN
        if not known.any():
            raise InputError(
                "y holds no label that is in classes: give classes of the same type as the labels"
            )
        seed = int(self.random_state)
        self.incidence_ = _incidence(int(self.n_submodels), int(self.spread), seed)
        digests = rows.digests(labels, seed)
        members: list[list[int]] = [[] for _ in range(len(self.incidence_))]
        # sorted, because the order of rows is the attacker's; rows of one digest are the same row
        for i in sorted(np.flatnonzero(known).tolist(), key=digests.__getitem__):
            members[bucket_of(digests[i], len(members))].append(i)

        def jobs() -> Iterator[tuple[object, ...]]:
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
            warnings.warn(
                f"{len(causes)} of {len(fitted)} submodels cast a fixed vote; the first: "
                f"{causes[0]}",
                SubmodelWarning,
                stacklevel=2,
            )
        self.rule_ = type(rule)(**rule.get_params())
        self.n_labelled_ = int(np.count_nonzero(known))
        self.estimators_ = fitted
        return self

    def ballots(self, X: TableLike) -> Ballots:
        """Compute every submodel's score for every class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        Ballots of float32, shape (n_samples, n_submodels, n_classes)
            They bring the rule.
        """
        return Ballots(self._ballots(X)[1], self.rule_)

    def predict(self, X: TableLike) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples,)
            Labels, as given in ``classes``.
        """
        return np.asarray(self.classes_[self.rule_.decide(self.ballots(X))])

    def predict_proba(self, X: TableLike) -> Array:
        """Compute the share of the submodels' votes for each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Shares, in the order of ``classes_``.
        """
        return vote_shares(self._ballots(X)[1])

    def certify(self, X: TableLike, cover: str = "bound", time_limit: float = 10.0) -> Certificates:
        """Predict each row and compute how many training rows must change to change it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows to certify.
        cover : {"bound", "exact"}, default="bound"
            With ``spread > 1``: the fast bound, or an integer program for each row that the bound
            leaves undecided.
        time_limit : float, default=10.0
            Seconds per integer program; after that its dual bound is used, so the result stays
            sound.

        Returns
        -------
        Certificates
            Prediction, radius and runner-up for each row. A radius as large as ``counts.total``,
            the number of buckets, means that no number of rows can change the prediction. A radius
            is always below the number of training rows, since fit refuses a table without any.
        """
        table, ballots = self._ballots(X)
        overlapping = self.incidence_.sum(axis=1).max() > 1
        reach: JsonObject = (
            {"reach": self.incidence_, "cover": cover, "time_limit": time_limit}
            if overlapping
            else {}
        )
        proof = self.rule_.certify(ballots, **reach)
        # Whoever deletes all rows of known labels leaves nothing that fit accepts, so a radius ends
        # before that.
        radius = np.minimum(proof.radius, self.n_labelled_ - 1)
        counts = RowCounts(
            "training rows inserted or deleted", len(self.incidence_), (ROW_TO_PREDICT,)
        )
        return replace(
            recounted(proof, radius, counts, None),
            prediction=self.classes_[proof.prediction],
            runner_up=None if proof.runner_up is None else self.classes_[proof.runner_up],
            frame=table.frame,
            index=table.index,
        )

    def _read(self, X: TableLike, reset: bool) -> CanonicalRows:
        rows = CanonicalRows(X)
        validate_data(self, rows.table.header, reset=reset, skip_check_array=True)
        return rows

    def _ballots(self, X: TableLike) -> tuple[Table, Array]:
        check_is_fitted(self, "estimators_")
        rows = self._read(X, reset=False)
        ballots = np.empty((len(rows), len(self.estimators_), len(self.classes_)), dtype=np.float32)
        fixed = np.zeros(len(self.classes_), dtype=np.float32)  # no opinion: a constant
        score = partial(class_scores, classes=self.classes_)
        jobs = (
            (score, model, rows.take(), fixed, f"submodel {t}", True)
            for t, model in enumerate(self.estimators_)
        )
        n_jobs = self.n_jobs if len(rows) >= FEW_ROWS else 1
        failures = []
        for t, (own, failure) in enumerate(
            run_each(
                score_one, jobs, n_jobs, len(self.estimators_), "scored", max(0, self.verbose - 1)
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
    submodel: Estimator, rows: CanonicalRows, mine: Array, positions: Array, classes: Array, t: int
) -> Estimator:
    """The submodel fitted on its own rows; a stand-in depends on these rows and constants alone."""
    present = np.unique(positions[mine])
    if len(present) == 0:
        return FixedVote(f"submodel {t} has no training rows")
    if len(present) == 1:
        return SingleLabel(classes[present[0]])
    return fit_one(submodel, rows.take(mine), classes[positions[mine]], {}, f"submodel {t}", True)


def _default_estimator() -> Estimator:
    return TableBoostingClassifier(min_samples_leaf=SMALLEST_LEAF)


def _incidence(n_submodels: int, spread: int, seed: int) -> NDArray[np.bool_]:
    """Which submodels train on which buckets."""
    buckets = strided_partition(n_submodels * spread, n_submodels * spread)
    return (
        buckets.incidence() if spread == 1 else Overlap.from_seed(buckets, spread, seed).incidence()
    )


def _check_rule(rule: Rule, estimator: Estimator) -> None:
    rule.check()
    if isinstance(rule, Median):
        raise InputError("rule is a Median, which is for regression: use another rule")
    if is_regressor(estimator):
        raise InputError(f"estimator {type(estimator).__name__} is a regressor: give a classifier")
    if rule.needs_scores and not has_scores(estimator):
        raise InputError(
            f"rule {rule!r} compares scores, but {type(estimator).__name__} has neither "
            "predict_proba nor decision_function: use rule='plurality'"
        )
    if isinstance(rule, Tournament) and rule.needs_shares and rule.shares is None:
        raise InputError(
            "shares is missing: where rows may be inserted, the labels' shares for prior and "
            "offset must be constants that you give"
        )
