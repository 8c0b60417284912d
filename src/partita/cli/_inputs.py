"""Options of the command line as the workflow takes them, and JSON for machines."""

import json
from pathlib import Path
from typing import Any

import typer

from ..errors import InputError


def parse_split(given: str | None) -> tuple[str, str] | None:
    """COLUMN=VALUE as a pair."""
    if given is None:
        return None
    column, equals, value = given.partition("=")
    if not (column and equals):
        raise InputError(f"split is {given!r}: give COLUMN=VALUE")
    return column, value


def parse_offset(given: list[str] | None) -> dict[str, float] | float | None:
    """Head starts: LABEL=VOTES each, or one number, a multiple of the labels' log shares."""
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


def csv_options(sep: str | None, decimal: str | None, encoding: str | None) -> Any:
    """How CSV files are written."""
    from ..tables import CsvOptions

    return CsvOptions(sep, decimal, encoding)


def parse_silent(silent: list[str] | None) -> Any:
    """The argument ``silent`` of ``certify``, from what was given for --silent."""
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
    """A path at which a table can be read while the command runs; remote tables are copied."""
    from ..tables import local_copy

    return ctx.with_resource(local_copy(data, argument))


def share_or_table(ctx: typer.Context, holdout: str | None) -> float | Path | None:
    """What --holdout names: a share of the rows, or another table."""
    if holdout is None:
        return None
    try:
        return float(holdout)
    except ValueError:
        return local_path(ctx, holdout, "holdout")


def with_reference(
    ctx: typer.Context, training: Any, reference: str | None, exchanges: int | None
) -> Any:
    """The training table with its trusted reference rows, if any."""
    if reference is None:
        if exchanges is not None:
            raise InputError("exchanges goes with reference: add --reference FILE, or leave it out")
        return training
    return training.with_reference(local_path(ctx, reference, "reference"), exchanges or 0)


def print_json(content: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(content, allow_nan=False))
