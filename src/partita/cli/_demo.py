"""``partita demo``."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ._inputs import print_json
from ._options import Json, Quiet

TOUR = "partita-demo"


def demo(
    story: Annotated[
        str | None,
        typer.Argument(
            help="A deployment from data to decision: gas (a detector of 16 sensors), air (a "
            "city's network of 12 stations) or credit (loans). Default: a short tour of the "
            "commands."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder for reports, pages and figures. Default: partita-demo, or for a story "
            "partita-demo-STORY."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="For a story: its data, if it is not where partita data fetch puts it. A file; "
            "for credit a cache folder."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit, certify and report on data that scikit-learn ships, or walk through a deployment.

    The tour compares three rules and does a regression. A deployment's story covers accuracy
    compared with one model, what is proven, what attacks achieve, time and size, silent sources,
    and a decision.
    """
    if story is not None:
        from ._demo_story import tell_story

        place = Path(f"{TOUR}-{story}") if out is None else out
        found = tell_story(story, place, data, show=not as_json, verbose=int(not quiet))
    else:
        from ._demo_tour import run_demo

        if data is not None:
            raise InputError("data goes with a story: add gas, air or credit, or leave it out")
        found = run_demo(Path(TOUR) if out is None else out, quiet=as_json)
    if as_json:
        print_json(found)
