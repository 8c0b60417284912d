"""``partita fit``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import JsonObject, json_value, log, print_line, print_warning
from ..errors import InputError
from . import _options as options

if TYPE_CHECKING:
    from ..ensemble import Ensemble
    from ..workflow import TrainingTable

SHOWN_FAMILIES = 5


def fit(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    out: Annotated[Path, typer.Option(help="Where the model goes: a folder, or a .zip.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a model that is there.")
    ] = False,
    units: options.Units = None,
    radius: Annotated[
        int | None,
        typer.Option(
            help="How many units may lie, 1 by default: method and size follow from this and the "
            "number of units (docs/results/radius.md).",
            min=1,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="partition: submodels on disjoint sets of columns. leave-out: models that leave "
            "units out and must agree, with nearly a full model's accuracy for a small --radius."
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(help="With --method leave-out: how many groups units are put into.", min=3),
    ] = None,
    max_models: Annotated[
        int | None,
        typer.Option(help="With --method leave-out: how many fits at most, 150 by default.", min=3),
    ] = None,
    trusted_training: Annotated[
        bool,
        typer.Option(
            "--trusted-training",
            help="With --method leave-out: only rows to predict can be attacked, so one model is "
            "enough, evaluated with units masked.",
        ),
    ] = False,
    submodels: Annotated[
        int | None,
        typer.Option(
            help="With --method partition: the number of submodels.",
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
            "given several times. Or one number: a multiple of each label's log share."
        ),
    ] = None,
    stretch: Annotated[
        float | None,
        typer.Option(help="For numbers: move the submodels' values away from their centre."),
    ] = None,
    estimator: options.Estimator = "auto",
    fallback: Annotated[
        str | None,
        typer.Option(
            help="An estimator, named as in --estimator, that learns from all columns and answers "
            "where the vote proves too little; nothing is proven there."
        ),
    ] = None,
    gate: Annotated[
        int | None,
        typer.Option(
            help="With --fallback: the least radius at which the vote decides, 1 by default. Radii "
            "are smaller by as much.",
            min=0,
        ),
    ] = None,
    task: options.Task = "auto",
    seed: options.Seed = 0,
    reference: options.ReferenceFile = None,
    chosen: Annotated[
        str | None,
        typer.Option(
            help="How you chose the settings, for everybody who reads a radius of this model: "
            "beforehand (before looking at any data), on-reference (on a trusted sample alone), or "
            "on-training (on models that learnt from DATA, as a sweep without --reference does)."
        ),
    ] = None,
    exchanges: options.Exchanges = None,
    split: options.Split = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="For large Parquet: a Dask scheduler, tcp://HOST:PORT, or 'local' for this "
            "machine. Submodels are stored one by one; run again after a crash, it resumes."
        ),
    ] = None,
    batch_rows: Annotated[
        int | None,
        typer.Option(
            help="With --cluster: rows per batch for estimators with partial_fit.",
            min=1,
        ),
    ] = None,
    full_model: Annotated[
        bool,
        typer.Option(
            help="Fit one model on all columns too, for comparison, and try default settings on "
            "held-out rows of a sample. It proves nothing, and may take longer than all submodels."
        ),
    ] = True,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Fit a model on a table and store it."""
    from ..partition import one_hot_families
    from ..selection import LEAVE_OUT, PARTITION, training_order, try_default
    from ..store import check_free
    from ..tables import is_local
    from ..workflow import (
        CHOSEN,
        chosen_name,
        fit_training,
        named_fallback,
        open_training,
    )

    check_free(out, overwrite)
    if gate is not None and fallback is None:
        raise InputError(
            "gate says where a fallback answers: add --fallback, such as --fallback hgb, or leave "
            "it out"
        )
    if batch_rows is not None and cluster is None:
        raise InputError("batch_rows goes with cluster: add --cluster local, or leave it out")
    if cluster is not None and not is_local(data):
        raise InputError(
            "data is not a path that all workers see: with --cluster give the path of a Parquet "
            "file or folder"
        )
    csv, rows = options.csv_options(sep, decimal, encoding), options.parse_split(split)
    training = open_training(options.local_path(ctx, data), target, units, task, rows, csv)
    training = options.with_reference(ctx, training, reference, exchanges)
    if chosen not in CHOSEN:
        raise InputError(
            f"chosen is {chosen!r}: give beforehand, on-reference or on-training, or leave it out"
        )
    training = replace(training, chosen=chosen)
    for_rule = {"margin": margin, "prior": prior, "offset": offset, "stretch": stretch}
    for_partition = {"submodels": submodels, "rule": rule, **for_rule, "fallback": fallback}
    for_leave_out = {"groups": groups, "max-models": max_models}
    given: dict[str, JsonObject] = {
        PARTITION: for_partition | {"gate": gate},
        LEAVE_OUT: for_leave_out | {"trusted-training": trusted_training or None},
    }
    plain = training.ensemble("auto", training.task.rule(None), "auto", seed)
    n_units = len(plain.units_of(training.table))
    by_rule = all(value is None for value in (method, submodels, *for_leave_out.values()))
    if by_rule and cluster is not None:  # where a member would read nearly all columns
        method = PARTITION
    counts = (n_units, training.task.name, training.table.n_rows)
    size = _method_and_size(method, radius, given, *counts)
    method, wanted = size.get("method", PARTITION), radius or 1
    estimator = chosen_name(estimator, method)
    if method == LEAVE_OUT:
        model = training.leave_out_ensemble(
            estimator,
            wanted,
            seed,
            verbose=not quiet,
            n_groups=size["groups"],
            max_models=size.get("max-models") or 150,
            training="trusted" if trusted_training else "attackable",
        )
    else:
        decides = training.task.rule(rule, **for_rule | {"offset": options.parse_offset(offset)})
        model = training.ensemble(estimator, decides, size["submodels"], seed, verbose=not quiet)
    if fallback is not None:
        fallback = chosen_name(fallback, method)
        behind = named_fallback(fallback, training.task)
        model.set_params(fallback=behind, gate=1 if gate is None else gate)
    model.set_params(n_jobs=jobs)
    families, told, trial = {}, [], None
    if cluster is None:
        order = training_order(training)
        if chosen is None:  # a choice has looked at the order of the rows
            settled = [*training.units_file.trusted, *training.units_file.ignore]
            told = order.warnings(settled, judged=False)
        if not training.units_file.units:
            families = one_hot_families(training.table, training.table.names)
        _fit_in_memory(training, model, estimator, fallback, full_model, out)
        if by_rule and full_model:
            trial = try_default(training, model, wanted, order)
    else:
        address = None if cluster == "local" else cluster
        model, _ = fit_training(
            training, model, out, cluster=address, batch_rows=batch_rows, estimator=estimator
        )
    if as_json:
        facts = {"method": method, "radius": wanted, "by_rule": by_rule, "trial": trial}
        options.print_json(_summary(training, model, out, families, told) | facts)
    else:
        how = f" ({method}, by rule for r = {wanted} and {n_units} units; --method, --submodels, "
        how += "--groups override it)"
        _show(training, model, out, families, told, how * by_rule, trial)


