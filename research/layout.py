"""A table's cells as lines and columns, for the terminal and for the page of results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .cells import Cell, as_number

SECONDS = "seconds"
UNKNOWN = "?"


@dataclass(frozen=True)
class Block:
    """One quantity: a line per series, a column per x, cells "paper / ours (difference)"."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def split(self, width: int) -> Iterator["Block"]:
        """Parts that are at most so many characters wide, unless a single column is wider."""
        widths = [
            max(len(row[k]) for row in [["", *self.columns], *self.rows]) + 2
            for k in range(len(self.columns) + 1)
        ]
        first, used = 0, widths[0]
        for k, own in enumerate(widths[1:]):
            if k > first and used + own > width:
                yield self._part(first, k)
                first, used = k, widths[0]
            used += own
        yield self._part(first, len(self.columns))

    def _part(self, first: int, last: int) -> "Block":
        rows = [[row[0], *row[1 + first : 1 + last]] for row in self.rows]
        return Block(self.title, self.columns[first:last], [row for row in rows if any(row[1:])])

    def markdown(self) -> str:
        """The block as a Markdown table."""
        head = ["", *self.columns]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


def blocks(cells: Sequence[Cell]) -> list[Block]:
    """What was run, quantity by quantity; what goes beyond the paper has blocks of its own."""
    run = [cell for cell in cells if "ours" in cell]
    made: list[Block] = []
    for quantity, over, beyond in dict.fromkeys(
        (cell["quantity"], cell["over"], cell["beyond"]) for cell in run
    ):
        own = [
            cell
            for cell in run
            if (cell["quantity"], cell["over"], cell["beyond"]) == (quantity, over, beyond)
        ]
        xs = list(dict.fromkeys(cell["x"] for cell in own))
        xs = sorted(xs) if all(isinstance(x, int) for x in xs) else xs
        at = {(cell["series"], cell["x"]): cell for cell in own}
        rows = [
            [series, *(cell_text(at.get((series, x))) for x in xs)]
            for series in dict.fromkeys(cell["series"] for cell in own)
        ]
        names = [str(x) if over in ("data", "patch") else f"{over} = {x}" for x in xs]
        what = "beyond the paper, beside its best: paper's best" if beyond else "paper"
        made.append(Block(f"{quantity}, {what} / ours (difference)", names, rows))
    return made


def cell_text(cell: Cell | None) -> str:
    """A cell as "paper / ours ± deviation (difference)"; empty where there is none."""
    if cell is None:
        return ""
    paper, ours, difference = (
        _text(cell["quantity"], cell[name]) for name in ("paper", "ours", "difference")
    )
    sign = "" if difference.startswith("-") else "+"
    deviation = f" ± {cell['deviation']:.1f}" if "deviation" in cell else ""
    suffix = "" if difference == UNKNOWN else f" ({sign}{difference})"
    return f"{paper} / {ours}{deviation}{suffix}"


def _text(quantity: str, value: Any) -> str:
    """A number with the digits that its quantity deserves."""
    number = as_number(value)
    if number is None:
        return UNKNOWN
    if number == float("-inf"):
        return "-inf"
    if SECONDS in quantity or "times" in quantity:
        return f"{number:.2g}" if abs(number) < 10 else f"{number:,.0f}"
    return f"{number:g}" if quantity.startswith("median") else f"{number:.1f}"


def missing_settings(cells: Sequence[Cell]) -> list[str]:
    """Where ours is the best of fewer settings than the paper's: series, and what was not run."""
    series_by_missing: dict[str, dict[str, None]] = {}
    for cell in cells:
        if "without" in cell:
            series_by_missing.setdefault(cell["without"], {})[cell["series"]] = None
    return [
        f"{'; '.join(series)}: without {missing}" for missing, series in series_by_missing.items()
    ]


def not_run(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """What was not run, as (why, what); what goes beyond the paper is left out.

    Series that miss the same settings are named together.
    """
    missing = [cell for cell in cells if "not_run" in cell and not cell["beyond"]]
    reasons = dict.fromkeys(cell["not_run"] for cell in missing)
    return [
        (reason, _series_text([cell for cell in missing if cell["not_run"] == reason]))
        for reason in reasons
    ]


def _series_text(missing: Sequence[Cell]) -> str:
    """Series and where they miss a number: "a; b at T = 5, 10"."""
    xs_of: dict[str, list[Any]] = {}
    over_of: dict[str, str] = {}
    for cell in missing:
        xs = xs_of.setdefault(cell["series"], [])
        if cell["x"] not in xs:
            xs.append(cell["x"])
            over_of[cell["series"]] = cell["over"]
    series_at: dict[tuple[str, tuple[Any, ...]], list[str]] = {}
    for series, xs in xs_of.items():
        series_at.setdefault((over_of[series], tuple(xs)), []).append(series)
    texts = []
    for (over, places), names in series_at.items():
        some = ", ".join(map(str, places))
        where = {"data": f" ({some})", "patch": f" ({some})", "r": ""}.get(
            over, f" at {over} = {some}"
        )
        texts.append("; ".join(names) + where)
    return "; ".join(texts)
