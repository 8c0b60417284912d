"""Keep reference rates beside a stored model: ``reference_rates.json``, which it does not need.

The file names the manifest it was learnt with, since a folder may be given a new model later. It is
written in one step, and no other file of the model is touched.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._support import write_atomic
from ..errors import StoreError
from ._archive import open_archive
from ._layout import MANIFEST
from ._manifest_checks import LARGEST_MANIFEST

USUAL = "reference_rates.json"
FORMAT = 1


def write_usual(path: Any, usual: Mapping[str, Any], data: Mapping[str, Any]) -> Path:
    """Keep what is usual with a stored model; returns the file, or the zip that holds it.

    Parameters
    ----------
    path : str or path
        The folder or zip of the model.
    usual : mapping
        What was learnt, as JSON holds it.
    data : mapping
        Where it was learnt: the ``name`` and ``sha256`` of a table.
    """
    target = Path(path)
    with open_archive(target) as read:
        model = _sha256(read(MANIFEST, LARGEST_MANIFEST))
    usual, data = dict(usual), dict(data)
    content = {"format": FORMAT, "model": model, "sha256": _hash(usual), "data": data}
    packed = json.dumps(content | {"usual": usual}, indent=1, allow_nan=False).encode()
    if target.is_dir():
        write_atomic(target / USUAL, packed)
        return target / USUAL
    write_atomic(target, _with_member(target, packed))
    return target


def read_usual(path: Any) -> dict[str, Any] | None:
    """What :func:`write_usual` kept; None without it, or where it is about an earlier model.

    Returns
    -------
    dict or None
        ``usual`` and ``data``, as they were given.
    """
    target = Path(path)
    with open_archive(target) as read:
        if target.is_dir():
            there = (target / USUAL).is_file()
        else:
            with zipfile.ZipFile(target) as archive:
                there = USUAL in archive.namelist()
        if not there:
            return None
        manifest, packed = (read(name, LARGEST_MANIFEST) for name in (MANIFEST, USUAL))
    try:
        content = json.loads(packed)
        if content["format"] > FORMAT:
            raise StoreError(f"{USUAL} was written by a newer partita: update it")
        whole = content["sha256"] == _hash(content["usual"])
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        if isinstance(exc, StoreError):
            raise
        raise StoreError(_damaged()) from exc
    if not whole or not isinstance(content["usual"], dict):
        raise StoreError(_damaged())
    if content.get("model") != _sha256(manifest):
        return None
    return {"usual": content["usual"], "data": content.get("data")}


def _with_member(path: Path, packed: bytes) -> bytes:
    """A zip with all members of another one, and this file."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != USUAL:
                new.writestr(member, old.read(member))
        new.writestr(USUAL, packed)
    return out.getvalue()


def _hash(usual: Any) -> str:
    return _sha256(json.dumps(usual, sort_keys=True).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged() -> str:
    return f"{USUAL} was changed or damaged: learn it again with partita watch MODEL --usual CLEAN"
