"""The report's page: the template filled in, with its style, its script and its data inside.

Names and values belong to whoever wrote the table, so all of them are escaped: in HTML by the template, in the data by ``embedded``. The
page allows no script but its own, by hash, and no connection at all.
"""

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from ..errors import MissingExtraError

# What could end the script element, open a comment in it, or end a line in old browsers' JavaScript.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


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
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["percent"] = percent
    environment.filters["grouped"] = lambda number: f"{number:,}"
    template = environment.from_string((parts / "page.html").read_text(encoding="utf-8"))
    # Markup says "escaped already": the first two are ours, the third is what embedded() makes
    return template.render(
        facts=facts,
        style=Markup(style),
        script=Markup(script),
        data=Markup(embedded(facts)),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'",
    )


def percent(share: float) -> str:
    """A share in %; 100.0 only where it is all."""
    return f"{100 * share if share == 1 else min(100 * share, 99.9):.1f} %"


def embedded(facts: dict[str, Any]) -> str:
    """The facts as JSON that can stand inside a script element."""
    text = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