def _method_and_size(
    method: str | None,
    radius: int | None,
    given: dict[str, JsonObject],
    n_units: int,
    task: str,
    n_rows: int,
) -> JsonObject:
    """Return method and size: those that are given, or that go with what is, the others by rule."""
    from ..selection import LEAVE_OUT, PARTITION, default_options

    if method not in (None, *given):
        raise InputError(f"method is {method!r}: it must be partition or leave-out")
    names = {
        one: [name for name, value in values.items() if value is not None]
        for one, values in given.items()
    }
    method = method or next((one for one in given if names[one]), None)
    for other in given.keys() - {method}:
        if method is not None and names[other]:
            raise InputError(
                f"{names[other][0]} goes with --method {other}, and the method is {method}: leave "
                "it out"
            )
    submodels, groups = given[PARTITION]["submodels"], given[LEAVE_OUT]["groups"]
    if method == LEAVE_OUT and (groups or given[LEAVE_OUT]["max-models"]):
        return given[LEAVE_OUT] | {"method": LEAVE_OUT, "groups": groups or "auto"}
    if submodels is not None and radius is not None and submodels <= 2 * radius:
        raise InputError(
            f"submodels is {submodels}, and a proof at --radius {radius} needs at least "
            f"{2 * radius + 1}: raise submodels, or lower radius"
        )
    if submodels is not None or (radius is None and method != LEAVE_OUT and n_units < 3):
        return {"submodels": submodels or "auto"}
    return default_options(n_units, radius or 1, task, n_rows, method)


