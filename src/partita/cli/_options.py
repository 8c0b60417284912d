"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
        help="What each submodel is: hgb (boosted trees), trees (extremely randomized ones), "
        "lightgbm, logistic, ridge, or your own as module:Class. auto: hgb, or trees for models "
        "that leave units out."
    ),
]
Seed = Annotated[int, typer.Option(help="Decides the partition and every submodel's seed.", min=0)]
ReferenceFile = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="A table of trusted rows, none of them in DATA: units are dealt out to submodels by "
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
