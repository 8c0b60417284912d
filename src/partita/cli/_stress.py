"""``partita stress``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import JsonObject, log, print_line, print_table
from ..errors import InputError
from . import _options as options

if TYPE_CHECKING:
    from ..attacks import StressTest

TOO_LOW = 3  # exit code
SHOWN = 15  # sources
HOLDOUT = 4  # of a table alone, every fourth row is attacked


def stress(
    ctx: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(
            help="TRAIN and NEW: a table to learn from and one to attack, .csv or .parquet. One "
            "table alone: with --model it is attacked, else three quarters of its rows are learnt "
            "from."
        ),
    ],
    target: options.Target,
    model: Annotated[
        str | None,
        typer.Option(
            help="The model you have: package.module:load (a function that returns it), or a "
            ".joblib file. By default one is fitted (--estimator)."
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Instead of --model: a service that gets rows by POST, as a JSON list of "
            "objects, and answers with a JSON list of predictions."
        ),
    ] = None,
    units: options.Units = None,
    estimator: options.Estimator = "auto",
    radius: Annotated[int, typer.Option(help="How many sources lie at most.", min=1)] = 3,
    rows: Annotated[int, typer.Option(help="How many rows are attacked.", min=1)] = 200,
    seconds: Annotated[
        float, typer.Option(help="After that, nothing new is begun: the best found so far.", min=0)
    ] = 60.0,
    tolerance: options.Tolerance = None,
    compare: Annotated[
        bool,
        typer.Option(help="What a partition and a leave-out ensemble keep and prove, beside it."),
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the rows go as the most harmful source attacked them: .parquet."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where an HTML report goes, for people who run the system.")
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(help="Exit code 3 if less is right under one lying source, such as 0.8."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load --model FILE.joblib, which runs its code.")
    ] = False,
    task: options.Task = "auto",
    seed: options.Seed = 0,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Find out what one bad source can do to any model: yours, or one fitted here.

    Sources fail or lie, with values chosen against this model; with training data they lie there
    too. What is found is a lower bound of the damage.
    """
    import numpy as np

    from ..attacks import stress as stress_model
    from ..tables import check_writable
    from ..workflow import chosen_name, foreign_model, named_estimator, open_training

    if out is not None:
        check_writable(out)
    if report is not None:
        check_writable(report, (".html",))
    if model is not None and url is not None:
        raise InputError("url goes without model: give one of them")
    model = model or url
    if len(data) > 2:
        raise InputError(f"data names {len(data)} tables: give one to learn from and one to attack")
    csv = options.csv_options(sep, decimal, encoding)
    first = open_training(options.local_path(ctx, data[0]), target, units, task, csv=csv)
    X, y = first.table.take_all(), first.y
    X_train, y_train = (X, y) if len(data) > 1 else (None, None)
    if len(data) > 1:
        file = first.schema.open(options.local_path(ctx, data[1], "new"), "new", needs_target=True)
        X = file.table(first.schema.kinds).take_all()
        y = first.schema.read_finite_target(file, "new")
    elif model is None:
        attacked = np.arange(len(y)) % HOLDOUT == HOLDOUT - 1
        X_train, y_train = X[~attacked].reset_index(drop=True), y[~attacked]
        X, y = X[attacked].reset_index(drop=True), y[attacked]
    if model is not None:
        fitted = foreign_model(model, trust_pickle)
    else:
        name = chosen_name(estimator, "partition")
        if not quiet and y_train is not None:
            log(f"fitting {name} on {len(y_train):,} rows")
        fitted = named_estimator(name, first.task).fit(X_train, y_train)
    found = stress_model(
        fitted,
        X,
        y,
        units=first.units_file.units,
        trusted=first.units_file.trusted,
        radius=radius,
        X_train=X_train,
        y_train=y_train,
        tolerance=tolerance,
        compare=compare,
        rows=rows,
        seconds=seconds,
        random_state=seed,
        verbose=int(not quiet),
    )
    if out is not None:
        worst = found.sources[0]["source"]
        place = [(one.kind, one.sources) for one in found.findings].index(("lies", (worst,)))
        found.to_parquet(place, out)
    if report is not None:
        from ..report import write_stress_report

        write_stress_report(found, report, f"What one bad source can do: {Path(data[-1]).name}")
    if as_json:
        options.print_json(found.as_dict())
    else:
        _show(found, [path for path in (out, report) if path is not None])
    if fail_under is not None and found.shares[1] < fail_under:
        log(
            f"{100 * found.shares[1]:.1f} % are right under one lying source, and --fail-under "
            f"asks for {100 * fail_under:.1f} %"
        )
        raise typer.Exit(TOO_LOW)


def _show(found: "StressTest", written: list[Path]) -> None:
    """Print the sources by harm, then sentences."""
    lines = [_line(one) for one in found.sources[:SHOWN]]
    more = len(found.sources) - SHOWN
    title = f"Right, in % of {len(found.rows):,} rows, when this source is bad (found)"
    headings = ["lies", "in pairs", "poisoned", "backdoor", "errors", "worst fault"]
    print_table(title, ["source", *headings], lines, first_text=len(headings))
    if more > 0:
        print_line(f"  and {more} sources that do less harm (--json has all)")
    if found.labels:
        most = min(found.labels, key=lambda one: one["recall"][1])
        print_line(
            f"Recall is lowest for {most['label']!r}: {100 * most['recall'][0]:.1f} % now, "
            f"{100 * most['recall'][1]:.1f} % under one lying source."
        )
    for sentence in [*found.sentences, *found.notes]:
        print_line(sentence)
    if written:
        print_line(f"Written: {', '.join(map(str, written))}.")


def _line(one: JsonObject) -> list[object]:
    from ..attacks import FAULTS

    shares = [_percent(one[kind]) for kind in ("lies", "pair", "poisoning", "backdoor")]
    faults = [(one[fault], fault) for fault in FAULTS if one[fault] is not None]
    worst = min(faults, default=(None, ""))
    return [one["source"], *shares, one["refused"], f"{worst[1]} {_percent(worst[0])}"]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