def _fit_in_memory(
    training: "TrainingTable",
    model: "Ensemble",
    estimator: str,
    fallback: str | None,
    full_model: bool,
    out: Path,
) -> None:
    """Fit, with one model on all columns for comparison, and store it."""
    from ..ensemble import FixedVote, fit_full_model
    from ..store import save

    model.fit(training.table, training.y)
    model.full_model_ = None
    if full_model and fallback == estimator:  # one model on all columns is there already
        fitted = model.fallback_model_
        model.full_model_ = None if isinstance(fitted, FixedVote) else fitted
    elif full_model and model.full_member is None:
        if model.verbose:
            log("fitting one model on all columns, for comparison (--no-full-model leaves it out)")
        model.full_model_ = fit_full_model(model, training.table, training.y)
    save(model, out, training.about(estimator, model=model, fallback=fallback))


def _summary(
    training: "TrainingTable",
    model: "Ensemble",
    out: Path,
    families: dict[str, list[str]],
    told: list[str],
) -> JsonObject:
    """Return what was fitted, for machines."""
    in_memory = hasattr(model, "estimators_")  # fitted one by one, they are in the store only
    return {
        "model": str(out),
        "task": training.task.name,
        "rows": training.table.n_rows,
        "submodels": model.n_fitted,
        "counts": json_value(vars(model.counts_)),
        "rule": repr(model.rule_.without_fitted_state()),
        "gate": model.gate_,
        "reference": None if training.reference is None else training.reference.about(),
        "labels": model.classes_.tolist() if model.task == "classification" else None,
        "failed_submodels": len(model.failures_) if in_memory else None,
        "warnings": [*told, *model.warnings_],
        "one_hot_families": families,
        "chosen": training.chosen,
    }


def _show(
    training: "TrainingTable",
    model: "Ensemble",
    out: Path,
    families: dict[str, list[str]],
    told: list[str],
    how: str,
    trial: JsonObject | None,
) -> None:
    """Print what was fitted, for people."""
    from ..partition import as_units_toml
    from ..workflow import CHOSEN

    for warning in [*told, *(f"{text}." for text in model.warnings_)]:
        print_warning(warning)
    if len(model.partition_) == 1:
        print_warning(
            "One submodel sees all units, so no radius above 0 can be proven: a proof needs at "
            "least three units."
        )
    has_labels = model.task == "classification"
    labels = f"{len(model.classes_)} labels" if has_labels else "numbers"
    fitted = f"{model.n_fitted} submodels" if model.n_fitted > 1 else "one model"
    print_line(
        f"Fitted {fitted}{how} on {training.table.n_rows:,} rows for {training.target!r} "
        f"({labels}; use --task to override)."
    )
    print_line(f"A radius counts {model.counts_}. Rule: {model.rule_.without_fitted_state()!r}.")
    if trial is not None:
        print_line(trial["sentence"])
        for warning in trial["warnings"]:
            print_warning(warning)
    if model.gate_:
        print_line(
            f"Below a radius of {model.gate_} the fallback answers, and nothing is proven; other "
            f"radii are smaller by {model.gate_}."
        )
    if training.reference is not None:
        print_line(f"Partition: {training.reference}.")
    print_line(CHOSEN[training.chosen])
    if families:
        more = len(families) - SHOWN_FAMILIES
        some = ", ".join(list(families)[:SHOWN_FAMILIES]) + (f" and {more} more" * (more > 0))
        print_warning(
            f"Some columns look like one-hot columns of one raw column each ({some}), and count "
            "as separate units. The owner of the raw column owns all of them: put these lines "
            "into a units.toml and fit again with --units units.toml."
        )
        print_line(as_units_toml(families))
    elif len(model.units_) == len(training.table.names):  # each column is a unit of its own
        _suggest_sources(training.table.names)
    print_line(f"Stored in {out}. Next: partita certify {out} NEW --out certified.parquet")


def _suggest_sources(names: Sequence[str]) -> None:
    """Point out that names look as if several columns came from one source."""
    from ..partition import shared_prefixes

    prefixes = shared_prefixes(names)
    if prefixes:
        first = next(iter(prefixes))
        more = ["..."] * (len(prefixes) > SHOWN_FAMILIES)
        some = ", ".join([*map(repr, list(prefixes)[:SHOWN_FAMILIES]), *more])
        print_line(
            f"Every column counts as a unit of its own, but their names have {len(prefixes)} "
            f"prefixes ({some}). If one attacker would own all columns of a prefix, put lines "
            f"such as {first.rstrip(first[-1])!r} = ['{first}*'] under [units] in a units.toml, "
            "and fit again with --units units.toml: radii then count such sources."
        )
