"""What all ensembles share: the plan of a fit, fitting and scoring submodels, ballots, and proofs.

Proofs are made by the rule, from ballots alone. Nothing computed from several units may reach a
submodel: values are read column by column, and preprocessing is fitted inside a submodel.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from .._support import Array, Estimator, TableLike, exclusive, on_one_thread, run_each
from ..ballots import Abstentions, Ballots
from ..certificates import Certificates, Counts, recounted
from ..errors import EmptyProofWarning, InputError, SubmodelWarning
from ..partition import Columns, LeaveOut, Overlap, Partition, Units, choose_units
from ..rules import Gated, Rule, Statement, with_silence
from ..tables import Table, open_table
from ._one_pass import one_pass
from ._plan import (
    Plan,
    check_joint_settings,
    fit_jointly,
    joint_ballots,
    seeds,
    trains_jointly,
)
from ._protocol import FittedEnsemble
from ._silent_sources import by_rows, completed, read_silence, without_silent_cells
from ._soundness import (
    canaries,
    check_generator,
    check_same_fit,
    check_same_scores,
    check_settings,
    generator_state,
    is_balanced,
    sample_rows,
    shares_a_generator,
)
from ._submodels import (
    FixedVote,
    Score,
    fit_one,
    score_one,
    wants_integers,
    warn_of_failures,
    were_trained_jointly,
)
from ._target import Target, assign_rows, check_constants, semi_supervised

FEW_ROWS = 1000  # for fewer rows starting threads takes longer than scoring
MANY_ROWS = 50_000  # for one model; with fewer, its threads wait longer than they work

Result = TypeVar("Result")
Reader = Callable[[int, Array | None], TableLike]  # submodel t's part of some rows; None: of all


class Ensemble(FittedEnsemble, BaseEstimator):
    """What all estimators share, whatever sets of units they fit submodels on."""

    # parameters, stored by __init__
    estimator: Estimator
    partition: object
    units: object
    trusted: Sequence[object]
    strict: bool
    random_state: object
    n_jobs: int | None
    warnings_: list[str]

    # set by scikit-learn's checks, and for labels only
    n_features_in_: int
    feature_names_in_: Array
    classes_: Array

    # parameters of some estimators
    image_shape: Sequence[int] | None = None
    label_attacks: str | None = None
    classes: object = None
    fallback: Estimator = None
    gate: int = 1
    spread: int = 1

    _default_estimator: ClassVar[Estimator]
    _other_task: ClassVar[str]  # the estimator for it
    _parameter_constraints: ClassVar[dict[str, object]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "units": "no_validation",  # choose_units says what is wrong with them
        "trusted": "no_validation",
        "strict": ["boolean"],
        "on_failure": [StrOptions({"raise", "vote"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    # ---- fit ----

    def fit(self, X: TableLike, y: Target, sample_weight: object = None) -> Self:
        """Fit one submodel on each set of columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Training rows: a numpy array, a pandas or polars frame, a sparse matrix, or a list of
            rows.
        y : array-like of shape (n_samples,)
            Labels of any type, or numbers for a regressor.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to every submodel; an error if the estimator does not take it.

        Returns
        -------
        self
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
        table, target, plan = self.plan(X, y, sample_weight)
        if trains_jointly(plan.estimator):
            check_joint_settings(plan, sample_weight)
            submodels = fit_jointly(clone(plan.estimator), table, target, plan.columns, plan.seed)
            self._fit_fallback(table, target, plan, sample_weight)
            self.estimators_ = submodels
            return self
        fitted, scores = self._fit_submodels(table, target, plan)
        self._fit_fallback(table, target, plan, sample_weight)
        self.estimators_ = fitted
        fallback = self.fallback_scores(table, rows=sample_rows(table.n_rows))
        empty = self._constant_warnings(self.ballots_from(scores, fallback), target)
        for message in empty:
            warnings.warn(message, EmptyProofWarning, stacklevel=2)
        self.warnings_ = [*self.warnings_, *empty]
        return self

    def plan(
        self, X: TableLike, y: Target, sample_weight: object = None
    ) -> tuple[Table, Array, Plan]:
        """Do all of a fit but the submodels.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or Table
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        Table
            The rows.
        array of shape (n_samples,)
            The target, as submodels learn it.
        Plan
            What is decided before the first submodel is fitted.
        """
        self._validate_params()
        self.warnings_ = []
        # a fit that fails leaves an unfitted ensemble behind, not a half-new one
        for fitted in ("full_model_", "fallback_model_", "estimators_"):
            self.__dict__.pop(fitted, None)
        target = self._read_target(y)
        classes = getattr(self, "classes_", np.empty(0))
        table = self._open(X, reset=True)
        if len(target) != table.n_rows:
            raise InputError(
                f"y has {len(target)} values for {table.n_rows} rows of X: inconsistent numbers "
                "of samples, expected one per row"
            )
        estimator = self.unfitted_submodel()
        self._choose_rule(estimator, target, sample_weight)
        check_settings(estimator, self.random_state, self.strict)
        if self.label_attacks == "labels":
            estimator = semi_supervised(estimator)
        fit_params = self._fit_params(estimator, target, sample_weight)
        columns, seed = self._columns(table), self._seed()
        self.units_ = choose_units(self.units, columns, self.trusted, self.image_shape)
        if hasattr(self.partition, "check_disjoint"):
            self.partition.check_disjoint(table, self.strict)
        self.partition_ = self._choose_sets(columns, seed)
        self.counts_ = self._counts(columns.names, table.n_rows)
        self.kinds_ = table.kinds
        self.fixed_ballot_ = self._fixed_ballot(target)
        submodels = range(len(self.partition_))
        plan = Plan(
            estimator,
            columns=[self.columns_of(t) for t in submodels],
            names=[self.describe(t) for t in submodels],
            seed=seed,
            classes=classes,
            label_attacks=self.label_attacks,
            may_fail=self.on_failure == "vote",
            serial=shares_a_generator(estimator),
            as_integers=len(classes) > 0 and wants_integers(estimator),
            fit_params=fit_params,
            member_settings=self._member_settings(),
        )
        return table, target, plan

    def _fit_submodels(
        self, table: Table, target: Array, plan: Plan
    ) -> tuple[list[Estimator], Array]:
        """Fit one submodel on each set of columns, and some again; return sample rows' ballots."""
        owner = plan.owner(table.n_rows)
        order = [*range(len(plan)), *canaries(len(plan), table.n_rows)]  # fitted again at the end
        jobs = (plan.fit_arguments(table, target, owner, t) for t in order)
        before = generator_state()
        models = list(
            run_each(fit_one, jobs, self.n_jobs, len(plan), "fitted", self.verbose, plan.serial)
        )
        fitted, again = models[: len(plan)], models[len(plan) :]
        causes = [model.cause for model in fitted if isinstance(model, FixedVote)]
        self.warnings_ = warn_of_failures(causes, len(plan))
        check_generator(before, self.strict)
        return fitted, self._check_canaries(table, plan, fitted, again)

    def _check_canaries(
        self, table: Table, plan: Plan, fitted: list[Estimator], again: list[Estimator]
    ) -> Array:
        """Compare the canaries with what they were before; return the ballots of sample rows."""
        rows = sample_rows(table.n_rows)
        score, config = self._score(), get_config()

        def scores(model: Estimator, t: int) -> Array:
            X = table.take(plan.columns[t], rows)
            job = (score, model, X, self.fixed_ballot_, plan.names[t], True)
            ballot: Array = on_one_thread(config, score_one, *job)[0]
            return ballot

        ballots = self._in_one_pass(table, fitted, plan.columns, rows=rows)
        if ballots is None:
            ballots = np.stack([scores(model, t) for t, model in enumerate(fitted)], axis=1)
        for t, model in zip(canaries(len(plan), table.n_rows), again, strict=True):
            check_same_fit(fitted[t], model, plan.names[t])
            check_same_scores(ballots[:, t], scores(model, t), plan.names[t])
        return ballots

    def resolve_rule(
        self, rule: Rule, estimator: Estimator, y: Array | None, sample_weight: object = None
    ) -> Rule:
        """Return a rule with its open settings resolved, checked against the estimator.

        Parameters
        ----------
        rule : Rule
            As given by the user.
        estimator : estimator
            What the submodels are clones of.
        y : array of shape (n_samples,) or None
            The training target, if it is known.
        sample_weight : array of shape (n_samples,), optional
            Weights of the training rows.

        Returns
        -------
        Rule
            What decides, such as ``rule_``.
        """
        rule.check()
        self.check_rule(rule, estimator)
        balanced = is_balanced(estimator)
        probabilities = hasattr(estimator, "predict_proba") or trains_jointly(estimator)
        prior = getattr(rule, "prior", None)
        if balanced and prior:
            raise InputError(
                f"prior is {prior}, but the estimator has class_weight='balanced', which "
                "corrects for the labels' shares already: use prior=0, or leave class_weight out"
            )
        if self.label_attacks:
            check_constants(rule)
        known = None if self.label_attacks else y  # attacked labels must reach no constant
        classes = getattr(self, "classes_", np.empty(0))
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, y)
        return rule.resolve(known, classes, probabilities, balanced, weights)

    def units_of(self, X: TableLike) -> Units:
        """Return the units that a fit on a table would have, and learn its column names.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or Table
            Training rows.

        Returns
        -------
        Units
            What the radius would count.
        """
        columns = self._columns(self._open(X, reset=True))
        return choose_units(self.units, columns, self.trusted, self.image_shape)

    def restore(self, n_rows: int) -> None:
        """Derive what follows from attributes that a store has set, and check the parameters.

        Parameters
        ----------
        n_rows : int
            How many training rows there were; counted where labels may be attacked.
        """
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        self.counts_ = self._counts([str(name) for name in names], n_rows)
        self._validate_params()

    def _open(self, X: TableLike, reset: bool) -> Table:
        """Open a table; learn its column names, or compare them; leave its values untouched."""
        table = open_table(X)
        if scipy.sparse.issparse(X) and isinstance(
            self.unfitted_submodel(), self._default_estimator
        ):
            raise InputError(
                "X is a sparse matrix, which the default estimator does not read: give "
                "X.toarray(), or an estimator that reads sparse "
                "matrices, such as LogisticRegression() or Ridge()"
            )
        validate_data(self, table.header, reset=reset, skip_check_array=True)
        if reset:
            self.labels_in_, self.numeric_ = table.labels, table.numeric()
            return table
        known = table.labels is not None and self.labels_in_ is not None
        if known and table.labels != self.labels_in_:
            raise InputError(
                "X has other column labels than in fit, or in another order: give it the columns "
                "that fit had"
            )
        table.set_numeric(self.numeric_)
        return table

    def _columns(self, table: Table) -> Columns:
        known = getattr(self, "feature_names_in_", None)
        names = table.labels or (range(table.n_columns) if known is None else known)
        return Columns([str(name) for name in names], table.labels)

    def _counts(self, names: Sequence[str], n_rows: int) -> Counts:
        """Return what a radius of this ensemble counts."""
        trusted = tuple(names[column] for column in self.units_.trusted)
        kind, total = self.units_.kind, len(self.units_)
        if self.label_attacks:
            return Counts(f"{kind} and training labels", total + n_rows, trusted)
        return Counts(kind, total, trusted)

    def unfitted_submodel(self) -> Estimator:
        """Return the estimator that each submodel is a clone of.

        Returns
        -------
        estimator
            The given one, or the default.
        """
        if self.estimator is not None:
            return self.estimator
        default = self._default_estimator()
        return default.set_fit_request(sample_weight=True) if _routing_enabled() else default

    def _member_settings(self) -> dict[str, object]:
        """Return what submodels that do not see all columns are set to, beside the estimator."""
        return {}

    def _fit_params(
        self, estimator: Estimator, y: Array, sample_weight: object, parameter: str = "estimator"
    ) -> dict[str, Array]:
        """Return what else goes to a submodel's fit: checked sample weights, or nothing.

        ``parameter``: which of the ensemble's parameters the estimator is.
        """
        if sample_weight is None:
            return {}
        weights = _check_sample_weight(sample_weight, y)
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=weights)
            params: dict[str, Array] = routed[parameter].fit
            return params
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(
                f"sample_weight cannot reach {type(estimator).__name__}, whose fit does not take "
                "it: leave it out, or (for a Pipeline) use "
                "sklearn.set_config(enable_metadata_routing=True) and "
                "set_fit_request(sample_weight=True) on its last step"
            )
        return {"sample_weight": weights}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's metadata routing: ``sample_weight`` goes to the submodels.

        Returns
        -------
        MetadataRouter
            Of scikit-learn.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add(
            estimator=self.unfitted_submodel(), method_mapping=mapping
        )
        if self.fallback is not None:
            router.add(fallback=self.fallback, method_mapping=mapping)
        return router

    def _seed(self) -> int:
        """Return the number that all randomness comes from, with the submodel's index."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # ---- facts about the fitted submodels ----

    def columns_of(self, t: int) -> list[int]:
        return self.units_.columns_of(self.partition_[t])

    @property
    def full_member(self) -> Estimator:
        """A submodel that sees all columns; None where there is none."""
        return None

    @property
    def failures_(self) -> list[str]:
        """Why submodels failed to fit, one text for each: they cast a fixed vote."""
        return [model.cause for model in self.estimators_ if isinstance(model, FixedVote)]

    @property
    def n_fitted(self) -> int:
        """How many submodels are fitted and stored."""
        return len(self.partition_)

    @property
    def trusts_training(self) -> bool:
        return False

    @property
    def usual_value(self) -> float | None:
        centre = getattr(self.rule_, "centre", None)
        return None if centre is None else float(centre)

    @property
    def gate_(self) -> int:
        return 0

    def row_owners(self, n_rows: int) -> Array:
        return assign_rows(n_rows, len(self.partition_), self._seed())

    def describe(self, t: int) -> str:
        return f"submodel {t} (of {self._name_units(self.partition_[t])})"

    def _name_units(self, units: Sequence[int]) -> str:
        """Name the first of some units."""
        shown = ", ".join(self.units_.names[unit] for unit in units[:5])
        return f"{self.units_.kind} {shown}{', ...' if len(units) > 5 else ''}"

    # ---- scores ----

    def read(self, X: TableLike, silent: object = None) -> Table:
        check_is_fitted(self, "partition_")
        return self._open(X if silent is None else completed(self, X, silent), reset=False)

    def ballots(self, X: TableLike, silent: object = None) -> Ballots:
        check_is_fitted(self, "estimators_")
        table = self.read(X, silent)
        abstentions = None if silent is None else read_silence(self, table, silent)
        scores = self._scores(table, abstentions)
        return self.ballots_from(scores, self.fallback_scores(table, abstentions), abstentions)

    def _scores(self, table: Table, abstentions: Abstentions | None = None) -> Array:
        """Return every submodel's scores or values; 0 where it abstains."""
        if were_trained_jointly(self.estimators_):
            scores = self._joint_scores(table, abstentions)
        else:
            together = self._scores_together(table)
            scores = self._scores_apart(table, abstentions) if together is None else together
        if abstentions is not None:
            scores[abstentions.submodels] = 0
        return scores

    def _joint_scores(self, table: Table, abstentions: Abstentions | None) -> Array:
        """Return the scores of submodels that look at whole rows."""
        if abstentions is None:
            return joint_ballots(self.estimators_, table, self.classes_)
        # with a number where a source is silent, as not all read NaN
        parts = without_silent_cells(self, table, abstentions, 0.0)
        return by_rows(
            [(rows, joint_ballots(self.estimators_, part, self.classes_)) for rows, part in parts]
        )

    def _scores_together(self, table: Table) -> Array | None:
        """Return all scores from one pass; None where submodels must be asked one by one."""
        columns = [self.columns_of(t) for t in range(len(self.estimators_))]
        return self._in_one_pass(table, self.estimators_, columns)

    def _in_one_pass(
        self,
        table: Table,
        submodels: Sequence[Estimator],
        columns: Sequence[list[int]],
        masks: Sequence[list[int]] | None = None,
        rows: Array | None = None,
    ) -> Array | None:
        found = one_pass(self, submodels, columns) if table.reads_apart else None
        if found is None:
            return None
        if rows is not None:  # of all columns, so not before it is known that they are needed
            table = open_table(table.take_all(rows))
        return found.ballots(table, self._score(), np.asarray(self.fixed_ballot_), masks)

    def _scores_apart(self, table: Table, abstentions: Abstentions | None = None) -> Array:
        """Ask the submodels one by one; those that abstain in a row are not asked about it."""
        fixed, n_submodels = np.asarray(self.fixed_ballot_), len(self.partition_)
        scores = np.zeros((table.n_rows, n_submodels, *fixed.shape), fixed.dtype)
        rows: list[Array | None] = [None] * n_submodels
        if abstentions is not None:
            rows = [np.flatnonzero(~own) if own.any() else None for own in abstentions.submodels.T]
        voters = [t for t, own in enumerate(rows) if own is None or len(own)]
        read, score, may_fail = self._reader(table), self._score(), self.on_failure == "vote"
        jobs = (
            (score, self._submodel(t), read(t, rows[t]), fixed, self.describe(t), may_fail)
            for t in voters
        )
        n_jobs = self.n_jobs if table.n_rows >= FEW_ROWS else 1
        verbose = max(0, self.verbose - 1)
        scored = run_each(score_one, jobs, n_jobs, len(voters), "scored", verbose)
        for t, (own, failure) in zip(voters, scored, strict=True):
            if failure:
                warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=5)
            scores[slice(None) if rows[t] is None else rows[t], t] = own
        return scores

    def fallback_scores(
        self, table: Table, abstentions: Abstentions | None = None, rows: Array | None = None
    ) -> Array | None:
        return None

    def score_submodel(self, t: int, X: TableLike) -> tuple[Array, str]:
        may_fail = self.on_failure == "vote"
        job = (self._submodel(t), X, self.fixed_ballot_, self.describe(t), may_fail)
        return score_one(self._score(), *job)

    def refusing(self, table: Table) -> Array:
        read, score = self._reader(table), self._score()

        def refuses(t: int) -> bool:
            submodel = self._submodel(t)
            if isinstance(submodel, FixedVote):
                return False
            try:
                score(submodel, read(t, None))
            except MemoryError:
                raise
            except Exception:  # a submodel may raise anything
                return True
            return False

        return np.array([refuses(t) for t in range(len(self.partition_))])

    def _submodel(self, t: int) -> Estimator:
        """Return what answers for submodel t."""
        return self.estimators_[t]

    def _reader(self, table: Table) -> Reader:
        """Return what reads a submodel's part of a table."""
        return lambda t, rows: table.take(self.columns_of(t), rows)

    # ---- certify ----

    def ballots_from(
        self, scores: Array, fallback: Array | None = None, abstentions: Abstentions | None = None
    ) -> Ballots:
        gate = self.gate_
        rule = Gated(self.rule_, gate) if gate else self.rule_
        # A flipped label reaches one submodel, and some unit reaches that one too: labels add
        # nothing to what as many units can do.
        overlap = isinstance(self.partition_, Overlap)
        reach = np.asarray(self.partition_.incidence()) if overlap else None
        return Ballots(scores, rule, fallback, abstentions, reach)

    def certificates(
        self,
        ballots: Ballots,
        statement: Statement | None,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        bounds = [] if statement is None else [*statement.bounds.values()]
        truth = getattr(statement, "truth", None)
        return self._prove(
            ballots, *bounds, truth=truth, table=table, cover=cover, time_limit=time_limit
        )

    def _check_decision(self, ballots: Ballots) -> None:
        """Refuse a rule whose radius would not count this ensemble's units."""

    def _prove(
        self,
        ballots: Ballots,
        *about: Array,
        truth: Array | None = None,
        known: Array | None = None,
        table: Table | None = None,
        cover: str = "bound",
        time_limit: float = 10.0,
    ) -> Certificates:
        """Certify ballots by their rule, and say what silence cost.

        ``about``: what the rule certifies of each row; ``truth`` goes into the certificates; with
        ``known``, it is what is certified, and where that is false the radius is -1.
        """
        self._check_decision(ballots)

        def certify(some: Ballots, rows: Array | slice, **how: object) -> Certificates:
            certify_by: Callable[..., Certificates] = some.own_rule.certify
            proof = certify_by(some, *(one[rows] for one in about), **how)
            if known is not None:
                proof = replace(proof, radius=np.where(known[rows], proof.radius, -1))
            return self._in_units(proof)

        proof = certify(ballots, slice(None), cover=cover, time_limit=time_limit)
        own = self._in_users_terms(proof.prediction)
        prediction = own if known is None or truth is None else truth
        runner_up = None if proof.runner_up is None else self._in_users_terms(proof.runner_up)
        found = replace(proof, prediction=prediction, runner_up=runner_up, truth=truth)
        if table is not None:
            found = replace(found, frame=table.frame, index=table.index)
        if ballots.abstentions is None:
            return found
        return with_silence(self.units_.names, ballots, found, proof.prediction, certify)

    def _in_units(self, proof: Certificates) -> Certificates:
        """Return the same proof, counted in units.

        What cannot be broken by all that the rule knows of cannot be broken by all units.
        """
        radius = np.where(proof.radius == proof.counts.total, self.counts_.total, proof.radius)
        # where units do not overlap, each reaches one submodel (or group) at most
        return recounted(proof, radius, self.counts_, proof.frontier)

    def decide(self, ballots: Ballots) -> Array:
        return self._in_users_terms(ballots.own_rule.decide(ballots))

    def votes(self, ballots: Ballots) -> Array:
        return self._in_users_terms(ballots.own_rule.votes(ballots))

    def _in_users_terms(self, predicted: Array) -> Array:
        """Return what a rule predicts as the user knows it."""
        return np.asarray(predicted)

    def intervals(self, ballots: Ballots) -> dict[int, tuple[Array, Array]]:
        return {}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        models = [self.unfitted_submodel(), self.fallback]
        inputs = [get_tags(model).input_tags for model in models if model is not None]
        for kind in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, kind, all(getattr(one, kind) for one in inputs))
        return tags

    # ---- what differs between partitions and leaving out, and between labels and values ----

    def _choose_rule(self, estimator: Estimator, target: Array, sample_weight: object) -> None:
        """Check the estimator, and set the rule of this fit if it is known by now."""
        raise NotImplementedError

    def _choose_sets(self, columns: Columns, seed: int) -> Partition | Overlap | LeaveOut:
        """Return the sets of units that submodels are fitted on."""
        raise NotImplementedError

    def _read_target(self, y: Target) -> Array:
        """Return the target, checked, as submodels learn it; remember the classes."""
        raise NotImplementedError

    def _fixed_ballot(self, y: Array) -> Array:
        """Return the ballot of a submodel that fails: from labels alone, or a constant."""
        raise NotImplementedError

    def check_rule(self, rule: Rule, estimator: Estimator) -> None:
        """Refuse a rule or an estimator that is made for the other task.

        Parameters
        ----------
        rule : Rule
            What decides.
        estimator : estimator
            What the submodels are clones of.
        """
        raise NotImplementedError

    def _check_estimator(self, estimator: Estimator) -> None:
        """Refuse an estimator that is made for the other task."""
        raise NotImplementedError

    def _score(self) -> Score:
        """Return the function that makes a submodel's ballot from its columns."""
        raise NotImplementedError

    def _constant_warnings(self, ballots: Ballots, y: Array) -> list[str]:
        """Return warnings for a model that predicts one label for nearly all training rows.

        ``ballots`` are of some of them, ``y`` is the target of all.
        """
        return []

    def _fit_fallback(self, table: Table, y: Array, plan: Plan, sample_weight: object) -> None:
        """Fit the model that answers below the gate, if there is one."""


