"""A table's cells as lines and columns, for the terminal and for the page of results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ._cells import Cell, as_number

SECONDS = "seconds"
NOTHING = "?"


@dataclass(frozen=True)
class Block:
    """One quantity: a line a series, a column an x, "paper / ours (difference)"; ± is the deviation
    from seed to seed."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def narrow(self, width: int) -> Iterator["Block"]:
        """The same in parts that are at most so many characters wide, where one column alone is not
        wider."""
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
        head = ["", *self.columns]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


def blocks(cells: Sequence[Cell]) -> list[Block]:
    """What was run, quantity by quantity; what goes beyond the paper apart."""
    run = [cell for cell in cells if "ours" in cell]
    made = []
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
            [series, *(shown(at.get((series, x))) for x in xs)]
            for series in dict.fromkeys(cell["series"] for cell in own)
        ]
        names = [str(x) if over in ("data", "patch") else f"{over} = {x}" for x in xs]
        what = "beyond the paper, beside its best: paper's best" if beyond else "paper"
        made.append(Block(f"{quantity}, {what} / ours (difference)", names, rows))
    return made


def shown(cell: Cell | None) -> str:
    """A cell as text."""
    if cell is None:
        return ""
    paper, ours, by = (
        _text(cell["quantity"], cell[name]) for name in ("paper", "ours", "difference")
    )
    sign = "" if by == NOTHING or by.startswith("-") else "+"
    spread = f" ± {cell['deviation']:.1f}" if "deviation" in cell else ""
    return f"{paper} / {ours}{spread}" + ("" if by == NOTHING else f" ({sign}{by})")


def _text(quantity: str, value: Any) -> str:
    number = as_number(value)
    if number is None:
        return NOTHING
    if number == float("-inf"):
        return "-inf"
    if SECONDS in quantity or "times" in quantity:
        return f"{number:.2g}" if abs(number) < 10 else f"{number:,.0f}"
    return f"{number:g}" if quantity.startswith("median") else f"{number:.1f}"


def without(cells: Sequence[Cell]) -> list[str]:
    """Where ours is the best of fewer settings than the paper's: series, and what was not run for
    them."""
    together: dict[str, dict[str, None]] = {}
    for cell in cells:
        if "without" in cell:
            together.setdefault(cell["without"], {})[cell["series"]] = None
    return [f"{'; '.join(series)}: without {settings}" for settings, series in together.items()]


def not_run(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """What was not run, as (why, what): series with the same gaps are named together. What goes
    beyond the paper is left out."""
    missing = [cell for cell in cells if "not_run" in cell and not cell["beyond"]]
    told = []
    for why in dict.fromkeys(cell["not_run"] for cell in missing):
        gaps: dict[str, list[Any]] = {}
        overs: dict[str, str] = {}
        for cell in missing:
            if cell["not_run"] == why and cell["x"] not in gaps.setdefault(cell["series"], []):
                gaps[cell["series"]].append(cell["x"])
                overs[cell["series"]] = cell["over"]
        together: dict[tuple[str, tuple[Any, ...]], list[str]] = {}
        for series, gap in gaps.items():
            together.setdefault((overs[series], tuple(gap)), []).append(series)
        said = []
        for (over, xs), names in together.items():
            some = ", ".join(map(str, xs))
            said.append(
                "; ".join(names)
                + (
                    f" ({some})"
                    if over in ("data", "patch")
                    else ""
                    if over == "r"
                    else f" at {over} = {some}"
                )
            )
        told.append((why, "; ".join(said)))
    return told
