"""The files of a stored model, read within limits and without running their code.

A stored model is a folder, or a zip, that holds ``manifest.json`` (everything but the submodels, in
plain JSON, with the sha256 of every other file) and one skops file per submodel. Networks that were
trained jointly are one safetensors file.

A stored model may come from a stranger. So no file is read that lies outside the model's folder,
none that is larger than the manifest says, and no archive that unpacks to far more than its own
size; and a type outside the trusted list is refused by name.
"""

import hashlib
import io
import json
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.abc import MetaPathFinder
from pathlib import Path
from threading import get_ident
from types import ModuleType
from typing import TypedDict

import numpy as np

from .._support import Estimator, JsonObject, PathLike, require
from ..ensemble import FLAT, FixedVote
from ..errors import InputError, MissingExtraError, StoreError

MANIFEST = "manifest.json"
ESTIMATOR = "estimator"  # what the submodels are clones of, for fitting again
FULL_MODEL = "full-model"  # one model on all columns, for comparison
FALLBACK = "fallback-estimator"  # what answers where the vote proves little, for fitting again
FALLBACK_MODEL = "fallback-model"  # the same, fitted
NETWORKS = "networks"  # all submodels that were trained jointly
UNFINISHED = "unfinished"  # a folder of notes, while submodels are stored one by one
OTHER_ESTIMATORS = (ESTIMATOR, FULL_MODEL, FALLBACK, FALLBACK_MODEL)  # beside the submodels
SUBMODEL_FILE = re.compile(r"submodel-(\d{4,9})-[0-9a-f]{16}\.skops")

LARGEST_MANIFEST = 256 * 2**20  # bytes
ALWAYS_UNPACKED = 256 * 2**20  # bytes that any archive may unpack to
MOST_TIMES_LARGER = 100  # larger archives may unpack to this many times their own size
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,  # encryption and unknown compressions are such
)

Read = Callable[[str, int], bytes]  # a file's name, and the most bytes it may have


class FileFacts(TypedDict):
    """What the manifest says about a file."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StoredFile:
    """A file of a stored model, in memory: its name holds the beginning of its sha256."""

    name: str
    sha256: str
    content: bytes

    @classmethod
    def of(cls, part: str, suffix: str, content: bytes) -> "StoredFile":
        """Make the file for a part of a model, such as ``submodel-0003``."""
        digest = sha256(content)
        return cls(f"{part}-{digest[:16]}{suffix}", digest, content)

    @property
    def facts(self) -> FileFacts:
        """What the manifest says about the file."""
        return {"sha256": self.sha256, "bytes": len(self.content)}


def sha256(content: bytes) -> str:
    """Return the hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def submodel_name(t: int) -> str:
    """Name the part of a stored model that is submodel t."""
    return f"submodel-{t:04d}"


def is_part(file_name: str) -> bool:
    """Return whether a file in a model's folder belongs to a model, this one or an earlier one."""
    parts = ("submodel-", *OTHER_ESTIMATORS, NETWORKS)
    return file_name.startswith(parts) and file_name.endswith((".skops", ".safetensors"))


def is_stored_model(target: Path) -> bool:
    """Return whether a path holds a stored or unfinished model or, as a folder, nothing at all."""
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


# ---- reading within limits ----


class MissingFileError(StoreError):
    """Raised for a file that a stored model does not have."""


@contextmanager
def open_archive(path: PathLike) -> Iterator[Read]:
    """Open a stored model for reading: ``read(name, most)`` returns a file of at most that size."""
    target = Path(path)
    if not target.exists():
        raise InputError(
            f"path {str(target)!r} does not exist: give the folder or zip that partita fit or "
            "save() wrote"
        )
    if target.is_dir():
        if (target / UNFINISHED).is_dir() and not (target / MANIFEST).is_file():
            raise StoreError(
                f"the fit that writes {str(target)!r} is not finished: run it again to resume it"
            )
        yield partial(_read, target)
    elif zipfile.is_zipfile(target):
        try:
            archive = zipfile.ZipFile(target)
        except ZIP_ERRORS as exc:
            raise StoreError(
                f"{str(target)!r} cannot be read as a zip ({exc}): the model was changed or damaged"
            ) from exc
        with archive:
            size = target.stat().st_size
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > max(ALWAYS_UNPACKED, MOST_TIMES_LARGER * size):
                raise StoreError(
                    f"{str(target)!r} has {size} bytes and unpacks to {unpacked}: the model was "
                    "changed or damaged"
                )
            yield partial(_read, archive)
    else:
        raise StoreError(f"{str(target)!r} is neither a folder nor a zip: not a stored model")


