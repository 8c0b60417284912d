"""Saving and loading a fitted ensemble without pickle.

A stored model is a folder (or a zip) with ``manifest.json`` (everything but the submodels, in plain
JSON, with the sha256 of every other file) and one skops file for each submodel. Loading runs no
code from the files: a type outside the trusted list is refused by name."""

import hashlib
import io
import json
import lzma
import re
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

from .. import __version__
from .._support.atomic import write_whole
from ..ensemble._base import FeaturePartitionEnsemble
from ..errors import InputError, MissingExtraError, StoreError
from ._light_imports import without_torch
from ._manifest import FORMAT, LIBRARIES, MANIFEST, from_manifest, to_manifest

Read = Callable[[str, int], bytes]

ESTIMATOR = "estimator"  # what the submodels are clones of, for fitting again
FULL_MODEL = "full-model"  # one model on all columns, for comparison
NETWORKS = "networks"  # all submodels that were trained together
UNFINISHED = (
    "unfinished"  # a folder of notes, while submodels are stored one by one (unfinished.py)
)
SUBMODEL = re.compile(r"submodel-(\d{4,9})-[0-9a-f]{16}\.skops")
VERSION = re.compile(r"[\w.+!-]{1,40}", re.ASCII)
LARGEST_MANIFEST = 256 * 2**20
LARGEST_INTEGER = 2**64  # labels may be unsigned
ALWAYS_UNPACKED = 256 * 2**20  # bytes that any archive may unpack to
MOST_TIMES_LARGER = 100  # and larger ones to so many times their own size
SCHEMA = "schema.json"  # of a skops file

