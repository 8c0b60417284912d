"""``partita data list`` and ``partita data fetch``."""

from typing import Annotated

import typer

from . import _options as options

data_app = typer.Typer(
    help="Data to try partita on: what there is, and fetching it.", no_args_is_help=True
)


@data_app.command("list")
def list_data(cache: options.Cache = None, as_json: options.Json = False) -> None:
    """Show the data sets, their licences, and which of them are in the cache."""
    from .._support import print_line, print_table
    from ..datasets import DATA_SETS, cache_folder

    folder = cache_folder(cache)
    if as_json:
        options.print_json(
            {"cache": str(folder), "data": [entry.to_dict(cache) for entry in DATA_SETS]}
        )
        return
    sizes = [
        [
            entry.name,
            *(f"{size:,}" for size in (*entry.rows, entry.columns)),
            "yes" if entry.cached_path(cache) else "no",
            entry.what,
        ]
        for entry in DATA_SETS
    ]
    print_table(
        "Data to try partita on",
        ["name", "to learn", "to certify", "columns", "cached", "what it is"],
        sizes,
        first_text=5,
    )
    print_line()
    origins = [[entry.name, entry.licence, entry.source] for entry in DATA_SETS]
    print_table("Where they come from", ["name", "licence", "source"], origins, first_text=1)
    print_line()
    print_line(f"The cache is {folder}.")
    print_line("Next: partita data fetch NAME, and partita.datasets.load_NAME() in Python.")


@data_app.command("fetch")
def fetch_data(
    name: Annotated[str, typer.Argument(help="One of those that partita data list shows.")],
    cache: options.Cache = None,
    as_json: options.Json = False,
) -> None:
    """Get a data set into the cache, unless it is there, and check it."""
    from .._support import print_line
    from ..datasets import find_data_set

    entry = find_data_set(name)
    entry.fetch(cache)
    if as_json:
        options.print_json(entry.to_dict(cache))
        return
    path = entry.cached_path(cache)
    print_line(f"{name} is in {path}." if path else f"{name} is not in the cache: {entry.source}.")
    print_line(f"Licence: {entry.licence}.")
