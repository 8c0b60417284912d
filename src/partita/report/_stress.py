"""The report of a stress test: which source does how much harm to a model."""

from datetime import UTC, datetime
from pathlib import Path

from .. import __version__
from .._support import PathLike, write_atomic
from ..attacks import FAULTS, StressTest
from ._page import fill_in

KINDS = (*FAULTS, "readings", "lies", "poisoning", "backdoor")


def write_stress_report(found: StressTest, out: PathLike, title: str | None = None) -> Path:
    """Write what a stress test found as one HTML file.

    Parameters
    ----------
    found : StressTest
        What :func:`partita.stress` returned.
    out : str or path
        The .html file to write.
    title : str, optional
        The heading.

    Returns
    -------
    Path
        The file that was written; it needs no other file and no network.

    See Also
    --------
    write_report : The report of certificates.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import stress
    >>> from partita.report import write_stress_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = stress(GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2], radius=1)
    >>> write_stress_report(found, f"{tempfile.mkdtemp()}/stress.html").name
    'stress.html'
    """
    facts = found.as_dict()
    for one in facts["sources"]:
        faults = [(one[fault], fault) for fault in FAULTS if one[fault] is not None]
        one["worst"] = min(faults, default=None)
    rows = facts["comparison"]
    page = fill_in(
        "stress.html",
        "",
        found=facts,
        title=title or "What one bad source can do",
        kinds=[kind for kind in KINDS if any(one[kind] is not None for one in facts["sources"])],
        own=rows[0] if rows else None,
        models=rows[1:],
        radii=range(1, len(facts["shares"])),
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M UTC}",
        version=__version__,
    )
    place = Path(out)
    write_atomic(place, page.encode("utf-8", "replace"))
    return place
