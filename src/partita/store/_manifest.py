"""A fitted ensemble as a manifest and back; a stored one is loaded, and not trusted.

A manifest may come from a stranger. FIELDS says what every field holds; a number that gives a size
is compared with what the manifest itself holds before anything is allocated or repeated by it, so
that reading a manifest takes time and memory in proportion to its length. What follows from other
fields (what a radius counts, the rule of an ensemble that leaves units out) is computed, not read.

Every file must have the sha256 that the manifest gives. A manifest that was edited may assign other
columns to the submodels than they were fitted on, and count units that way: what submodels know of
themselves is compared with it. Two submodels without column names and with equally many columns
look alike.
"""

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from types import UnionType
from typing import Any, NoReturn, TypeAlias, get_args

import numpy as np

from .. import __version__
from .._support import Array, Estimator, JsonObject, PathLike, json_value, require
from ..ensemble import (
    FLOOR,
    Ensemble,
    FeaturePartitionClassifier,
    FeaturePartitionRegressor,
    LeaveOutClassifier,
    LeaveOutEnsemble,
    LeaveOutRegressor,
    TableEstimator,
    were_trained_jointly,
)
from ..errors import StoreError
from ..partition import LeaveOut, Overlap, Partition, Units, pixels
from ..rules import Median, Plurality, PooledLabels, PooledValues, Rule, RunOff, TopK, Tournament
from ..tables import KINDS, TEXT
from ._files import (
    ESTIMATOR,
    FALLBACK,
    FALLBACK_MODEL,
    FULL_MODEL,
    LARGEST_MANIFEST,
    MANIFEST,
    NETWORKS,
    OTHER_ESTIMATORS,
    SUBMODEL_FILE,
    FileFacts,
    Read,
    check_inside,
    load_estimator,
    open_archive,
    read_checked,
    sha256,
)

