"""Estimators as skops files: what is inside one, and how it is read without running its code.

A skops file is a zip with ``schema.json``, a tree of nodes, and one member per array. Three facts
about it are used here, and ``tests/store/test_skops.py`` fails when a version of skops changes one:

* a node has ``__id__`` (an address in memory), ``__loader__`` and, where its content is a member of
  the zip, ``file``;
* plain values are nodes whose loader is ``JsonNode``, with ``content``;
* members are named by chance, and carry the time.

Loading runs no code from the file: a type outside the trusted list is refused by name. Submodels of
partita's own kinds are read without skops, whose import takes longer than all else a service does
before its first answer: they hold texts, numbers, lists, dicts and arrays.
"""

import io
import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from threading import get_ident
from types import ModuleType

import numpy as np

from .._support import Estimator, JsonObject, require
from ..ensemble import (
    FixedVote,
    TableBoostingClassifier,
    TableBoostingRegressor,
    TableTreesClassifier,
    TableTreesRegressor,
)
from ..errors import MissingExtraError, StoreError

SCHEMA = "schema.json"
PROTOCOL = 2  # of skops' files; a later one is left to skops
OWN = {
    ("partita.ensemble", kind.__name__): kind
    for kind in (
        FixedVote,
        TableBoostingClassifier,
        TableBoostingRegressor,
        TableTreesClassifier,
        TableTreesRegressor,
    )
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
    instance: Estimator = kind.__new__(kind)
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
