"""What the classifier and the regressor share: units, partition, submodels, ballots."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from .certificates import Certificates, Counts
from .errors import InputError, SubmodelError
from .parallel import one_thread_settings, run_each
from .partition import Partition, choose_partition
from .rules import Rule, named_rule
from .sources import Table, open_table
from .units import Units, column_units, pixel_units

Array = NDArray[Any]

FEW_ROWS = 1000  # starting threads takes longer than asking about fewer


class FeaturePartitionEnsemble(BaseEstimator):
    """What both estimators share: units, partition, submodels, ballots."""

    _default_estimator: ClassVar[Any]
    rule_: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "__sklearn_tags__"]), None],
        "n_submodels": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "partition": [StrOptions({"random", "strided", "spiral", "patch"}), Partition, list, tuple],
        "image_shape": [tuple, list, None],
        "rule": [str, Rule],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _fit(self, X: Any, y: Array, classes: Array, sample_weight: Any) -> Self:
        """Fit one submodel on each set of columns; ``classes`` is empty for regression."""
        self.__dict__.pop("estimators_", None)  # a fit that fails leaves no half-new ensemble behind, but an unfitted one
        table = self._open(X, reset=True)
        check_consistent_length(y, np.empty(table.n_rows))
        rule = named_rule(self.rule)
        rule.check()
        estimator = self._submodel()
        fit_params = self._fit_params(estimator, y, sample_weight)
        names = [str(name) for name in getattr(self, "feature_names_in_", range(table.n_columns))]
        self.units_ = self._find_units(names)
        seed = self._seed()
        self.partition_ = choose_partition(self.partition, self.n_submodels, self.units_, names, self.image_shape, seed)
        self._check_rule(rule, estimator)

        def jobs() -> Iterator[tuple[Any, ...]]:
            for t in range(len(self.partition_)):
                submodel = clone(estimator)
                submodel.set_params(**one_thread_settings(submodel), **_seeds(submodel, seed, t))
                yield submodel, table.take(self._columns(t)), y, fit_params, self._describe(t)

        fitted = run_each(_fit_one, jobs(), self.n_jobs, len(self.partition_), "fitted", self.verbose)
        self.estimators_ = list(fitted)
        self.rule_ = rule.filled(y, classes)
        return self

    def _open(self, X: Any, reset: bool) -> Table:
        """The table, its column names learnt (or compared with those of fit), its values untouched."""
        table = open_table(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
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
            params: dict[str, Any] = process_routing(self, "fit", sample_weight=weights).estimator.fit
            return params
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(
                f"sample_weight cannot reach {type(estimator).__name__}, whose fit does not take it: leave it out, or (for a Pipeline) use "
                "sklearn.set_config(enable_metadata_routing=True) and set_fit_request(sample_weight=True) on its last step"
            )
        return {"sample_weight": weights}

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing in scikit-learn's way: ``sample_weight`` goes to the submodels that request it."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._submodel(), method_mapping=mapping)

    def _find_units(self, names: list[str]) -> Units:
        if self.image_shape is None:
            return column_units(names)
        shape = tuple(self.image_shape)
        if len(shape) != 3 or not all(isinstance(side, int | np.integer) and side > 0 for side in shape):
            raise InputError(f"image_shape is {self.image_shape!r}: give (height, width, channels)")
        if np.prod(shape) != len(names):
            raise InputError(f"image_shape is {shape}, which makes {np.prod(shape)} columns, but X has {len(names)}")
        return pixel_units((int(shape[0]), int(shape[1]), int(shape[2])))

    def _check_rule(self, rule: Rule, estimator: Any) -> None:
        raise NotImplementedError

    def _seed(self) -> int:
        """All randomness comes from this number and the submodel's index."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _columns(self, t: int) -> list[int]:
        return self.units_.columns_of(self.partition_[t])

    def _describe(self, t: int) -> str:
        units = self.partition_[t]
        shown = ", ".join(self.units_.names[unit] for unit in units[:5]) + (", ..." if len(units) > 5 else "")
        return f"submodel {t} (of {self.units_.kind} {shown})"

    def _gather(self, X: Any, score: Any, *settings: Any) -> tuple[Table, Iterator[Array]]:
        """The table, and what ``score(submodel, its columns, *settings)`` says, submodel by submodel."""
        table = self._open(X, reset=False)
        jobs = ((score, model, table.take(self._columns(t)), settings, self._describe(t)) for t, model in enumerate(self.estimators_))
        n_jobs = self.n_jobs if table.n_rows >= FEW_ROWS else 1
        return table, run_each(_score_one, jobs, n_jobs, len(self.estimators_), "asked", max(0, self.verbose - 1))

    def _in_units(self, proof: Certificates, table: Table) -> Certificates:
        """The same proof, counted in units: one unit reaches one submodel; what no submodel can break, all units cannot."""
        total = len(self.units_)
        radius = np.where(proof.radius == len(self.estimators_), total, proof.radius)
        return replace(proof, radius=radius, counts=Counts(self.units_.kind, total), frame=table.frame, index=table.index)

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
        raise InputError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    target = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(target, input_name="y")
    return target


def _routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def _seeds(estimator: Any, seed: int, t: int) -> dict[str, int]:
    """A seed for everything random in submodel t, from the ensemble's seed and t alone."""
    names = [name for name in sorted(estimator.get_params()) if name.split("__")[-1] == "random_state"]
    drawn = np.random.SeedSequence(seed, spawn_key=(t,)).generate_state(len(names), dtype=np.uint32)
    return {name: int(number >> 1) for name, number in zip(names, drawn, strict=True)}


def _fit_one(submodel: Any, X: Any, y: Array, fit_params: dict[str, Any], description: str) -> Any:
    try:
        return submodel.fit(X, y, **fit_params)
    except Exception as exc:
        raise SubmodelError(f"{description}, {type(submodel).__name__}, could not be fitted: {exc}") from exc


def _score_one(score: Any, submodel: Any, X: Any, settings: tuple[Any, ...], description: str) -> Array:
    try:
        scores: Array = score(submodel, X, *settings)
    except Exception as exc:
        raise SubmodelError(f"{description}, {type(submodel).__name__}, could not predict: {exc}") from exc
    return scores