def read_checked(read: Read, name: str, facts: FileFacts) -> bytes:
    """Return a file's content, if it is the one that the manifest describes."""
    content = read(name, facts["bytes"])
    if sha256(content) != facts["sha256"]:
        raise StoreError(
            f"{name} is not the file that was saved (its sha256 differs): the model was changed "
            "or damaged"
        )
    return content


def check_inside(name: str, inside: bool = True) -> None:
    """Refuse a name that leads out of the stored model."""
    if not inside or name != Path(name).name:
        raise StoreError(f"{name!r} leads out of the stored model: it is not loaded")


def _read(place: Path | zipfile.ZipFile, name: str, most: int) -> bytes:
    check_inside(name)
    try:
        if isinstance(place, Path):
            file = place / name
            check_inside(name, file.resolve().is_relative_to(place.resolve()))  # a symbolic link
            if not file.is_file():
                raise FileNotFoundError
            size = file.stat().st_size
        else:
            size = place.getinfo(name).file_size
        with file.open("rb") if isinstance(place, Path) else place.open(name) as stream:
            if size > most:
                raise StoreError(
                    f"{name} is larger than {MANIFEST} says: the model was changed or damaged"
                )
            return stream.read(size)  # no more than it says it has
    except StoreError:
        raise
    except (KeyError, FileNotFoundError) as exc:
        raise MissingFileError(f"{name} is missing: the stored model is incomplete") from exc
    except ZIP_ERRORS as exc:
        raise StoreError(
            f"{name} cannot be read ({exc}): the model was changed or damaged"
        ) from exc


# ---- estimators as skops files ----

# A skops file is a zip with schema.json, a tree of nodes, and one member per array. Three facts
# about it are used here, and tests/store/test_skops.py fails when a version of skops changes one:
#
# * a node has __id__ (an address in memory), __loader__ and, where its content is a member of the
#   zip, file;
# * plain values are nodes whose loader is JsonNode, with content;
# * members are named by chance, and carry the time.

SCHEMA = "schema.json"
PROTOCOL = 2  # of skops' files; a later one is left to skops
OWN: dict[tuple[str, str], type[Estimator]] = {
    ("partita.ensemble", kind.__name__): kind for kind in (*FLAT, FixedVote)
}

