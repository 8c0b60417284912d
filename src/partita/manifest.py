"""A fitted ensemble without its submodels, as plain facts and back; facts that contradict each other are refused."""

from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import __version__
from .errors import StoreError
from .estimators import FeaturePartitionClassifier, FeaturePartitionRegressor
from .kinds import KINDS
from .partition import Overlap, Partition
from .rules import Median, Plurality, Rule, RunOff, TopK, Tournament
from .units import Units

Array = NDArray[Any]

FORMAT = 1
MANIFEST = "manifest.json"
ENSEMBLES = {cls.__name__: cls for cls in (FeaturePartitionClassifier, FeaturePartitionRegressor)}
RULES: dict[str, type[Rule]] = {cls.__name__: cls for cls in (Median, Plurality, RunOff, TopK, Tournament)}
PLAIN_SETTINGS = ("image_shape", "label_attacks", "strict", "on_failure", "n_jobs", "verbose")
LIBRARIES = ("numpy", "scikit-learn", "skops")


def to_manifest(model: Any, files: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a fitted ensemble beside its submodels."""
    overlap = isinstance(model.partition_, Overlap)
    subsets = model.partition_.subsets if overlap else model.partition_
    seed = model.random_state
    return {
        "format": FORMAT,
        "partita": __version__,
        "versions": {library: version(library) for library in LIBRARIES},
        "ensemble": type(model).__name__,
        "settings": {name: _plain(getattr(model, name)) for name in PLAIN_SETTINGS},
        "random_state": int(seed) if hasattr(seed, "__index__") else None,
        "partition": {"sets": [list(units) for units in subsets], "shifts": list(model.partition_.shifts) if overlap else None},
        "units": {
            "columns": [list(columns) for columns in model.units_.columns],
            "names": list(model.units_.names),
            "kind": model.units_.kind,
            "trusted": list(model.units_.trusted),
        },
        "counts": {"what": model.counts_.what, "total": model.counts_.total, "trusted": list(model.counts_.trusted)},
        "rule": {"name": type(model.rule_).__name__, "settings": {name: _plain(v) for name, v in model.rule_.get_params().items()}},
        "classes": _array(model.classes_) if hasattr(model, "classes_") else None,
        "fixed_ballot": model.fixed_ballot_.tolist(),
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "kinds": None if model.kinds_ is None else dict(model.kinds_),
        "files": files,
    }


def from_manifest(manifest: dict[str, Any]) -> Any:
    """The ensemble without its submodels. Fitting it again uses the same partition and units."""
    units = manifest["units"]
    units_ = Units(tuple(map(tuple, units["columns"])), tuple(units["names"]), str(units["kind"]), tuple(units["trusted"]))
    subsets, shifts = Partition(manifest["partition"]["sets"]), manifest["partition"]["shifts"]
    rule = RULES[manifest["rule"]["name"]](**manifest["rule"]["settings"])
    rule.check()
    settings = {name: manifest["settings"][name] for name in PLAIN_SETTINGS}
    settings["image_shape"] = None if settings["image_shape"] is None else tuple(settings["image_shape"])
    seed = 0 if manifest["random_state"] is None else int(manifest["random_state"])
    model = ENSEMBLES[manifest["ensemble"]](
        partition=subsets, units=units_, rule=rule, spread=1 if shifts is None else len(shifts), random_state=seed, **settings
    )
    if manifest["classes"] is not None:
        model.classes_ = _from_array(manifest["classes"])
        model.classes = model.classes_.tolist()
    model.partition_ = subsets if shifts is None else Overlap(subsets, tuple(int(shift) for shift in shifts))
    model.units_, model.rule_ = units_, rule
    model.fixed_ballot_ = np.asarray(manifest["fixed_ballot"], dtype=np.float32 if manifest["classes"] is not None else np.float64)
    model.n_features_in_ = int(manifest["n_features"])
    model.kinds_ = manifest["kinds"]
    if manifest["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(manifest["feature_names"], dtype=object)
    names = [str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))]
    model.counts_ = model._counts(names, int(manifest["counts"]["total"]) - len(units_) if model.label_attacks else 0)
    model._validate_params()
    _check_whole(model)
    if model.kinds_ is not None and (list(model.kinds_) != manifest["feature_names"] or not {*model.kinds_.values()} <= {*KINDS, None}):
        raise StoreError(f"{MANIFEST} is damaged: the kinds of its columns are not known")
    if model.partition_.n_units != len(units_) or sum(map(len, units_.columns)) + len(units_.trusted) != model.n_features_in_:
        raise StoreError(f"{MANIFEST} is damaged: its partition, units and columns do not fit together")
    return model


def _check_whole(model: Any) -> None:
    """What a fitted model's parts say of each other: every column in one unit, every unit in one set, labels in their order."""
    columns = [*chain.from_iterable(model.units_.columns), *model.units_.trusted]
    if sorted(columns) != list(range(model.n_features_in_)) or not all(map(len, model.units_.columns)):
        raise StoreError(f"{MANIFEST} is damaged: its units do not hold every column once")
    if not all(isinstance(name, str) for name in model.units_.names):
        raise StoreError(f"{MANIFEST} is damaged: the name of a unit is no text")
    if len(set(model.units_.names)) < len(model.units_):
        raise StoreError(f"{MANIFEST} is damaged: two units have one name")
    if model.partition_.n_units != len(model.units_):
        raise StoreError(f"{MANIFEST} is damaged: its partition and its units do not fit together")
    shifts = getattr(model.partition_, "shifts", ())
    if len(set(shifts)) < len(shifts) or not all(0 <= shift < len(model.partition_) for shift in shifts):
        raise StoreError(f"{MANIFEST} is damaged: the shifts of its overlapping sets are none")
    if hasattr(model, "classes_"):
        if not np.array_equal(np.unique(model.classes_), model.classes_):
            raise StoreError(f"{MANIFEST} is damaged: its labels are not in order")
        if model.fixed_ballot_.shape != model.classes_.shape:
            raise StoreError(f"{MANIFEST} is damaged: the fixed vote does not fit the labels")
    of_values = isinstance(model, FeaturePartitionRegressor)
    fits = isinstance(model.rule_, Median) == of_values and hasattr(model, "classes_") != of_values
    if not fits or not np.isfinite(model.fixed_ballot_).all():
        raise StoreError(f"{MANIFEST} is damaged: its rule or its fixed vote does not fit the model")


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _array(labels: Array) -> dict[str, Any]:
    if labels.dtype.kind in "mM":
        return {"dtype": labels.dtype.str, "values": labels.astype(np.int64).tolist()}
    if labels.dtype == object and not all(isinstance(label, str | int | float | bool) for label in labels):
        raise StoreError(f"labels of type {type(labels[0]).__name__} cannot be stored: use texts or numbers")
    return {"dtype": labels.dtype.str, "values": labels.tolist()}


def _from_array(stored: dict[str, Any]) -> Array:
    dtype = np.dtype(stored["dtype"])
    return np.asarray(stored["values"], dtype=np.int64).astype(dtype) if dtype.kind in "mM" else np.asarray(stored["values"], dtype=dtype)
