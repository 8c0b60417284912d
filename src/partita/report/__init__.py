"""The report: one HTML file that shows what is proven, and needs nothing else."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from .._support.atomic import write_whole
from ..audit._findings import read_audit
from ..errors import InputError
from ..store import _store as store
from ..tables._open import sha256_of
from ..workflow._sweep import read_sweep
from ..workflow._workflow import Certified
from ._facts import gather
from ._page import render

__all__ = ["gather", "render", "write_report"]


def write_report(
    certified: Certified, out: Any, sweep: Any = None, title: str | None = None, audit: Any = None
) -> Path:
    """Write the report on a table that a stored model was asked about.

    Parameters
    ----------
    certified : Certified
        What ``certify_file`` returned.
    out : path
        The HTML file to write.
    sweep : path, optional
        The sweep.json that ``partita sweep`` wrote for the same target.
    title : str, optional
        The heading; by default it names the table.
    audit : path, optional
        What ``partita audit --out`` wrote for the same model.

    Returns
    -------
    Path
        The file that was written.
    """
    swept = None if sweep is None else read_sweep(sweep)
    target = (certified.manifest.get("about") or {}).get("target")
    if swept is not None and target is not None and swept["target"] != target:
        raise InputError(
            f"sweep is about the target {swept['target']!r}, but the model predicts {target!r}: "
            "give the sweep of this model's data"
        )
    audited = None if audit is None else read_audit(audit)
    if audited is not None and audited["of"].get("model") != store.digest(certified.manifest):
        raise InputError(
            "audit is of another model: give what partita audit --out wrote for this one"
        )
    name = certified.file.path.name
    facts = gather(
        certified.answers,
        title=title or f"Certificates for {name}",
        truth=certified.truth,
        origin=origin_of(certified.manifest)
        | {"certified data": f"{name}, sha256 {sha256_of(certified.file.path)}"},
        files={file: facts["sha256"] for file, facts in certified.manifest["files"].items()},
        swept=swept,
        audited=audited,
        quality=certified.quality(),
    )
    path = Path(out)
    write_whole(path, render(facts).encode("utf-8", "replace"))
    return path


def origin_of(manifest: dict[str, Any]) -> dict[str, str]:
    """Where a stored model comes from: versions, seed, hashes."""
    about = manifest.get("about") or {}
    stored = {"model stored": _minute(str(manifest["stored"]))} if manifest.get("stored") else {}
    found = stored | {
        "partita": __version__,
        "Python": platform.python_version(),
        **{library: version(library) for library in manifest["versions"]},
        "stored with": ", ".join(
            f"{library} {number}"
            for library, number in {"partita": manifest["partita"], **manifest["versions"]}.items()
        ),
        "random_state": str(manifest["random_state"]),
    }
    if about:
        found["target"] = f"{about['target']} ({about['task']})"
        found["estimator"] = str(about["estimator"])
        data = about["data"]
        known = (
            f"sha256 {data['sha256']}"
            if "sha256" in data
            else f"sha256 of its Parquet footers {data['footers']}"
        )
        found["training data"] = f"{data['name']}, {data['rows']:,} rows, {known}"
    return found


def _minute(stored: str) -> str:
    """An ISO time as the report writes times, in UTC; what is none as it is."""
    try:
        time = datetime.fromisoformat(stored)
        return (
            f"{time.astimezone(UTC):%Y-%m-%d %H:%M UTC}"
            if time.tzinfo
            else f"{time:%Y-%m-%d %H:%M}"
        )
    except (ValueError, OverflowError):
        return stored