# Types that skops does not trust by itself. Their files hold numbers and texts, not code, but a
# tree or booster from an attacker could still crash the program or predict whatever they like.
TRUSTED = (
    "collections.OrderedDict",
    "functools.partial",  # what it calls must be trusted too
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    *map(".".join, OWN),
    "partita.vision.CellImageClassifier",
    "partita.vision.PixelSetClassifier",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def dump_estimator(part: str, fitted: Estimator) -> bytes:
    """Return an estimator as a skops file; equal estimators give equal bytes."""
    try:
        content: bytes = _skops_io().dumps(fitted)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(
            f"{part}, a {type(fitted).__name__}, cannot be stored by skops: {exc}"
        ) from exc
    return reproducible(content)


def load_estimator(name: str, content: bytes, trusted: Sequence[str]) -> Estimator:
    """Return the estimator in a skops file, if every type in it is trusted."""
    try:
        _check_sizes(name, content)
        own = own_estimator(content)
        if own is not None:
            return own
        skops_io = _skops_io()
        unknown = sorted(set(skops_io.get_untrusted_types(data=content)) - {*TRUSTED, *trusted})
        if unknown:
            raise StoreError(
                f"{name} holds the type {unknown[0]}, which is not trusted: if you know it, give "
                f"--trust {unknown[0]} on the command line, or load(path, trusted={unknown!r})"
            )
        return skops_io.loads(content, trusted=[*TRUSTED, *trusted])
    except (StoreError, MissingExtraError):
        raise
    except Exception as exc:
        raise StoreError(f"{name} cannot be loaded ({type(exc).__name__}: {exc})") from exc


def reproducible(content: bytes) -> bytes:
    """Return a skops file without the time, addresses and random names it was made with.

    Ids become numbers in the order of the tree. Two nodes that stand for the same text or number
    get one id, whether they were one object in memory or two.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(SCHEMA))
    numbers: dict[object, int] = {}
    renamed: dict[str, bytes] = {}

    for node in _objects(schema):
        if isinstance(node.get("__id__"), int):
            is_value = node.get("__loader__") == "JsonNode"
            key = ("value", node["content"]) if is_value else node["__id__"]
            node["__id__"] = numbers.setdefault(key, len(numbers))
        file = node.get("file")
        if isinstance(file, str) and file in members:
            node["file"] = f"{numbers.setdefault(file, len(numbers))}{Path(file).suffix}"
            renamed[node["file"]] = members[file]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, member in {SCHEMA: json.dumps(schema).encode(), **renamed}.items():
            archive.writestr(zipfile.ZipInfo(name), member)  # a ZipInfo is dated 1980
    return packed.getvalue()


def _check_sizes(name: str, content: bytes) -> None:
    """Refuse a file that needs more memory than its size: save() writes every array once, as is."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > len(content):
            raise StoreError(
                f"{name} unpacks to more than its {len(content)} bytes: the model was changed or "
                "damaged"
            )
        owners: dict[str, set[object]] = {}
        for node in _objects(json.loads(archive.read(SCHEMA))):
            if isinstance(node.get("file"), str):
                owners.setdefault(node["file"], set()).add(node.get("__id__", id(node)))
        if any(len(objects) > 1 for objects in owners.values()):
            raise StoreError(
                f"{name} reads one array more than once: the model was changed or damaged"
            )


def _objects(node: object) -> Iterator[JsonObject]:
    """Yield the objects of a schema, each before those inside it."""
    if isinstance(node, dict):
        yield node
    if isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _objects(inner)


def _skops_io() -> ModuleType:
    """Import skops, and not PyTorch, which all of scikit-learn brings where it is installed."""
    with without_torch():
        return require("skops.io", "storing a model", "partita[store]")


class _NoTorch(MetaPathFinder):
    """An import hook that keeps PyTorch out: seconds and 300 MB for nothing."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torch" and get_ident() == self._thread:
            raise ImportError("PyTorch is not needed here")


@contextmanager
def without_torch() -> Iterator[None]:
    """Import without PyTorch in this block and on this thread, unless it is loaded already."""
    finder = _NoTorch()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


# ---- partita's own kinds ----

# They hold texts, numbers, lists, dicts and arrays, and are read without skops, whose import takes
# longer than all else a service does before its first answer.


class _OtherContentError(Exception):
    """The file holds something that only skops reads."""


def own_estimator(content: bytes) -> Estimator | None:
    """Return the estimator in a skops file; None where skops must read it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        if not isinstance(schema, dict) or schema.get("protocol") != PROTOCOL:
            return None
        kind = OWN.get((schema.get("__module__", ""), schema.get("__class__", "")))
        if kind is None or schema.get("__loader__") != "ObjectNode":
            return None
        try:
            state = _value(schema["content"], archive)
        except (_OtherContentError, KeyError):
            return None
    instance: Estimator = object.__new__(kind)
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
    else:
        instance.__dict__.update(state)
    return instance


def _value(node: JsonObject, archive: zipfile.ZipFile) -> object:
    loader, content = node["__loader__"], node.get("content", "")
    kind = (node["__module__"], node["__class__"])
    if loader == "JsonNode":
        return json.loads(content)
    if loader == "ListNode" and kind == ("builtins", "list"):
        return [_value(one, archive) for one in content]
    if loader == "DictNode" and kind == ("builtins", "dict"):
        keys = node["key_types"]["content"]
        if all((key["__module__"], key["__class__"]) == ("builtins", "str") for key in keys):
            return {key: _value(one, archive) for key, one in content.items()}
    if loader == "NdArrayNode" and kind == ("numpy", "ndarray") and node["type"] == "numpy":
        return np.load(io.BytesIO(archive.read(node["file"])), allow_pickle=False)
    raise _OtherContentError
