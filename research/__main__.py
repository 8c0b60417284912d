"""Tables and figures from the command line: ``python -m research TABLE...``."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partita._support import print_line, print_table
from partita.errors import PartitaError

from .layout import blocks, missing_settings, not_run
from .reproduce import command, reproduce
from .sizes import SIZES
from .tables import TITLES, names_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments name; return the exit code, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except KeyboardInterrupt:
        print("research: interrupted; finished runs are stored", file=sys.stderr)
        return 130
    except (PartitaError, OSError) as exc:
        print(f"research: {' '.join(str(exc).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research",
        description="Run the paper's tables: its number, ours and the difference. Run again after "
        "an interruption, it resumes.",
    )
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help="such as 25, figure3, ames, or all")
    add(
        "--size",
        default="laptop",
        choices=SIZES,
        help="smoke: seconds, on data scikit-learn ships; laptop (the default): minutes; full: as "
        "in the paper, images on a GPU",
    )
    add(
        "--out",
        type=Path,
        default=Path("partita-reproduce"),
        help="a folder for results, JSON and figures; what is finished there is not done again",
    )
    add("--cache", type=Path, help="a folder for downloaded data")
    add(
        "--jobs",
        type=int,
        default=1,
        help="runs at a time; on a GPU, several small networks at a time use it better",
    )
    add("--list", action="store_true", help="show what there is")
    add("--json", action="store_true", help="print one JSON object instead of text")
    return parser


def _run(options: argparse.Namespace) -> None:
    if options.list and options.json:
        _print_json({"tables": TITLES})
    elif options.list:
        show_list()
    if options.list:
        return
    found = []
    for name in names_of(options.tables):
        content = reproduce(name, options.size, options.out, options.cache, options.jobs)
        found.append(content)
        if not options.json:
            show_table(content, options.out)
    if options.json:
        _print_json({"tables": found})


def _print_json(content: Any) -> None:
    print(json.dumps(content, allow_nan=False))


def show_table(content: dict[str, Any], out: Path) -> None:
    """Print what was found, how, what was not run, and where it is written."""
    width = shutil.get_terminal_size((160, 24)).columns  # so wide where it is not a terminal
    print_line(content["title"])
    for line in (*content["stand_ins"], *content["how"], *filter(None, [content["note"]])):
        print_line(f"  {line}")
    for block in blocks(content["cells"]):
        for part in block.split(width - 4):
            print_line()
            print_table(part.title, ["", *part.columns], part.rows, width=width)
    for what in missing_settings(content["cells"]):
        print_line()
        print_line(f"Ours is the best of those that were run. {what}.")
    missing = not_run(content["cells"])
    for why, what in missing:
        print_line()
        print_line(f"Not run ({why}): {what}.")
    if missing and content["size"] != "full":
        print_line(f"All of it: {command(content['table'], 'full')}")
    print_line()
    print_line(f"Written to {out / content['size'] / content['table']}.json and .png.")


def show_list() -> None:
    """Print every table there is."""
    print_table(
        "Tables and figures of the paper, and beyond",
        ["name", "what it is"],
        [[name, title] for name, title in TITLES.items()],
        first_text=1,
    )
    print_line("Next: make reproduce TABLE=NAME SIZE=smoke, laptop or full.")


if __name__ == "__main__":
    sys.exit(main())
