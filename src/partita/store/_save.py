"""Write a fitted ensemble without pickle, as a whole or submodel by submodel.

In a folder the manifest comes last and replaces an earlier one in a single step: until then the
folder holds no model or still the old one, from then on the new one.

Where submodels arrive one by one, perhaps from several machines, each is a file in the model's
folder, written whole, and then a note of its hash in ``unfinished/``, beside the plan of the fit. A
submodel with a note of this plan and the right hash is finished; anything else is fitted again.
"""

import io
import json
import shutil
import time
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from .._support import Estimator, JsonObject, PathLike, write_atomic
from ..ensemble import Ensemble, FixedVote, were_trained_jointly
from ..errors import InputError, StoreError
from ._files import (
    ESTIMATOR,
    FALLBACK,
    FALLBACK_MODEL,
    FULL_MODEL,
    MANIFEST,
    NETWORKS,
    UNFINISHED,
    FileFacts,
    StoredFile,
    dump_estimator,
    is_part,
    is_stored_model,
    sha256,
    submodel_name,
)
from ._manifest import to_manifest

PLAN = "plan.json"
PATIENCE = 60  # seconds; a network folder may go on saying for so long that a file is not there


def save(model: Estimator, path: PathLike, about: JsonObject | None = None) -> Path:
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
    files, networks = [], None
    if were_trained_jointly(model.estimators_):  # they are one file
        from ..vision import to_bytes

        content, networks = to_bytes(model.estimators_, model.classes_)
        files.append(StoredFile.of(NETWORKS, ".safetensors", content))
    else:
        for t, submodel in enumerate(model.estimators_):
            files.append(stored_estimator(submodel_name(t), submodel))
    others = {
        ESTIMATOR: model.estimator,
        FULL_MODEL: getattr(model, "full_model_", None),
        FALLBACK: model.fallback,
        FALLBACK_MODEL: getattr(model, "fallback_model_", None),
    }
    files += [stored_estimator(part, other) for part, other in others.items() if other is not None]
    manifest = to_manifest(model, {file.name: file.facts for file in files}, about, networks)
    contents = {file.name: file.content for file in files} | {MANIFEST: _packed(manifest)}
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".zip":
        write_atomic(target, _zipped(contents))
    else:
        _write_folder(target, contents)
    return target


def stored_estimator(part: str, fitted: Estimator) -> StoredFile:
    """Return an estimator as a file of a stored model; equal estimators give equal files."""
    return StoredFile.of(part, ".skops", dump_estimator(part, fitted))


def _packed(manifest: JsonObject) -> bytes:
    return json.dumps(manifest, indent=1, allow_nan=False).encode()


def check_place(path: PathLike) -> Path:
    """Refuse a path where a model cannot be stored."""
    target = Path(path)
    if target.exists() and not is_stored_model(target):
        raise InputError(f"{str(target)!r} exists and is not a stored model: choose another place")
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{str(target)!r} cannot be written: {str(above)!r} is not a folder")
    return target


def check_free(path: PathLike, overwrite: bool) -> Path:
    """Refuse a path that holds a model, unless it may be replaced; an unfinished fit may resume."""
    target = check_place(path)
    if not overwrite and (target.is_file() or (target / MANIFEST).is_file()):
        raise InputError(
            f"out {str(target)!r} holds a model already: choose another place, or replace it with "
            "--overwrite"
        )
    return target


