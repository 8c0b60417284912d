"""The report's page: the template filled in, with its style, its script and its data inside.

The template alone says everything for the radius that the page opens with; the script moves the
radius, and sorts, finds and pages. An attacker may have written names and values, so all of
them are escaped: in HTML by the template, in the data by ``embedded``. The page allows no script
but its own, by hash, and no connection at all. Charts are SVG, drawn here.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from .._support import JsonObject, require
from ._statements import FULL_MODEL, interval, number, percent

# What could end the script element, open a comment in it, or end a line in old JavaScript.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}

# of a row, for the script
KEYS = ("row", "prediction", "truth", "right", "radius", "runner_up", "lead", "low", "high", "sets")

LEFT, RIGHT, TOP, BOTTOM = 46, 14, 24, 42
# the page shows the one that fits, so that its text stays legible
WIDTHS = {"wide": 600, "narrow": 360}
COLOURS = 7
LINE = 15  # height of a line of text


def render(facts: JsonObject) -> str:
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
    script = (files(__package__) / "script.js").read_text(encoding="utf-8")
    references = references_of(facts["quality"])
    curve = (
        charts(facts["curves"], facts["what"], references=references, marked=True)
        if facts["curves"]
        else []
    )
    return fill_in(
        "page.html",
        script,
        facts=facts,
        now=facts["at"][facts["default"]],
        full_model=FULL_MODEL,
        curve=curve,
        envelope=_envelope(facts["sweep"], facts["what"]) if facts["sweep"] else [],
        data=_escaped(embedded(_script_data(facts))),
    )


def fill_in(name: str, script: str, **values: Any) -> str:
    """Fill in a template of this package, with the style and a script that its policy allows."""
    jinja2 = require("jinja2", "a report", "partita[cli]")
    parts = files(__package__)
    style = (parts / "style.css").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"percent": percent, "interval": interval, "number": number}
    environment.filters["grouped"] = lambda count: f"{count:,}"
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    page: str = environment.from_string((parts / name).read_text(encoding="utf-8")).render(
        style=_escaped(style),
        script=_escaped(script),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; {allowed}base-uri 'none'; "
        "form-action 'none'",
        **values,
    )
    return page


def _escaped(text: str) -> Any:
    """Mark text as escaped already."""
    return require("markupsafe", "a report", "partita[cli]").Markup(text)


def _envelope(sweep: JsonObject, what: str) -> list[JsonObject]:
    """Return the curves of a sweep, over the best of them."""
    constant = sweep["constant"]
    references = [{"share": constant["share"], "name": "constant answer"}] if constant else []
    best = [*(entry["score"] for entry in sweep["best"]), 0]
    return charts(sweep["curves"], what, references=references, best=best)


def _script_data(facts: JsonObject) -> JsonObject:
    """Return what the script needs and the page's HTML does not say."""
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


def embedded(facts: JsonObject) -> str:
    """Return the facts as JSON that can stand inside a script element."""
    text = json.dumps(facts, ensure_ascii=True, allow_nan=False)
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# ---- step curves as the coordinates of an SVG: the script only moves the marker ----


def references_of(quality: JsonObject) -> list[JsonObject]:
    """Return what certified accuracy must be compared with."""
    found = []
    if quality["constant"]:
        found.append({"share": quality["constant"]["share"], "name": "constant answer"})
    if quality["full_model"] is not None:
        found.append({"share": quality["full_model"], "name": FULL_MODEL})
    return sorted(found, key=lambda one: -one["share"])


def charts(curves: Sequence[JsonObject], what: str, **more: Any) -> list[JsonObject]:
    """Return the chart for wide and for narrow places."""
    return [{"name": name, **chart(curves, what, width, **more)} for name, width in WIDTHS.items()]


def chart(
    curves: Sequence[JsonObject],
    what: str,
    width: int,
    references: Sequence[JsonObject] = (),
    best: Sequence[float] | None = None,
    marked: bool = False,
) -> JsonObject:
    """Return where everything in a drawing goes.

    Parameters
    ----------
    curves : sequence of mappings
        ``name`` and ``share`` at every radius.
    what : str
        What the radius counts.
    width : int
        Of the drawing.
    references : sequence of mappings, default=()
        Shares to compare with, the largest first.
    best : sequence of float, optional
        One more curve, drawn broad below the others.
    marked : bool, default=False
        Whether the first curve is the main one, with a marker that moves along it.
    """
    height = round(max(250, 0.56 * width))
    last = max(1, *(len(curve["share"]) - 1 for curve in curves))
    bottom, end = height - BOTTOM, width - RIGHT

    def x(r: int) -> float:
        return round(LEFT + r / last * (end - LEFT), 1)

    def y(share: float) -> float:
        return round(TOP + (1 - share) * (bottom - TOP), 1)

    def steps(shares: Sequence[float]) -> str:
        return f"M {x(0)} {y(shares[0])}" + "".join(
            f" H {x(r)} V {y(share)}" for r, share in enumerate(shares) if r
        )

    lines = [
        {"colour": k % COLOURS, "main": marked and k == 0, "path": steps(curve["share"])}
        for k, curve in enumerate(curves)
    ]
    first = curves[0]["share"]
    levels = [
        {"y": y(one["share"]), "text": f"{one['name']} {percent(one['share'])}"}
        for one in references
    ]
    names = _labelled(levels, y(first[0]), LEFT, end, bottom)

    def mark(r: int) -> dict[str, float]:
        """Place the marker and its text: above, or below if a line's name is there."""
        at = y(first[r] if r < len(first) else 0)
        text_y = max(TOP + 14.0, at - 9)
        taken = any(abs(name["text_y"] - text_y) < LINE for name in names)
        return {
            "x": x(r),
            "y": at,
            "text_y": round(at + 20 if taken and at + 20 < bottom else text_y, 1),
        }

    return {
        "width": width,
        "height": height,
        "left": LEFT,
        "end": end,
        "top": TOP,
        "bottom": bottom,
        "grid": [
            {"y": y(share), "text": f"{100 * share:g} %"} for share in (0, 0.25, 0.5, 0.75, 1)
        ],
        "ticks": [
            {"x": x(r), "text": r}
            for r in range(0, last + 1, max(1, -(-last * 36 // (end - LEFT))))
        ],
        "axis": f"radius: {what} an attacker owns",
        "lines": lines[::-1],  # the first on top
        "best": None if best is None else steps(best),
        "references": names,
        "marks": [mark(r) for r in range(last + 1)] if marked else [],
    }


def _labelled(
    lines: Sequence[JsonObject], curve_starts: float, left: float, end: float, bottom: float
) -> list[JsonObject]:
    """Return level lines with their names where the falling curve leaves room.

    That is on the right, above a line that is higher than the curve's start, and on the left, below
    any other.
    """
    found = []
    for above, x, anchor in ((True, end, "end"), (False, left + 6, "start")):
        limit = bottom  # no label comes below this
        on_this_side = [line for line in lines if (line["y"] < curve_starts) is above]
        for line in reversed(on_this_side):  # from the lowest up
            below = line["y"] + LINE
            text_y = below if not above and below <= limit else min(line["y"] - 6, limit)
            limit = text_y - LINE
            found.append({**line, "x": x, "anchor": anchor, "text_y": round(text_y, 1)})
    return found
