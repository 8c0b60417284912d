"""``partita demo``."""

from pathlib import Path
from typing import Annotated

import typer

from ._inputs import print_json
from ._options import Json


def demo(
    out: Annotated[Path, typer.Option(help="A folder for the reports and figures.")] = Path(
        "partita-demo"
    ),
    as_json: Json = False,
) -> None:
    """Fit, certify and report on data that scikit-learn ships: three rules, and a regression."""
    from ._demo_tour import run_demo

    found = run_demo(out, quiet=as_json)
    if as_json:
        print_json(found)
