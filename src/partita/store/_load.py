"""Loading a stored ensemble. No code from its files is run, and nothing in them is trusted.

Every file must have the sha256 that the manifest gives, and every type must be on the trusted list.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from .. import __version__
from .._support import require
from ..errors import InputError, StoreError
from ._archive import Read, check_inside, open_archive, read_checked
from ._layout import (
    ESTIMATOR,
    FALLBACK,
    FALLBACK_MODEL,
    FULL_MODEL,
    MANIFEST,
    NETWORKS,
    OTHER_ESTIMATORS,
    SUBMODEL_FILE,
)
from ._manifest import LIBRARIES, from_manifest
from ._manifest_checks import LARGEST_MANIFEST, damaged, parse_manifest
from ._skops import load_estimator
from ._submodel_checks import check_submodels

VERSION = re.compile(r"[\w.+!-]{1,40}", re.ASCII)

Files = Mapping[str, Mapping[str, Any]]  # by name: sha256 and bytes


def load(path: Any, trusted: Sequence[str] = ()) -> Any:
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


def manifest(path: Any) -> dict[str, Any]:
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


def load_with_manifest(path: Any, trusted: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """A stored ensemble and its manifest, which is opened once."""
    with open_archive(path) as read:
        content = parse_manifest(read(MANIFEST, LARGEST_MANIFEST))
        return _restored(read, content, trusted), content


def digest(content: Mapping[str, Any]) -> str:
    """One hash for all files of a stored ensemble, from its manifest."""
    return hashlib.sha256(json.dumps(content["files"], sort_keys=True).encode()).hexdigest()


def _restored(read: Read, content: dict[str, Any], trusted: Sequence[str]) -> Any:
    """The ensemble that a manifest describes, with its submodels."""
    try:
        model = from_manifest(content)
        files = {str(name): _facts(facts) for name, facts in content["files"].items()}
        versions = {"partita": content["partita"]} | {
            library: content["versions"][library] for library in LIBRARIES
        }
        if not all(VERSION.fullmatch(number) for number in versions.values()):
            raise ValueError("its versions are not valid")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as exc:
        raise damaged(exc) from exc
    for name in files:
        check_inside(name)
    _compare_versions(versions)

    def estimator(name: str) -> Any:
        return load_estimator(name, read_checked(read, name, files[name]), trusted)

    networks = content.get("networks")
    names = [] if networks is not None else submodel_files(files, model.n_fitted)
    found = {
        part: estimator(name)
        for part in OTHER_ESTIMATORS
        for name in sorted(files)
        if name.startswith(f"{part}-")
    }
    model.estimator, model.full_model_ = found.get(ESTIMATOR), found.get(FULL_MODEL)
    _restore_fallback(model, content, found)
    if networks is None:
        model.estimators_ = [estimator(name) for name in names]
    else:
        model.estimators_ = _networks(read, files, networks, model)
    try:
        check_submodels(model)
    except InputError as exc:
        raise damaged(exc) from exc
    return model


def _restore_fallback(model: Any, content: dict[str, Any], found: dict[str, Any]) -> None:
    """Put in the model behind the gate; an error if the manifest has one and the files do not."""
    stored = [part for part in (FALLBACK, FALLBACK_MODEL) if part in found]
    if len(stored) != (0 if content.get("gate") is None else 2):
        raise StoreError(
            f"{MANIFEST} and the files disagree about a fallback: the model was changed or damaged"
        )
    if stored:
        model.fallback, model.fallback_model_ = found[FALLBACK], found[FALLBACK_MODEL]
        try:
            model.check_rule(model.rule_, model.unfitted_submodel())
        except InputError as exc:
            raise damaged(exc) from exc


def _facts(stored: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says about a file."""
    if type(stored["bytes"]) is not int or stored["bytes"] < 0:
        raise ValueError(f"a file has {str(stored['bytes'])[:40]} bytes")
    return {"sha256": str(stored["sha256"]), "bytes": stored["bytes"]}


def submodel_files(files: Files, n_submodels: int) -> list[str]:
    """The submodels' files, in the order of the submodels; an error if one is missing or extra."""
    numbered = {
        name: SUBMODEL_FILE.fullmatch(name)
        for name in files
        if not name.startswith(OTHER_ESTIMATORS)
    }
    numbers = {name: int(found[1]) for name, found in numbered.items() if found is not None}
    others = sum(any(name.startswith(part) for name in files) for part in OTHER_ESTIMATORS)
    if len(files) - len(numbered) > others or sorted(numbers.values()) != list(
        range(len(numbered))
    ):
        raise StoreError(
            f"the submodel files are not numbered from 0 on: {MANIFEST} was changed or damaged"
        )
    if len(numbers) != n_submodels:
        raise StoreError(
            f"the model has {len(numbers)} submodel files for {n_submodels} submodels: it is "
            "incomplete"
        )
    return sorted(numbers, key=numbers.__getitem__)


def _networks(read: Read, files: Files, facts: Any, model: Any) -> Any:
    """Submodels that were trained jointly."""
    require("torch", "loading networks", "partita[torch]")
    from ..vision import from_bytes

    name = next((name for name in files if name.startswith(NETWORKS)), None)
    if name is None:
        raise StoreError("the networks' file is missing: the stored model is incomplete")
    if not hasattr(model, "classes_"):
        raise StoreError(f"{MANIFEST} is damaged: a model of numbers has no networks")
    columns = [model.columns_of(t) for t in range(len(model.partition_))]
    return from_bytes(read_checked(read, name, files[name]), facts, model.classes_, columns)


def _compare_versions(stored: Mapping[str, str]) -> None:
    """Warn where other versions stored the model; any other partita, since it may mend a proof."""
    if stored["partita"] != __version__:
        warnings.warn(
            f"the model was stored by partita {stored['partita']} and is loaded with "
            f"{__version__}: see what changed in CHANGELOG.md, and check its ballots on known rows",
            UserWarning,
            stacklevel=5,
        )
    for library in LIBRARIES:
        installed = version(library)
        if stored[library].split(".")[:2] != installed.split(".")[:2]:
            warnings.warn(
                f"the model was stored with {library} {stored[library]} and is loaded with "
                f"{installed}: check its ballots on known rows",
                UserWarning,
                stacklevel=5,
            )
