"""What an earlier call wrote into a table's file, for runs whose own files are gone.

They may be on another machine, and may have needed a GPU that this one lacks. The table's file says
with which settings its numbers were measured, and they count for those settings only.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ._runs import Run
from ._table_cells import Cell, CellSpec

Content = dict[str, Any]  # of a table's JSON file


def settings_of_runs(runs: Iterable[Run]) -> dict[str, Any]:
    """By a run's name without its seed, everything that its result depends on, and the seeds."""
    settings: dict[str, Any] = {}
    for run in runs:
        request = run.request
        seed = request.pop("seed")
        settings.setdefault(run.base_name, request | {"seeds": []})["seeds"].append(seed)
    return settings


def read_table(file: Path) -> Content:
    """A table's file; empty where there is none that can be read."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


class EarlierTable:
    """A table's file as it is before a call.

    Parameters
    ----------
    content : dict
        Of the file; empty where there is none.
    runs : sequence of Run
        What the table needs now.
    """

    def __init__(self, content: Content, runs: Sequence[Run]) -> None:
        self._content = content
        known, current = self._content.get("settings", {}), settings_of_runs(runs)
        valid = {name for name, own in known.items() if current.get(name) == own}
        self._cells = {
            (cell["quantity"], cell["over"], cell["series"], cell["x"], cell["beyond"]): cell
            for cell in self._content.get("cells", ())
            if "ours" in cell and valid.issuperset(cell["of"])
        }

    def cell(self, spec: CellSpec) -> Cell | None:
        """The cell, if it was measured with the settings of the runs that are needed now."""
        return self._cells.get((spec.quantity, spec.over, spec.series, spec.x, spec.beyond))

    def with_provenance(self, content: Content) -> Content:
        """Say on which machines and how the earlier numbers were measured, too.

        How long those runs took whose files are gone is not known: the time is a lower bound.
        """
        earlier = self._content
        return content | {
            "machine": sorted({*content["machine"], *earlier["machine"]}),
            "seconds": max(content["seconds"], earlier["seconds"]),
            "resumed": earlier["resumed"] or bool(content["machine"]),
            "how": list(dict.fromkeys([*content["how"], *earlier["how"]])),
        }
