"""Keep reference rates beside a stored model: ``reference_rates.json``, which it does not need.

The file names the manifest it was learnt with, since a folder may be given a new model later. It is
written in one step, and no other file of the model is touched.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .._support import JsonObject, PathLike, write_atomic
from ..errors import StoreError
from ._files import LARGEST_MANIFEST, MANIFEST, MissingFileError, open_archive, sha256

REFERENCE_RATES = "reference_rates.json"
FORMAT = 1


def write_rates(path: PathLike, rates: Mapping[str, object], data: Mapping[str, object]) -> Path:
    """Keep rates with a stored model; return the file, or the zip that holds it.

    Parameters
    ----------
    path : str or path
        The folder or zip of the model.
    rates : mapping
        What was learnt, as JSON holds it.
    data : mapping
        Where it was learnt: the ``name`` and ``sha256`` of a table.
    """
    target = Path(path)
    with open_archive(target) as read:
        model = sha256(read(MANIFEST, LARGEST_MANIFEST))
    content = {
        "format": FORMAT,
        "model": model,
        "sha256": _digest(rates),
        "data": dict(data),
        "usual": dict(rates),
    }
    packed = json.dumps(content, indent=1, allow_nan=False).encode()
    file = target / REFERENCE_RATES if target.is_dir() else target
    write_atomic(file, packed if target.is_dir() else _with_member(target, packed))
    return file


def read_rates(path: PathLike) -> JsonObject | None:
    """Return what was kept with a model; None without it, or where it is about an earlier model.

    Returns
    -------
    dict or None
        ``usual`` and ``data``, as they were given.
    """
    with open_archive(path) as read:
        try:
            packed = read(REFERENCE_RATES, LARGEST_MANIFEST)
        except MissingFileError:
            return None
        manifest = read(MANIFEST, LARGEST_MANIFEST)
    newer, usual = False, None
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        content = json.loads(packed)
        newer = content["format"] > FORMAT
        usual = content["usual"] if content["sha256"] == _digest(content["usual"]) else None
    if newer:
        raise StoreError(f"{REFERENCE_RATES} was written by a newer partita: update it")
    if not isinstance(usual, dict):
        raise StoreError(
            f"{REFERENCE_RATES} was changed or damaged: learn it again with partita watch MODEL "
            "--usual CLEAN"
        )
    current = content.get("model") == sha256(manifest)
    return {"usual": usual, "data": content.get("data")} if current else None


def _with_member(path: Path, packed: bytes) -> bytes:
    """Return a zip with all members of another one, and this file."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != REFERENCE_RATES:
                new.writestr(member, old.read(member))
        new.writestr(REFERENCE_RATES, packed)
    return out.getvalue()


def _digest(rates: object) -> str:
    return sha256(json.dumps(rates, sort_keys=True).encode())
