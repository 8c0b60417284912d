"""A fitted ensemble without its submodels, as plain facts and back; contradictory facts are
refused.

A manifest may come from anybody. A number in it that gives a size is compared with what the
manifest itself holds before anything is allocated or repeated by it, so that reading a manifest
takes time and memory in proportion to its length."""

import math
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from .. import __version__
from .._support.types import Array
from ..ensemble._classifier import FeaturePartitionClassifier
from ..ensemble._regressor import FeaturePartitionRegressor
from ..errors import StoreError
from ..partition._partition import Overlap, Partition
from ..partition._units import Units
from ..rules import Median, Plurality, Rule, RunOff, TopK, Tournament
from ..tables._kinds import KINDS

FORMAT = 1
MANIFEST = "manifest.json"
ENSEMBLES = {cls.__name__: cls for cls in (FeaturePartitionClassifier, FeaturePartitionRegressor)}
RULES: dict[str, type[Rule]] = {
    cls.__name__: cls for cls in (Median, Plurality, RunOff, TopK, Tournament)
}
PLAIN_SETTINGS = ("image_shape", "label_attacks", "strict", "on_failure", "n_jobs", "verbose")
LIBRARIES = ("numpy", "scikit-learn", "skops")
LARGEST_LABELS = 2**26  # bytes of all labels together
MOST_ROWS = 2**53  # no table has more, and larger numbers are no longer exact as floats


