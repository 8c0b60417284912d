"""``partita reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from ._inputs import print_json
from ._options import Cache, Json


def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE...", help="Such as 25, figure3, ames, or all; --list shows them."
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            help="smoke: seconds, on data scikit-learn ships; laptop: minutes; full: as in the "
            "paper, images on a GPU."
        ),
    ] = "laptop",
    out: Annotated[
        Path,
        typer.Option(
            help="A folder for results, JSON and figures; what is finished there is not done again."
        ),
    ] = Path("partita-reproduce"),
    cache: Cache = None,
    jobs: Annotated[
        int,
        typer.Option(
            help="Runs at a time; on a GPU, several small networks at a time use it better.",
            min=1,
        ),
    ] = 1,
    list_them: Annotated[bool, typer.Option("--list", help="Show what there is.")] = False,
    as_json: Json = False,
) -> None:
    """Run the paper's tables: its number, ours and the difference.

    Run again after an interruption, it resumes.
    """
    from ..reproduce import reproduce as run
    from ..reproduce._tables import TITLES, names_of

    if list_them and as_json:
        print_json({"tables": TITLES})
        return
    from ..reproduce._screen import show_list, show_table

    if list_them:
        show_list()
        return
    found = []
    for name in names_of(tables or []):
        content = run(name, size, out, cache, jobs)
        found.append(content)
        if not as_json:
            show_table(content, out)
    if as_json:
        print_json({"tables": found})
