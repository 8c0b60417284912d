"""Step curves as the coordinates of an SVG.

The template writes them out, and the script only moves the marker.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ._statements import FULL_MODEL, percent

LEFT, RIGHT, TOP, BOTTOM = 46, 14, 24, 42
# the page shows the one that fits, so that its text stays legible
WIDTHS = {"wide": 600, "narrow": 360}
COLOURS = 7
LINE = 15  # height of a line of text


def references_of(quality: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What certified accuracy must be compared with."""
    found = []
    if quality["constant"]:
        found.append({"share": quality["constant"]["share"], "name": "constant answer"})
    if quality["full_model"] is not None:
        found.append({"share": quality["full_model"], "name": FULL_MODEL})
    return sorted(found, key=lambda one: -one["share"])


def charts(curves: Sequence[Mapping[str, Any]], what: str, **more: Any) -> list[dict[str, Any]]:
    """The chart for wide and for narrow places."""
    return [{"name": name, **chart(curves, what, width, **more)} for name, width in WIDTHS.items()]


def chart(
    curves: Sequence[Mapping[str, Any]],
    what: str,
    width: int,
    references: Sequence[Mapping[str, Any]] = (),
    best: Sequence[float] | None = None,
    marked: bool = False,
) -> dict[str, Any]:
    """Where everything in a drawing goes.

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
        """The marker's place, and its text's: above, or below if a line's name is there."""
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
    lines: Sequence[Mapping[str, Any]], curve_starts: float, left: float, end: float, bottom: float
) -> list[dict[str, Any]]:
    """Level lines with their names where the falling curve leaves room.

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
