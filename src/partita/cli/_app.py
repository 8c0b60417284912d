"""The command line: from a table in a file to a proof. Thin; the work is done elsewhere."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ._options import (
    Cache,
    Data,
    Decimal,
    Encoding,
    Estimator,
    Exchanges,
    Jobs,
    Json,
    Model,
    Quiet,
    ReferenceFile,
    Relative,
    Seed,
    Sep,
    Split,
    Target,
    Task,
    Tolerance,
    Trust,
    Units,
)

app = typer.Typer(
    help="Models whose predictions carry a proof: they cannot change unless an attacker controls "
    "more than r of your feature sources.",
    epilog="--debug, with any command, shows where an error comes from.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

data_app = typer.Typer(
    help="Data to try partita on: what there is, and fetching it.", no_args_is_help=True
)
app.add_typer(data_app, name="data")


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="A folder for the reports and figures.")] = Path(
        "partita-demo"
    ),
    as_json: Json = False,
) -> None:
    """Fit, certify and report on data that scikit-learn ships: three rules beside each other, and a
    regression."""
    from ._demo import run

    _tell_json(run(out, quiet=as_json), as_json)


@app.command()
def fit(
    ctx: typer.Context,
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="Where the model goes: a folder, or a .zip.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a model that is there.")
    ] = False,
    units: Units = None,
    submodels: Annotated[
        int | None,
        typer.Option(
            help="How many submodels; by default by the number of units and rows "
            "(docs/defaults.md).",
            min=1,
        ),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="plurality, runoff or tournament; median for numbers.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="The tournament's margin: the lead in score at which a submodel casts a full vote."
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option(help="The tournament's prior from 0 to 1, for unbalanced labels."),
    ] = None,
    offset: Annotated[
        list[str] | None,
        typer.Option(
            help="LABEL=VOTES: a head start in the tournament, for more recall of a label; may be "
            "given several times. Or one number: "
            "so many times the log share of each label."
        ),
    ] = None,
    stretch: Annotated[
        float | None,
        typer.Option(help="For numbers: move the submodels' values away from their centre."),
    ] = None,
    estimator: Estimator = "hgb",
    task: Task = "auto",
    seed: Seed = 0,
    reference: ReferenceFile = None,
    exchanges: Exchanges = None,
    split: Split = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="For large Parquet: a Dask scheduler, tcp://HOST:PORT, or 'local' for this "
            "machine. Submodels are stored one by one; "
            "run again after a crash, it goes on."
        ),
    ] = None,
    batch_rows: Annotated[
        int | None,
        typer.Option(
            help="With --cluster: teach an estimator with partial_fit so many rows at a time.",
            min=1,
        ),
    ] = None,
    full_model: Annotated[
        bool,
        typer.Option(
            help="Fit one model on all columns too, for comparison. It proves nothing, and takes "
            "about as long again."
        ),
    ] = True,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a model on a table and store it."""
    from .._support.terminal import say, warn
    from ..ensemble._full_model import fit_full_model
    from ..errors import InputError
    from ..partition._one_hot import as_units_toml, one_hot_families
    from ..store import _store as store
    from ..workflow._tally import failures_of
    from ..workflow._workflow import choose_rule, open_training, read_offset

    store.check_free(out, overwrite)
    if batch_rows is not None and cluster is None:
        raise InputError("batch_rows goes with cluster: add --cluster local, or leave it out")
    if cluster is not None:
        _check_seen_by_workers(data)
    training = open_training(
        _local(ctx, data), target, units, task, _split(split), _csv(sep, decimal, encoding)
    )
    training = _with_reference(ctx, training, reference, exchanges)
    chosen = choose_rule(rule, training.of_values, margin, prior, stretch, read_offset(offset))
    model = training.ensemble(
        estimator, chosen, "auto" if submodels is None else submodels, seed, verbose=not quiet
    )
    model.set_params(n_jobs=jobs)
    families = (
        {}
        if training.said.units or cluster is not None
        else one_hot_families(training.table, training.table.names)
    )
    if cluster is None:
        model.fit(training.table, training.y)
        model.full_model_ = (
            fit_full_model(model, training.table, training.y) if full_model else None
        )
        store.save(model, out, training.about(estimator, model=model))
    else:
        from ..workflow._out_of_core import fit_training

        where = None if cluster == "local" else cluster
        model, _ = fit_training(
            training, model, out, cluster=where, batch_rows=batch_rows, estimator=estimator
        )
    summary = {
        "model": str(out),
        "task": "regression" if training.of_values else "classification",
        "rows": training.table.n_rows,
        "submodels": len(model.partition_),
        "counts": {
            "what": model.counts_.what,
            "total": model.counts_.total,
            "trusted": list(model.counts_.trusted),
        },
        "rule": repr(model.rule_.brief()),
        "reference": None if training.reference is None else training.reference.about(),
        "labels": None if training.of_values else model.classes_.tolist(),
        "failed_submodels": failures_of(model) if cluster is None else None,
        "warnings": list(model.warnings_),
        "one_hot_families": families,
    }
    if as_json:
        _tell_json(summary, True)
        return
    for warning in model.warnings_:
        warn(f"{warning}.")
    learnt = "numbers" if training.of_values else f"{len(model.classes_)} labels"
    say(
        f"Fitted {len(model.partition_)} submodels on {training.table.n_rows:,} rows for "
        f"{target!r} ({learnt}; --task says otherwise)."
    )
    say(f"A radius counts {model.counts_}. Rule: {model.rule_.brief()!r}.")
    if training.reference is not None:
        say(f"Partition: {training.reference}.")
    if families:
        some = ", ".join(list(families)[:5]) + (
            f" and {len(families) - 5} more" if len(families) > 5 else ""
        )
        warn(
            f"Some columns look like one-hot columns of one raw column each ({some}), and count "
            "as separate units. Whoever owns the raw "
            "column owns all of them: put these lines into a units.toml and fit again with "
            "--units units.toml."
        )
        say(as_units_toml(families))
    say(f"Stored in {out}. Next: partita certify {out} NEW --out certified.parquet")