def to_manifest(model: Any, files: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a fitted ensemble beside its submodels."""
    overlap = isinstance(model.partition_, Overlap)
    subsets = model.partition_.subsets if overlap else model.partition_
    seed = model.random_state
    return {
        "format": FORMAT,
        "partita": __version__,
        "stored": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {library: version(library) for library in LIBRARIES},
        "ensemble": type(model).__name__,
        "settings": {name: _plain(getattr(model, name)) for name in PLAIN_SETTINGS},
        "random_state": int(seed) if hasattr(seed, "__index__") else None,
        "partition": {
            "sets": [list(units) for units in subsets],
            "shifts": list(model.partition_.shifts) if overlap else None,
        },
        "units": {
            "columns": [list(columns) for columns in model.units_.columns],
            "names": list(model.units_.names),
            "kind": model.units_.kind,
            "trusted": list(model.units_.trusted),
        },
        "counts": {
            "what": model.counts_.what,
            "total": model.counts_.total,
            "trusted": list(model.counts_.trusted),
        },
        "rule": {
            "name": type(model.rule_).__name__,
            "settings": {name: _plain(v) for name, v in model.rule_.get_params().items()},
        },
        "classes": _array(model.classes_) if hasattr(model, "classes_") else None,
        "fixed_ballot": model.fixed_ballot_.tolist(),
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in model.feature_names_in_]
        if hasattr(model, "feature_names_in_")
        else None,
        "kinds": None if model.kinds_ is None else dict(model.kinds_),
        "numeric": [bool(one) for one in model.numeric_],
        "files": files,
    }


def from_manifest(manifest: dict[str, Any]) -> Any:
    """The ensemble without its submodels. Fitting it again uses the same partition and units."""
    n_features = _count_columns(manifest)
    units = manifest["units"]
    units_ = Units(
        tuple(map(tuple, units["columns"])),
        tuple(units["names"]),
        str(units["kind"]),
        tuple(units["trusted"]),
    )
    subsets, shifts = Partition(manifest["partition"]["sets"]), manifest["partition"]["shifts"]
    rule = RULES[manifest["rule"]["name"]](**manifest["rule"]["settings"])
    rule.check()
    settings = {name: manifest["settings"][name] for name in PLAIN_SETTINGS}
    settings["image_shape"] = _image_shape(settings["image_shape"], n_features)
    if settings["n_jobs"] is not None:  # more threads than submodels have nothing to do
        settings["n_jobs"] = min(_whole(settings["n_jobs"], "n_jobs", least=None), len(subsets))
    seed = (
        0 if manifest["random_state"] is None else _whole(manifest["random_state"], "random_state")
    )
    model = ENSEMBLES[manifest["ensemble"]](
        partition=subsets,
        units=units_,
        rule=rule,
        spread=1 if shifts is None else len(shifts),
        random_state=seed,
        **settings,
    )
    if manifest["classes"] is not None:
        model.classes_ = _from_array(manifest["classes"])
        model.classes = model.classes_.tolist()
    model.partition_ = (
        subsets if shifts is None else Overlap(subsets, tuple(int(shift) for shift in shifts))
    )
    model.units_, model.rule_ = units_, rule
    model.fixed_ballot_ = np.asarray(
        manifest["fixed_ballot"],
        dtype=np.float32 if manifest["classes"] is not None else np.float64,
    )
    model.n_features_in_ = n_features
    model.kinds_ = manifest["kinds"]
    model.labels_in_, model.numeric_ = None, [bool(one) for one in manifest["numeric"]]
    if manifest["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(manifest["feature_names"], dtype=object)
    names = [str(name) for name in getattr(model, "feature_names_in_", range(n_features))]
    model.counts_ = model._counts(
        names, _training_rows(manifest["counts"], len(units_)) if model.label_attacks else 0
    )
    model._validate_params()
    _check_whole(model)
    if model.kinds_ is not None and (
        list(model.kinds_) != manifest["feature_names"]
        or not {*model.kinds_.values()} <= {*KINDS, None}
    ):
        raise StoreError(f"{MANIFEST} is damaged: the kinds of its columns are not known")
    return model


def _count_columns(manifest: dict[str, Any]) -> int:
    """The number of columns, if the units hold every one of them once."""
    n_features = _whole(manifest["n_features"], "n_features", least=1)
    columns = [*chain.from_iterable(manifest["units"]["columns"]), *manifest["units"]["trusted"]]
    if len(columns) != n_features or not all(type(column) is int for column in columns):
        raise StoreError(
            f"{MANIFEST} is damaged: n_features is {n_features}, but its units hold "
            f"{len(columns)} columns"
        )
    if sorted(columns) != list(range(n_features)) or not all(
        map(len, manifest["units"]["columns"])
    ):
        raise StoreError(f"{MANIFEST} is damaged: its units do not hold every column once")
    names = manifest["feature_names"]
    if names is not None and (
        len(names) != n_features or not all(isinstance(name, str) for name in names)
    ):
        raise StoreError(
            f"{MANIFEST} is damaged: it does not name each of its {n_features} columns"
        )
    return n_features


def _image_shape(stored: Any, n_features: int) -> tuple[int, ...] | None:
    """The shape of an image that is no larger than the table."""
    if stored is None:
        return None
    shape = tuple(_whole(side, "image_shape", least=1) for side in stored)
    if len(shape) != 3 or math.prod(shape) > n_features:
        raise StoreError(
            f"{MANIFEST} is damaged: image_shape is {list(shape)} in a table of {n_features} "
            "columns"
        )
    return shape


def _training_rows(counts: dict[str, Any], n_units: int) -> int:
    """How many training labels a radius counts beside the units."""
    rows = _whole(counts["total"], "counts.total") - n_units
    if not 1 <= rows < MOST_ROWS:
        raise StoreError(
            f"{MANIFEST} is damaged: counts.total is {counts['total']}, with {n_units} units"
        )
    return rows


def _whole(value: Any, name: str, least: int | None = 0) -> int:
    """A whole number, as it stands there."""
    if type(value) is not int or (least is not None and value < least):
        raise StoreError(f"{MANIFEST} is damaged: {name} is {str(value)[:40]}")
    return value


def _check_whole(model: Any) -> None:
    """Check a fitted model's parts against each other: every unit in one set, labels in their
    order."""
    if not all(isinstance(name, str) for name in model.units_.names):
        raise StoreError(f"{MANIFEST} is damaged: the name of a unit is no text")
    if len(model.numeric_) != model.n_features_in_:
        raise StoreError(
            f"{MANIFEST} is damaged: it does not say of each of its columns whether it holds "
            "numbers"
        )
    if len(model.units_.names) != len(model.units_):
        raise StoreError(
            f"{MANIFEST} is damaged: it has {len(model.units_.names)} names for "
            f"{len(model.units_)} units"
        )
    if len(set(model.units_.names)) < len(model.units_):
        raise StoreError(f"{MANIFEST} is damaged: two units have one name")
    if model.partition_.n_units != len(model.units_):
        raise StoreError(f"{MANIFEST} is damaged: its partition and its units do not fit together")
    shifts = getattr(model.partition_, "shifts", ())
    if len(set(shifts)) < len(shifts) or not all(
        0 <= shift < len(model.partition_) for shift in shifts
    ):
        raise StoreError(f"{MANIFEST} is damaged: the shifts of its overlapping sets are none")
    if hasattr(model, "classes_"):
        if not np.array_equal(np.unique(model.classes_), model.classes_):
            raise StoreError(f"{MANIFEST} is damaged: its labels are not in order")
        if model.fixed_ballot_.shape != model.classes_.shape:
            raise StoreError(f"{MANIFEST} is damaged: the fixed vote does not fit the labels")
    of_values = isinstance(model, FeaturePartitionRegressor)
    fits = isinstance(model.rule_, Median) == of_values and hasattr(model, "classes_") != of_values
    if (
        not fits
        or model.fixed_ballot_.ndim != (0 if of_values else 1)
        or not np.isfinite(model.fixed_ballot_).all()
    ):
        raise StoreError(
            f"{MANIFEST} is damaged: its rule or its fixed vote does not fit the model"
        )
    if isinstance(model.rule_, TopK) and model.rule_.k >= 2**31:
        raise StoreError(
            f"{MANIFEST} is damaged: k is {model.rule_.k}, of {len(model.classes_)} labels"
        )


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
    if labels.dtype == object and not all(
        isinstance(label, str | int | float | bool) for label in labels
    ):
        raise StoreError(
            f"labels of type {type(labels[0]).__name__} cannot be stored: use texts or numbers"
        )
    if labels.nbytes > LARGEST_LABELS:
        raise StoreError(f"labels of {labels.nbytes} bytes cannot be stored: use shorter ones")
    return {"dtype": labels.dtype.str, "values": labels.tolist()}


def _from_array(stored: dict[str, Any]) -> Array:
    values, name = stored["values"], stored["dtype"]
    if (
        not isinstance(values, list)
        or not isinstance(name, str)
        or not all(isinstance(value, str | int | float) for value in values)
    ):
        raise StoreError(f"{MANIFEST} is damaged: its labels are neither texts nor numbers")
    dtype = np.dtype(name)  # which says how many bytes a label takes
    if dtype.kind not in "biufUmMO" or dtype.shape or dtype.itemsize * len(values) > LARGEST_LABELS:
        raise StoreError(f"{MANIFEST} is damaged: its labels are of type {name[:40]}")
    return (
        np.asarray(values, dtype=np.int64).astype(dtype)
        if dtype.kind in "mM"
        else np.asarray(values, dtype=dtype)
    )
