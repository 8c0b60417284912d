"""Keep reference rates beside a stored model: ``reference_rates.json``, which it does not need.

The file names the manifest it was learnt with, since a folder may be given a new model later. It is
written in one step, and no other file of the model is touched.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path

from .._support import JsonObject, PathLike, write_atomic
from ..errors import StoreError
from ._archive import open_archive
from ._layout import MANIFEST
from ._manifest_checks import LARGEST_MANIFEST

REFERENCE_RATES = "reference_rates.json"
FORMAT = 1


def write_rates(path: PathLike, usual: JsonObject, data: JsonObject) -> Path:
    """Keep reference rates with a stored model; return the file, or the zip that holds it.

    Parameters
    ----------
    path : str or path
        The folder or zip of the model.
    usual : dict
        What was learnt, as JSON holds it.
    data : dict
        Where it was learnt: the ``name`` and ``sha256`` of a table.
    """
    target = Path(path)
    with open_archive(target) as read:
        model = _sha256(read(MANIFEST, LARGEST_MANIFEST))
    content = {"format": FORMAT, "model": model, "sha256": _hash(usual), "data": data}
    packed = json.dumps(content | {"usual": usual}, indent=1, allow_nan=False).encode()
    if target.is_dir():
        write_atomic(target / REFERENCE_RATES, packed)
        return target / REFERENCE_RATES
    write_atomic(target, _with_member(target, packed))
    return target


def read_rates(path: PathLike) -> JsonObject | None:
    """Read what :func:`write_rates` kept; None without it, or where it is about an earlier model.

    Returns
    -------
    dict or None
        ``usual`` and ``data``, as they were given.
    """
    target = Path(path)
    with open_archive(target) as read:
        if target.is_dir():
            there = (target / REFERENCE_RATES).is_file()
        else:
            with zipfile.ZipFile(target) as archive:
                there = REFERENCE_RATES in archive.namelist()
        if not there:
            return None
        manifest, packed = (read(name, LARGEST_MANIFEST) for name in (MANIFEST, REFERENCE_RATES))
    try:
        content = json.loads(packed)
        if content["format"] > FORMAT:
            raise StoreError(f"{REFERENCE_RATES} was written by a newer partita: update it")
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
    """Return a zip with all members of another one, and this file."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != REFERENCE_RATES:
                new.writestr(member, old.read(member))
        new.writestr(REFERENCE_RATES, packed)
    return out.getvalue()


def _hash(usual: JsonObject) -> str:
    return _sha256(json.dumps(usual, sort_keys=True).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged() -> str:
    return (
        f"{REFERENCE_RATES} was changed or damaged: learn it again with partita watch MODEL "
        "--usual CLEAN"
    )
