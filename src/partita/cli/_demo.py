"""``partita demo``."""

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options


def demo(
    out: Annotated[
        Path, typer.Option(help="A folder for tables, models, reports and figures.")
    ] = Path("partita-demo"),
    as_json: options.Json = False,
) -> None:
    """Fit, certify and report on data that scikit-learn ships.

    The tour compares three rules, does a regression, and prints the commands that do the same.
    """
    from . import _demo_tour

    found = _demo_tour.run_demo(out, quiet=as_json)
    if as_json:
        options.print_json(found)
