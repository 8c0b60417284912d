"""Saving a fitted ensemble without pickle, as a whole or not at all.

In a folder the manifest comes last and replaces an earlier one in a single step: until then the old
model is complete, from then on the new one is.
"""

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._support import write_atomic
from ..ensemble import Ensemble, were_trained_jointly
from ..errors import InputError
from ._archive import is_stored_model
from ._layout import (
    ESTIMATOR,
    FALLBACK,
    FALLBACK_MODEL,
    FULL_MODEL,
    MANIFEST,
    NETWORKS,
    UNFINISHED,
    StoredFile,
    is_part,
    submodel_name,
)
from ._manifest import to_manifest
from ._skops import dump_estimator


def save(model: Any, path: Any, about: dict[str, Any] | None = None) -> Path:
    """Write a fitted ensemble to a folder, or to a zip.

    A stored model that is there already is replaced as a whole; a crash leaves the old one intact.

    Parameters
    ----------
    model : FeaturePartitionClassifier or FeaturePartitionRegressor
        Fitted.
    path : str or path
        A folder, or a zip if the path ends in ``.zip``. Its parents are made.
    about : dict, optional
        Further facts for the manifest, such as where the data came from; anything that JSON can
        hold.

    Returns
    -------
    Path
        Where the model is stored.

    Raises
    ------
    InputError
        If the path holds something that is not a stored model.
    StoreError
        If an estimator or a label cannot be stored.

    See Also
    --------
    load : Read the model again.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, store
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X, y)
    >>> path = store.save(clf, tempfile.mkdtemp() + "/model")
    >>> bool((store.load(path).ballots(X) == clf.ballots(X)).all())
    True
    """
    if not isinstance(model, Ensemble):
        raise InputError(
            f"model is a {type(model).__name__}: give a fitted FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    check_is_fitted(model, "estimators_")
    target = check_place(path)
    others = {
        ESTIMATOR: model.estimator,
        FULL_MODEL: getattr(model, "full_model_", None),
        FALLBACK: getattr(model, "fallback", None),
        FALLBACK_MODEL: getattr(model, "fallback_model_", None),
    }
    parts = {part: estimator for part, estimator in others.items() if estimator is not None}
    networks = None
    files = []
    if were_trained_jointly(model.estimators_):  # networks that were trained jointly are one file
        from ..vision import to_bytes

        content, networks = to_bytes(model.estimators_, model.classes_)
        files.append(StoredFile.of(NETWORKS, ".safetensors", content))
    else:
        submodels = {submodel_name(t): submodel for t, submodel in enumerate(model.estimators_)}
        parts = submodels | parts
    files = [stored_estimator(part, fitted) for part, fitted in parts.items()] + files
    manifest = manifest_bytes(model, {file.name: file.facts for file in files}, about, networks)
    contents = {file.name: file.content for file in files} | {MANIFEST: manifest}
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".zip":
        write_atomic(target, _zipped(contents))
    else:
        _write_folder(target, contents)
    return target


def stored_estimator(part: str, fitted: Any) -> StoredFile:
    """An estimator as a file of a stored model; equal estimators give equal files."""
    return StoredFile.of(part, ".skops", dump_estimator(part, fitted))


def manifest_bytes(
    model: Any, files: dict[str, Any], about: dict[str, Any] | None, networks: Any = None
) -> bytes:
    """The manifest of a model with these files, as it is written."""
    content = to_manifest(model, files) | {"networks": networks, "about": about}
    return json.dumps(content, indent=1, allow_nan=False).encode()


def check_place(path: Any) -> Path:
    """Refuse a path where a model cannot be stored."""
    target = Path(path)
    if target.exists() and not is_stored_model(target):
        raise InputError(f"{str(target)!r} exists and is not a stored model: choose another place")
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{str(target)!r} cannot be written: {str(above)!r} is not a folder")
    return target


def check_free(path: Any, overwrite: bool) -> Path:
    """Refuse a path that holds a model, unless it may be replaced; an unfinished fit may resume."""
    target = check_place(path)
    if not overwrite and (target.is_file() or (target / MANIFEST).is_file()):
        raise InputError(
            f"out {str(target)!r} holds a model already: choose another place, or replace it with "
            "--overwrite"
        )
    return target


def remove_leftovers(folder: Path, keep: set[str]) -> None:
    """Remove the files of an earlier model, and the notes of an unfinished fit."""
    for file in folder.iterdir():
        if file.name not in keep and is_part(file.name):
            file.unlink()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def _zipped(contents: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _write_folder(folder: Path, contents: dict[str, bytes]) -> None:
    """Write all files, the manifest last; what is there stays if that fails."""
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)
    before = {file.name for file in folder.iterdir()}
    try:
        for name, content in contents.items():
            # names carry the content's hash: a file of that name is the same file
            if name not in before or name == MANIFEST:
                write_atomic(folder / name, content)
    except BaseException:
        for name in contents.keys() - before:
            (folder / name).unlink(missing_ok=True)
        if is_new:
            folder.rmdir()
        raise
    remove_leftovers(folder, set(contents))
