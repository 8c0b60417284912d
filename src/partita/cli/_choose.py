"""``partita choose``, also by its old name ``partita sweep``, and what it prints for people."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import json_value, print_line, print_table, print_warning
from . import _options as options

if TYPE_CHECKING:
    from ..selection import Choice


def choose(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    out: Annotated[Path, typer.Option(help="A folder for what is found: .json and .png files.")],
    units: options.Units = None,
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
            "--want",
            "--score",
            help="What settings are compared by, certified: balanced (the mean of the labels' "
            "recalls; the default where labels are uneven), certified or accuracy (the share of "
            "rows; the default otherwise), accuracy=0.84 (of those at least that accurate) or "
            "recall:LABEL.",
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
    learners: Annotated[
        str | None,
        typer.Option(
            help="What submodels may be, named as in --estimator, such as auto,trees,logistic. "
            "Default: auto, trees (leave-out: trees-2 and trees-4, by the rows of a leaf) and a "
            "linear model; with --estimator that alone."
        ),
    ] = None,
    tolerance: options.Tolerance = None,
    relative: options.Relative = None,
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
    estimator: options.Estimator = "auto",
    task: options.Task = "auto",
    seed: options.Seed = 0,
    reference: options.ReferenceFile = None,
    exchanges: options.Exchanges = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Choose settings on held-out rows: the best one at each radius.

    With --radius, both methods are compared for that radius. With --reference, settings are chosen
    on trusted rows alone, in several splits; otherwise proofs hold given the settings that were
    chosen. Run again after an interruption, it resumes.
    """
    from ..errors import InputError
    from ..selection import Grid, Trial, choose_file
    from ..workflow import open_training

    if groups is not None and radius is None:
        raise InputError("groups goes with --radius: leave it out")
    grid = Grid.parse(submodels, groups, rules, margins, priors, offsets, stretches, learners)
    csv = options.csv_options(sep, decimal, encoding)
    training = open_training(options.local_path(ctx, data), target, units, task, csv=csv)
    training = options.with_reference(ctx, training, reference, exchanges)
    rows = options.share_or_table(ctx, holdout)
    trial = Trial(estimator, rows, seed, tolerance, relative, last, group, want, radius)
    choice = choose_file(training, grid, out, trial, jobs, int(not quiet))
    if as_json:
        options.print_json(json_value(choice.as_dict()))
        return
    given = {"--units": units, "--estimator": estimator, "--task": task, "--seed": seed}
    given |= {"--reference": reference, "--exchanges": exchanges}
    given |= {"--sep": sep, "--decimal": decimal, "--encoding": encoding}
    given = {one: value for one, value in given.items() if value not in (None, "auto", 0)}
    given["--chosen"] = choice.chosen
    words = [str(word) for pair in given.items() for word in pair]
    show_choice(choice, out, ["partita", "fit", data, "--target", target, *words])


def show_choice(choice: "Choice", out: Path, command: Sequence[str]) -> None:
    """Print the settings worth a look, what to compare them with, and what limits them.

    Parameters
    ----------
    choice : Choice
        What was found.
    out : path
        Where it was written.
    command : sequence of str
        ``partita fit`` with the table and everything but the settings.
    """
    for warning in choice.loud:
        print_warning(warning)
    title, headings, rows = choice.table()
    print_table(title, headings, rows, first_text=len(headings) - 1)
    for line in [*choice.notes(), f"Written to {out}: choice.json, choice.png."]:
        print_line(line)
    if choice.best is not None:
        words = [*command, *shlex.split(choice.best.fit_options), "--out", "model"]
        print_line(f"Next, for r = {choice.radius_of_best}: {shlex.join(words)}")