def _routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])


# ---- one model on all columns, for comparison: it proves nothing ----


def fit_full_model(ensemble: Estimator, X: TableLike, y: Target) -> Estimator:
    """Fit the ensemble's estimator on all columns; None where it fails."""
    settings = {"label_attacks": None, "on_failure": "vote", "strict": False, "fallback": None}
    whole = clone(ensemble)
    whole.set_params(**{name: settings[name] for name in settings if name in whole.get_params()})
    table, target, plan = whole.plan(X, y)
    plan = replace(plan, columns=[list(range(table.n_columns))], names=["the model on all columns"])
    _, *arguments = plan.fit_arguments(table, target, None, 0)
    submodel = clone(plan.estimator)
    submodel.set_params(**seeds(submodel, plan.seed, 0))
    with exclusive(plan.serial):
        fitted = _threaded(table, fit_one, submodel, *arguments)
    return None if isinstance(fitted, FixedVote) else fitted


def _threaded(table: Table, function: Callable[..., Result], *job: object) -> Result:
    """Run a job with all threads, as nothing is proven by it, or on one where rows are few."""
    if table.n_rows < MANY_ROWS:
        return on_one_thread(get_config(), function, *job)
    return function(*job)


def full_predictions(ensemble: FittedEnsemble, table: Table) -> Array | None:
    """Return the full model's predictions; None where there is no such model or it fails."""
    model = getattr(ensemble, "full_model_", None)
    model = ensemble.full_member if model is None else model
    if model is None or isinstance(model, FixedVote):
        return None
    try:
        predicted = np.asarray(_threaded(table, model.predict, table.take_all()))
    except MemoryError:
        raise
    except Exception:  # it is for comparison only
        return None
    if hasattr(ensemble, "classes_") and wants_integers(model):
        return np.asarray(ensemble.classes_[predicted.astype(np.int64)])
    return predicted
