"""The command line: from a table in a file to a proof. Thin; the work is done elsewhere."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from . import __version__

app = typer.Typer(
    help="Models whose predictions carry a proof: they cannot change unless an attacker controls more than r of your feature sources.",
    epilog="--debug, with any command, shows where an error comes from.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

data_app = typer.Typer(help="Data to try partita on: what there is, and fetching it.", no_args_is_help=True)
app.add_typer(data_app, name="data")

Data = Annotated[Path, typer.Argument(help="A table: .csv or .parquet.")]
Model = Annotated[Path, typer.Argument(help="A model that partita fit stored.")]
Target = Annotated[str, typer.Option(help="The column to predict.")]
Units = Annotated[Path | None, typer.Option(help="A units.toml: which columns come from which source, and which are trusted.")]
Task = Annotated[str, typer.Option(help="classification, regression, or auto: as the target looks.")]
Estimator = Annotated[str, typer.Option(help="What each submodel is: hgb, lightgbm, logistic, or your own as module:Class.")]
Seed = Annotated[int, typer.Option(help="Decides the partition and every submodel's seed.", min=0)]
Tolerance = Annotated[float | None, typer.Option(help="For numbers: a prediction counts as unchanged (or right) within this distance.")]
Relative = Annotated[float | None, typer.Option(help="The same as a share of the value: 0.15 is 15 %.")]
Trust = Annotated[
    list[str] | None, typer.Option(help="A type of your own that may be loaded, by its full name; may be given several times.")
]
Cache = Annotated[
    Path | None, typer.Option(help="The folder where data are kept; default: the environment's PARTITA_CACHE, or ~/.cache/partita.")
]
Split = Annotated[
    str | None, typer.Option(help="COLUMN=VALUE: only rows that have this value. The column must be trusted or ignored in units.toml.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


@app.callback(invoke_without_command=True)
def _main(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="A folder for the reports and figures.")] = Path("partita-demo"),
    as_json: Json = False,
) -> None:
    """Fit, certify and report on data that scikit-learn ships: three rules beside each other, and a regression."""
    from .demo import run

    _tell_json(run(out, quiet=as_json), as_json)


@app.command()
def fit(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="Where the model goes: a folder, or a .zip.")],
    units: Units = None,
    submodels: Annotated[
        int | None, typer.Option(help="How many submodels; by default 21, or as many as there are units (odd).", min=1)
    ] = None,
    rule: Annotated[str | None, typer.Option(help="plurality, runoff or tournament; median for numbers.")] = None,
    margin: Annotated[
        float | None, typer.Option(help="The tournament's margin: the lead in score at which a submodel's word is full.")
    ] = None,
    prior: Annotated[float | None, typer.Option(help="The tournament's prior in [0, 1), for unbalanced labels.")] = None,
    stretch: Annotated[float | None, typer.Option(help="For numbers: move the submodels' values away from their centre.")] = None,
    estimator: Estimator = "hgb",
    task: Task = "auto",
    seed: Seed = 0,
    split: Split = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="For large Parquet: a Dask scheduler, tcp://HOST:PORT, or 'local' for this machine. Submodels are stored one by one; "
            "run again after a crash, it goes on."
        ),
    ] = None,
    batch_rows: Annotated[
        int | None, typer.Option(help="With --cluster: teach an estimator with partial_fit so many rows at a time.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit a model on a table and store it."""
    from . import store
    from .errors import InputError
    from .terminal import say
    from .workflow import choose_rule, open_training

    store.check_place(out)
    if batch_rows is not None and cluster is None:
        raise InputError("batch_rows goes with cluster: add --cluster local, or leave it out")
    training = open_training(data, target, units, task, _split(split))
    chosen = choose_rule(rule, training.of_values, margin, prior, stretch)
    model = training.ensemble(estimator, chosen, "auto" if submodels is None else submodels, seed)
    if cluster is None:
        model.fit(training.table, training.y)
        store.save(model, out, training.about(estimator))
    else:
        from .parquet import fit_training

        where = None if cluster == "local" else cluster
        model, _ = fit_training(training, model, out, cluster=where, batch_rows=batch_rows, estimator=estimator)
    summary = {
        "model": str(out),
        "task": "regression" if training.of_values else "classification",
        "rows": training.table.n_rows,
        "submodels": len(model.partition_),
        "counts": {"what": model.counts_.what, "total": model.counts_.total, "trusted": list(model.counts_.trusted)},
        "rule": repr(chosen),
        "labels": None if training.of_values else model.classes_.tolist(),
    }
    if as_json:
        _tell_json(summary, True)
        return
    learnt = "numbers" if training.of_values else f"{len(model.classes_)} labels"
    say(f"Fitted {len(model.partition_)} submodels on {training.table.n_rows:,} rows for {target!r} ({learnt}; --task says otherwise).")
    say(f"A radius counts {model.counts_}. Rule: {chosen!r}.")
    say(f"Stored in {out}. Next: partita certify {out} NEW --out certified.parquet")


