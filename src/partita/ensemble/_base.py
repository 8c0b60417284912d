"""What the classifier and the regressor share: units, partition, submodels, ballots."""

import warnings
from collections.abc import Callable, Iterator
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
    assert_all_finite,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from .._support.parallel import on_one_thread, run_each
from .._support.types import Array
from ..certificates import Certificates, Counts
from ..errors import EmptyProofWarning, InputError, SoundnessError, SubmodelError, SubmodelWarning
from ..partition._partition import Partition, choose_partition
from ..partition._units import Columns, choose_units
from ..rules import Rule, named_rule
from ..tables._table import Table, one_row, open_table
from ._canary import GlobalGenerator, canaries, check_same, failed_differently, sample_rows
from ._failures import FixedVote, fit_one, score_one
from ._joint_training import check_together, fit_together, trains_together
from ._label_attacks import check_constants, semi_supervised
from ._plan import Plan
from ._soundness import check_settings, is_balanced, shares_a_generator, wants_integers

FEW_ROWS = 1000  # starting threads takes longer than asking about fewer


class FeaturePartitionEnsemble(BaseEstimator):
    """What both estimators share: units, partition, submodels, ballots."""

    _default_estimator: ClassVar[Any]
    rule_: Any
    warnings_: list[str]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "n_submodels": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "partition": [
            StrOptions({"random", "strided", "spiral", "patch"}),
            Partition,
            HasMethods(["deal"]),
            list,
            tuple,
        ],
        "image_shape": [tuple, list, None],
        "units": "no_validation",  # choose_units says what is wrong with them
        "spread": [Interval(Integral, 1, None, closed="left")],
        "trusted": "no_validation",
        "rule": [str, Rule],
        "label_attacks": [StrOptions({"rows", "labels"}), None],
        "strict": ["boolean"],
        "on_failure": [StrOptions({"raise", "vote"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit one submodel on each set of columns."""
        table, target, plan = self._plan(X, y, sample_weight)
        if trains_together(plan.estimator):
            check_together(self, plan.estimator, sample_weight)
            self.estimators_ = fit_together(
                clone(plan.estimator), table, target, plan.columns, plan.seed
            )
            return self
        owner = plan.owner(table.n_rows)
        jobs = (plan.job(table, target, owner, t) for t in range(len(plan)))
        watched = GlobalGenerator()
        fitted = list(
            run_each(fit_one, jobs, self.n_jobs, len(plan), "fitted", self.verbose, plan.alone)
        )
        tell_failures([model.cause for model in fitted if isinstance(model, FixedVote)], len(plan))
        watched.check(self.strict)
        ballots = self._canary(table, target, plan, owner, fitted)
        self.estimators_ = fitted
        self.warnings_ = self._constant(ballots)
        for message in self.warnings_:
            warnings.warn(message, EmptyProofWarning, stacklevel=3)
        return self

    def _canary(
        self, table: Table, target: Array, plan: Plan, owner: Array | None, fitted: list[Any]
    ) -> Array:
        """Fit a few submodels again, alone; returns the ballots of the rows they were compared
        on."""
        rows = sample_rows(table.n_rows)
        score, config = self._score(), get_config()

        def scores(model: Any, t: int) -> Array:
            X = table.take(plan.columns[t], rows)
            asked = (score, model, X, one_row, len(rows), self.fixed_ballot_, plan.names[t], True)
            said: Array = on_one_thread(config, score_one, *asked)[0]
            return said

        ballots = [scores(model, t) for t, model in enumerate(fitted)]
        for t in canaries(len(plan)):
            (again,) = run_each(
                fit_one, [plan.job(table, target, owner, t)], 1, 1, "", 0, alone=True
            )
            if failed_differently(fitted[t], again):
                raise SoundnessError(
                    f"{plan.names[t]} fails or not by chance when it is fitted again: see why, "
                    "before any radius holds"
                )
            check_same(ballots[t], scores(again, t), plan.names[t])
        return np.stack(ballots, axis=1)

    def _constant(self, ballots: Array) -> list[str]:
        """What to warn of where nearly all training rows get one label: sound, and worthless."""
        return []

    def _score(self) -> Callable[..., Array]:
        """What asks a submodel about its columns."""
        raise NotImplementedError

    def _plan(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Table, Array, Plan]:
        """Everything but the submodels: the table, the target as they are told it, and how each of
        them is to be fitted."""
        self._validate_params()
        self.warnings_ = []
        self.__dict__.pop("full_model_", None)
        self.__dict__.pop(
            "estimators_", None
        )  # a fit that fails leaves no half-new ensemble behind, but an unfitted one
        y = self._target(y)
        classes = getattr(self, "classes_", np.empty(0))
        table = self._open(X, reset=True)
        if len(y) != table.n_rows:
            raise InputError(
                f"y has {len(y)} values for {table.n_rows} rows of X: inconsistent numbers of "
                "samples, give one a row"
            )
        estimator = self._submodel()
        rule = self._settled_rule(named_rule(self.rule), estimator, y, sample_weight)
        check_settings(self, estimator)
        if self.label_attacks == "labels":
            estimator = semi_supervised(estimator)
        fit_params = self._fit_params(estimator, y, sample_weight)
        labels = (
            getattr(self, "feature_names_in_", range(table.n_columns))
            if table.labels is None
            else table.labels
        )
        names = [str(name) for name in labels]
        columns = Columns(names, table.labels)
        seed = self._seed()
        self.units_ = choose_units(self.units, columns, self.trusted, self.image_shape)
        if hasattr(self.partition, "check_apart"):
            self.partition.check_apart(table, self.strict)
        how = (self.units_, columns, self.image_shape, seed, self.verbose)
        self.partition_ = choose_partition(self.partition, self.n_submodels, self.spread, *how)
        self.counts_ = self._counts(names, table.n_rows)
        self.kinds_ = table.kinds
        self.rule_ = rule
        self.fixed_ballot_ = self._fixed_ballot(y)
        submodels = range(len(self.partition_))
        plan = Plan(
            estimator,
            columns=[self._columns(t) for t in submodels],
            names=[self.describe(t) for t in submodels],
            seed=seed,
            classes=classes,
            label_attacks=self.label_attacks,
            may_fail=self.on_failure == "vote",
            alone=shares_a_generator(estimator),
            as_integers=len(classes) > 0 and wants_integers(estimator),
            fit_params=fit_params,
        )
        return table, y, plan

    def _settled_rule(
        self, rule: Rule, estimator: Any, y: Array | None, sample_weight: Any = None
    ) -> Rule:
        """A rule with its open settings filled in; an error where it does not go with the
        submodels' estimator."""
        rule.check()
        self._check_rule(rule, estimator)
        balanced, of_probabilities = (
            is_balanced(estimator),
            hasattr(estimator, "predict_proba") or trains_together(estimator),
        )
        prior = getattr(rule, "prior", None)
        if balanced and prior:
            raise InputError(
                f"prior is {prior}, but the estimator has class_weight='balanced', which "
                "corrects for the labels' shares already: "
                "use prior=0, or leave class_weight out"
            )
        if self.label_attacks:
            check_constants(rule)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, y)
        return rule.filled(
            None if self.label_attacks else y,
            getattr(self, "classes_", np.empty(0)),
            of_probabilities,
            balanced,
            weights,
        )

    def _target(self, y: Any) -> Array:
        """The target, checked, as submodels are told it (``Plan.learnt``); the labels are learnt
        from it."""
        raise NotImplementedError

    def _counts(self, names: list[str], n_rows: int) -> Counts:
        """What a radius of this ensemble counts."""
        trusted = tuple(names[column] for column in self.units_.trusted)
        if self.label_attacks:
            return Counts(
                f"{self.units_.kind} and training labels", len(self.units_) + n_rows, trusted
            )
        return Counts(self.units_.kind, len(self.units_), trusted)

    def _fixed_ballot(self, y: Array) -> Array:
        """What a submodel that fails says; it depends on labels alone, and on nothing under label
        attacks."""
        raise NotImplementedError

    def _open(self, X: Any, reset: bool) -> Table:
        """The table, its column names learnt (or compared with those of fit), its values
        untouched."""
        table = open_table(X)
        if scipy.sparse.issparse(X) and isinstance(self._submodel(), self._default_estimator):
            raise InputError(
                "X is a sparse matrix, which the default estimator does not read: give "
                "X.toarray(), or an estimator that reads sparse "
                "matrices, such as LogisticRegression() or Ridge()"
            )
        validate_data(
            self, X if table.header is None else table.header, reset=reset, skip_check_array=True
        )
        if reset:
            self.labels_in_, self.numeric_ = table.labels, table.numeric()
        elif (
            table.labels is not None
            and self.labels_in_ is not None
            and table.labels != self.labels_in_
        ):
            raise InputError(
                "X has other column labels than in fit, or in another order: give it the columns "
                "that fit had"
            )
        else:
            table.settle(self.numeric_)
        return table

    def _submodel(self) -> Any:
        """The estimator each submodel is a clone of."""
        if self.estimator is not None:
            return self.estimator
        default = self._default_estimator()
        return default.set_fit_request(sample_weight=True) if _routing_enabled() else default

    def _fit_params(self, estimator: Any, y: Array, sample_weight: Any) -> dict[str, Any]:
        if sample_weight is None:
            return {}
        weights = _check_sample_weight(sample_weight, y)
        if _routing_enabled():
            params: dict[str, Any] = process_routing(
                self, "fit", sample_weight=weights
            ).estimator.fit
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
        """Metadata routing in scikit-learn's way: ``sample_weight`` goes to the submodels that
        request it."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._submodel(), method_mapping=mapping)

    def _check_rule(self, rule: Rule, estimator: Any) -> None:
        raise NotImplementedError

    def _seed(self) -> int:
        """All randomness comes from this number and the submodel's index."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _columns(self, t: int) -> list[int]:
        return self.units_.columns_of(self.partition_[t])

    def describe(self, t: int) -> str:
        """What submodel t is, for people."""
        units = self.partition_[t]
        shown = ", ".join(self.units_.names[unit] for unit in units[:5]) + (
            ", ..." if len(units) > 5 else ""
        )
        return f"submodel {t} (of {self.units_.kind} {shown})"

    def _gather(self, X: Any, score: Callable[..., Array]) -> tuple[Table, Iterator[Array]]:
        """The table, and what ``score(submodel, its columns)`` says, submodel by submodel."""
        table = self._open(X, reset=False)
        return table, self._scores(table, score)

    def _scores(self, table: Table, score: Callable[..., Array]) -> Iterator[Array]:
        settings = (one_row, table.n_rows, self.fixed_ballot_)
        jobs = (
            (
                score,
                model,
                table.take(self._columns(t)),
                *settings,
                self.describe(t),
                self.on_failure == "vote",
            )
            for t, model in enumerate(self.estimators_)
        )
        n_jobs = self.n_jobs if table.n_rows >= FEW_ROWS else 1
        for scores, failure in run_each(
            score_one, jobs, n_jobs, len(self.estimators_), "asked", max(0, self.verbose - 1)
        ):
            if failure:
                warnings.warn(f"{failure}; they get a fixed vote", SubmodelWarning, stacklevel=4)
            yield scores

    def _over(self, cover: str, time_limit: float) -> dict[str, Any]:
        """What the rule must know to count units: nothing where each reaches one submodel, else
        which they reach."""
        if isinstance(self.partition_, Partition):
            return {}
        # A flipped label reaches one submodel, and some unit reaches that one too: labels add
        # nothing to what as many units can do.
        return {"reach": self.partition_.incidence(), "cover": cover, "time_limit": time_limit}

    def _in_units(self, proof: Certificates, table: Table) -> Certificates:
        """The same proof, counted in units; what cannot be broken by all that the rule knows of
        cannot be broken by all units."""
        radius = np.where(proof.radius == proof.counts.total, self.counts_.total, proof.radius)
        return replace(
            proof, radius=radius, counts=self.counts_, frame=table.frame, index=table.index
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        submodel = get_tags(self._submodel()).input_tags
        tags.input_tags.allow_nan = submodel.allow_nan
        tags.input_tags.sparse = submodel.sparse
        tags.input_tags.string = submodel.string
        tags.input_tags.categorical = submodel.categorical
        return tags


def target_array(estimator: Any, y: Any) -> Array:
    """The target as an array of one dimension, without gaps."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    if (
        getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b")
        and hasattr(y, "isna")
        and not y.isna().any()
    ):
        y = y.to_numpy()  # of pandas' nullable integers and booleans scikit-learn would make floats
    target = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(target, input_name="y")
    return target


def tell_failures(causes: list[str], n_submodels: int) -> None:
    """Warn of submodels that cast a fixed vote; refuse where that is most of them, since the vote
    would be theirs."""
    if 2 * len(causes) > n_submodels:
        raise SubmodelError(
            f"{len(causes)} of {n_submodels} submodels could not be fitted, so the model would be "
            f"a constant: {causes[0]}"
        )
    for cause in causes:
        warnings.warn(f"{cause}; it casts a fixed vote", SubmodelWarning, stacklevel=4)


def _routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])
