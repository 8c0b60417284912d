"""The options that several commands share, what the workflow takes of them, and JSON output."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..tables import CsvOptions
    from ..workflow import TrainingTable

Data = Annotated[
    str,
    typer.Argument(
        help="A table: .csv or .parquet, also an address such as https:// or s3://, or - for CSV "
        "on standard input."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that partita fit stored.")]
Target = Annotated[str, typer.Option(help="The column to predict.")]
Units = Annotated[
    Path | None,
    typer.Option(help="A units.toml: which columns belong to which unit, and which are trusted."),
]
Task = Annotated[
    str, typer.Option(help="classification, regression, or auto: as the target looks.")
]
Estimator = Annotated[
    str,
    typer.Option(
        help="What each submodel is: hgb (boosted trees), trees (extremely randomized ones; "
        "trees-2, trees-4: with as many rows a leaf), blend (both), lightgbm, logistic, ridge, or "
        "your own as module:Class. auto: blend, or trees for models that leave units out."
    ),
]
Seed = Annotated[int, typer.Option(help="Decides the partition and every submodel's seed.", min=0)]
ReferenceFile = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="A table of trusted rows, none of them in DATA: units are assigned to submodels by "
        "what they tell about the target there, and a sweep chooses settings on these rows alone.",
    ),
]
Exchanges = Annotated[
    int | None,
    typer.Option(
        help="With --reference: number of exchanges of units between submodels to try, such as "
        "3000.",
        min=0,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        help="For numbers: a prediction counts as unchanged (or right) within this distance."
    ),
]
Relative = Annotated[
    float | None, typer.Option(help="The same as a share of the value: 0.15 is 15 %.")
]
LabelSets = Annotated[
    int,
    typer.Option(
        metavar="R",
        help="For labels: also say which labels 1, 2, ... R bad units could bring about.",
        min=0,
    ),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        help="A type of your own that may be loaded, by its full name; may be given several times."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="The folder for data; default: the environment's PARTITA_CACHE, or the user's cache "
        "folder."
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="COLUMN=VALUE: only rows that have this value. The column must be trusted or ignored "
        "in units.toml."
    ),
]
Sep = Annotated[
    str | None,
    typer.Option(
        help="CSV: what separates cells, such as ';' or '\\t'. Default: a comma, or as the "
        "model's training table."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="CSV: the decimal sign, '.' or ','. Default: '.', or as the model's training table."
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="CSV: such as utf-16, latin-1 or cp1252. Default: utf-8, or as the model's training "
        "table."
    ),
]
Silent = Annotated[
    list[str] | None,
    typer.Option(
        help="A source (unit) that is silent; may be given several times. Its submodels abstain, "
        "and the table need not have its columns. detect: whichever has only missing values in a "
        "row."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads; by default all cores. Results do not depend on it.", min=1),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")]


def parse_split(given: str | None) -> tuple[str, str] | None:
    """Split COLUMN=VALUE into a pair."""
    if given is None:
        return None
    column, equals, value = given.partition("=")
    if not (column and equals):
        raise InputError(f"split is {given!r}: give COLUMN=VALUE")
    return column, value


def parse_offset(given: list[str] | None) -> dict[str, float] | float | None:
    """Return head starts: LABEL=VOTES each, or one number, a multiple of the labels' log shares."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        try:
            return float(given[0])
        except ValueError:
            pass
    votes_of: dict[str, float] = {}
    for one in given:
        label, equals, votes = one.rpartition("=")
        try:
            votes_of[label] = float(votes)
        except ValueError:
            equals = ""
        if not (label and equals):
            raise InputError(f"offset is {one!r}: give LABEL=VOTES, such as fraud=2, or one number")
    return votes_of


def csv_options(sep: str | None, decimal: str | None, encoding: str | None) -> "CsvOptions":
    """Make the options that describe how CSV files are written."""
    from ..tables import CsvOptions

    return CsvOptions(sep, decimal, encoding)


def parse_silent(silent: list[str] | None) -> str | list[str] | None:
    """Return the argument ``silent`` of ``certify`` for --silent."""
    if not silent:
        return None
    if "detect" not in silent:
        return silent
    if len(silent) > 1:
        raise InputError(
            "--silent detect finds silent sources by itself: give it alone, or name the sources"
        )
    return "detect"


def local_path(ctx: typer.Context, data: str, argument: str = "data") -> Path:
    """Return a path at which the command can read a table; remote tables are copied."""
    from ..tables import local_copy

    return ctx.with_resource(local_copy(data, argument))


def share_or_table(ctx: typer.Context, holdout: str | None) -> float | Path | None:
    """Return what --holdout names: a share of the rows, or another table."""
    if holdout is None:
        return None
    try:
        return float(holdout)
    except ValueError:
        return local_path(ctx, holdout, "holdout")


def with_reference(
    ctx: typer.Context, training: "TrainingTable", reference: str | None, exchanges: int | None
) -> "TrainingTable":
    """Return the training table with its trusted reference rows, if any."""
    if reference is None:
        if exchanges is not None:
            raise InputError("exchanges goes with reference: add --reference FILE, or leave it out")
        return training
    return training.with_reference(local_path(ctx, reference, "reference"), exchanges or 0)


def print_json(content: object) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(content, allow_nan=False))