@app.command()
def certify(
    model: Model,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Where predictions and proofs go: .parquet or .csv.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    split: Split = None,
    trust: Trust = None,
    as_json: Json = False,
) -> None:
    """Predict the rows of a table, and prove each prediction. From Parquet to Parquet it takes no more memory for more rows."""
    from .output import check_writable
    from .parquet import certify_pieces
    from .terminal import say

    if out is not None:
        check_writable(out)
    proven = certify_pieces(model, data, out, tolerance, relative, tuple(trust or ()), _split(split))
    columns = proven.columns
    if as_json:
        _tell_json(proven.tally.summary(proven.model, out), True)
        return
    proven.tally.show(proven.model)
    say(f"Written to {out}: {', '.join(columns)}." if out is not None else "Nothing is written: --out FILE does.")


@app.command()
def sweep(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="A folder for sweep.json and sweep.png.")],
    units: Units = None,
    submodels: Annotated[str | None, typer.Option(help="Numbers of submodels to try, such as 5,11,21.")] = None,
    rules: Annotated[str | None, typer.Option(help="Rules to try, such as plurality,runoff,tournament.")] = None,
    margins: Annotated[str | None, typer.Option(help="Margins of the tournament to try, such as 0,0.5,2.")] = None,
    priors: Annotated[str | None, typer.Option(help="Priors of the tournament to try, such as 0,0.5.")] = None,
    stretches: Annotated[str | None, typer.Option(help="For numbers: stretches to try, such as 1,1.3.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    holdout: Annotated[float, typer.Option(help="The share of rows that is certified and not learnt from.")] = 0.25,
    estimator: Estimator = "hgb",
    task: Task = "auto",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Try many settings on held-out rows: the best certified accuracy at each radius. Run again after an interruption, it goes on."""
    from .sweep import Grid, Trial, sweep_file
    from .terminal import say, show
    from .workflow import open_training

    grid = Grid.of(submodels, rules, margins, priors, stretches)
    found = sweep_file(open_training(data, target, units, task), grid, out, Trial(estimator, holdout, seed, tolerance, relative))
    if as_json:
        _tell_json(found, True)
        return
    rows = [[at["radius"], f"{100 * at['accuracy']:.1f} %", at["fit"]] for at in found["best"]]
    show(f"Best certified accuracy on {found['held_out']:,} held-out rows", ["radius", "certified", "options of partita fit"], rows)
    say("Settings were chosen on these rows, so expect a little less on new ones.")
    say(f"Written to {out}: sweep.json, sweep.png.")


@app.command()
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the report goes: .html.")],
    sweep_json: Annotated[
        Path | None, typer.Option("--sweep", help="The sweep.json of a sweep, for the curves over the submodels.")
    ] = None,
    audit_json: Annotated[
        Path | None, typer.Option("--audit", help="What partita audit --out wrote, for a section on what attacks reached.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's heading.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    trust: Trust = None,
    as_json: Json = False,
) -> None:
    """Write a report on a table's proofs: one HTML file that needs nothing else."""
    from .output import check_writable
    from .report import write_report
    from .terminal import say
    from .workflow import certify_file

    check_writable(out, (".html",))
    certified = certify_file(model, data, tolerance, relative, tuple(trust or ()))
    write_report(certified, out, sweep_json, title, audit_json)
    if as_json:
        _tell_json(certified.summary(out), True)
        return
    certified.show()
    say(f"Report: {out}")


@app.command()
def audit(
    model: Model,
    data: Data,
    training: Annotated[
        Path | None, typer.Option(help="The table the model was fitted on, to be attacked too; not needed if it is DATA itself.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where what was found goes: .json, for partita report --audit.")] = None,
    attacks: Annotated[str, typer.Option(help="Some of these.")] = "evasion,poisoning,patches,checks",
    rows: Annotated[int, typer.Option(help="How many rows of DATA are attacked.", min=1)] = 200,
    most: Annotated[int | None, typer.Option(help="The largest r tried; by default the largest radius.", min=1)] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    seed: Seed = 0,
    trust: Trust = None,
    as_json: Json = False,
) -> None:
    """Attack a model for real, as its radius says an attacker may: no certified prediction may change. Exit code 1 if one does."""
    from .audit.files import audit_file
    from .output import check_writable
    from .terminal import say

    if out is not None:
        check_writable(out, (".json",))
    names = tuple(name.strip() for name in attacks.split(",") if name.strip())
    found = audit_file(
        model,
        data,
        training,
        tolerance=tolerance,
        relative=relative,
        attacks=names,
        rows=rows,
        most=most,
        seed=seed,
        trusted=tuple(trust or ()),
    )
    place = out if out is not None or found.passed else Path("partita-audit.json")  # what broke must not be lost
    if place is not None:
        found.save(place)
    if as_json:
        _tell_json(found.to_dict(), True)
    else:
        say(str(found))
        if not any(line.attack.startswith(("poisoning", "backdoor")) for line in found.lines):
            say("The training data was not attacked: --training FILE does." if training is None else "No training data was attacked.")
        if place is not None:
            say(f"Written to {place}.")
        say("Passed: no certified prediction changed." if found.passed else "FAILED: do not rely on this model's radii.")
    if not found.passed:
        raise typer.Exit(1)


@app.command()
def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    token: Annotated[str | None, typer.Option(envvar="PARTITA_TOKEN", help="Ask for this token: Authorization: Bearer TOKEN.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    max_rows: Annotated[int, typer.Option(help="The most rows in one request.", min=1)] = 1000,
    max_bytes: Annotated[int, typer.Option(help="The largest request.", min=1)] = 1_000_000,
    trust: Trust = None,
) -> None:
    """Answer requests over HTTP: POST /certify takes rows as JSON and gives predictions with their proofs."""
    from .serve import run

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
        list[str] | None, typer.Argument(metavar="TABLE...", help="Such as 25, figure3, ames, or all; --list shows them.")
    ] = None,
    size: Annotated[
        str, typer.Option(help="smoke: seconds, on data scikit-learn ships; laptop: minutes; full: as in the paper, images on a GPU.")
    ] = "laptop",
    out: Annotated[Path, typer.Option(help="A folder for results, JSON and figures; what is done there is not done again.")] = Path(
        "partita-reproduce"
    ),
    cache: Cache = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show what there is.")] = False,
    as_json: Json = False,
) -> None:
    """Run the paper's tables: its number, ours and the difference. Run again after an interruption, it goes on."""
    from .reproduce import reproduce as run
    from .reproduce.tables import TITLES, names_of

    if list_them and as_json:
        _tell_json({"tables": TITLES}, True)
        return
    from .reproduce.screen import tell, tell_list

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
    from .datasets.cache import cache_folder
    from .datasets.catalogue import DATA

    folder = cache_folder(cache)
    if as_json:
        _tell_json({"cache": str(folder), "data": [entry.about(cache) for entry in DATA]}, True)
        return
    from .terminal import say, show

    sizes = [
        [entry.name, *(f"{size:,}" for size in (*entry.rows, entry.columns)), "yes" if entry.kept(cache) else "no", entry.what]
        for entry in DATA
    ]
    show("Data to try partita on", ["name", "to learn", "to certify", "columns", "cached", "what it is"], sizes, texts=5)
    say()
    origins = [[entry.name, entry.licence, entry.source] for entry in DATA]
    show("Where they come from", ["name", "licence", "source"], origins, texts=1)
    say()
    say(f"The cache is {folder}.")
    say("Next: partita data fetch NAME, and partita.datasets.load_NAME() in Python.")


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="One of those that partita data list shows.")], cache: Cache = None, as_json: Json = False
) -> None:
    """Get a data set into the cache, unless it is there, and check it."""
    from .datasets.catalogue import data_set

    entry = data_set(name)
    entry.get(cache)
    if as_json:
        _tell_json(entry.about(cache), True)
        return
    from .terminal import say

    kept = entry.kept(cache)
    say(f"{name} is in {kept}." if kept else f"{name} is not in the cache: {entry.source}.")
    say(f"Licence: {entry.licence}.")


def _split(given: str | None) -> tuple[str, str] | None:
    from .errors import InputError

    if given is None:
        return None
    column, equals, value = given.partition("=")
    if not (column and equals):
        raise InputError(f"split is {given!r}: give COLUMN=VALUE")
    return column, value


def _tell_json(content: Any, asked: bool) -> None:
    if asked:
        typer.echo(json.dumps(content, allow_nan=False))
