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
    as_json: Json = False,
) -> None:
    """Fit a model on a table and store it."""
    from . import store
    from .terminal import say
    from .workflow import choose_rule, open_training

    store.check_place(out)
    training = open_training(data, target, units, task)
    chosen = choose_rule(rule, training.of_values, margin, prior, stretch)
    model = training.ensemble(estimator, chosen, "auto" if submodels is None else submodels, seed).fit(training.table, training.y)
    about = training.about(estimator)
    store.save(model, out, about)
    summary = {
        "model": str(out),
        "task": about["task"],
        "rows": training.table.n_rows,
        "submodels": len(model.estimators_),
        "counts": {"what": model.counts_.what, "total": model.counts_.total, "trusted": list(model.counts_.trusted)},
        "rule": repr(chosen),
        "labels": None if training.of_values else model.classes_.tolist(),
    }
    if as_json:
        _tell_json(summary, True)
        return
    learnt = "numbers" if training.of_values else f"{len(model.classes_)} labels"
    say(f"Fitted {len(model.estimators_)} submodels on {training.table.n_rows:,} rows for {target!r} ({learnt}; --task says otherwise).")
    say(f"A radius counts {model.counts_}. Rule: {chosen!r}.")
    say(f"Stored in {out}. Next: partita certify {out} NEW --out certified.parquet")


@app.command()
def certify(
    model: Model,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Where predictions and proofs go: .parquet or .csv.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    trust: Trust = None,
    as_json: Json = False,
) -> None:
    """Predict the rows of a table, and prove each prediction."""
    from .terminal import say
    from .workflow import certify_file, check_writable, write_table

    if out is not None:
        check_writable(out)
    certified = certify_file(model, data, tolerance, relative, tuple(trust or ()))
    columns = certified.columns()
    if out is not None:
        write_table(columns, out)
    if as_json:
        _tell_json(certified.summary(out), True)
        return
    certified.show()
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
    title: Annotated[str | None, typer.Option(help="The report's heading.")] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    trust: Trust = None,
    as_json: Json = False,
) -> None:
    """Write a report on a table's proofs: one HTML file that needs nothing else."""
    from .report import write_report
    from .terminal import say
    from .workflow import certify_file, check_writable

    check_writable(out, (".html",))
    certified = certify_file(model, data, tolerance, relative, tuple(trust or ()))
    write_report(certified, out, sweep_json, title)
    if as_json:
        _tell_json(certified.summary(out), True)
        return
    certified.show()
    say(f"Report: {out}")


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


def _tell_json(content: Any, asked: bool) -> None:
    if asked:
        typer.echo(json.dumps(content, allow_nan=False))
