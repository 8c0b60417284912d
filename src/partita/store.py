"""Saving and loading a fitted ensemble without pickle.

A stored model is a folder (or a zip) with ``manifest.json`` (everything but the submodels, in plain JSON, with the sha256 of every other
file) and one skops file for each submodel. Loading runs no code from the files: a type outside the trusted list is refused by name.
"""

import hashlib
import io
import json
import lzma
import shutil
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .atomic import write_whole
from .ensemble import FeaturePartitionEnsemble
from .errors import InputError, MissingExtraError, StoreError
from .light_imports import without_torch
from .manifest import FORMAT, LIBRARIES, MANIFEST, from_manifest, to_manifest

Read = Callable[[str, int], bytes]

ESTIMATOR = "estimator"  # what the submodels are clones of, for fitting again
NETWORKS = "networks"  # all submodels that were trained together
UNFINISHED = "unfinished"  # a folder of notes, while submodels are stored one by one (unfinished.py)
LARGEST_MANIFEST = 256 * 2**20
SCHEMA = "schema.json"  # of a skops file

# Types that skops does not trust by itself. Their files hold numbers and texts, not code, but a tree or booster made by somebody hostile
# could still crash the program or predict what he likes.
TRUSTED = (
    "collections.OrderedDict",
    "functools.partial",  # what it calls must be trusted too
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "partita.boosting.TableBoostingClassifier",
    "partita.boosting.TableBoostingRegressor",
    "partita.failures.FixedVote",
    "partita.vision.estimators.PixelSetClassifier",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def save(model: Any, path: Any, about: dict[str, Any] | None = None) -> Path:
    """Write a fitted ensemble to a folder, or to a zip if the path ends in ``.zip``. A model that is there is replaced as a whole.

    ``about``: further facts for the manifest, such as where the data came from; anything that JSON can hold.
    """
    if not isinstance(model, FeaturePartitionEnsemble):
        raise InputError(f"model is a {type(model).__name__}: give a fitted FeaturePartitionClassifier or FeaturePartitionRegressor")
    check_is_fitted(model, "estimators_")
    target = check_place(path)
    files, contents = {}, {}
    together = hasattr(model.estimators_, "scores")  # networks that were trained together are one file
    parts = {} if together else {submodel_name(t): submodel for t, submodel in enumerate(model.estimators_)}
    for part, fitted in (parts if model.estimator is None else parts | {ESTIMATOR: model.estimator}).items():
        name, facts, content = packed(part, fitted)
        files[name], contents[name] = facts, content
    networks = None
    if together:
        from .vision.keeping import to_bytes

        content, networks = to_bytes(model.estimators_, model.classes_)
        digest = hashlib.sha256(content).hexdigest()
        name = f"{NETWORKS}-{digest[:16]}.safetensors"
        files[name], contents[name] = {"sha256": digest, "bytes": len(content)}, content
    contents[MANIFEST] = manifest_of(model, files, about, networks)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".zip":
        write_whole(target, _zipped(contents))
    else:
        _write_folder(target, contents)
    return target


def submodel_name(t: int) -> str:
    return f"submodel-{t:04d}"


def packed(part: str, fitted: Any) -> tuple[str, dict[str, Any], bytes]:
    """An estimator as a file: its name, its hash and size, its content. Equal estimators give equal bytes."""
    content = _dumped(part, fitted)
    digest = hashlib.sha256(content).hexdigest()
    return f"{part}-{digest[:16]}.skops", {"sha256": digest, "bytes": len(content)}, content


def manifest_of(model: Any, files: dict[str, Any], about: dict[str, Any] | None, networks: Any = None) -> bytes:
    """The manifest of a model with these files."""
    return json.dumps(to_manifest(model, files) | {"networks": networks, "about": about}, indent=1, allow_nan=False).encode()


def check_place(path: Any) -> Path:
    """Refuse a place where a model cannot be put."""
    target = Path(path)
    if target.exists() and not _is_store(target):
        raise InputError(f"{str(target)!r} is there already and holds no stored model: choose another place")
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{str(target)!r} cannot be written: {str(above)!r} is no folder")
    return target


def load(path: Any, trusted: Sequence[str] = ()) -> Any:
    """Read a stored ensemble.

    Parameters
    ----------
    path : folder or zip
    trusted : list of str, default=()
        Further types that may be loaded, by their full names, such as the class of your own estimator. A type you name is built from the
        file's content by its own code: name only what you know.
    """
    with _opened(path) as read:
        return _restored(read, trusted)


def manifest(path: Any) -> dict[str, Any]:
    """What a stored ensemble says about itself, without loading its submodels."""
    with _opened(path) as read:
        return _manifest_of(read)


def digest(manifest: dict[str, Any]) -> str:
    """One hash for all files of a stored ensemble."""
    return hashlib.sha256(json.dumps(manifest["files"], sort_keys=True).encode()).hexdigest()


@contextmanager
def _opened(path: Any) -> Iterator[Read]:
    """A way to read a stored model's files: ``read(name, most)`` gives at most so many bytes."""
    target = Path(path)
    if not target.exists():
        raise InputError(f"path {str(target)!r} does not exist: give the folder or zip that save() wrote")
    if target.is_dir():
        if (target / UNFINISHED).is_dir() and not (target / MANIFEST).is_file():
            raise StoreError(f"the fit that writes {str(target)!r} is not finished: run it again, and it goes on")
        yield lambda name, most: _read_file(target, name, most)
    elif zipfile.is_zipfile(target):
        try:
            archive = zipfile.ZipFile(target)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as exc:
            raise StoreError(f"{str(target)!r} cannot be read as a zip ({exc}): the model was changed or damaged") from exc
        with archive:
            yield lambda name, most: _read_member(archive, name, most)
    else:
        raise StoreError(f"{str(target)!r} is neither a folder nor a zip: it is no stored model")


def _manifest_of(read: Read) -> dict[str, Any]:
    try:
        content = json.loads(read(MANIFEST, LARGEST_MANIFEST))
        newer = content["format"] > FORMAT
    except (KeyError, TypeError, ValueError, RecursionError) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded") from exc
    if newer:
        raise StoreError(f"the model's format {content['format']} is newer than this partita reads ({FORMAT}): update partita")
    return dict(content)


def _restored(read: Read, trusted: Sequence[str]) -> Any:
    manifest = _manifest_of(read)
    try:
        model = from_manifest(manifest)
        files = {str(name): {"sha256": str(facts["sha256"]), "bytes": int(facts["bytes"])} for name, facts in manifest["files"].items()}
        versions = {library: str(manifest["versions"][library]) for library in LIBRARIES}
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded") from exc
    _compare_versions(versions)
    parts = {name: _part(read, name, facts, trusted) for name, facts in sorted(files.items()) if not name.startswith(NETWORKS)}
    model.estimator = next((part for name, part in parts.items() if name.startswith(ESTIMATOR)), None)
    model.estimators_ = [part for name, part in parts.items() if not name.startswith(ESTIMATOR)]
    if manifest.get("networks") is not None:
        model.estimators_ = _networks(read, files, manifest["networks"], model)
    numbers = [name.split("-")[1] for name in parts if not name.startswith(ESTIMATOR)]
    if numbers != [f"{t:04d}" for t in range(len(numbers))]:
        raise StoreError(f"the submodel files are not numbered from 0 on: {MANIFEST} was changed or damaged")
    if len(model.estimators_) != len(model.partition_):
        raise StoreError(f"the model has {len(model.estimators_)} submodel files for {len(model.partition_)} submodels: it is not whole")
    return model


def _networks(read: Read, files: dict[str, Any], facts: dict[str, Any], model: Any) -> Any:
    try:
        from .vision.keeping import from_bytes
    except ImportError as exc:
        raise MissingExtraError("torch", "loading networks", "partita[torch]") from exc
    name = next((name for name in files if name.startswith(NETWORKS)), None)
    if name is None:
        raise StoreError("the networks' file is missing: the stored model is not whole")
    return from_bytes(_checked(read, name, files[name]), facts, model.classes_, [model._columns(t) for t in range(len(model.partition_))])


def _checked(read: Read, name: str, facts: dict[str, Any]) -> bytes:
    content = read(name, int(facts["bytes"]))
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise StoreError(f"{name} is not the file that was saved (its sha256 differs): the model was changed or damaged")
    return content


def _part(read: Read, name: str, facts: dict[str, Any], trusted: Sequence[str]) -> Any:
    content = _checked(read, name, facts)
    skops = _skops()
    try:
        unknown = sorted(set(skops.get_untrusted_types(data=content)) - {*TRUSTED, *trusted})
        if unknown:
            raise StoreError(f"{name} holds the type {unknown[0]}, which is not trusted: if you know it, load(path, trusted={unknown!r})")
        return skops.loads(content, trusted=[*TRUSTED, *trusted])
    except StoreError:
        raise
    except Exception as exc:
        raise StoreError(f"{name} cannot be loaded ({type(exc).__name__}: {exc})") from exc


def _read_file(folder: Path, name: str, most: int) -> bytes:
    file = folder / name
    if name != Path(name).name or not file.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{name!r} leads out of the stored model's folder: it is not loaded")
    if not file.is_file():
        raise StoreError(f"{name} is missing: the stored model is not whole")
    if file.stat().st_size > most:
        raise StoreError(f"{name} is larger than it says: the model was changed or damaged")
    return file.read_bytes()


def _read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    if name != Path(name).name:
        raise StoreError(f"{name!r} leads out of the stored model's archive: it is not loaded")
    try:
        with archive.open(name) as member:
            content = member.read(most + 1)  # never more than it says, whatever the archive unpacks to
    except KeyError as exc:
        raise StoreError(f"{name} is missing: the stored model is not whole") from exc
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as exc:
        raise StoreError(f"{name} cannot be read ({exc}): the model was changed or damaged") from exc
    if len(content) > most:
        raise StoreError(f"{name} is larger than it says: the model was changed or damaged")
    return content


def _compare_versions(stored: dict[str, str]) -> None:
    for library in LIBRARIES:
        now = version(library)
        if stored[library].split(".")[:2] != now.split(".")[:2]:
            warnings.warn(
                f"the model was stored with {library} {stored[library]} and is loaded with {now}: check its ballots on known rows",
                UserWarning,
                stacklevel=4,
            )


def _is_store(target: Path) -> bool:
    if target.is_dir():
        return (target / MANIFEST).is_file() or (target / UNFINISHED).is_dir() or not any(target.iterdir())
    if not zipfile.is_zipfile(target):
        return False
    with zipfile.ZipFile(target) as archive:
        return MANIFEST in archive.namelist()


def _dumped(part: str, fitted: Any) -> bytes:
    try:
        content: bytes = _skops().dumps(fitted)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(f"{part}, a {type(fitted).__name__}, cannot be stored by skops: {exc}") from exc
    return _without_chance(content)


def _without_chance(content: bytes) -> bytes:
    """A skops file without the time and the addresses in memory that it was made with: the same estimator gives the same bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(SCHEMA))
    numbers: dict[Any, int] = {}
    renamed: dict[str, bytes] = {}

    def settle(node: Any) -> None:
        if isinstance(node, list):
            for inner in node:
                settle(inner)
        if not isinstance(node, dict):
            return
        if isinstance(node.get("__id__"), int):
            plain = node.get("__loader__") == "JsonNode"  # a text or a number, which may be one object or several: it makes no difference
            node["__id__"] = numbers.setdefault(("value", node["content"]) if plain else node["__id__"], len(numbers))
        file = node.get("file")
        if isinstance(file, str) and file in members:
            node["file"] = f"{numbers.setdefault(file, len(numbers))}{Path(file).suffix}"
            renamed[node["file"]] = members[file]
        for inner in node.values():
            settle(inner)

    settle(schema)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in {SCHEMA: json.dumps(schema, indent=2).encode(), **renamed}.items():
            archive.writestr(zipfile.ZipInfo(name), member)  # a ZipInfo of 1980
    return packed.getvalue()


def _zipped(contents: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _write_folder(folder: Path, contents: dict[str, bytes]) -> None:
    """The manifest comes last and replaces the old one in a single step: until then the old model is whole, from then on the new one."""
    new_folder = not folder.exists()
    folder.mkdir(exist_ok=True)
    before = {file.name for file in folder.iterdir()}
    try:
        for name, content in contents.items():
            if name not in before or name == MANIFEST:  # names carry the content's hash: what is there is the same
                write_whole(folder / name, content)
    except BaseException:
        for name in contents.keys() - before:
            (folder / name).unlink(missing_ok=True)
        if new_folder:
            folder.rmdir()
        raise
    sweep_out(folder, set(contents))


def sweep_out(folder: Path, keep: set[str]) -> None:
    """Remove what an earlier model has left, the notes of an unfinished fit among it."""
    for file in folder.iterdir():
        if file.name not in keep and file.name.startswith(("submodel-", ESTIMATOR, NETWORKS)) and file.suffix in (".skops", ".safetensors"):
            file.unlink()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def _skops() -> Any:
    try:
        with without_torch():
            import skops.io
    except ImportError as exc:
        raise MissingExtraError("skops", "storing a model", "partita[store]") from exc
    return skops.io
