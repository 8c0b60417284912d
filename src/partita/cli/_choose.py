"""``partita choose``, also by its old name ``partita sweep``, and what it prints for people."""

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import answer_text, json_value, print_line, print_table, print_warning
from . import _options as options

if TYPE_CHECKING:
    from ..selection import Choice, Objective

SHARES = [("accuracy", "accuracy"), ("mean recall", "balanced"), ("lowest", "lowest")]


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
            "recalls; the default for labels without --radius), certified or accuracy (the share "
            "of rows; the default otherwise), accuracy=0.84 (of those at least that accurate) or "
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
    grid = Grid.parse(submodels, groups, rules, margins, priors, offsets, stretches)
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
    best, common = choice.best, answer_text(choice.constant["answer"])
    own = [] if best is None else best.warnings
    for warning in choice.warnings:
        if warning.removesuffix(".") not in own:
            print_warning(warning)
    for warning in own:
        print_warning(f"With the recommended setting {warning}.")
    if best is None:
        print_warning(f"NO SETTING IS RECOMMENDED: {choice.reason}.")
    _show_table(choice, f"always answering {common}")
    number, _, kind = choice.counts.partition(" ")
    print_line(
        f"Measured on {choice.rows:,} held-out rows: {choice.about['held_out_how']}. A radius "
        f"counts {kind} ({int(number):,} in all)."
    )
    if choice.radius is None and best is not None and choice.no_more:
        print_line(f"Not listed, from r = {len(choice.by_radius)} on: {choice.no_more}.")
    if choice.radius is None and choice.one_label_from is not None:
        print_line(
            f"From r = {choice.one_label_from} on, no setting certifies a row that has another "
            f"label than {common}."
        )
    if choice.nearly_constant:
        print_line(
            f"Left out as nearly constant: {choice.nearly_constant} "
            f"setting{'s' * (choice.nearly_constant > 1)}, with one label for nearly all rows."
        )
    print_line(f"{choice.depends} On new rows expect a little less.")
    print_line(f"Written to {out}: choice.json, choice.png.")
    if best is None:
        return
    radius = choice.radius
    if radius is None:
        radius = min(1, len(choice.by_radius) - 1)
    else:
        price = round(100 * (choice.one_model["accuracy"] - best.accuracy), 1)
        costs = "one model on all columns failed, so the price of the proof is not known"
        if price > 0:
            costs = f"the price of the proof is {price:.1f} points of accuracy"
        elif price <= 0:
            costs = "the proof costs no accuracy on these rows"
        print_line(f"Recommended ({choice.reason}): {costs}.")
    words = [*command, *shlex.split(best.fit_options), "--out", "model"]
    print_line(f"Next, for r = {radius}: {shlex.join(words)}")


def _show_table(choice: "Choice", always: str) -> None:
    """Print the settings between one model on all columns and the best constant answer.

    Without a radius, one line per radius; with one, the frontier of both methods and the
    recommended setting, if it lies inside.
    """
    objective, radius, constant = choice.objective, choice.radius, choice.constant
    lines = [("0", choice.one_model, "one model on all columns, no proof")]
    if radius is None:
        title, columns = f"Best {objective.words} at each radius r, in %", _columns(objective)
        lines += [
            (str(r), objective.entry(one, r), one.fit_options)
            for r, one in enumerate(choice.by_radius)
        ]
    else:
        columns, recall = [("right", "accuracy"), (f"r={radius}", "certified")], ""
        if objective.task == "classification":
            columns += [("recall", "balanced"), (f"r={radius}", "certified_balanced")]
            recall = ", and mean recall"
        title = (
            f"Right now and whatever {radius} of the {choice.counts} say{recall}, in % of "
            f"{choice.rows:,} rows: the frontier of both methods"
        )
        shown = dict.fromkeys([*choice.frontier, *([choice.best] if choice.best else [])])
        for one in sorted(shown, key=lambda one: -one.accuracy):
            star = "  (recommended)" if one is choice.best else ""
            lines.append(("", one.as_dict(), one.fit_options + star))
    # a constant is certified at every radius, and has no row of any other label
    proven = {"certified": constant["accuracy"], "certified_balanced": constant["balanced"]}
    lines.append(("any", {"lowest": 0.0} | proven | constant, always))
    leads = [[lead] if radius is None else [] for lead, _, _ in lines]
    headings = ["r"] * (radius is None) + [heading for heading, _ in columns]
    rows = [
        [*lead, *(_cell(values.get(key)) for _, key in columns), text]
        for lead, (_, values, text) in zip(leads, lines, strict=True)
    ]
    print_table(title, [*headings, "options of partita fit"], rows, first_text=len(headings))


def _columns(objective: "Objective") -> list[tuple[str, str]]:
    """The columns of shares at each radius; what settings are compared by comes first."""
    if objective.task == "regression":
        return [("right", "accuracy")]
    accuracy, *recalls = SHARES
    if objective.label is None:
        return SHARES if objective.by_accuracy else [*recalls, accuracy]
    # what is bought, and what it costs
    return [("recall", "score"), ("precision", "precision"), accuracy, recalls[0]]


def _cell(share: object) -> str:
    return f"{100 * share:.1f}" if isinstance(share, float) and math.isfinite(share) else "-"
