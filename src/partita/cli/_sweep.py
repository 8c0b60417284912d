"""``partita sweep``."""

from pathlib import Path
from typing import Annotated

import typer

from ._inputs import csv_options, local_path, print_json, share_or_table, with_reference
from ._options import (
    Data,
    Decimal,
    Encoding,
    Estimator,
    Exchanges,
    Jobs,
    Json,
    Quiet,
    ReferenceFile,
    Relative,
    Seed,
    Sep,
    Target,
    Task,
    Tolerance,
    Units,
)


def sweep(
    ctx: typer.Context,
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="A folder for what is found: .json and .png files.")],
    units: Units = None,
    radius: Annotated[
        int | None,
        typer.Option(
            help="Compare both methods, partition and leave-out, for a proof against this many "
            "corrupted units, and recommend one.",
            min=1,
        ),
    ] = None,
    want: Annotated[
        str | None,
        typer.Option(
            help="With --radius: what to recommend. certified (the default): the most rows "
            "certified; accuracy=0.84: the most among those at least that accurate; balanced: the "
            "highest mean certified recall."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="With --radius: numbers of groups to try for leave-out, such as 6,12."),
    ] = None,
    submodels: Annotated[
        str | None,
        typer.Option(
            help="Numbers of submodels to try, such as 1,5,11; 1 is one model on all columns, for "
            "comparison."
        ),
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help="Rules to try, such as plurality,runoff,tournament.")
    ] = None,
    margins: Annotated[
        str | None, typer.Option(help="Margins of the tournament to try, such as 0,0.5,2.")
    ] = None,
    priors: Annotated[
        str | None, typer.Option(help="Priors of the tournament to try, such as 0,0.9,1.")
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option(
            help="Offsets of the tournament to try, such as 0,0.5,1: multiples of the labels' log "
            "shares; or thresholds of a label, such as fraud=-1,fraud=0,fraud=2: head starts in "
            "votes."
        ),
    ] = None,
    stretches: Annotated[
        str | None, typer.Option(help="For numbers: stretches to try, such as 1,1.3.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            help="What settings are compared by, certified at each radius: balanced (the mean of "
            "the classes' recalls; the default for labels), accuracy (the default for numbers) or "
            "recall:LABEL."
        ),
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            help="What is certified and not learnt from: a share of the rows, drawn at random "
            "(default: 0.25), or another table with the same columns."
        ),
    ] = None,
    last: Annotated[
        float | None,
        typer.Option(
            help="Instead of --holdout: the last share of the rows, such as 0.2, for rows in the "
            "order of time."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Instead of --holdout: a column; rows that share its value are never split. It "
            "is a feature only if units.toml trusts it."
        ),
    ] = None,
    estimator: Estimator = "auto",
    task: Task = "auto",
    seed: Seed = 0,
    reference: ReferenceFile = None,
    exchanges: Exchanges = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Try many settings on held-out rows: the best one for each radius.

    With --radius, both methods are compared for that radius. With --reference, settings are chosen
    on trusted rows alone, in several splits; otherwise proofs hold given the settings that were
    chosen. Run again after an interruption, it resumes.
    """
    from ..selection import Grid, Trial, sweep_file
    from ..workflow import ON_REFERENCE, ON_TRAINING, open_training
    from ._sweep_screen import show_sweep

    for_grid = {"rules": rules, "margins": margins, "priors": priors, "offsets": offsets}
    for_grid |= {"stretches": stretches, "score": score}
    _check_options(radius, {"want": want, "groups": groups}, for_grid)
    grid = Grid.parse(submodels, rules, margins, priors, stretches, offsets)
    csv = csv_options(sep, decimal, encoding)
    training = open_training(local_path(ctx, data), target, units, task, csv=csv)
    training = with_reference(ctx, training, reference, exchanges)
    rows = share_or_table(ctx, holdout)
    trial = Trial(estimator, rows, seed, tolerance, relative, last, group, score)
    given = {"--units": units, "--estimator": estimator, "--task": task, "--seed": seed}
    given |= {"--reference": reference, "--exchanges": exchanges}
    given |= {"--sep": sep, "--decimal": decimal, "--encoding": encoding}
    defaults = (None, "auto", 0)
    options = [
        str(word)
        for option, value in given.items()
        if value not in defaults
        for word in (option, value)
    ]
    chosen = ON_TRAINING if reference is None else ON_REFERENCE
    command = ["partita", "fit", data, "--target", target, *options, "--chosen", chosen]
    if radius is not None:
        from ..selection import Objective, choose_file, parse_list
        from ._choice_screen import show_choice

        sizes = parse_list("submodels", submodels, int), parse_list("groups", groups, int)
        objective = Objective(radius, want or "certified", *sizes)
        choice, held_out = choose_file(training, objective, out, trial, jobs, int(not quiet))
        if as_json:
            print_json(choice.as_dict())
        else:
            show_choice(choice, held_out, out, command)
        return
    found = sweep_file(training, grid, out, trial, jobs=jobs, verbose=int(not quiet))
    if as_json:
        print_json(found)
        return
    show_sweep(found, out, command)


def _check_options(
    radius: int | None, with_radius: dict[str, str | None], without: dict[str, str | None]
) -> None:
    """Refuse options that go with the other kind of sweep."""
    from ..errors import InputError

    for name, value in (with_radius if radius is None else without).items():
        if value is not None:
            rest = "goes with --radius" if radius is None else "does not go with --radius"
            raise InputError(f"{name} {rest}: leave it out")
