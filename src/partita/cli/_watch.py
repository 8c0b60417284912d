"""``partita watch``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import (
    percent,
    print_line,
    print_table,
    print_warning,
    probability,
    write_atomic,
)
from ..errors import InputError
from . import _options as options

if TYPE_CHECKING:
    from ..watch import WatchResult

ALARM = 3  # the exit code: 1 is a bug, 2 is bad input


def watch(
    ctx: typer.Context,
    model: options.Model,
    data: Annotated[
        list[str] | None,
        typer.Argument(help="Tables with new rows, in the order in which they came."),
    ] = None,
    usual: Annotated[
        str | None,
        typer.Option(
            help="A table of clean rows that the model was not fitted on: learn what is usual, and "
            "keep it with the model."
        ),
    ] = None,
    false_alarms: Annotated[
        float,
        typer.Option(
            help="The probability of any false alarm, over all sources and rows: in all calls with "
            "one --state together, without it in each call. Rows that depend on one another raise "
            "more."
        ),
    ] = 0.01,
    every: Annotated[
        int | None,
        typer.Option(
            help="Use only every N-th row, where neighbouring rows depend on one another. "
            "Default: 1, or as --usual was learnt.",
            min=1,
        ),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="A column that says when a row came, for messages.")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="A .json file: go on where an earlier call stopped, and write where this one did. "
            "A new file begins a new budget of false alarms."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where a picture goes: .png.")] = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    trust: options.Trust = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Tell which source contradicts the predictions more often than is usual.

    The exit code is 3 if there is an alarm.
    """
    from ..ensemble import failure_banner
    from ..tables import check_writable
    from ..watch import learn_usual_file, stored_rates, watch_files
    from ..workflow import open_model

    if not data and usual is None:
        raise InputError("data is missing: give tables to watch, or --usual and clean rows")
    for place, suffix in ((out, ".png"), (state, ".json")):
        if place is not None:
            check_writable(place, (suffix,))
    stored = open_model(model, tuple(trust or ()), jobs)
    csv, verbose = options.csv_options(sep, decimal, encoding), int(not quiet)
    if usual is not None:
        clean = options.local_path(ctx, usual, "usual")
        known = learn_usual_file(stored, clean, every or 1, csv, verbose)
        if not data:
            if as_json:
                options.print_json(known.to_dict())
            else:
                print_line(f"{known}\nKept with the model.")
            return
    else:
        kept = stored_rates(stored)
        if kept is None:
            raise InputError(
                "the model does not say what is usual: learn it first, with partita watch MODEL "
                "--usual CLEAN, from rows that it was not fitted on"
            )
        known = kept
    tables = [options.local_path(ctx, table) for table in data or ()]
    is_new = state is not None and not state.exists()
    found = watch_files(
        stored, tables, known, false_alarms, every, time, state, csv, verbose=verbose
    )
    if out is not None:
        write_atomic(out, found.png())
    cover = "this call" if state is None else "all calls with this state"
    warnings = failure_banner(len(stored.model.failures_), len(stored.model.estimators_))
    if as_json:
        options.print_json(found.to_dict() | {"false_alarms_in": cover, "warnings": warnings})
    else:
        for warning in warnings:
            print_warning(f"{warning}.")
        _show(found, cover)
        if state is None:
            print_line("Without --state, each call has that probability again.")
        elif is_new:
            print_line(f"State: {state} is new, so that this call begins a budget of false alarms.")
        if out is not None:
            print_line(f"Picture: {out}")
    if found.alarms:
        raise typer.Exit(ALARM)


def _show(found: "WatchResult", cover: str) -> None:
    """Print every source's rates, the alarms, and the probability of false ones."""
    rows = [
        [
            one.source,
            percent(one.usual) if one.usual == one.usual else "-",
            percent(one.rate) if one.counted else "-",
            f"{one.counted:,}",
            "-" if one.alarm is None else f"{one.alarm.row:,}",
        ]
        for one in found.sources
    ]
    print_table(
        "How often a source contradicts the prediction",
        ["source", "usual", "now", "of rows", "alarm in row"],
        rows,
    )
    for alarm in found.alarms:
        print_warning(str(alarm))
    if not found.alarms:
        print_line(f"No alarm in {found.rows:,} rows.")
    limit = probability(found.false_alarms)
    print_line(
        f"False alarms in {cover} have a probability of at most {limit}, if rows do not depend on "
        "one another."
    )
