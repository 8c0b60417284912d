"""The report's page: the template filled in, with its style, its script and its data inside.

The template alone says everything for the radius that the page opens with; the script moves the
radius, and sorts, finds and pages. Names and values belong to whoever wrote the table, so all of
them are escaped: in HTML by the template, in the data by ``embedded``. The page allows no script
but its own, by hash, and no connection at all.
"""

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from .._support import require
from ._chart import charts, references_of
from ._statements import FULL_MODEL, estimate, interval, number, percent

# What could end the script element, open a comment in it, or end a line in old JavaScript.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}

# of a row, for the script
KEYS = ("row", "prediction", "truth", "right", "radius", "runner_up", "lead", "low", "high")


def render(facts: dict[str, Any]) -> str:
    """Write the report as one HTML text.

    Parameters
    ----------
    facts : dict
        What :func:`gather` collected.

    Returns
    -------
    str
        A page that needs no other file and no network.

    See Also
    --------
    gather : The numbers of the report, as plain data.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from partita import FeaturePartitionClassifier
    >>> from partita.report import gather, render
    >>> from partita.workflow import CertifiedTable
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = FeaturePartitionClassifier(GaussianNB(), n_submodels=5).fit(X[::2], y[::2])
    >>> page = render(gather(CertifiedTable.of(clf, X[1::2]), title="Wine"))
    >>> page.startswith("<!doctype html>")
    True
    """
    jinja2 = require("jinja2", "a report", "partita[cli]")
    markup = require("markupsafe", "a report", "partita[cli]").Markup
    parts = files(__package__)
    style = (parts / "style.css").read_text(encoding="utf-8")
    script = (parts / "script.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "percent": percent,
        "interval": interval,
        "estimate": estimate,
        "number": number,
    }
    environment.filters["grouped"] = lambda count: f"{count:,}"
    template = environment.from_string((parts / "page.html").read_text(encoding="utf-8"))
    references = references_of(facts["quality"])
    curve = (
        charts(facts["curves"], facts["what"], references=references, marked=True)
        if facts["curves"]
        else []
    )
    # Markup says "escaped already": the first two are ours, the third is what embedded() makes
    page: str = template.render(
        facts=facts,
        now=facts["at"][facts["default"]],
        full_model=FULL_MODEL,
        curve=curve,
        envelope=_envelope(facts["sweep"], facts["what"]) if facts["sweep"] else [],
        style=markup(style),
        script=markup(script),
        data=markup(embedded(_script_data(facts))),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
    )
    return page


def _envelope(sweep: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The curves of a sweep, over the best of them."""
    constant = sweep["constant"]
    references = [{"share": constant["share"], "name": "constant answer"}] if constant else []
    best = [*(entry["score"] for entry in sweep["best"]), 0]
    return charts(sweep["curves"], what, references=references, best=best)


def _script_data(facts: dict[str, Any]) -> dict[str, Any]:
    """What the script needs and the page's HTML does not say."""
    names = ("task", "what", "default", "at")
    return {name: facts[name] for name in names} | {
        **{
            name: [one[key] for one in facts["quality"]["recall"]]
            for name, key in (("recall", "share"), ("kept", "kept"), ("precision", "precision"))
        },
        "balanced": facts["quality"]["balanced"],
        "rows": [
            {key: row[key] for key in KEYS if key in row}
            | ({"critical": len(row["critical_units"])} if "critical_units" in row else {})
            | ({"from": row["values"][0], "to": row["values"][-1]} if "values" in row else {})
            for row in facts["rows"]
        ],
    }


def embedded(facts: dict[str, Any]) -> str:
    """The facts as JSON that can stand inside a script element."""
    text = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
