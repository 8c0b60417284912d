"""``partita serve``."""

from typing import Annotated

import typer

from ._inputs import parse_silent
from ._options import Model, Relative, Silent, Tolerance, Trust


def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PARTITA_TOKEN", help="Require this token: Authorization: Bearer TOKEN."
        ),
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    max_rows: Annotated[int, typer.Option(help="The most rows in one request.", min=1)] = 1000,
    max_bytes: Annotated[int, typer.Option(help="The largest request.", min=1)] = 1_000_000,
    silent: Silent = None,
    trust: Trust = None,
) -> None:
    """Answer requests over HTTP: POST /certify takes rows as JSON, returns proven predictions."""
    from ..serve import run

    run(
        model,
        host=host,
        port=port,
        token=token,
        tolerance=tolerance,
        relative=relative,
        trusted=tuple(trust or ()),
        max_rows=max_rows,
        max_bytes=max_bytes,
        silent=parse_silent(silent),
    )
