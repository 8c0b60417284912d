"""What a manifest must hold so that the model it describes is whole; anything else is refused.

A manifest may come from anybody. A number in it that gives a size is compared with what the
manifest itself holds before anything is allocated or repeated by it, so that reading a manifest
takes time and memory in proportion to its length.
"""

import json
import math
import re
from collections import Counter
from itertools import chain
from typing import Any

import numpy as np

from .._support import Array
from ..certificates import Counts
from ..ensemble import FLOOR
from ..errors import StoreError
from ..partition import pixels
from ..rules import Median, PooledValues, TopK, Tournament
from ..tables import KINDS, TEXT
from ._layout import MANIFEST

FORMAT = 2  # the newest; 1 has neither fallbacks nor ensembles that leave units out
LARGEST_MANIFEST = 256 * 2**20  # bytes
LARGEST_INTEGER = 2**64  # labels may be unsigned
LARGEST_LABELS = 2**26  # bytes of all labels
MOST_GATE = 2**31
PIXEL = re.compile(r"pixel \(\d+, \d+\)")  # the name of one
MOST_ROWS = 2**53  # no table has more, and larger numbers are no longer exact as floats


def parse_manifest(content: bytes) -> dict[str, Any]:
    """A manifest as plain data, if it is one that this version reads."""
    try:
        found = json.loads(
            content,
            parse_int=_integer,
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
        whole_number(found["format"], "format", least=1)
        newer = found["format"] > FORMAT
        if not isinstance(found.get("about"), dict | None):
            raise TypeError("about is not an object")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as exc:
        raise damaged(exc) from exc
    if newer:
        raise StoreError(
            f"the model's format {found['format']} is newer than this partita reads ({FORMAT}): "
            "update partita"
        )
    return dict(found)


def damaged(exc: Exception) -> StoreError:
    """What went wrong in reading a manifest, as one error; a StoreError stays as it is."""
    if isinstance(exc, StoreError):
        return exc
    return StoreError(
        f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded"
    )


def _integer(digits: str) -> int:
    """An integer of JSON that numpy can hold."""
    number = int(digits) if len(digits) <= 20 else LARGEST_INTEGER
    if not -LARGEST_INTEGER < number < LARGEST_INTEGER:
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> float:
    """Refuse NaN and infinities, which JSON does not have and save() does not write."""
    raise ValueError(f"it holds {name}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, if no two of its entries have one name: readers would not agree."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"it holds {twice[:40]!r} twice")
    return found


def count_columns(manifest: dict[str, Any]) -> int:
    """The number of columns, if the units hold every one of them once."""
    n_features = whole_number(manifest["n_features"], "n_features", least=1)
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


def image_shape(stored: Any, n_features: int) -> tuple[int, ...] | None:
    """The shape of an image that is no larger than the table."""
    if stored is None:
        return None
    shape = tuple(whole_number(side, "image_shape", least=1) for side in stored)
    if len(shape) != 3 or math.prod(shape) > n_features:
        raise StoreError(
            f"{MANIFEST} is damaged: image_shape is {list(shape)} in a table of {n_features} "
            "columns"
        )
    return shape


def training_rows(counts: dict[str, Any], n_units: int) -> int:
    """How many training labels a radius counts beside the units."""
    rows = whole_number(counts["total"], "counts.total") - n_units
    if not 1 <= rows < MOST_ROWS:
        raise StoreError(
            f"{MANIFEST} is damaged: counts.total is {counts['total']}, with {n_units} units"
        )
    return rows


def whole_number(value: Any, name: str, least: int | None = 0) -> int:
    """A number of the manifest, if it is an integer and large enough."""
    if type(value) is not int or (least is not None and value < least):
        raise StoreError(f"{MANIFEST} is damaged: {name} is {str(value)[:40]}")
    return value


def gate_of(manifest: dict[str, Any], model: Any) -> int:
    """The least radius at which the vote decides, of a model of labels with a fallback."""
    gate = whole_number(manifest["gate"], "gate")
    if model.task != "classification" or gate >= MOST_GATE:
        raise StoreError(f"{MANIFEST} is damaged: gate is {gate}, in a model of {model.task}")
    return gate


def check_consistent(model: Any) -> None:
    """Check a model's parts against each other: units, partition, labels, rule, fixed vote."""
    if not all(isinstance(name, str) for name in model.units_.names):
        raise StoreError(f"{MANIFEST} is damaged: the name of a unit is not a text")
    if len(model.numeric_) != model.n_features_in_ or not all(
        isinstance(is_number, bool) for is_number in model.numeric_
    ):
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
        raise StoreError(f"{MANIFEST} is damaged: its partition is of other units")
    shifts = getattr(model.partition_, "shifts", ())
    if (
        len(shifts) == 1
        or len(set(shifts)) < len(shifts)
        or not all(0 <= shift < len(model.partition_) for shift in shifts)
    ):
        raise StoreError(f"{MANIFEST} is damaged: the shifts of its overlapping sets are not valid")
    if hasattr(model, "classes_"):
        if not np.array_equal(np.unique(model.classes_), model.classes_):
            raise StoreError(f"{MANIFEST} is damaged: its labels are not in order")
        one_vote = [FLOOR] * (len(model.classes_) - 1) + [0.0]
        if (
            model.fixed_ballot_.shape != model.classes_.shape
            or np.sort(model.fixed_ballot_).tolist()
            != np.asarray(one_vote, dtype=np.float32).tolist()
        ):
            raise StoreError(f"{MANIFEST} is damaged: the fixed vote does not fit the labels")
    is_regressor = model.task == "regression"
    if (
        isinstance(model.rule_, Median | PooledValues) != is_regressor
        or hasattr(model, "classes_") == is_regressor
        or model.fixed_ballot_.ndim != (0 if is_regressor else 1)
        or not np.isfinite(model.fixed_ballot_).all()
    ):
        raise StoreError(
            f"{MANIFEST} is damaged: its rule or its fixed vote does not fit the model"
        )
    _check_settled(model)
    if isinstance(model.rule_, TopK) and model.rule_.k >= 2**31:
        raise StoreError(
            f"{MANIFEST} is damaged: k is {model.rule_.k}, of {len(model.classes_)} labels"
        )


def _check_settled(model: Any) -> None:
    """Refuse a rule whose settings a fit would have settled, or that do not fit the labels."""
    rule, classes = model.rule_, getattr(model, "classes_", np.empty(0))
    settled = True
    if isinstance(rule, Tournament):
        settled = str(rule.resolve(None, classes).get_params()) == str(rule.get_params())
        rule.check_labels(len(classes))
    if isinstance(rule, Median):
        centre = 0.0 if rule.centre is None else rule.centre
        settled = bool(np.isfinite(rule.votes(np.zeros((1, 1)))).all())
        settled = settled and model.fixed_ballot_.tolist() == centre
    if not settled:
        raise StoreError(
            f"{MANIFEST} is damaged: the settings of {type(rule).__name__} are not those of a fit"
        )


def check_counts(counts: Counts, stored: dict[str, Any]) -> None:
    """Refuse a manifest that says of a radius what does not follow from its units."""
    if stored != {"what": counts.what, "total": counts.total, "trusted": list(counts.trusted)}:
        raise StoreError(f"{MANIFEST} is damaged: its counts are not those of its units")


def check_unit_names(model: Any, names: list[str]) -> None:
    """Refuse units that go by the names of other columns, or of other pixels."""
    units, shape = model.units_, getattr(model, "image_shape", None)
    found = list(units.names)
    expected = found  # sources may have any names
    if not isinstance(units.kind, str):
        raise StoreError(f"{MANIFEST} is damaged: the kind of its units is not a text")
    if units.kind == "columns" and all(len(own) == 1 for own in units.columns):
        own_names = [names[own[0]] for own in units.columns]
        expected = own_names if sorted(own_names) == sorted(found) else found
    if units.kind == "pixels" and shape is not None and all(map(PIXEL.fullmatch, found)):
        whole = pixels(shape)
        pixel_of = {column: k for k, own in enumerate(whole.columns) for column in own}
        owners = [{pixel_of.get(column, -1) for column in own} for own in units.columns]
        if all(len(own) == 1 and own != {-1} for own in owners):  # and not patches of pixels
            expected = [whole.names[own.pop()] for own in owners]
    if found != expected:
        raise StoreError(f"{MANIFEST} is damaged: its units have the names of others")


def check_kinds(kinds: dict[str, Any] | None, names: list[str] | None, numeric: list[bool]) -> None:
    """Refuse kinds of columns that are not known, or are those of other columns."""
    if kinds is not None and (
        list(kinds) != names
        or not {*kinds.values()} <= {*KINDS, None}
        or any(
            kind == TEXT and is_number  # a column without values may have any kind
            for kind, is_number in zip(kinds.values(), numeric, strict=True)
        )
    ):
        raise StoreError(f"{MANIFEST} is damaged: the kinds of its columns are not known")


def labels_to_json(labels: Array) -> dict[str, Any]:
    """Class labels as JSON holds them, with their type."""
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


def labels_from_json(stored: dict[str, Any]) -> Array:
    """Class labels as they were, if their type is one that labels have."""
    values, name = stored["values"], stored["dtype"]
    if (
        not isinstance(values, list)
        or not isinstance(name, str)
        or not all(isinstance(value, str | int | float) for value in values)
    ):
        raise StoreError(f"{MANIFEST} is damaged: its labels are neither texts nor numbers")
    dtype = np.dtype(name)  # it says how many bytes a label takes, so it is checked first
    if dtype.kind not in "biufUmMO" or dtype.shape or dtype.itemsize * len(values) > LARGEST_LABELS:
        raise StoreError(f"{MANIFEST} is damaged: its labels are of type {name[:40]}")
    return (
        np.asarray(values, dtype=np.int64).astype(dtype)
        if dtype.kind in "mM"
        else np.asarray(values, dtype=dtype)
    )