def remove_leftovers(folder: Path, keep: Iterable[str]) -> None:
    """Remove the files of an earlier model, and the notes of an unfinished fit."""
    keep = set(keep)
    for file in folder.iterdir():
        if file.name not in keep and is_part(file.name):
            file.unlink()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def _zipped(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
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
    remove_leftovers(folder, contents)


# ---- submodel by submodel ----


@dataclass(frozen=True)
class StoredSubmodel:
    """A submodel whose file is written."""

    t: int
    name: str
    sha256: str
    bytes: int
    failure: str | None = None  # why it casts a fixed vote, if it does

    @property
    def facts(self) -> FileFacts:
        """What the manifest says about the file."""
        return {"sha256": self.sha256, "bytes": self.bytes}


class UnfinishedModel:
    """The folder of a model whose submodels are being fitted.

    Parameters
    ----------
    folder : str or path
        Where the model goes; all workers must see it under the same path.
    """

    def __init__(self, folder: PathLike) -> None:
        if Path(folder).suffix == ".zip":
            raise InputError(
                f"out {str(folder)!r} is a zip, to which submodels cannot be added one by one: "
                "give a folder"
            )
        self.folder = check_place(folder).absolute()
        self._notes = self.folder / UNFINISHED
        self._plan: str | None = None  # its hash

    def begin(self, plan: JsonObject) -> None:
        """Begin or resume a fit; an error if the folder holds the beginning of another one.

        ``plan`` is everything that the submodels depend on.
        """
        content = json.dumps(plan, indent=1).encode()
        plan, self._plan = json.loads(content), sha256(content)
        place = self._notes / PLAN
        if not place.is_file():
            self._write("the plan", place, content)
            return
        try:
            before = json.loads(place.read_bytes())
        except ValueError:
            before = {}
        for key in sorted({*before, *plan}):
            if before.get(key) != plan.get(key):
                raise InputError(
                    f"out {str(self.folder)!r} holds the beginning of another fit, which differs "
                    f"in {key!r}: choose another place, or delete {str(self._notes)!r} to give "
                    "that one up"
                )

    def find(self, t: int) -> StoredSubmodel | None:
        """Return submodel t, if its file is complete and was fitted by this plan."""
        try:
            note = json.loads(self._note(t).read_bytes())
            if note.pop("plan") != self._plan:  # a note may outlive its plan
                return None
            stored = StoredSubmodel(**note)
            content = (self.folder / stored.name).read_bytes()
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        facts: FileFacts = {"sha256": sha256(content), "bytes": len(content)}
        same = facts == stored.facts and stored.t == t
        return stored if same else None

    def add(self, t: int, submodel: Estimator) -> StoredSubmodel:
        """Store submodel t: first the file, then the note that says it is complete."""
        file = stored_estimator(submodel_name(t), submodel)
        failure = submodel.cause if isinstance(submodel, FixedVote) else None
        stored = StoredSubmodel(t, file.name, **file.facts, failure=failure)
        note = asdict(stored) | {"plan": self._plan}
        self._write(f"submodel {t}", self.folder / file.name, file.content)
        self._write(f"submodel {t}", self._note(t), json.dumps(note).encode())
        return stored

    def wait_for(self, stored: StoredSubmodel) -> None:
        """Wait until a submodel can be read here: another machine's file may take a while."""
        end = time.monotonic() + PATIENCE
        while self.find(stored.t) != stored:
            if time.monotonic() > end:
                raise StoreError(
                    f"submodel {stored.t} is fitted, but not in {str(self.folder)!r}: all workers "
                    "must see this folder under the same path"
                )
            time.sleep(0.2)

    def finish(self, model: Ensemble, submodels: list[StoredSubmodel], about: JsonObject) -> Path:
        """Write the manifest, which replaces that of an earlier model in one step."""
        files = {one.name: one.facts for one in submodels}
        if model.estimator is not None:
            file = stored_estimator(ESTIMATOR, model.estimator)
            files[file.name] = file.facts
            self._write("the estimator", self.folder / file.name, file.content)
        manifest = _packed(to_manifest(model, files, about))
        self._write("the manifest", self.folder / MANIFEST, manifest)
        remove_leftovers(self.folder, files)
        return self.folder

    def _note(self, t: int) -> Path:
        return self._notes / f"{submodel_name(t)}.json"

    def _write(self, what: str, path: Path, content: bytes) -> None:
        try:
            write_atomic(path, content)
        except OSError as exc:
            raise StoreError(
                f"{what} cannot be written to {str(self.folder)!r} ({exc.strerror or exc}): "
                "finished submodels are safe, so make room and run the same again"
            ) from exc
