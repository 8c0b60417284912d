"""Writing the report on a certified file, and where its model comes from."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from .. import __version__
from .._support import JsonObject, PathLike, write_atomic
from ..attacks import read_audit
from ..errors import InputError
from ..selection import read_choice
from ..tables import sha256_of
from ..watch import stored_rates
from ..workflow import CHOSEN, CertifiedFile
from ._numbers import gather
from ._page import render


def write_report(
    certified: CertifiedFile,
    out: PathLike,
    sweep: PathLike | None = None,
    title: str | None = None,
    audit: PathLike | None = None,
) -> Path:
    """Write the report on a table that a stored model certified.

    ``partita report`` is this function on the command line.

    Parameters
    ----------
    certified : CertifiedFile
        The certified rows, with their model and their file.
    out : str or path
        The HTML file to write.
    sweep : str or path, optional
        The choice.json that ``partita choose`` wrote for the same target.
    title : str, optional
        The heading; by default it names the table.
    audit : str or path, optional
        What ``partita audit --out`` wrote for the same model.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        If the sweep is about another target, or the audit about another model.

    See Also
    --------
    gather : The numbers of the report, as plain data.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier, store
    >>> from partita.report import write_report
    >>> from partita.workflow import certify_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> X[1::2].to_csv(folder / "new.csv", index=False)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    >>> path = store.save(clf, folder / "model")
    >>> certified = certify_file(path, folder / "new.csv", verbose=0)
    >>> write_report(certified, folder / "report.html").name
    'report.html'
    """
    stored, path = certified.stored, certified.file.path
    swept = None if sweep is None else read_choice(sweep)
    target = stored.about.get("target")
    of_sweep = target if swept is None else swept.about["target"]
    if target is not None and of_sweep != target:
        raise InputError(
            f"sweep is about the target {of_sweep!r}, but the model predicts {target!r}: give the "
            "sweep of this model's data"
        )
    audited = None if audit is None else read_audit(audit)
    if audited is not None and audited["of"].get("model") != stored.digest:
        raise InputError(
            "audit is of another model: give what partita audit --out wrote for this one"
        )
    facts = gather(
        certified,
        title=title or f"Certificates for {path.name}",
        origin=origin_of(stored.manifest)
        | {"certified data": f"{path.name}, sha256 {sha256_of(path)}"},
        files={name: facts["sha256"] for name, facts in stored.manifest["files"].items()},
        sweep=swept,
        audit=audited,
        quality=certified.summary.quality() | {"chosen": CHOSEN[stored.chosen]},
        usual=stored_rates(stored),
    )
    place = Path(out)
    write_atomic(place, render(facts).encode("utf-8", "replace"))
    return place


def origin_of(manifest: JsonObject) -> dict[str, str]:
    """Return where a stored model comes from: versions, seed, hashes."""
    about = manifest.get("about") or {}
    stored = {"model stored": _minute(str(manifest["stored"]))} if manifest.get("stored") else {}
    versions = {"partita": manifest["partita"], **manifest["versions"]}
    found = stored | {
        "partita": __version__,
        "Python": platform.python_version(),
        **{library: version(library) for library in manifest["versions"]},
        "stored with": ", ".join(f"{library} {number}" for library, number in versions.items()),
        "random_state": str(manifest["random_state"]),
    }
    if about:
        data = about["data"]
        known = (
            f"sha256 {data['sha256']}"
            if "sha256" in data
            else f"sha256 of its Parquet footers {data['footers']}"
        )
        found["target"] = f"{about['target']} ({about['task']})"
        found["estimator"] = str(about["estimator"])
        if about.get("fallback"):
            found["fallback"] = str(about["fallback"])
        found["training data"] = f"{data['name']}, {data['rows']:,} rows, {known}"
    return found


def _minute(stored: str) -> str:
    """Format an ISO time in UTC, to the minute; leave any other text as it is."""
    try:
        time = datetime.fromisoformat(stored)
        if time.tzinfo is None:
            return f"{time:%Y-%m-%d %H:%M}"
        return f"{time.astimezone(UTC):%Y-%m-%d %H:%M UTC}"
    except (ValueError, OverflowError):
        return stored
