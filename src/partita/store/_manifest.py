"""A fitted ensemble without its submodels, as plain data and back.

What ``manifest.json`` holds is decided here. What it must hold to be accepted is in
``_manifest_checks``; nothing here trusts a stored number before it is checked.
"""

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import __version__
from .._support import json_value
from ..ensemble import (
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutEnsemble,
    LeaveOutRegressor,
)
from ..errors import StoreError
from ..partition import Overlap, Partition, Units
from ..rules import Median, Plurality, Rule, RunOff, TopK, Tournament
from ._layout import MANIFEST
from ._leave_out_manifest import build_leave_out, leave_out_facts
from ._manifest_checks import (
    FORMAT,
    check_consistent,
    check_counts,
    check_kinds,
    check_unit_names,
    count_columns,
    gate_of,
    image_shape,
    labels_from_json,
    labels_to_json,
    training_rows,
    whole_number,
)

ENSEMBLES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        FeaturePartitionClassifier,
        FeaturePartitionRegressor,
        LeaveOutClassifier,
        LeaveOutRegressor,
    )
}
RULES: dict[str, type[Rule]] = {
    cls.__name__: cls for cls in (Median, Plurality, RunOff, TopK, Tournament)
}
SHARED_SETTINGS = ("strict", "on_failure", "n_jobs", "verbose")
PARTITION_SETTINGS = ("image_shape", "label_attacks")
LIBRARIES = ("numpy", "scikit-learn", "skops")


def to_manifest(model: Any, files: dict[str, Any]) -> dict[str, Any]:
    """Everything that is stored of a fitted ensemble beside its submodels."""
    overlap = isinstance(model.partition_, Overlap)
    leaves_out = isinstance(model, LeaveOutEnsemble)
    subsets = model.partition_.subsets if overlap else model.partition_
    subsets = model.partition_.groups if leaves_out else subsets
    names = SHARED_SETTINGS if leaves_out else (*SHARED_SETTINGS, *PARTITION_SETTINGS)
    seed = model.random_state
    # an older partita would load the vote without what is behind its gate: the format says so
    gate = None if getattr(model, "fallback", None) is None else int(model.gate)
    return {
        "format": 1 if gate is None and not leaves_out else FORMAT,
        "partita": __version__,
        "stored": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {library: version(library) for library in LIBRARIES},
        "ensemble": type(model).__name__,
        "settings": {name: _plain(getattr(model, name)) for name in names},
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
        "leave_out": leave_out_facts(model) if leaves_out else None,
        "rule": None
        if leaves_out
        else {
            "name": type(model.rule_).__name__,
            "settings": {name: _plain(v) for name, v in model.rule_.get_params().items()},
        },
        "classes": labels_to_json(model.classes_) if hasattr(model, "classes_") else None,
        "gate": gate,
        "fixed_ballot": model.fixed_ballot_.tolist(),
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in model.feature_names_in_]
        if hasattr(model, "feature_names_in_")
        else None,
        "kinds": None if model.kinds_ is None else dict(model.kinds_),
        "numeric": [bool(is_number) for is_number in model.numeric_],
        "files": files,
    }


def from_manifest(manifest: dict[str, Any]) -> Any:
    """The ensemble without its submodels; fitting it again uses the same partition and units."""
    n_features = count_columns(manifest)
    units = manifest["units"]
    units_ = Units(
        tuple(map(tuple, units["columns"])),
        tuple(units["names"]),
        units["kind"],
        tuple(units["trusted"]),
    )
    settings = {name: manifest["settings"][name] for name in SHARED_SETTINGS}
    if settings["n_jobs"] is not None:  # more threads than submodels have nothing to do
        members = manifest["leave_out"]["left_out"] if manifest.get("leave_out") else ()
        most = len(members or manifest["partition"]["sets"])
        settings["n_jobs"] = min(whole_number(settings["n_jobs"], "n_jobs", least=None), most)
    seed = (
        0
        if manifest["random_state"] is None
        else whole_number(manifest["random_state"], "random_state")
    )
    cls = ENSEMBLES[manifest["ensemble"]]
    if issubclass(cls, LeaveOutEnsemble):
        model = build_leave_out(cls, manifest, units_, settings, seed)
    else:
        model = _build_partition(cls, manifest, units_, settings, seed)
    if manifest["classes"] is not None:
        model.classes_ = labels_from_json(manifest["classes"])
        if "classes" in model.get_params():
            model.classes = model.classes_.tolist()
    if manifest.get("gate") is not None:  # what answers below it is among the files
        model.gate = gate_of(manifest, model)
    model.fixed_ballot_ = np.asarray(
        manifest["fixed_ballot"],
        dtype=np.float32 if manifest["classes"] is not None else np.float64,
    )
    model.n_features_in_ = n_features
    model.kinds_ = manifest["kinds"]
    model.labels_in_, model.numeric_ = None, list(manifest["numeric"])
    if manifest["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(manifest["feature_names"], dtype=object)
    names = [str(name) for name in getattr(model, "feature_names_in_", range(n_features))]
    model.restore(training_rows(manifest["counts"], len(units_)) if model.label_attacks else 0)
    check_consistent(model)
    check_counts(model.counts_, manifest["counts"])
    check_unit_names(model, names)
    check_kinds(model.kinds_, manifest["feature_names"], model.numeric_)
    return model


def _build_partition(
    cls: Any, manifest: dict[str, Any], units: Units, settings: dict[str, Any], seed: int
) -> Any:
    """The ensemble with its partition and its rule, not fitted yet."""
    if manifest.get("leave_out") is not None:
        raise StoreError(f"{MANIFEST} is damaged: a partition leaves nothing out")
    subsets, shifts = Partition(manifest["partition"]["sets"]), manifest["partition"]["shifts"]
    rule = RULES[manifest["rule"]["name"]](**manifest["rule"]["settings"])
    if rule.get_params().keys() != manifest["rule"]["settings"].keys():
        raise StoreError(f"{MANIFEST} is damaged: its rule lacks settings")
    rule.check()
    shape = image_shape(manifest["settings"]["image_shape"], count_columns(manifest))
    model = cls(
        partition=subsets,
        units=units,
        rule=rule,
        spread=1 if shifts is None else len(shifts),
        random_state=seed,
        image_shape=shape,
        label_attacks=manifest["settings"]["label_attacks"],
        **settings,
    )
    model.partition_ = (
        subsets
        if shifts is None
        else Overlap(subsets, tuple(whole_number(shift, "shifts") for shift in shifts))
    )
    model.units_, model.rule_ = units, rule
    return model


def _plain(value: Any) -> Any:
    """A setting as JSON holds it; JSON has no infinities, and no setting needs one."""
    return json_value(value, non_finite=_refuse)


def _refuse(value: float) -> None:
    raise StoreError(f"a setting is {value}, which cannot be stored: use a finite number")