FORMAT = 2
LIBRARIES = ("numpy", "scikit-learn", "skops")
ENSEMBLES: dict[str, type[Ensemble]] = {
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
LEAVE_OUT_SETTINGS = ("max_models", "leave_out", "training")

LARGEST_INTEGER = 2**64  # labels may be unsigned
LARGEST_LABELS = 2**26  # bytes of all labels
LARGEST_SETTING = 2**31  # of gates, and of k
MOST_ROWS = 2**53  # no table has more, and larger numbers are no longer exact as floats
PIXEL = re.compile(r"pixel \(\d+, \d+\)")  # the name of one
VERSION = re.compile(r"[\w.+!-]{1,40}", re.ASCII)
# what content of another form raises while it is read
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


# ---- what a manifest holds ----

# A form is a type or several; a range of whole numbers; a text's pattern; a list of one form, for
# any number of them; an object's forms by name, where ``str`` stands for any name; or (form, None)
# where the value may be null.
Leaf: TypeAlias = type | UnionType | range | re.Pattern[str]
Form: TypeAlias = "Leaf | list[Form] | Mapping[Any, Form] | tuple[Form, None]"

WHOLE, POSITIVE = range(LARGEST_INTEGER), range(1, LARGEST_INTEGER)
HEAD: Form = {"format": POSITIVE, "about": (dict, None)}
FIELDS: Form = {
    "partita": VERSION,
    "versions": dict.fromkeys(LIBRARIES, VERSION),
    "ensemble": str,
    "settings": {"n_jobs": (int, None)},
    "random_state": (WHOLE, None),
    "partition": {"sets": [[WHOLE]], "shifts": ([WHOLE], None)},
    "units": {"columns": [[WHOLE]], "names": [str], "kind": str, "trusted": [WHOLE]},
    "counts": {"what": str, "total": WHOLE, "trusted": [str]},
    "leave_out": (dict, None),
    "rule": ({"name": str, "settings": dict}, None),
    "classes": ({"dtype": str, "values": [str | int | float | bool]}, None),
    "gate": (range(LARGEST_SETTING), None),
    "fixed_vote": int | float,
    "n_features": POSITIVE,
    "feature_names": ([str], None),
    "kinds": ({str: (str, None)}, None),
    "numeric": [bool],
    "files": {str: {"sha256": str, "bytes": WHOLE}},
    "networks": (dict, None),
}
LEAVE_OUT: Form = {"radius": POSITIVE, "left_out": [[WHOLE]], "probabilities": bool}
NUMERIC = "it does not say of each of its columns whether it holds numbers"
MESSAGES = {  # for a value of another form, where its place and itself are not clear enough
    "units.names": "the name of a unit is not a text",
    "units.kind": "the kind of its units is not a text",
    "leave_out.probabilities": "probabilities is neither true nor false",
    "classes.values": "its labels are neither texts nor numbers",
    "numeric": NUMERIC,
    "files.bytes": "a file has {} bytes",
}


def check_form(value: object, form: Form, place: str = "") -> None:
    """Refuse a value of another form than its place's."""
    if isinstance(form, tuple):
        if value is not None:
            check_form(value, form[0], place)
        return
    if isinstance(form, range):
        fits = type(value) is int and value in form
    elif isinstance(form, re.Pattern):
        fits = isinstance(value, str) and form.fullmatch(value) is not None
    elif isinstance(form, type | UnionType):
        fits = type(value) in (get_args(form) or (form,))
    else:
        fits = isinstance(value, type(form))
    if not fits:
        shown = repr(value)[:40]
        refuse(MESSAGES.get(place, f"{place or 'its content'} is {{}}").format(shown))
    if isinstance(form, dict) and isinstance(value, dict):
        for name in value if str in form else form:
            if name not in value:
                refuse(f"{name} is not in it")
            inside = place if str in form else f"{place}.{name}".lstrip(".")
            check_form(value[name], form[str] if str in form else form[name], inside)
    elif isinstance(form, list) and isinstance(value, list):
        for one in value:
            check_form(one, form[0], place)


def refuse(contradiction: str) -> NoReturn:
    """Raise a StoreError about a manifest."""
    raise StoreError(f"{MANIFEST} is damaged: {contradiction}")


def refuse_if(wrong: bool, contradiction: str) -> None:
    """Raise a StoreError about a manifest that contradicts itself."""
    if wrong:
        refuse(contradiction)


@contextmanager
def damage_named() -> Iterator[None]:
    """Raise whatever goes wrong with a manifest's content as one StoreError."""
    try:
        yield
    except StoreError:
        raise
    except DAMAGE as exc:
        raise StoreError(
            f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded"
        ) from exc


# ---- JSON ----


def parse_manifest(content: bytes) -> JsonObject:
    """Return a manifest as plain data, if it is one that this version reads."""
    with damage_named():
        found: JsonObject = json.loads(
            content, parse_int=_integer, parse_constant=_no_constant, object_pairs_hook=_object
        )
        check_form(found, HEAD)
    if found["format"] > FORMAT:
        raise StoreError(
            f"the model's format {found['format']} is newer than this partita reads ({FORMAT}): "
            "update partita"
        )
    return found


def _integer(digits: str) -> int:
    """Return an integer of JSON that numpy can hold."""
    number = int(digits) if len(digits) <= 20 else LARGEST_INTEGER
    if not -LARGEST_INTEGER < number < LARGEST_INTEGER:
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _no_constant(name: str) -> float:
    """Refuse NaN and infinities, which JSON does not have and save() does not write."""
    raise ValueError(f"it holds {name}")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object, if no two of its entries have one name: readers would not agree."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"it holds {twice[:40]!r} twice")
    return found


# ---- from a model ----


def to_manifest(
    model: Ensemble,
    files: dict[str, FileFacts],
    about: JsonObject | None = None,
    networks: JsonObject | None = None,
) -> JsonObject:
    """Return everything that is stored of a fitted ensemble beside its submodels."""
    sets, leaves_out = model.partition_, isinstance(model, LeaveOutEnsemble)
    shifts = None
    if isinstance(sets, Overlap):
        subsets, shifts = sets.subsets, list(sets.shifts)
    else:
        subsets = sets.groups if isinstance(sets, LeaveOut) else sets
    names = SHARED_SETTINGS if leaves_out else (*SHARED_SETTINGS, *PARTITION_SETTINGS)
    seed, ballot = model.random_state, model.fixed_ballot_
    rule = {"name": type(model.rule_).__name__, "settings": _plain(model.rule_.get_params())}
    return {
        "format": FORMAT,
        "partita": __version__,
        "stored": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {library: version(library) for library in LIBRARIES},
        "ensemble": type(model).__name__,
        "settings": {name: _plain(getattr(model, name)) for name in names},
        "random_state": int(seed) if hasattr(seed, "__index__") else None,
        "partition": {
            "sets": [list(units) for units in subsets],
            "shifts": shifts,
        },
        "units": json_value(asdict(model.units_)),
        "counts": json_value(asdict(model.counts_)),
        "leave_out": _leave_out_facts(model) if isinstance(model, LeaveOutEnsemble) else None,
        "rule": None if leaves_out else rule,
        "classes": labels_to_json(model.classes_) if hasattr(model, "classes_") else None,
        "gate": None if model.fallback is None else int(model.gate),
        "fixed_vote": int(np.argmax(ballot)) if ballot.ndim else float(ballot),
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in model.feature_names_in_]
        if hasattr(model, "feature_names_in_")
        else None,
        "kinds": None if model.kinds_ is None else dict(model.kinds_),
        "numeric": [bool(is_number) for is_number in model.numeric_],
        "files": files,
        "networks": networks,
        "about": about,
    }


