"""What the classifier and the regressor share: the table, the plan of the fit, submodels, ballots.

Proofs are made by the rule, from ballots alone. Nothing computed from several units may reach a
submodel: values are read column by column, and preprocessing is fitted inside a submodel.
"""

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from .._support import Array, run_each
from ..ballots import Abstentions, Ballots
from ..certificates import Certificates, Counts, recounted
from ..errors import EmptyProofWarning, InputError
from ..partition import Columns, Overlap, Partition, Units, choose_partition, choose_units
from ..rules import Gated, Rule, named_rule
from ..tables import Table, open_table
from ._canary import GlobalGenerator, canaries, sample_rows
from ._failures import FixedVote, fit_one, warn_of_failures
from ._hooks import TaskHooks
from ._joint_training import (
    check_joint_settings,
    fit_jointly,
    joint_ballots,
    trains_jointly,
    were_trained_jointly,
)
from ._label_attacks import assign_rows, check_constants, semi_supervised
from ._plan import Plan
from ._scoring import Scoring
from ._silent_sources import (
    completed,
    fallback_beside_silence,
    read_silence,
    scores_of_voters,
)
from ._soundness import check_settings, is_balanced, shares_a_generator, wants_integers


class Ensemble(Scoring, TaskHooks, BaseEstimator):
    """What all estimators share, whatever sets of units they fit submodels on."""

    # parameters, stored by __init__
    estimator: Any
    partition: Any
    units: Any
    trusted: Any
    strict: bool
    on_failure: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    # parameters of some estimators
    image_shape: Any = None
    label_attacks: str | None = None
    classes: Any = None
    fallback: Any = None
    gate: int = 1
    spread: int = 1

    # set by fit
    estimators_: Any
    partition_: Any  # Partition, Overlap or LeaveOut
    units_: Units
    rule_: Any
    counts_: Counts
    fixed_ballot_: Array
    kinds_: Any
    labels_in_: Any
    numeric_: Any
    classes_: Array  # of a classifier
    n_features_in_: int
    feature_names_in_: Array
    warnings_: list[str]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit one submodel on each set of columns."""
        table, target, plan = self._plan(X, y, sample_weight)
        if trains_jointly(plan.estimator):
            check_joint_settings(self, plan.estimator, sample_weight)
            submodels = fit_jointly(clone(plan.estimator), table, target, plan.columns, plan.seed)
            self._fit_fallback(table, target, plan, sample_weight)
            self.estimators_ = submodels
            return self
        owner = plan.owner(table.n_rows)
        order = [*range(len(plan)), *canaries(len(plan), table.n_rows)]  # fitted again at the end
        jobs = (plan.fit_arguments(table, target, owner, t) for t in order)
        generator = GlobalGenerator()
        models = list(
            run_each(fit_one, jobs, self.n_jobs, len(plan), "fitted", self.verbose, plan.serial)
        )
        fitted, again = models[: len(plan)], models[len(plan) :]
        causes = [model.cause for model in fitted if isinstance(model, FixedVote)]
        banner = warn_of_failures(causes, len(plan))
        generator.check(self.strict)
        scores = self._check_canaries(table, plan, fitted, again)
        self._fit_fallback(table, target, plan, sample_weight)
        self.estimators_ = fitted
        fallback = self._fallback_scores(table, sample_rows(table.n_rows))
        empty = self._constant_warnings(self.ballots_from(scores, fallback), target)
        for message in empty:
            warnings.warn(message, EmptyProofWarning, stacklevel=3)
        self.warnings_ = [*banner, *empty]
        return self

    def _plan(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, Array, Plan]:
        """Do all of a fit but the submodels: return the table, the target and the plan."""
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
        check_settings(self, estimator)
        if self.label_attacks == "labels":
            estimator = semi_supervised(estimator)
        fit_params = self._fit_params(estimator, target, sample_weight)
        names = self._column_names(table)
        columns = Columns(names, table.labels)
        seed = self._seed()
        self.units_ = choose_units(self.units, columns, self.trusted, self.image_shape)
        if hasattr(self.partition, "check_disjoint"):
            self.partition.check_disjoint(table, self.strict)
        self.partition_ = self._choose_sets(columns, seed)
        self.counts_ = self._counts(names, table.n_rows)
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

    def _choose_rule(self, estimator: Any, target: Array, sample_weight: Any) -> None:
        """Check the estimator, and set the rule of this fit if it is known by now."""
        raise NotImplementedError

    def _choose_sets(self, columns: Columns, seed: int) -> Any:
        """Return the sets of units that submodels are fitted on."""
        raise NotImplementedError

    def resolve_rule(
        self, rule: Rule, estimator: Any, y: Array | None, sample_weight: Any = None
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
        self._check_rule(rule, estimator)
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

    def _column_names(self, table: Table) -> list[str]:
        labels: Any = table.labels
        if labels is None:
            labels = getattr(self, "feature_names_in_", range(table.n_columns))
        return [str(label) for label in labels]

    def _counts(self, names: list[str], n_rows: int) -> Counts:
        """Return what a radius of this ensemble counts."""
        trusted = tuple(names[column] for column in self.units_.trusted)
        kind, total = self.units_.kind, len(self.units_)
        if self.label_attacks:
            return Counts(f"{kind} and training labels", total + n_rows, trusted)
        return Counts(kind, total, trusted)

    def _open(self, X: Any, reset: bool) -> Table:
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

    def unfitted_submodel(self) -> Any:
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

    def _member_settings(self) -> dict[str, Any]:
        """Return what submodels that do not see all columns are set to, beside the estimator."""
        return {}

    def _fit_params(
        self, estimator: Any, y: Array, sample_weight: Any, parameter: str = "estimator"
    ) -> dict[str, Any]:
        """Return what else goes to a submodel's fit: checked sample weights, or nothing.

        ``parameter``: which of the ensemble's parameters the estimator is.
        """
        if sample_weight is None:
            return {}
        weights = _check_sample_weight(sample_weight, y)
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=weights)
            params: dict[str, Any] = routed[parameter].fit
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
        fallback = getattr(self, "fallback", None)
        if fallback is not None:
            router.add(fallback=fallback, method_mapping=mapping)
        return router

    def _seed(self) -> int:
        """Return the number that all randomness comes from, with the submodel's index."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # ---- predict and certify ----

    def columns_of(self, t: int) -> list[int]:
        return self.units_.columns_of(self.partition_[t])

    @property
    def full_member(self) -> Any:
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

    def row_owners(self, n_rows: int) -> Array:
        return assign_rows(n_rows, len(self.partition_), self._seed())

    def describe(self, t: int) -> str:
        units = self.partition_[t]
        shown = ", ".join(self.units_.names[unit] for unit in units[:5])
        more = ", ..." if len(units) > 5 else ""
        return f"submodel {t} (of {self.units_.kind} {shown}{more})"

    def read(self, X: Any, silent: Any = None) -> Table:
        check_is_fitted(self, "partition_")
        return self._open(X if silent is None else completed(self, X, silent), reset=False)

    def ballots(self, X: Any, silent: Any = None) -> Ballots:
        check_is_fitted(self, "estimators_")
        table = self.read(X, silent)
        if silent is None:
            return self.ballots_from(self._all_scores(table), self._fallback_scores(table))
        abstentions = read_silence(self, table, silent)
        scores = scores_of_voters(self, table, abstentions)
        fallback = fallback_beside_silence(self, table, abstentions)
        return self.ballots_from(scores, fallback, abstentions)

    def _all_scores(self, table: Table) -> Array:
        """Return every submodel's scores or values for every row."""
        if were_trained_jointly(self.estimators_):
            return joint_ballots(self.estimators_, table, self.classes_)
        fixed = np.asarray(self.fixed_ballot_)
        scores = np.empty((table.n_rows, len(self.partition_), *fixed.shape), fixed.dtype)
        for t, own in enumerate(self._scores(table)):
            scores[:, t] = own
        return scores

    def ballots_from(
        self,
        scores: Array,
        fallback: Array | None = None,
        abstentions: Abstentions | None = None,
    ) -> Ballots:
        gate = self.gate_
        rule = Gated(self.rule_, gate) if gate else self.rule_
        # A flipped label reaches one submodel, and some unit reaches that one too: labels add
        # nothing to what as many units can do.
        overlap = isinstance(self.partition_, Overlap)
        reach = np.asarray(self.partition_.incidence()) if overlap else None
        return Ballots(scores, rule, fallback, abstentions, reach)

    def _check_decision(self, ballots: Ballots) -> None:
        """Refuse a rule whose radius would not count this ensemble's units."""

    def _certified(
        self, ballots: Ballots, *about: Array, cover: str = "bound", time_limit: float = 10.0
    ) -> Certificates:
        """Certify ballots by their rule."""
        self._check_decision(ballots)
        proof: Certificates = ballots.rule.certify(
            ballots, *about, cover=cover, time_limit=time_limit
        )
        return proof

    def _in_units(self, proof: Certificates, table: Table | None) -> Certificates:
        """Return the same proof, counted in units.

        What cannot be broken by all that the rule knows of cannot be broken by all units.
        """
        radius = np.where(proof.radius == proof.counts.total, self.counts_.total, proof.radius)
        # where units do not overlap, each reaches one submodel (or group) at most
        proof = recounted(proof, radius, self.counts_, proof.frontier)
        return proof if table is None else replace(proof, frame=table.frame, index=table.index)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = [self.unfitted_submodel(), getattr(self, "fallback", None)]
        inputs = [get_tags(model).input_tags for model in models if model is not None]
        for kind in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, kind, all(getattr(one, kind) for one in inputs))
        return tags


class PartitionEnsemble(Ensemble):
    """What the estimators share that deal the units out to submodels."""

    n_submodels: int | str
    rule: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "n_submodels": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "partition": [
            StrOptions({"random", "strided", "spiral", "patch"}),
            Partition,
            HasMethods(["deal"]),
            list,
            tuple,
        ],
        "image_shape": [tuple, list, None],
        "spread": [Interval(Integral, 1, None, closed="left")],
        "rule": [str, Rule],
        "label_attacks": [StrOptions({"rows", "labels"}), None],
    }

    def _choose_rule(self, estimator: Any, target: Array, sample_weight: Any) -> None:
        self.rule_ = self.resolve_rule(named_rule(self.rule), estimator, target, sample_weight)

    def _choose_sets(self, columns: Columns, seed: int) -> Any:
        how = (self.units_, columns, self.image_shape, seed, self.verbose)
        return choose_partition(self.partition, self.n_submodels, self.spread, *how)


def _routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])
