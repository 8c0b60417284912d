"""``partita audit``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as options


def audit(
    ctx: typer.Context,
    model: options.Model,
    data: options.Data,
    training: Annotated[
        str | None,
        typer.Option(
            help="The table the model was fitted on, to be attacked too; not needed if it is DATA "
            "itself."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the findings go: .json, for partita report --audit."),
    ] = None,
    attacks: Annotated[
        str, typer.Option(help="What to run, separated by commas; by default everything.")
    ] = "evasion,poisoning,patches,checks",
    rows: Annotated[int, typer.Option(help="How many rows of DATA are attacked.", min=1)] = 200,
    most: Annotated[
        int | None, typer.Option(help="The largest r tried; by default the largest radius.", min=1)
    ] = None,
    tolerance: options.Tolerance = None,
    relative: options.Relative = None,
    seed: options.Seed = 0,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    trust: options.Trust = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Attack a model for real, as its radius allows: no certified prediction may change.

    The exit code is 1 if one does.
    """
    from ..attacks import audit_file
    from ..tables import check_writable

    if out is not None:
        check_writable(out, (".json",))
    names = tuple(name.strip() for name in attacks.split(",") if name.strip())
    found = audit_file(
        model,
        options.local_path(ctx, data),
        None if training is None else options.local_path(ctx, training, "training"),
        tolerance=tolerance,
        relative=relative,
        attacks=names,
        rows=rows,
        most=most,
        random_state=seed,
        trusted=tuple(trust or ()),
        csv=options.csv_options(sep, decimal, encoding),
        verbose=int(not quiet),
        jobs=jobs,
    )
    # what broke a certificate must not be lost
    place = out if out is not None or found.passed else Path("partita-audit.json")
    if place is not None:
        found.save(place)
    if as_json:
        options.print_json(found.to_dict())
    else:
        _show(found, place, training is not None)
    if not found.passed:
        raise typer.Exit(1)


def _show(found: Any, place: Path | None, has_training: bool) -> None:
    from .._support import print_line
    from ..attacks import TRUSTED_TRAINING

    print_line(str(found))
    if TRUSTED_TRAINING not in found.warnings and not any(
        line.attack.startswith(("poisoning", "backdoor")) for line in found.lines
    ):
        print_line(
            "No training data was attacked."
            if has_training
            else "The training data was not attacked: add --training FILE to attack it too."
        )
    if place is not None:
        print_line(f"Written to {place}.")
    print_line(
        "Passed: no certified prediction changed."
        if found.passed
        else "FAILED: do not rely on this model's radii."
    )