def _leave_out_facts(model: LeaveOutEnsemble) -> JsonObject:
    """Return what is stored of the members' sets; their rule follows from it."""
    # of what was fitted: settings may have been changed since
    training = model.training
    if hasattr(model, "estimators_"):
        training = "trusted" if model.trusts_training else "attackable"
    return {
        "radius": int(model.partition_.radius),
        "left_out": [list(groups) for groups in model.partition_.left_out],
        "probabilities": bool(getattr(model.rule_, "as_probabilities", False)),
        **{name: getattr(model, name) for name in LEAVE_OUT_SETTINGS},
        "training": training,
    }


def _plain(value: object) -> object:
    """Return a setting as JSON holds it; JSON has no infinities, and no setting needs one."""
    return json_value(value, non_finite=_refuse_infinity)


def _refuse_infinity(value: float) -> None:
    raise StoreError(f"a setting is {value}, which cannot be stored: use a finite number")


def labels_to_json(labels: Array) -> JsonObject:
    """Return class labels as JSON holds them, with their type."""
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


def labels_from_json(stored: JsonObject) -> Array:
    """Return class labels as they were, if their type is one that labels have."""
    values, name = stored["values"], stored["dtype"]
    dtype = np.dtype(name)  # it says how many bytes a label takes, so it is checked first
    if dtype.kind not in "biufUmMO" or dtype.shape or dtype.itemsize * len(values) > LARGEST_LABELS:
        refuse(f"its labels are of type {name[:40]}")
    integers = np.int64 if dtype.kind in "mM" else dtype
    return np.asarray(values, dtype=integers).astype(dtype, copy=False)


# ---- to a model ----


