"""``partita report``."""

from pathlib import Path
from typing import Annotated

import typer

from ._inputs import csv_options, local_path, parse_silent, print_json
from ._options import (
    Data,
    Decimal,
    Encoding,
    Jobs,
    Json,
    Model,
    Quiet,
    Relative,
    Sep,
    Silent,
    Tolerance,
    Trust,
)


def report(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the report goes: .html.")],
    sweep_json: Annotated[
        Path | None,
        typer.Option(
            "--sweep", help="What partita choose wrote, for the curves over the submodels."
        ),
    ] = None,
    audit_json: Annotated[
        Path | None,
        typer.Option(
            "--audit", help="What partita audit --out wrote, for a section on what attacks reached."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's heading.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    silent: Silent = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    trust: Trust = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a report on a table's proofs: one HTML file that needs nothing else."""
    from .._support import print_line
    from ..attacks import read_audit
    from ..report import write_report
    from ..selection import read_choice
    from ..tables import check_writable
    from ..workflow import CHOSEN, certify_file
    from ._summary_screen import show_summary

    check_writable(out, (".html",))
    if sweep_json is not None:  # before the work begins
        read_choice(sweep_json)
    if audit_json is not None:
        read_audit(audit_json)
    certified = certify_file(
        model,
        local_path(ctx, data),
        tolerance,
        relative,
        tuple(trust or ()),
        verbose=0 if quiet else 2,
        csv=csv_options(sep, decimal, encoding),
        jobs=jobs,
        silent=parse_silent(silent),
    )
    assert certified.stored is not None
    chosen = certified.stored.chosen
    words = CHOSEN[chosen]
    write_report(certified, out, sweep_json, title, audit_json)
    if as_json:
        print_json(certified.summary.to_dict(out) | {"chosen": chosen, "chosen_words": words})
        return
    show_summary(certified.summary)
    print_line(words)
    print_line(f"Report: {out}")