@app.command()
def certify(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, typer.Option(help="Where predictions and proofs go: .parquet or .csv.")
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    split: Split = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    trust: Trust = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the rows of a table, and prove each prediction. From Parquet to Parquet it takes no
    more memory for more rows."""
    from .._support.terminal import say
    from ..tables._write import check_writable
    from ..workflow._out_of_core import certify_pieces

    if out is not None:
        check_writable(out)
    csv = _csv(sep, decimal, encoding)
    proven = certify_pieces(
        model,
        _local(ctx, data),
        out,
        tolerance,
        relative,
        tuple(trust or ()),
        _split(split),
        int(not quiet),
        csv,
        jobs,
    )
    columns = proven.columns
    if as_json:
        _tell_json(proven.tally.summary(proven.model, out), True)
        return
    proven.tally.show(proven.model)
    say(
        f"Written to {out}: {', '.join(columns)}."
        if out is not None
        else "Nothing is written: --out FILE does."
    )


@app.command()
def sweep(
    ctx: typer.Context,
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="A folder for sweep.json and sweep.png.")],
    units: Units = None,
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
            "shares."
        ),
    ] = None,
    stretches: Annotated[
        str | None, typer.Option(help="For numbers: stretches to try, such as 1,1.3.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            help="What settings are compared by, certified at each radius: balanced (the mean of "
            "the classes' recalls; the default for "
            "labels), accuracy (the default for numbers) or recall:LABEL."
        ),
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            help="What is certified and not learnt from: a share of the rows, drawn at random "
            "(default: 0.25), or another table with the "
            "same columns."
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
    estimator: Estimator = "hgb",
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
    """Try many settings on held-out rows: the best one for each radius. Run again after an
    interruption, it goes on."""
    from ..workflow._sweep import Grid, Trial, sweep_file
    from ..workflow._workflow import open_training
    from ._sweep_screen import show_sweep

    grid = Grid.of(submodels, rules, margins, priors, stretches, offsets)
    training = open_training(
        _local(ctx, data), target, units, task, csv=_csv(sep, decimal, encoding)
    )
    training = _with_reference(ctx, training, reference, exchanges)
    rows = _share_or_table(ctx, holdout)
    trial = Trial(estimator, rows, seed, tolerance, relative, last, group, score)
    found = sweep_file(training, grid, out, trial, jobs=jobs, verbose=int(not quiet))
    if as_json:
        _tell_json(found, True)
        return
    given = {"--units": units, "--estimator": estimator, "--task": task, "--seed": seed}
    given |= {"--reference": reference, "--exchanges": exchanges}
    given |= {"--sep": sep, "--decimal": decimal, "--encoding": encoding}
    usual = (None, "hgb", "auto", 0)
    extra = [
        str(word)
        for option, value in given.items()
        if value not in usual
        for word in (option, value)
    ]
    show_sweep(found, out, ["partita", "fit", data, "--target", target, *extra])


@app.command()
def report(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the report goes: .html.")],
    sweep_json: Annotated[
        Path | None,
        typer.Option(
            "--sweep", help="The sweep.json of a sweep, for the curves over the submodels."
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
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    trust: Trust = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a report on a table's proofs: one HTML file that needs nothing else."""
    from .._support.terminal import say
    from ..report import write_report
    from ..tables._write import check_writable
    from ..workflow._workflow import certify_file

    check_writable(out, (".html",))
    csv = _csv(sep, decimal, encoding)
    verbose = 0 if quiet else 2
    certified = certify_file(
        model, _local(ctx, data), tolerance, relative, tuple(trust or ()), verbose, csv, jobs
    )
    write_report(certified, out, sweep_json, title, audit_json)
    if as_json:
        _tell_json(certified.summary(out), True)
        return
    certified.show()
    say(f"Report: {out}")


@app.command()
def audit(
    ctx: typer.Context,
    model: Model,
    data: Data,
    training: Annotated[
        str | None,
        typer.Option(
            help="The table the model was fitted on, to be attacked too; not needed if it is DATA "
            "itself."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where what was found goes: .json, for partita report --audit."),
    ] = None,
    attacks: Annotated[
        str, typer.Option(help="Some of these.")
    ] = "evasion,poisoning,patches,checks",
    rows: Annotated[int, typer.Option(help="How many rows of DATA are attacked.", min=1)] = 200,
    most: Annotated[
        int | None, typer.Option(help="The largest r tried; by default the largest radius.", min=1)
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    seed: Seed = 0,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    trust: Trust = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Attack a model for real, as its radius says an attacker may: no certified prediction may
    change. Exit code 1 if one does."""
    from .._support.terminal import say
    from ..audit._files import audit_file
    from ..tables._write import check_writable

    if out is not None:
        check_writable(out, (".json",))
    names = tuple(name.strip() for name in attacks.split(",") if name.strip())
    found = audit_file(
        model,
        _local(ctx, data),
        None if training is None else _local(ctx, training, "training"),
        tolerance=tolerance,
        relative=relative,
        attacks=names,
        rows=rows,
        most=most,
        seed=seed,
        trusted=tuple(trust or ()),
        csv=_csv(sep, decimal, encoding),
        verbose=int(not quiet),
        jobs=jobs,
    )
    place = (
        out if out is not None or found.passed else Path("partita-audit.json")
    )  # what broke must not be lost
    if place is not None:
        found.save(place)
    if as_json:
        _tell_json(found.to_dict(), True)
    else:
        say(str(found))
        if not any(line.attack.startswith(("poisoning", "backdoor")) for line in found.lines):
            say(
                "The training data was not attacked: --training FILE does."
                if training is None
                else "No training data was attacked."
            )
        if place is not None:
            say(f"Written to {place}.")
        say(
            "Passed: no certified prediction changed."
            if found.passed
            else "FAILED: do not rely on this model's radii."
        )
    if not found.passed:
        raise typer.Exit(1)


@app.command()
def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PARTITA_TOKEN", help="Ask for this token: Authorization: Bearer TOKEN."
        ),
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    max_rows: Annotated[int, typer.Option(help="The most rows in one request.", min=1)] = 1000,
    max_bytes: Annotated[int, typer.Option(help="The largest request.", min=1)] = 1_000_000,
    trust: Trust = None,
) -> None:
    """Answer requests over HTTP: POST /certify takes rows as JSON and gives predictions with their
    proofs."""
    from ..serve._app import run

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
    )


@app.command()
def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE...", help="Such as 25, figure3, ames, or all; --list shows them."
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            help="smoke: seconds, on data scikit-learn ships; laptop: minutes; full: as in the "
            "paper, images on a GPU."
        ),
    ] = "laptop",
    out: Annotated[
        Path,
        typer.Option(
            help="A folder for results, JSON and figures; what is done there is not done again."
        ),
    ] = Path("partita-reproduce"),
    cache: Cache = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show what there is.")] = False,
    as_json: Json = False,
) -> None:
    """Run the paper's tables: its number, ours and the difference. Run again after an interruption,
    it goes on."""
    from ..reproduce import reproduce as run
    from ..reproduce._tables import TITLES, names_of

    if list_them and as_json:
        _tell_json({"tables": TITLES}, True)
        return
    from ..reproduce._screen import tell, tell_list

    if list_them:
        tell_list()
        return
    found = []
    for name in names_of(tables or []):
        content = run(name, size, out, cache)
        found.append(content)
        if not as_json:
            tell(content, out)
    _tell_json({"tables": found}, as_json)


@data_app.command("list")
def data_list(cache: Cache = None, as_json: Json = False) -> None:
    """What data there are, under which licences, and which of them are in the cache."""
    from ..datasets._cache import cache_folder
    from ..datasets._catalogue import DATA

    folder = cache_folder(cache)
    if as_json:
        _tell_json({"cache": str(folder), "data": [entry.about(cache) for entry in DATA]}, True)
        return
    from .._support.terminal import say, show

    sizes = [
        [
            entry.name,
            *(f"{size:,}" for size in (*entry.rows, entry.columns)),
            "yes" if entry.kept(cache) else "no",
            entry.what,
        ]
        for entry in DATA
    ]
    show(
        "Data to try partita on",
        ["name", "to learn", "to certify", "columns", "cached", "what it is"],
        sizes,
        texts=5,
    )
    say()
    origins = [[entry.name, entry.licence, entry.source] for entry in DATA]
    show("Where they come from", ["name", "licence", "source"], origins, texts=1)
    say()
    say(f"The cache is {folder}.")
    say("Next: partita data fetch NAME, and partita.datasets.load_NAME() in Python.")


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="One of those that partita data list shows.")],
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Get a data set into the cache, unless it is there, and check it."""
    from ..datasets._catalogue import data_set

    entry = data_set(name)
    entry.get(cache)
    if as_json:
        _tell_json(entry.about(cache), True)
        return
    from .._support.terminal import say

    kept = entry.kept(cache)
    say(f"{name} is in {kept}." if kept else f"{name} is not in the cache: {entry.source}.")
    say(f"Licence: {entry.licence}.")


def _split(given: str | None) -> tuple[str, str] | None:
    from ..errors import InputError

    if given is None:
        return None
    column, equals, value = given.partition("=")
    if not (column and equals):
        raise InputError(f"split is {given!r}: give COLUMN=VALUE")
    return column, value


def _with_reference(
    ctx: typer.Context, training: Any, reference: str | None, exchanges: int | None
) -> Any:
    """The training table with the trusted rows that its partition is learnt from."""
    from dataclasses import replace

    from ..errors import InputError
    from ..workflow._reference import informed_from_file

    if reference is None:
        if exchanges is not None:
            raise InputError("exchanges goes with reference: add --reference FILE, or leave it out")
        return training
    found = informed_from_file(training, _local(ctx, reference, "reference"), exchanges or 0)
    return replace(training, reference=found)


def _local(ctx: typer.Context, data: str, argument: str = "data") -> Path:
    """Where a table can be read as long as the command runs: a copy of one that is no file of this
    machine."""
    from ..tables._remote import local_copy

    return ctx.with_resource(local_copy(data, argument))


def _share_or_table(ctx: typer.Context, holdout: str | None) -> Any:
    """What --holdout names: a share of the rows, or another table."""
    if holdout is None:
        return None
    try:
        return float(holdout)
    except ValueError:
        return _local(ctx, holdout, "holdout")


def _check_seen_by_workers(data: str) -> None:
    from ..errors import InputError
    from ..tables._remote import is_local

    if not is_local(data):
        raise InputError(
            "data is no path that all workers see: with --cluster give the path of a Parquet file "
            "or folder"
        )


def _csv(sep: str | None, decimal: str | None, encoding: str | None) -> Any:
    from ..tables._open import CsvOptions

    return CsvOptions(sep, decimal, encoding)


def _tell_json(content: Any, asked: bool) -> None:
    if asked:
        typer.echo(json.dumps(content, allow_nan=False))
