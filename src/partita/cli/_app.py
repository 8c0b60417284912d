"""The application ``partita``: its commands, put together."""

from typing import Annotated

import typer

from .. import __version__
from ._audit import audit
from ._certify import certify, report
from ._choose import choose
from ._data import data_app
from ._demo import demo
from ._fit import fit
from ._serve import serve
from ._stress import stress
from ._watch import watch

app = typer.Typer(
    help="Models whose predictions carry a proof: they cannot change unless an attacker controls "
    "more than r of your feature sources.",
    epilog="--debug, with any command, shows where an error comes from.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (demo, stress, fit, certify, choose, report, audit, watch, serve):
    app.command()(command)
app.command("sweep", help="The old name of choose.")(choose)
app.add_typer(data_app, name="data")


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
