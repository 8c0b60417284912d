"""The report's page: the template filled in, with its style, its script and its data inside.

The template alone says everything for the radius that the page opens with; the script moves the
radius, and sorts, finds and pages. Names and values belong to whoever wrote the table, so all of
them are escaped: in HTML by the template, in the data by ``embedded``. The page allows no script
but its own, by hash, and no connection at all."""

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from ..errors import MissingExtraError
from ._chart import charts, references_of
from ._statements import FULL_MODEL, estimate, interval, number, percent

# What could end the script element, open a comment in it, or end a line in old JavaScript.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}

KEYS = (
    "row",
    "prediction",
    "truth",
    "right",
    "radius",
    "rival",
    "lead",
    "low",
    "high",
)  # of a row, for the script


def render(facts: dict[str, Any]) -> str:
    """The report as one HTML text."""
    try:
        import jinja2
    except ImportError as exc:
        raise MissingExtraError("jinja2", "a report", "partita[cli]") from exc
    from markupsafe import Markup

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
    swept = facts["swept"]
    # Markup says "escaped already": the first two are ours, the third is what embedded() makes
    return template.render(
        facts=facts,
        now=facts["at"][facts["default"]],
        full_model=FULL_MODEL,
        curve=charts(
            facts["curves"], facts["what"], references=references_of(facts["quality"]), marked=True
        )
        if facts["curves"]
        else [],
        envelope=_envelope(swept, facts["what"]) if swept else [],
        style=Markup(style),
        script=Markup(script),
        data=Markup(embedded(_for_the_script(facts))),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
    )


def _envelope(swept: dict[str, Any], what: str) -> list[dict[str, Any]]:
    constant = (
        [{"share": swept["constant"]["share"], "name": "constant answer"}]
        if swept["constant"]
        else []
    )
    return charts(
        swept["curves"],
        what,
        references=constant,
        best=[*(one["score"] for one in swept["best"]), 0],
    )


def _for_the_script(facts: dict[str, Any]) -> dict[str, Any]:
    """What the page's HTML does not say."""
    names = ("of_values", "what", "default", "at")
    return {name: facts[name] for name in names} | {
        "recall": [one["share"] for one in facts["quality"]["recall"]],
        "balanced": facts["quality"]["balanced"],
        "rows": [
            {key: row[key] for key in KEYS if key in row}
            | ({"hangs": len(row["hangs_on"])} if "hangs_on" in row else {})
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
