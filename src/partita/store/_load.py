"""Load a stored ensemble. No code from its files is run, and nothing in them is trusted.

Every file must have the sha256 that the manifest gives, and every type must be on the trusted list.
A manifest that was edited may deal other columns to the submodels than they were fitted on, and
count units that way: what submodels know of themselves is compared with it. Two submodels without
column names and with equally many columns look alike.
"""

import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .._support import Array, Estimator, JsonObject, PathLike, require
from ..ensemble import Ensemble, LeaveOutEnsemble, TableEstimator, were_trained_jointly
from ..errors import StoreError
from ._archive import (
    ESTIMATOR,
    FALLBACK,
    FALLBACK_MODEL,
    FULL_MODEL,
    LARGEST_MANIFEST,
    MANIFEST,
    NETWORKS,
    OTHER_ESTIMATORS,
    SUBMODEL_FILE,
    Read,
    check_inside,
    open_archive,
    read_checked,
    sha256,
)
from ._manifest import damage_named, from_manifest, parse_manifest, warn_of_versions
from ._skops import load_estimator


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
