"""LeaveOutClassifier and LeaveOutRegressor: members that each leave out sets of groups of units.

A member must learn nothing from the groups it leaves out. Where training can be trusted, one model
takes the part of all members: it learns from rows in which the groups of a random member are masked
as missing values, and answers for a member by masking that member's groups in the row. Only the row
can be attacked then, and the certificate says so.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._support import Array, Estimator, TableLike, run_each
from ..ballots import Ballots
from ..certificates import TRAINING_TABLE, Counts
from ..errors import InputError
from ..partition import (
    Columns,
    LeaveOut,
    Partition,
    choose_members,
    choose_partition,
    count_groups,
    left_out_size,
)
from ..rules import PooledLabels, PooledRule, PooledValues
from ..tables import MaskedColumns, Table, draw_masks, mask_columns, open_table, stack_rows
from ._base import Ensemble, Reader
from ._plan import Plan, trains_jointly
from ._soundness import sample_rows
from ._submodels import fit_one, parts_of
from ._table_estimators import TableTreesClassifier, TableTreesRegressor
from ._tasks import LabelEnsemble, ValueEnsemble

COPIES = 4  # masked ones of each row, beside the row itself
FEWEST_TREES = 18  # of a default member


class LeaveOutEnsemble(Ensemble):
    """What LeaveOutClassifier and LeaveOutRegressor share."""

    partition_: LeaveOut

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **Ensemble._parameter_constraints,
        "radius": [Interval(Integral, 1, None, closed="left")],
        "n_groups": [StrOptions({"auto"}), Interval(Integral, 3, None, closed="left")],
        "max_models": [Interval(Integral, 3, None, closed="left")],
        "leave_out": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "partition": [StrOptions({"random", "strided"}), Partition, HasMethods(["deal"]), list],
        "training": [StrOptions({"attackable", "trusted"})],
    }

    constant_cure: ClassVar[str] = (
        "a smaller radius, or an estimator that gives rare labels more weight,"
    )
    fits_full_member: ClassVar[bool]  # whether a model on all columns is fitted too
    _model_trees: ClassVar[int]  # of a model at least, over the default members it is the mean of

    def __init__(
        self,
        estimator: Estimator = None,
        radius: int = 1,
        n_groups: int | str = "auto",
        max_models: int = 150,
        leave_out: int | str = "auto",
        units: object = None,
        trusted: Sequence[object] = (),
        partition: object = "random",
        training: str = "attackable",
        strict: bool = False,
        on_failure: str = "raise",
        random_state: object = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.radius = radius
        self.n_groups = n_groups
        self.max_models = max_models
        self.leave_out = leave_out
        self.units = units
        self.trusted = trusted
        self.partition = partition
        self.training = training
        self.strict = strict
        self.on_failure = on_failure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fit ----

    def _choose_rule(self, estimator: Estimator, target: Array, sample_weight: object) -> None:
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

    def _member_settings(self) -> dict[str, object]:
        """Return fewer trees for members like the default, where a model is the mean of several."""
        member = self.unfitted_submodel()
        if type(member) is not self._default_estimator or self.training == "trusted":
            return {}
        smallest_pool = int(np.diff(self.partition_.pools()[0]).min())
        enough = max(FEWEST_TREES, -(-self._model_trees // smallest_pool))
        return {"n_estimators": min(member.n_estimators, enough)}

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
        everything: list[tuple[int, ...]] = [()] if self.fits_full_member else []
        sets = LeaveOut(groups, self.radius, (*members, *everything))
        self.rule_ = self.agreement_rule(sets)
        return sets

    def agreement_rule(self, sets: LeaveOut) -> PooledRule:
        """Return the rule that pools members and asks models for agreement.

        Parameters
        ----------
        sets : LeaveOut
            The groups of units, and the groups that each member leaves out.

        Returns
        -------
        Rule
            Such as ``rule_``.
        """
        raise NotImplementedError

    def _fit_submodels(
        self, table: Table, target: Array, plan: Plan
    ) -> tuple[list[Estimator], Array]:
        """Fit the members, or one model that takes the part of all."""
        if self.training == "attackable":
            return super()._fit_submodels(table, target, plan)
        rows, labels, params = masked_rows(table, target, plan, self._hidden_columns())
        job = (plan.submodel(0), rows, labels, params, "the model of masked rows", False)
        fitted = list(run_each(fit_one, [job], 1, 1, "fitted", self.verbose, plan.serial))
        self.estimators_ = fitted
        sample = open_table(table.take_all(sample_rows(table.n_rows)))
        return fitted, self._scores(sample)

    def _counts(self, names: Sequence[str], n_rows: int) -> Counts:
        counts = super()._counts(names, n_rows)
        if self.training == "attackable":
            return counts
        return replace(counts, trusted=(*counts.trusted, TRAINING_TABLE))

    # ---- facts about the fitted members ----

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
        return f"submodel {t} (without {self._name_units(hidden)})"

    @property
    def trusts_training(self) -> bool:
        return len(self.estimators_) < len(self.partition_)  # `training` may be set anew

    @property
    def full_member(self) -> Estimator:
        # a model of masked rows is no member: one that sees whole rows is fitted beside it
        return self.estimators_[-1] if self.fits_full_member and not self.trusts_training else None

    @property
    def n_fitted(self) -> int:
        return len(self.partition_) if self.training == "attackable" else 1

    def _hidden_columns(self) -> list[list[int]]:
        """Return the columns that each member leaves out."""
        everything = set(range(self.n_features_in_))
        return [sorted(everything - set(self.columns_of(t))) for t in range(len(self.partition_))]

    # ---- scores and proofs ----

    def _submodel(self, t: int) -> Estimator:
        return self.estimators_[0 if self.trusts_training else t]

    def _scores_together(self, table: Table) -> Array | None:
        if not self.trusts_training:
            return super()._scores_together(table)
        everything = [list(range(table.n_columns))]
        return self._in_one_pass(table, self.estimators_, everything, self._hidden_columns())

    def _reader(self, table: Table) -> Reader:
        if not self.trusts_training:
            return super()._reader(table)
        masked, hidden = MaskedColumns(table.take_all(), self.numeric_), self._hidden_columns()

        def read(t: int, rows: Array | None) -> TableLike:
            part = masked.masked(hidden[t])
            return part if rows is None else open_table(part).take_all(rows)

        return read

    def _check_decision(self, ballots: Ballots) -> None:
        """Refuse all but agreement, which counts groups: q units lie in at most q groups.

        Another rule would count members, and one unit is seen by many of them.
        """
        if not isinstance(ballots.rule, PooledRule):
            raise InputError(
                f"rule is {ballots.rule!r}, but models that leave units out are decided by "
                "agreement alone: for another rule use a FeaturePartitionClassifier or ...Regressor"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.training == "trusted":
            tags.input_tags.sparse = False
        return tags


class LeaveOutClassifier(LeaveOutEnsemble, LabelEnsemble):
    """Classifier that certifies what models that each leave out some units agree on.

    For every set of ``2 * radius`` groups of units there is a model that never sees them, in
    training or in the row. A label is predicted if, for some set of ``radius`` groups, all models
    that leave out that set predict it: an attacker who owns the set cannot touch these models. If
    there is no such set, a model on all columns decides, and nothing is proven. The radius of a
    prediction is the largest q such that, whichever q units are corrupted, models without them
    agree on it.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn classifier or Pipeline, cloned for every member. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        extremely randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableTreesClassifier`): stable learners agree more often. A model
        that is the mean of several members has at least 100 trees in all.
    radius : int, default=1
        How many units an attacker may own: the largest radius that can be certified. Nearly all of
        a full model's accuracy is kept for 1, less for 2 or 3; beyond,
        :class:`FeaturePartitionClassifier` certifies more.
    n_groups : int or "auto", default="auto"
        Units are put into this many groups, at least ``2 * radius + 1``. "auto": the most whose
        ``comb(n_groups, 2 * radius)`` models stay within ``max_models``, at most one per unit.
    max_models : int, default=150
        Bounds the number of groups where that is "auto", and the number of fits.
    leave_out : int or "auto", default="auto"
        How many groups a fitted member leaves out, at least ``2 * radius``. A model that leaves out
        2 * radius groups is the mean of all members that leave out these and more, so members are
        shared and agree more often. "auto": about half of the groups. ``2 * radius``: one member
        for each model.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every member sees them.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which group each unit belongs to: "random", "strided", or your own. It must not depend on
        the training features.
    training : {"attackable", "trusted"}, default="attackable"
        "trusted": only the rows to predict can be attacked. One model is fitted, on rows with
        random groups masked as missing values, and evaluated with each member's groups masked.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a member fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        members and is raised in any case.
    random_state : int, default=0
        Decides the groups, the members and the seed of every member.
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
        The fitted members, and last the model on all columns; with ``training="trusted"``, the one
        model. ``failures_`` says why members failed.
    partition_ : LeaveOut
        The groups of units, and the groups that each member leaves out.
    units_ : Units
        What the radius counts.
    rule_ : Rule
        Agreement of pooled members.
    counts_ : Counts
        What a radius counts, for people.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    LeaveOutRegressor : The same for numbers.
    FeaturePartitionClassifier : Larger radii, at the price of accuracy.
    partita.rules.Agreement : The rule, for votes of any models.

    References
    ----------
    Theory, section 10.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import LeaveOutClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LeaveOutClassifier(GaussianNB(), radius=1, n_groups=8).fit(X[::2], y[::2])
    >>> proof = clf.certify(X[1::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.9, bool((proof.radius == 1).mean() > 0.8)
    (True, True)
    """

    fits_full_member: ClassVar[bool] = True
    _default_estimator: ClassVar[Estimator] = TableTreesClassifier
    _model_trees: ClassVar[int] = 100
    _other_task: ClassVar[str] = "LeaveOutRegressor"

    def agreement_rule(self, sets: LeaveOut) -> PooledLabels:
        return PooledLabels(
            self.radius,
            len(sets.groups),
            sets.pools(),
            fallback=len(sets) - 1,
            as_probabilities=hasattr(self.unfitted_submodel(), "predict_proba"),
            group_of_unit=sets.groups.incidence().argmax(axis=1),
        )


class LeaveOutRegressor(LeaveOutEnsemble, ValueEnsemble):
    """Regressor that bounds its predictions by models that each leave out some units.

    For every set of ``2 * radius`` groups of units there is a model that never sees them, in
    training or in the row. For a set of ``radius`` groups, take the smallest and the largest value
    of the models that leave it out. The prediction is halfway between the largest such minimum and
    the smallest such maximum, over all sets.
    :meth:`interval` bounds it under every attack on q units by values of models that leave those
    units out.

    Parameters
    ----------
    estimator : estimator, optional
        A scikit-learn regressor or Pipeline, cloned for every member. Preprocessing belongs
        inside it: a scaler or encoder fitted on the whole table would void the proof. By default
        extremely randomized trees that read tables with texts and missing values
        (:class:`partita.ensemble.TableTreesRegressor`): stable learners agree more often. A model
        that is the mean of several members has at least 300 trees in all.
    radius : int, default=1
        How many units an attacker may own: the largest radius that can be certified. Nearly all of
        a full model's accuracy is kept for 1, less for 2 or 3; beyond,
        :class:`FeaturePartitionRegressor` certifies more.
    n_groups : int or "auto", default="auto"
        Units are put into this many groups, at least ``2 * radius + 1``. "auto": the most whose
        ``comb(n_groups, 2 * radius)`` models stay within ``max_models``, at most one per unit.
    max_models : int, default=150
        Bounds the number of groups where that is "auto", and the number of fits.
    leave_out : int or "auto", default="auto"
        How many groups a fitted member leaves out, at least ``2 * radius``. A model that leaves out
        2 * radius groups is the mean of all members that leave out these and more, so members are
        shared and agree more often. "auto": about half of the groups. ``2 * radius``: one member
        for each model.
    units : mapping, array-like of ids, callable or Units, optional
        What an attacker takes over as a whole: ``{"vendor A": ["price", "stock"]}``, an id for each
        column, or a function of the column's name. Columns that are not named are units of their
        own. By default every column is a unit.
    trusted : list of columns, default=()
        Columns that no attacker can touch: every member sees them.
    partition : str, Partition, Informed or list of lists of columns, default="random"
        Which group each unit belongs to: "random", "strided", or your own. It must not depend on
        the training features.
    training : {"attackable", "trusted"}, default="attackable"
        "trusted": only the rows to predict can be attacked. One model is fitted, on rows with
        random groups masked as missing values, and evaluated with each member's groups masked.
    strict : bool, default=False
        Turn every SoundnessWarning into an error.
    on_failure : {"raise", "vote"}, default="raise"
        What happens if a member fails on its own columns: an error, or a fixed vote, however many
        fail, so that the proof covers crashes too. A lack of memory, files or threads concerns all
        members and is raised in any case.
    random_state : int, default=0
        Decides the groups, the members and the seed of every member.
    n_jobs : int, optional
        Threads. By default all cores, or what a joblib ``parallel_config`` says. Results do not
        depend on it.
    verbose : int, default=0
        1: progress of fitting on standard error; 2: of predicting too.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members; with ``training="trusted"``, the one model. ``failures_`` says why
        members failed.
    partition_ : LeaveOut
        The groups of units, and the groups that each member leaves out.
    units_ : Units
        What the radius counts.
    rule_ : Rule
        Agreement of pooled members.
    counts_ : Counts
        What a radius counts, for people.
    n_features_in_ : int
        Number of columns seen in :meth:`fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the columns, if they had any.

    See Also
    --------
    LeaveOutClassifier : The same for labels.
    FeaturePartitionRegressor : Larger radii, at the price of accuracy.
    partita.rules.Agreement : The rule, for values of any models.

    References
    ----------
    Theory, section 10.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from partita import LeaveOutRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = LeaveOutRegressor(Ridge(), radius=1).fit(X[::2], y[::2])
    >>> low, high = reg.interval(X[1:3], radius=1)
    >>> predicted = reg.predict(X[1:3])
    >>> bool(((low <= predicted) & (predicted <= high)).all())
    True
    """

    fits_full_member: ClassVar[bool] = False
    _default_estimator: ClassVar[Estimator] = TableTreesRegressor
    _model_trees: ClassVar[int] = 300
    _other_task: ClassVar[str] = "LeaveOutClassifier"

    def agreement_rule(self, sets: LeaveOut) -> PooledValues:
        group_of_unit = sets.groups.incidence().argmax(axis=1)
        return PooledValues(
            self.radius, len(sets.groups), sets.pools(), group_of_unit=group_of_unit
        )

    @property
    def usual_value(self) -> float | None:
        return float(self.fixed_ballot_)

    def _fixed_ballot(self, y: Array) -> Array:
        return np.array(float(np.median(y)))


def accepts_missing(estimator: Estimator) -> bool:
    """Return whether an estimator, or a part of it such as an imputer, takes missing values."""
    return any(
        get_tags(part).input_tags.allow_nan
        for _, part in parts_of(estimator)
        if hasattr(part, "__sklearn_tags__")
    )


def masked_rows(
    table: Table, y: Array, plan: Plan, hidden: list[list[int]]
) -> tuple[TableLike, Array, dict[str, Array]]:
    """Return the rows to learn from, their targets and their sample weights.

    Every row once as it is and COPIES times with the columns of a random member missing.
    """
    columns, numeric = list(range(table.n_columns)), table.numeric()
    masks = [mask for mask in hidden if mask]
    drawn = draw_masks(table.n_rows, len(masks), COPIES, plan.seed)
    parts = [mask_columns(table.take(columns), [], numeric)]
    parts += [
        mask_columns(table.take(columns, rows), mask, numeric, keep_categories=True)
        for mask, rows in zip(masks, drawn, strict=True)
        if len(rows)
    ]
    order = np.concatenate([np.arange(table.n_rows), *drawn])
    _, labels, params = plan.training_rows(y, None, 0)
    weights = {name: np.asarray(values)[order] for name, values in params.items()}
    return stack_rows(parts), labels[order], weights
