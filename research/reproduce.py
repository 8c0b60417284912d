"""One table from start to end: its runs, its cells, its JSON file and its picture.

Runs whose own files are gone (on another machine, or of a GPU that this one lacks) count by what an
earlier call wrote into the table's file, which says with which settings its numbers were measured.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from partita._support import check_whole, write_atomic
from partita.errors import InputError

from .cells import Cell, CellSpec, fill_cell, settings_of
from .runner import carry_out
from .runs import Run, RunResult
from .sizes import check_size, plan_for
from .tables import Table, table

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


STAND_INS = {
    "digits": "scikit-learn's digits stand in for the images, and larger T, e and spreads are "
    "replaced by the largest that fit: nothing here compares with the paper",
    "diabetes": "scikit-learn's diabetes data stand in for the tables, and larger T, e and spreads "
    "are replaced by the largest that fit: nothing here compares with the paper",
}


def reproduce(
    name: str,
    size: str = "laptop",
    out: Any = "partita-reproduce",
    cache: Any = None,
    n_jobs: int = 1,
) -> dict[str, Any]:
    """Run what a table of the paper needs, and compare the paper's numbers with ours.

    Finished runs are stored in ``out`` and not repeated: tables share runs, and an interrupted call
    resumes where it stopped. Numbers in a table's file that were measured with the same settings
    are kept, even if their runs are gone.

    Parameters
    ----------
    name : str
        A table ("25"), a figure ("figure3"), or "ames" for what goes beyond the paper there.
    size : {"smoke", "laptop", "full"}, default="laptop"
        Seconds on data that scikit-learn ships; minutes on two cores; or as in the paper, on a GPU
        for images.
    out : path, default="partita-reproduce"
        A folder. The table goes to ``SIZE/NAME.json`` and ``SIZE/NAME.png`` there, each run to
        ``SIZE/runs``.
    cache : path, optional
        Where downloaded data are stored, as for the loaders of :mod:`partita.datasets`.
    n_jobs : int, default=1
        How many runs are carried out at a time, each in a process of its own. On a GPU, several
        small networks at a time use it better; times are then longer than those of a run alone.

    Returns
    -------
    dict
        What the JSON file holds: ``cells``, and how they came about.

    Raises
    ------
    InputError
        If there is no such table or size, ``out`` is a file, or ``n_jobs`` is below 1.

    See Also
    --------
    partita.baselines.compare : Compare defences on your own data.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from research.reproduce import reproduce
    >>> with TemporaryDirectory() as folder:
    ...     content = reproduce("21", "smoke", folder)
    >>> content["title"], len(content["cells"])
    ('Table 21: one model on all columns', 4)
    """
    from .plot import plot_table

    wanted = table(name)
    check_size(size)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {str(folder)!r} is a file: give a folder")
    check_whole("n_jobs", n_jobs, 1)
    folder = folder / size
    runs = runs_of(wanted, size)
    file = folder / f"{wanted.name}.json"
    earlier = EarlierTable(read_table(file), runs)
    results = carry_out(
        wanted.title,
        size,
        runs,
        folder,
        None if cache is None else Path(cache),
        int(n_jobs),
        measured_before(wanted, size, earlier),
    )
    content = table_content(wanted, size, runs, results, earlier)
    write_atomic(file.with_suffix(".png"), plot_table(content["title"], content["cells"]))
    write_atomic(file, table_bytes(content))
    return content


def runs_of(wanted: Table, size: str) -> list[Run]:
    """The runs that a table needs at a size, each once."""
    runs = [
        run
        for setting in settings_of(wanted.cells)
        for run in plan_for(size, setting.data).runs(setting)
    ]
    return list({run.name: run for run in runs}.values())


def measured_before(wanted: Table, size: str, earlier: EarlierTable) -> set[str]:
    """The runs of which an earlier file has every number that the table needs."""
    measured: set[str] = set()
    needed: set[str] = set()
    for spec in wanted.cells:
        cell = earlier.cell(spec)
        for measurement in spec.measurements:
            for run in plan_for(size, measurement.setting.data).runs(measurement.setting):
                known = cell is not None and run.base_name in cell["of"]
                (measured if known else needed).add(run.name)
    return measured - needed


def table_content(
    wanted: Table,
    size: str,
    runs: Sequence[Run],
    results: dict[str, RunResult | str],
    earlier: EarlierTable,
) -> Content:
    """The table as its file holds it, with what an earlier file has for runs that are not there."""
    cells = [
        fill_cell(
            spec,
            lambda setting: plan_for(size, setting.data).runs(setting),
            results,
            earlier.cell(spec),
        )
        for spec in wanted.cells
    ]
    used = {name for cell in cells for name in cell.get("of", ())}
    done = [result for result in results.values() if not isinstance(result, str)]
    stand_ins = sorted({run.details["stand_in"] for run in runs if run.details["stand_in"]})
    content = {
        "table": wanted.name,
        "title": wanted.title,
        "size": size,
        "command": command(wanted.name, size),
        "note": wanted.note,
        "stand_ins": [STAND_INS[name] for name in stand_ins],
        "machine": sorted({result["machine"] for result in done}),
        "seconds": round(sum(result["seconds"] for result in done)),
        "resumed": any(result.get("resumed", False) for result in done),
        "how": how(runs, results),
        "settings": {name: own for name, own in settings_of_runs(runs).items() if name in used},
        "cells": cells,
    }
    missing = {run.base_name for run in runs if isinstance(results[run.name], str)}
    return earlier.with_provenance(content) if used & missing else content


def how(runs: Sequence[Run], results: dict[str, RunResult | str]) -> list[str]:
    """How it was run, a sentence for each data set and method."""
    facts: dict[tuple[str, str], dict[str, dict[Any, None]]] = {}
    for run in runs:
        result = results[run.name]
        if isinstance(result, str) or run.setting.method == "constant":
            continue
        own = facts.setdefault(
            (run.setting.data, run.setting.method),
            {"models": {}, "train": {}, "test": {}, "seeds": {}},
        )
        model = run.details.get("submodel")
        if not model:
            model = f"{run.details['model']} model, {run.details['draws']:,} draws"
        own["models"][model] = None
        own["seeds"][run.seed] = None
        for part in ("train", "test"):
            own[part][result["rows"][part]] = None
    return [
        f"{data}, {method}: {', '.join(own['models'])}; {_range(own['train'])} rows to learn "
        f"from, {_range(own['test'])} to certify; "
        f"{len(own['seeds'])} seed{'s' if len(own['seeds']) > 1 else ''}"
        for (data, method), own in facts.items()
    ]


def _range(numbers: Iterable[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def table_bytes(content: Content) -> bytes:
    """JSON with a line for each cell, and one for the settings of each run."""
    head = json.dumps(
        {name: value for name, value in content.items() if name not in ("settings", "cells")},
        indent=1,
        allow_nan=False,
        ensure_ascii=False,
    ).removesuffix("\n}")
    settings = ",\n  ".join(
        f"{_json_line(name)}: {_json_line(own)}" for name, own in content["settings"].items()
    )
    cells = ",\n  ".join(map(_json_line, content["cells"]))
    lines = f'"settings": {{\n  {settings}\n }},\n "cells": [\n  {cells}\n ]'
    return f"{head},\n {lines}\n}}\n".encode()


def _json_line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def command(name: str, size: str) -> str:
    """The command that makes a table."""
    figure = name.startswith("figure")
    what = f"FIGURE={name.removeprefix('figure')}" if figure else f"TABLE={name}"
    return f"make reproduce {what} SIZE={size}"