def from_manifest(manifest: JsonObject) -> Ensemble:
    """Return the ensemble without its submodels; fit it again for the same partition and units."""
    check_form(manifest, FIELDS)
    n_features, classes = manifest["n_features"], manifest["classes"]
    names = manifest["feature_names"] or [str(k) for k in range(len(manifest["numeric"]))]
    units = _units(manifest, names)
    cls = ENSEMBLES[manifest["ensemble"]]
    build = _leave_out_model if issubclass(cls, LeaveOutEnsemble) else _partition_model
    model = build(cls, manifest, units)
    model.units_, model.n_features_in_ = units, n_features
    if classes is not None:
        model.classes_ = labels_from_json(classes)
        if "classes" in model.get_params():
            model.classes = model.classes_.tolist()
    if manifest["gate"] is not None:  # what answers below it is among the files
        refuse_if(model.task != "classification", f"gate is set, in a model of {model.task}")
        model.gate = manifest["gate"]
    model.kinds_, model.labels_in_, model.numeric_ = manifest["kinds"], None, manifest["numeric"]
    if manifest["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(names, dtype=object)
    n_labels = manifest["counts"]["total"] - len(units) if model.label_attacks else 0
    model.restore(n_labels)
    counts = json_value(asdict(model.counts_))
    refuse_if(manifest["counts"] != counts, "its counts are not those of its units")
    model.fixed_ballot_ = _fixed_ballot(model, manifest["fixed_vote"])
    _check_rule(model)
    expected = _unit_names(units, names, model.image_shape)
    refuse_if(list(units.names) != expected, "its units have the names of others")
    return model


def _units(manifest: JsonObject, names: list[str]) -> Units:
    """Return the units, if they fit the columns and the columns' names and kinds."""
    n_features, stored, kinds = manifest["n_features"], manifest["units"], manifest["kinds"]
    columns, unit_names, trusted = stored["columns"], stored["names"], stored["trusted"]
    every = [*chain.from_iterable(columns), *trusted]
    refuse_if(
        len(every) != n_features,
        f"n_features is {n_features}, but its units hold {len(every)} columns",
    )
    refuse_if(
        sorted(every) != list(range(n_features)) or not all(columns),
        "its units do not hold every column once",
    )
    refuse_if(len(manifest["numeric"]) != n_features, NUMERIC)
    refuse_if(len(names) != n_features, f"it does not name each of its {n_features} columns")
    refuse_if(
        len(unit_names) != len(columns), f"it has {len(unit_names)} names for {len(columns)} units"
    )
    refuse_if(len(set(unit_names)) < len(unit_names), "two units have one name")
    if kinds is not None:
        refuse_if(
            list(kinds) != manifest["feature_names"]
            or not {*kinds.values()} <= {*KINDS, None}
            # a column without values may have any kind
            or (TEXT, True) in zip(kinds.values(), manifest["numeric"], strict=True),
            "the kinds of its columns are not known",
        )
    return Units(tuple(map(tuple, columns)), tuple(unit_names), stored["kind"], tuple(trusted))


def _settings(manifest: JsonObject, units: Units, sets: Partition, n_submodels: int) -> JsonObject:
    """Return the settings that all ensembles have."""
    settings = {name: manifest["settings"][name] for name in SHARED_SETTINGS}
    if settings["n_jobs"] is not None:  # more threads than submodels have nothing to do
        settings["n_jobs"] = min(settings["n_jobs"], n_submodels)
    seed = manifest["random_state"] or 0
    return settings | {"partition": sets, "units": units, "random_state": seed}


def _partition_model(cls: type[Ensemble], manifest: JsonObject, units: Units) -> Ensemble:
    refuse_if(manifest["leave_out"] is not None, "a partition leaves nothing out")
    refuse_if(manifest["rule"] is None, "rule is null")
    own = {name: manifest["settings"][name] for name in PARTITION_SETTINGS}
    shape, n_features = own["image_shape"], manifest["n_features"]
    if shape is not None:
        check_form(shape, [POSITIVE], "image_shape")
        refuse_if(
            len(shape) != 3 or math.prod(shape) > n_features,
            f"image_shape is {shape} in a table of {n_features} columns",
        )
        own["image_shape"] = tuple(shape)
    total = manifest["counts"]["total"]
    refuse_if(
        own["label_attacks"] is not None and not 1 <= total - len(units) < MOST_ROWS,
        f"counts.total is {total}, with {len(units)} units",
    )
    facts = manifest["rule"]
    rule = RULES[facts["name"]](**facts["settings"])
    rule.check()
    refuse_if(rule.get_params().keys() != facts["settings"].keys(), "its rule lacks settings")
    sets, shifts = Partition(manifest["partition"]["sets"]), manifest["partition"]["shifts"]
    refuse_if(sets.n_units != len(units), "its partition is of other units")
    settings = _settings(manifest, units, sets, len(sets)) | own
    model = cls(rule=rule, spread=1 if shifts is None else len(shifts), **settings)
    model.partition_, model.rule_ = sets, rule
    if shifts is not None:
        refuse_if(
            len(set(shifts)) < max(len(shifts), 2) or max(shifts) >= len(sets),
            "the shifts of its overlapping sets are not valid",
        )
        model.partition_ = Overlap(sets, tuple(shifts))
    return model


def _leave_out_model(
    cls: type[LeaveOutEnsemble], manifest: JsonObject, units: Units
) -> LeaveOutEnsemble:
    for part in ("gate", "networks"):
        refuse_if(manifest[part] is not None, f"a model that leaves units out has no {part}")
    facts = manifest["leave_out"]
    check_form(facts, LEAVE_OUT, "leave_out")
    with_all = [not groups for groups in facts["left_out"]]
    refuse_if(
        sum(with_all) != cls.fits_full_member or (cls.fits_full_member and not with_all[-1]),
        "its model on all columns is not the last one",
    )
    groups = Partition(manifest["partition"]["sets"])
    refuse_if(groups.n_units != len(units), "its partition is of other units")
    sets = LeaveOut(groups, facts["radius"], tuple(map(tuple, facts["left_out"])))
    own = {name: facts[name] for name in LEAVE_OUT_SETTINGS}
    model = cls(radius=sets.radius, **_settings(manifest, units, groups, len(sets)), **own)
    model.partition_ = sets
    model.rule_ = rule = model.agreement_rule(sets)
    if isinstance(rule, PooledLabels):
        rule.as_probabilities = facts["probabilities"]
    return model


def _fixed_ballot(model: Ensemble, vote: float) -> Array:
    """Return the ballot of a submodel that fails: for the label in this place, or this value."""
    is_regressor = model.task == "regression"
    refuse_if(
        isinstance(model.rule_, Median | PooledValues) != is_regressor
        or hasattr(model, "classes_") == is_regressor
        or not math.isfinite(vote),
        "its rule or its fixed vote does not fit the model",
    )
    if is_regressor:
        return np.asarray(vote, dtype=np.float64)
    labels = model.classes_
    refuse_if(not np.array_equal(np.unique(labels), labels), "its labels are not in order")
    fits = type(vote) is int and 0 <= vote < len(labels)
    refuse_if(not fits, "the fixed vote does not fit the labels")
    return np.where(np.arange(len(labels)) == vote, 0, FLOOR).astype(np.float32)


def _check_rule(model: Ensemble) -> None:
    """Refuse a rule with other settings than a fit leaves, for the labels of the model."""
    rule, settled = model.rule_, True
    if isinstance(rule, Tournament):
        rule.check_labels(len(model.classes_))
        settled = str(rule.resolve(None, model.classes_).get_params()) == str(rule.get_params())
    elif isinstance(rule, Median):
        settled = bool(np.isfinite(rule.votes(np.zeros((1, 1)))).all())
        settled = settled and model.fixed_ballot_.tolist() == (rule.centre or 0.0)
    elif isinstance(rule, TopK):
        n_labels = len(model.classes_)
        refuse_if(rule.k >= LARGEST_SETTING, f"k is {rule.k}, of {n_labels} labels")
    refuse_if(not settled, f"the settings of {type(rule).__name__} are not those of a fit")


def _unit_names(units: Units, names: list[str], image_shape: Sequence[int] | None) -> list[str]:
    """Return the names that units must have: their columns' or pixels', where they are single."""
    found = list(units.names)  # sources may have any names
    if units.kind == "columns" and all(len(own) == 1 for own in units.columns):
        own_names = [names[own[0]] for own in units.columns]
        return own_names if sorted(own_names) == sorted(found) else found
    if units.kind == "pixels" and image_shape is not None and all(map(PIXEL.fullmatch, found)):
        height, width, channels = image_shape
        whole = pixels((height, width, channels))
        pixel_of = {column: k for k, own in enumerate(whole.columns) for column in own}
        owners = [{pixel_of.get(column, -1) for column in own} for own in units.columns]
        if all(len(own) == 1 and own != {-1} for own in owners):  # and not patches of pixels
            return [whole.names[own.pop()] for own in owners]
    return found


def warn_of_versions(manifest: JsonObject) -> None:
    """Warn where other versions stored the model; any other partita, since it may mend a proof."""
    if manifest["partita"] != __version__:
        warnings.warn(
            f"the model was stored by partita {manifest['partita']} and is loaded with "
            f"{__version__}: see what changed in CHANGELOG.md, and check its ballots on known rows",
            UserWarning,
            stacklevel=5,
        )
    for library in LIBRARIES:
        installed, stored = version(library), manifest["versions"][library]
        if stored.split(".")[:2] != installed.split(".")[:2]:
            warnings.warn(
                f"the model was stored with {library} {stored} and is loaded with "
                f"{installed}: check its ballots on known rows",
                UserWarning,
                stacklevel=5,
            )


# ---- load ----


def load(path: PathLike, trusted: Sequence[str] = ()) -> Estimator:
    """Read a stored ensemble.

    Parameters
    ----------
    path : str or path
        The folder or zip that :func:`save` wrote.
    trusted : list of str, default=()
        Further types that may be loaded, by their full names, such as the class of your own
        estimator. A type you name is built from the file's content by its own code: name only what
        you know.

    Returns
    -------
    FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted; its ballots are those of the model that was saved, bit for bit.

    Raises
    ------
    StoreError
        If the model was changed or damaged, or holds a type that is not trusted.

    See Also
    --------
    manifest : What a stored ensemble says about itself, without loading its submodels.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, store
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    >>> path = store.save(clf, tempfile.mkdtemp() + "/model.zip")
    >>> len(store.load(path).estimators_)
    5
    """
    return load_with_manifest(path, trusted)[0]


def manifest(path: PathLike) -> JsonObject:
    """Read what a stored ensemble says about itself, without loading its submodels.

    Parameters
    ----------
    path : str or path
        The folder or zip that :func:`save` wrote.

    Returns
    -------
    dict
        The content of ``manifest.json``: settings, partition, units, rule, labels, versions, the
        hashes of all files, and under ``about`` what was given to :func:`save`.

    Raises
    ------
    StoreError
        If this is not a stored model, or one of a newer format.

    See Also
    --------
    load : Read the model itself.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, store
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    >>> path = store.save(clf, tempfile.mkdtemp() + "/model", about={"data": "wine"})
    >>> store.manifest(path)["about"]
    {'data': 'wine'}
    """
    with open_archive(path) as read:
        return parse_manifest(read(MANIFEST, LARGEST_MANIFEST))


def load_with_manifest(path: PathLike, trusted: Sequence[str] = ()) -> tuple[Estimator, JsonObject]:
    """Return a stored ensemble and its manifest, which is opened once."""
    with open_archive(path) as read:
        content = parse_manifest(read(MANIFEST, LARGEST_MANIFEST))
        with damage_named():
            return _restored(read, content, trusted), content


def digest(content: Mapping[str, object]) -> str:
    """Return one hash for all files of a stored ensemble, from its manifest."""
    return sha256(json.dumps(content["files"], sort_keys=True).encode())


def _restored(read: Read, content: JsonObject, trusted: Sequence[str]) -> Ensemble:
    """Return the ensemble that a manifest describes, with its submodels."""
    model, files = from_manifest(content), content["files"]
    for name in files:
        check_inside(name)
    warn_of_versions(content)

    def estimator(name: str) -> Estimator:
        return load_estimator(name, read_checked(read, name, files[name]), trusted)

    networks = content["networks"]
    submodels = [] if networks is not None else submodel_files(files, model.n_fitted)
    found = {
        part: estimator(name)
        for part in OTHER_ESTIMATORS
        for name in sorted(files)
        if name.startswith(f"{part}-")
    }
    model.estimator, model.full_model_ = found.get(ESTIMATOR), found.get(FULL_MODEL)
    fallback = [found[part] for part in (FALLBACK, FALLBACK_MODEL) if part in found]
    if len(fallback) != (0 if content["gate"] is None else 2):
        raise StoreError(
            f"{MANIFEST} and the files disagree about a fallback: the model was changed or damaged"
        )
    if fallback:
        model.fallback, model.fallback_model_ = fallback
        model.check_rule(model.rule_, model.unfitted_submodel())
    if networks is None:
        model.estimators_ = [estimator(name) for name in submodels]
    else:
        require("torch", "loading networks", "partita[torch]")
        from ..vision import from_bytes

        name = next((name for name in files if name.startswith(NETWORKS)), None)
        if name is None:
            raise StoreError("the networks' file is missing: the stored model is incomplete")
        if not hasattr(model, "classes_"):
            raise StoreError(f"{MANIFEST} is damaged: a model of numbers has no networks")
        columns = [model.columns_of(t) for t in range(len(model.partition_))]
        networks_file = read_checked(read, name, files[name])
        model.estimators_ = from_bytes(networks_file, networks, model.classes_, columns)
    check_submodels(model)
    return model


def submodel_files(files: Collection[str], n_submodels: int) -> list[str]:
    """Return the submodels' files, in their order; an error if one is missing or extra."""
    names = [name for name in files if not name.startswith(OTHER_ESTIMATORS)]
    numbers = {name: int(found[1]) for name in names if (found := SUBMODEL_FILE.fullmatch(name))}
    others = sum(any(name.startswith(part) for name in files) for part in OTHER_ESTIMATORS)
    if len(files) - len(names) > others or sorted(numbers.values()) != list(range(len(names))):
        raise StoreError(
            f"the submodel files are not numbered from 0 on: {MANIFEST} was changed or damaged"
        )
    if len(numbers) != n_submodels:
        raise StoreError(
            f"the model has {len(numbers)} submodel files for {n_submodels} submodels: it is "
            "incomplete"
        )
    return sorted(numbers, key=numbers.__getitem__)


# ---- loaded submodels against the manifest ----


def check_submodels(model: Ensemble) -> None:
    """Refuse submodels that are not those of the manifest's columns, labels and settings."""
    everything = list(range(model.n_features_in_))
    for part in ("full_model_", "fallback_model_"):
        _check_columns(model, getattr(model, part, None), everything)
    if were_trained_jointly(model.estimators_):  # their facts are compared when they are read
        return
    leaves_out = isinstance(model, LeaveOutEnsemble)
    masked = leaves_out and model.trusts_training
    for t, submodel in enumerate(model.estimators_):
        _check_columns(model, submodel, everything if masked else model.columns_of(t))
        _check_labels(model, submodel)
    if leaves_out:
        has_probabilities = hasattr(model.unfitted_submodel(), "predict_proba")
        if getattr(model.rule_, "as_probabilities", has_probabilities) != has_probabilities:
            raise _contradiction("probabilities do not go with its estimator")
        return
    model.check_rule(model.rule_, model.unfitted_submodel())


def _check_columns(model: Ensemble, submodel: Estimator, columns: list[int]) -> None:
    """Compare the number of columns that a submodel was fitted on, and their names if it has any.

    LightGBM counts columns that have no names, and writes an underscore for a space.
    """
    known = _learnt(submodel, "n_features_in_")
    if known is not None and known != len(columns):
        raise _contradiction(
            f"a submodel was fitted on {known} columns, and the partition gives it {len(columns)}"
        )
    codes = getattr(submodel, "codes_", None) if isinstance(submodel, TableEstimator) else None
    if codes is not None and any(
        own and model.numeric_[column]  # no codes: a column without values
        for own, column in zip(codes, columns, strict=True)
    ):
        raise _contradiction("the partition gives a submodel numbers where it learnt texts")
    names, own = getattr(model, "feature_names_in_", None), _learnt(submodel, "feature_names_in_")
    if names is None or own is None:
        return
    found, expected = (
        [str(name).replace(" ", "_") for name in some]
        for some in (own, [names[column] for column in columns])
    )
    counted = found == [f"Column_{k}" for k in range(len(found))]
    if found != expected and not counted and {*map(str, own)} <= {*map(str, names)}:
        raise _contradiction("the partition gives a submodel other columns than it was fitted on")


def _check_labels(model: Ensemble, submodel: Estimator) -> None:
    """Refuse a submodel that votes for labels which the model does not have."""
    known = _learnt(submodel, "classes_")
    if known is None or not hasattr(model, "classes_"):
        return
    try:
        foreign = not np.isin(np.asarray(known), model.submodel_classes).all()
    except (TypeError, ValueError):  # texts and numbers
        foreign = True
    if foreign:
        raise _contradiction("a submodel votes for labels that are not the model's")


def _learnt(submodel: Estimator, name: str) -> Array | None:
    """Return what a submodel learnt; None where it does not say."""
    try:
        return getattr(submodel, name, None)
    except Exception:  # a property of a user's estimator
        return None


def _contradiction(what: str) -> StoreError:
    return StoreError(
        f"{MANIFEST} and the files disagree, the model was changed or damaged: {what}"
    )
