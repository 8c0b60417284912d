"""Estimators as skops files: the only module that knows what is inside one.

A skops file is a zip with ``schema.json``, a tree of nodes, and one member per array. Three facts
about it are used here, and ``tests/store/test_skops.py`` fails when a version of skops changes one:

* a node has ``__id__`` (an address in memory), ``__loader__`` and, where its content is a member of
  the zip, ``file``;
* plain values are nodes whose loader is ``JsonNode``, with ``content``;
* members are named by chance, and carry the time.

Loading runs no code from the file: a type outside the trusted list is refused by name.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._support import require
from ..errors import MissingExtraError, StoreError
from ._light_imports import without_torch
from ._own_estimators import own_estimator

SCHEMA = "schema.json"

# Types that skops does not trust by itself. Their files hold numbers and texts, not code, but a
# tree or booster from an attacker could still crash the program or predict whatever they like.
TRUSTED = (
    "collections.OrderedDict",
    "functools.partial",  # what it calls must be trusted too
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "numpy.dtype",
    "partita.ensemble.TableBoostingClassifier",
    "partita.ensemble.TableBoostingRegressor",
    "partita.ensemble.TableTreesClassifier",
    "partita.ensemble.TableTreesRegressor",
    "partita.ensemble.FixedVote",
    "partita.vision.CellImageClassifier",
    "partita.vision.PixelSetClassifier",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def dump_estimator(part: str, fitted: Any) -> bytes:
    """An estimator as a skops file; equal estimators give equal bytes."""
    try:
        content: bytes = _skops_io().dumps(fitted)
    except MissingExtraError:
        raise
    except Exception as exc:
        raise StoreError(
            f"{part}, a {type(fitted).__name__}, cannot be stored by skops: {exc}"
        ) from exc
    return reproducible(content)


def load_estimator(name: str, content: bytes, trusted: Sequence[str]) -> Any:
    """The estimator in a skops file, if every type in it is trusted."""
    try:
        _check_sizes(name, content)
        own = own_estimator(content, SCHEMA)
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
    """A skops file without the time, the addresses in memory and the random names it was made with.

    Ids become numbers in the order of the tree. Two nodes that stand for the same text or number
    get one id, whether they were one object in memory or two.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop(SCHEMA))
    numbers: dict[Any, int] = {}
    renamed: dict[str, bytes] = {}

    def renumber(node: Any) -> None:
        if isinstance(node, list):
            for inner in node:
                renumber(inner)
        if not isinstance(node, dict):
            return
        if isinstance(node.get("__id__"), int):
            is_value = node.get("__loader__") == "JsonNode"
            key = ("value", node["content"]) if is_value else node["__id__"]
            node["__id__"] = numbers.setdefault(key, len(numbers))
        file = node.get("file")
        if isinstance(file, str) and file in members:
            node["file"] = f"{numbers.setdefault(file, len(numbers))}{Path(file).suffix}"
            renamed[node["file"]] = members[file]
        for inner in node.values():
            renumber(inner)

    renumber(schema)
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
        owners: dict[str, set[Any]] = {}
        _find_owners(json.loads(archive.read(SCHEMA)), owners)
        if any(len(objects) > 1 for objects in owners.values()):
            raise StoreError(
                f"{name} reads one array more than once: the model was changed or damaged"
            )


def _find_owners(node: Any, owners: dict[str, set[Any]]) -> None:
    """Which objects, by their ids, are read from each member of a skops file."""
    if isinstance(node, dict) and isinstance(node.get("file"), str):
        owners.setdefault(node["file"], set()).add(node.get("__id__", id(node)))
    inner_nodes = (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    )
    for inner in inner_nodes:
        _find_owners(inner, owners)


def _skops_io() -> Any:
    """skops imports every module of scikit-learn, and with them PyTorch where it is installed."""
    with without_torch():
        return require("skops.io", "storing a model", "partita[store]")
