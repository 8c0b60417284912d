"""``partita serve``."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from . import _options as options

# options by the panel of --help that shows them
access = partial(typer.Option, rich_help_panel="Access")
limit = partial(typer.Option, rich_help_panel="Limits")
stopping = partial(typer.Option, rich_help_panel="Stopping")
monitoring = partial(typer.Option, rich_help_panel="Monitoring")
party = partial(typer.Option, rich_help_panel="Federated parties")


def serve(
    stored_model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]", help="A model that partita fit stored; none with --parties."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    workers: Annotated[
        int, typer.Option(help="How many processes answer; each loads the model.", min=1, max=64)
    ] = 1,
    tolerance: options.Tolerance = None,
    relative: options.Relative = None,
    label_sets: options.LabelSets = 0,
    silent: options.Silent = None,
    trust: options.Trust = None,
    token: Annotated[
        str | None,
        access(envvar="PARTITA_TOKEN", help="Require this token: Authorization: Bearer TOKEN."),
    ] = None,
    api_keys: Annotated[
        Path | None,
        access(
            help="A file of keys that are accepted like the token, a name and a key per line; it "
            "is read again when it changes."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, access(help="A name by which the service may be asked; may be repeated.")
    ] = None,
    tls_cert: Annotated[Path | None, access(help="A certificate (PEM), for HTTPS.")] = None,
    tls_key: Annotated[Path | None, access(help="Its private key (PEM).")] = None,
    max_rows: Annotated[int, limit(help="The most rows in one request.", min=1)] = 1000,
    max_bytes: Annotated[int, limit(help="The largest request.", min=1)] = 1_000_000,
    max_waiting: Annotated[
        int,
        limit(help="The most requests that wait at once, for each worker; others get 429.", min=1),
    ] = 256,
    header_seconds: Annotated[
        float, limit(help="How long a request's headers may take.", min=1)
    ] = 10.0,
    body_seconds: Annotated[float, limit(help="How long its body may take.", min=0.1)] = 10.0,
    drain_seconds: Annotated[
        float,
        stopping(help="After SIGTERM: how long requests are accepted while /ready fails.", min=0),
    ] = 1.0,
    finish_seconds: Annotated[
        float, stopping(help="How long requests under way may take after that.", min=0)
    ] = 10.0,
    request_log: Annotated[
        str | None,
        monitoring(help="Log each request as a line of JSON to this file; - is standard error."),
    ] = None,
    low_radius: Annotated[int, monitoring(help="/metrics counts radii below this as low.")] = 1,
    submodel: Annotated[
        str | None,
        party(help="As a party: the submodel that answers, by its number or one of its units."),
    ] = None,
    table: Annotated[
        Path | None, party(help="As a party: its own rows, with the submodel's columns.")
    ] = None,
    key: Annotated[str | None, party(help="As a party: the column that names its rows.")] = None,
    parties: Annotated[
        Path | None, party(help="As the coordinator: a parties.toml that says whom to ask.")
    ] = None,
) -> None:
    """Answer requests over HTTP: POST /certify takes rows as JSON, returns proven predictions."""
    settings = dict(locals())  # the options by their names, which are those of run's arguments
    from ..serve import run

    settings["trusted"] = tuple(settings.pop("trust") or ())
    settings["allowed_hosts"] = tuple(settings.pop("allow_host") or ())
    settings["silent"] = options.parse_silent(silent)
    run(settings.pop("stored_model"), **settings)