# Types that skops does not trust by itself. Their files hold numbers and texts, not code, but a
# tree or booster made by somebody hostile could still crash the program or predict what he likes.
TRUSTED = (
    "collections.OrderedDict",
    "functools.partial",  # what it calls must be trusted too
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "partita.ensemble.TableBoostingClassifier",
    "partita.ensemble.TableBoostingRegressor",
    "partita.ensemble.FixedVote",
    "partita.vision.PixelSetClassifier",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def save(model: Any, path: Any, about: dict[str, Any] | None = None) -> Path:
    """Write a fitted ensemble to a folder, or to a zip if the path ends in ``.zip``. A model that
    is there is replaced as a whole.

    ``about``: further facts for the manifest, such as where the data came from; anything that JSON
    can hold."""
    if not isinstance(model, FeaturePartitionEnsemble):
        raise InputError(
            f"model is a {type(model).__name__}: give a fitted FeaturePartitionClassifier or "
            "FeaturePartitionRegressor"
        )
    check_is_fitted(model, "estimators_")
    target = check_place(path)
    files, contents = {}, {}
    together = hasattr(
        model.estimators_, "scores"
    )  # networks that were trained together are one file
    parts = (
        {}
        if together
        else {submodel_name(t): submodel for t, submodel in enumerate(model.estimators_)}
    )
    parts |= {} if model.estimator is None else {ESTIMATOR: model.estimator}
    parts |= {} if getattr(model, "full_model_", None) is None else {FULL_MODEL: model.full_model_}
    for part, fitted in parts.items():
        name, facts, content = packed(part, fitted)
        files[name], contents[name] = facts, content
    networks = None
    if together:
        from ..vision._serialization import to_bytes

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
    """An estimator as a file: its name, its hash and size, its content. Equal estimators give equal
    bytes."""
    content = _dumped(part, fitted)
    digest = hashlib.sha256(content).hexdigest()
    return f"{part}-{digest[:16]}.skops", {"sha256": digest, "bytes": len(content)}, content


def manifest_of(
    model: Any, files: dict[str, Any], about: dict[str, Any] | None, networks: Any = None
) -> bytes:
    """The manifest of a model with these files."""
    return json.dumps(
        to_manifest(model, files) | {"networks": networks, "about": about},
        indent=1,
        allow_nan=False,
    ).encode()


def check_place(path: Any) -> Path:
    """Refuse a place where a model cannot be put."""
    target = Path(path)
    if target.exists() and not _is_store(target):
        raise InputError(
            f"{str(target)!r} is there already and holds no stored model: choose another place"
        )
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir():
        raise InputError(f"{str(target)!r} cannot be written: {str(above)!r} is no folder")
    return target


def check_free(path: Any, overwrite: bool) -> Path:
    """Refuse a place where a model is already, unless it may be replaced; an unfinished fit may go
    on."""
    target = check_place(path)
    if not overwrite and (target.is_file() or (target / MANIFEST).is_file()):
        raise InputError(
            f"out {str(target)!r} holds a model already: choose another place, or replace it with "
            "--overwrite"
        )
    return target


def load(path: Any, trusted: Sequence[str] = ()) -> Any:
    """Read a stored ensemble.

    Parameters
    ----------
    path : folder or zip
    trusted : list of str, default=()
        Further types that may be loaded, by their full names, such as the class of your own
        estimator. A type you name is built from the file's content by its own code: name only what
        you know.
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
        raise InputError(
            f"path {str(target)!r} does not exist: give the folder or zip that save() wrote"
        )
    if target.is_dir():
        if (target / UNFINISHED).is_dir() and not (target / MANIFEST).is_file():
            raise StoreError(
                f"the fit that writes {str(target)!r} is not finished: run it again, and it goes on"
            )
        yield lambda name, most: _read_file(target, name, most)
    elif zipfile.is_zipfile(target):
        try:
            archive = zipfile.ZipFile(target)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as exc:
            raise StoreError(
                f"{str(target)!r} cannot be read as a zip ({exc}): the model was changed or damaged"
            ) from exc
        with archive:
            _check_unpacked(target, archive)
            yield lambda name, most: _read_member(archive, name, most)
    else:
        raise StoreError(f"{str(target)!r} is neither a folder nor a zip: it is no stored model")


def _manifest_of(read: Read) -> dict[str, Any]:
    try:
        content = json.loads(read(MANIFEST, LARGEST_MANIFEST), parse_int=_integer)
        newer = content["format"] > FORMAT
        if content["format"] < 1:
            raise ValueError(f"format is {content['format']}")
        if not isinstance(content.get("about"), dict | None):
            raise TypeError("about is no object")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(
            f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded"
        ) from exc
    if newer:
        raise StoreError(
            f"the model's format {content['format']} is newer than this partita reads ({FORMAT}): "
            "update partita"
        )
    return dict(content)


def _integer(digits: str) -> int:
    """An integer of JSON that numpy can hold."""
    number = int(digits) if len(digits) <= 20 else LARGEST_INTEGER
    if not -LARGEST_INTEGER < number < LARGEST_INTEGER:
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


def _restored(read: Read, trusted: Sequence[str]) -> Any:
    manifest = _manifest_of(read)
    try:
        model = from_manifest(manifest)
        files = {str(name): _facts(facts) for name, facts in manifest["files"].items()}
        versions = {"partita": manifest["partita"]} | {
            library: manifest["versions"][library] for library in LIBRARIES
        }
        if not all(VERSION.fullmatch(found) for found in versions.values()):
            raise ValueError("its versions are no versions")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(
            f"{MANIFEST} is damaged ({type(exc).__name__}: {exc}): the model cannot be loaded"
        ) from exc
    for name in files:
        if name != Path(name).name:
            raise StoreError(f"{name!r} leads out of the stored model's folder: it is not loaded")
    _compare_versions(versions)
    networks = manifest.get("networks")
    names = [] if networks is not None else _submodels(files, len(model.partition_))
    model.estimator, model.full_model_ = (
        next(
            (
                _part(read, name, files[name], trusted)
                for name in sorted(files)
                if name.startswith(part)
            ),
            None,
        )
        for part in (ESTIMATOR, FULL_MODEL)
    )
    if networks is None:
        model.estimators_ = [_part(read, name, files[name], trusted) for name in names]
    else:
        model.estimators_ = _networks(read, files, networks, model)
    return model


def _facts(stored: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of a file."""
    if type(stored["bytes"]) is not int or stored["bytes"] < 0:
        raise ValueError(f"a file has {str(stored['bytes'])[:40]} bytes")
    return {"sha256": str(stored["sha256"]), "bytes": stored["bytes"]}


def _submodels(files: dict[str, Any], n_submodels: int) -> list[str]:
    """The submodels' files, in their order."""
    numbered = {
        name: SUBMODEL.fullmatch(name)
        for name in files
        if not name.startswith((ESTIMATOR, FULL_MODEL))
    }
    numbers = {name: int(found[1]) for name, found in numbered.items() if found is not None}
    if len(files) - len(numbered) > 2 or sorted(numbers.values()) != list(range(len(numbered))):
        raise StoreError(
            f"the submodel files are not numbered from 0 on: {MANIFEST} was changed or damaged"
        )
    if len(numbers) != n_submodels:
        raise StoreError(
            f"the model has {len(numbers)} submodel files for {n_submodels} submodels: it is not "
            "whole"
        )
    return sorted(numbers, key=numbers.__getitem__)


def _networks(read: Read, files: dict[str, Any], facts: Any, model: Any) -> Any:
    try:
        from ..vision._serialization import from_bytes
    except ImportError as exc:
        raise MissingExtraError("torch", "loading networks", "partita[torch]") from exc
    name = next((name for name in files if name.startswith(NETWORKS)), None)
    if name is None:
        raise StoreError("the networks' file is missing: the stored model is not whole")
    if not hasattr(model, "classes_"):
        raise StoreError(f"{MANIFEST} is damaged: a model of numbers has no networks")
    columns = [model._columns(t) for t in range(len(model.partition_))]
    return from_bytes(_checked(read, name, files[name]), facts, model.classes_, columns)


def _checked(read: Read, name: str, facts: dict[str, Any]) -> bytes:
    content = read(name, int(facts["bytes"]))
    if hashlib.sha256(content).hexdigest() != facts["sha256"]:
        raise StoreError(
            f"{name} is not the file that was saved (its sha256 differs): the model was changed "
            "or damaged"
        )
    return content


def _part(read: Read, name: str, facts: dict[str, Any], trusted: Sequence[str]) -> Any:
    content = _checked(read, name, facts)
    skops = _skops()
    try:
        _check_skops(name, content)
        unknown = sorted(set(skops.get_untrusted_types(data=content)) - {*TRUSTED, *trusted})
        if unknown:
            raise StoreError(
                f"{name} holds the type {unknown[0]}, which is not trusted: if you know it, give "
                f"--trust {unknown[0]} on the command "
                f"line, or load(path, trusted={unknown!r})"
            )
        return skops.loads(content, trusted=[*TRUSTED, *trusted])
    except StoreError:
        raise
    except Exception as exc:
        raise StoreError(f"{name} cannot be loaded ({type(exc).__name__}: {exc})") from exc


def _check_skops(name: str, content: bytes) -> None:
    """Refuse a file that would take more room than its size: save() writes every array once, as it
    is."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > len(content):
            raise StoreError(
                f"{name} unpacks to more than its {len(content)} bytes: the model was changed or "
                "damaged"
            )
        owners: dict[str, set[Any]] = {}
        _files_in(json.loads(archive.read(SCHEMA)), owners)
        if any(len(objects) > 1 for objects in owners.values()):
            raise StoreError(
                f"{name} reads one array more than once: the model was changed or damaged"
            )


def _files_in(node: Any, owners: dict[str, set[Any]]) -> None:
    """Which objects, by their ids, are read from each file of a skops schema."""
    if isinstance(node, dict) and isinstance(node.get("file"), str):
        owners.setdefault(node["file"], set()).add(node.get("__id__", id(node)))
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        _files_in(inner, owners)


def _check_unpacked(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive of a few bytes that unpacks to very many."""
    size, unpacked = path.stat().st_size, sum(member.file_size for member in archive.infolist())
    if unpacked > max(ALWAYS_UNPACKED, MOST_TIMES_LARGER * size):
        raise StoreError(
            f"{str(path)!r} has {size} bytes and unpacks to {unpacked}: the model was changed or "
            "damaged"
        )


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
        size = archive.getinfo(name).file_size
        if size > most:
            raise StoreError(f"{name} is larger than it says: the model was changed or damaged")
        with archive.open(name) as member:
            return member.read(size)
    except KeyError as exc:
        raise StoreError(f"{name} is missing: the stored model is not whole") from exc
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(
            f"{name} cannot be read ({exc}): the model was changed or damaged"
        ) from exc


def _compare_versions(stored: dict[str, str]) -> None:
    """Warn where a model was stored by other versions; of partita every release counts, since it
    may mend a proof."""
    if stored["partita"] != __version__:
        warnings.warn(
            f"the model was stored by partita {stored['partita']} and is loaded with "
            f"{__version__}: "
            "see what changed in CHANGELOG.md, and check its ballots on known rows",
            UserWarning,
            stacklevel=4,
        )
    for library in LIBRARIES:
        now = version(library)
        if stored[library].split(".")[:2] != now.split(".")[:2]:
            warnings.warn(
                f"the model was stored with {library} {stored[library]} and is loaded with {now}: "
                "check its ballots on known rows",
                UserWarning,
                stacklevel=4,
            )


def _is_store(target: Path) -> bool:
    if target.is_dir():
        return (
            (target / MANIFEST).is_file()
            or (target / UNFINISHED).is_dir()
            or not any(target.iterdir())
        )
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
        raise StoreError(
            f"{part}, a {type(fitted).__name__}, cannot be stored by skops: {exc}"
        ) from exc
    return _without_chance(content)


def _without_chance(content: bytes) -> bytes:
    """A skops file without the time and the addresses in memory that it was made with: the same
    estimator gives the same bytes."""
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
            plain = (
                node.get("__loader__") == "JsonNode"
            )  # a text or a number, which may be one object or several: it makes no difference
            node["__id__"] = numbers.setdefault(
                ("value", node["content"]) if plain else node["__id__"], len(numbers)
            )
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
    """The manifest comes last and replaces the old one in a single step: until then the old model
    is whole, from then on the new one."""
    new_folder = not folder.exists()
    folder.mkdir(exist_ok=True)
    before = {file.name for file in folder.iterdir()}
    try:
        for name, content in contents.items():
            if (
                name not in before or name == MANIFEST
            ):  # names carry the content's hash: what is there is the same
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
        if (
            file.name not in keep
            and file.name.startswith(("submodel-", ESTIMATOR, FULL_MODEL, NETWORKS))
            and file.suffix in (".skops", ".safetensors")
        ):
            file.unlink()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def _skops() -> Any:
    try:
        with without_torch():
            import skops.io
    except ImportError as exc:
        raise MissingExtraError("skops", "storing a model", "partita[store]") from exc
    return skops.io
