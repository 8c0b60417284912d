"""``partita certify``."""

from pathlib import Path
from typing import Annotated

import typer

from ._inputs import csv_options, local_path, parse_silent, parse_split, print_json
from ._options import (
    Data,
    Decimal,
    Encoding,
    Jobs,
    Json,
    Model,
    Quiet,
    Relative,
    Sep,
    Silent,
    Split,
    Tolerance,
    Trust,
)


def certify(
    ctx: typer.Context,
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, typer.Option(help="Where predictions and proofs go: .parquet or .csv.")
    ] = None,
    tolerance: Tolerance = None,
    relative: Relative = None,
    silent: Silent = None,
    split: Split = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    trust: Trust = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the rows of a table, and prove each prediction.

    From Parquet to Parquet, the memory it takes does not grow with the number of rows.
    """
    from .._support import print_line
    from ..tables import check_other_file, check_writable
    from ..workflow import CHOSEN, certify_pieces, open_model, open_prediction_table
    from ._summary_screen import show_summary

    if out is not None:
        check_writable(out)
    csv = csv_options(sep, decimal, encoding)
    stored = open_model(model, tuple(trust or ()), jobs)
    place, quiet_sources = local_path(ctx, data), parse_silent(silent)
    if out is not None:
        check_other_file(out, place)
    table = open_prediction_table(stored, place, parse_split(split), csv, quiet_sources)
    chosen = stored.chosen
    words = CHOSEN[chosen]
    summary, columns = certify_pieces(table, out, tolerance, relative, int(not quiet))
    if as_json:
        print_json(summary.to_dict(out) | {"chosen": chosen, "chosen_words": words})
        return
    show_summary(summary)
    print_line(words)
    if out is not None and (tolerance is not None or relative is not None):
        print_line(
            "In the file, a radius is about staying near the prediction; in a report of rows with "
            "a known target, near the target."
        )
    print_line(
        f"Written to {out}: {', '.join(columns)}."
        if out is not None
        else "Nothing was written: use --out FILE to save predictions and proofs."
    )
