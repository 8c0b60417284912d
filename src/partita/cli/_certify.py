"""``partita certify`` and ``partita report``, and the summary that both print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support import (
    JsonObject,
    answer_text,
    percent,
    print_line,
    print_table,
    print_warning,
    radii_that_fit,
    shortened,
)
from . import _options as options

if TYPE_CHECKING:
    from ..workflow import StoredModel, Summary

MOST_CLASSES = 8  # more classes than this are shown by their mean and the lowest only
MOST_PRECISIONS = 3  # of more classes only the recall is shown
LONGEST_LABEL = 16
IN_THE_SET = "truth in label set"


def certify(
    ctx: typer.Context,
    model: options.Model,
    data: options.Data,
    out: Annotated[
        Path | None, typer.Option(help="Where predictions and proofs go: .parquet or .csv.")
    ] = None,
    tolerance: options.Tolerance = None,
    relative: options.Relative = None,
    label_sets: options.LabelSets = 0,
    silent: options.Silent = None,
    split: options.Split = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    trust: options.Trust = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Predict the rows of a table, and prove each prediction.

    From Parquet to Parquet, the memory it takes does not grow with the number of rows.
    """
    from ..tables import check_other_file, check_writable
    from ..workflow import certify_pieces, open_model, open_prediction_table

    if out is not None:
        check_writable(out)
    csv = options.csv_options(sep, decimal, encoding)
    stored = open_model(model, tuple(trust or ()), jobs)
    place, quiet_sources = options.local_path(ctx, data), options.parse_silent(silent)
    if out is not None:
        check_other_file(out, place)
    table = open_prediction_table(stored, place, options.parse_split(split), csv, quiet_sources)
    verbose = int(not quiet)
    summary, columns = certify_pieces(table, out, tolerance, relative, verbose, label_sets)
    _print_result(summary, stored, out, as_json)
    if as_json:
        return
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


def report(
    ctx: typer.Context,
    model: options.Model,
    data: options.Data,
    out: Annotated[Path, typer.Option(help="Where the report goes: .html.")],
    sweep_json: Annotated[
        Path | None,
        typer.Option(
            "--sweep", help="What partita choose wrote, for the curves over the submodels."
        ),
    ] = None,
    audit_json: Annotated[
        Path | None,
        typer.Option(
            "--audit", help="What partita audit --out wrote, for a section on what attacks reached."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The report's heading.")] = None,
    tolerance: options.Tolerance = None,
    relative: options.Relative = None,
    silent: options.Silent = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    trust: options.Trust = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write a report on a table's proofs: one HTML file that needs nothing else."""
    from ..attacks import read_audit
    from ..report import write_report
    from ..selection import read_choice
    from ..tables import check_writable
    from ..workflow import certify_file

    check_writable(out, (".html",))
    if sweep_json is not None:  # before the work begins
        read_choice(sweep_json)
    if audit_json is not None:
        read_audit(audit_json)
    certified = certify_file(
        model,
        options.local_path(ctx, data),
        tolerance,
        relative,
        tuple(trust or ()),
        verbose=0 if quiet else 2,
        csv=options.csv_options(sep, decimal, encoding),
        jobs=jobs,
        silent=options.parse_silent(silent),
    )
    write_report(certified, out, sweep_json, title, audit_json)
    _print_result(certified.summary, certified.stored, out, as_json)
    if not as_json:
        print_line(f"Report: {out}")


def _print_result(
    summary: "Summary", stored: "StoredModel", out: Path | None, as_json: bool
) -> None:
    """Print the summary, and how the model's settings were chosen."""
    from ..workflow import CHOSEN

    words = CHOSEN[stored.chosen]
    if as_json:
        found = summary.to_dict(out) | {"chosen": stored.chosen, "chosen_words": words}
        options.print_json(found)
        return
    show_summary(summary)
    print_line(words)


def show_summary(summary: "Summary") -> None:
    """Print the certified share at every radius, what it counts, and what to compare it with."""
    found, counts = summary.to_dict(), summary.counts
    for warning in found["warnings"]:
        print_warning(warning)
    print_line(f"{summary.rows:,} rows; a radius counts {counts}.")
    if summary.by_fallback is not None:
        print_line(
            f"The fallback answers {summary.by_fallback:,} of them "
            f"({percent(summary.by_fallback / summary.rows)}): nothing is proven there."
        )
    if summary.silence is not None:
        print_line(summary.silence.sentence(summary.rows))
    if "certified" not in found:
        _show_widths(summary)
        return
    lines: dict[str, Sequence[float]] = {"certified": found["certified"]}
    if "certified_accuracy" in found:
        lines["certified and right"] = found["certified_accuracy"]
    lines |= _recall_lines(found)
    comparisons = _comparisons(found)
    coverage = found.get("label_sets", {}).get("coverage", [])
    names = [*lines, IN_THE_SET * bool(coverage), *(name for name, _, _ in comparisons)]
    longest_name = max(map(len, names))
    radii = radii_that_fit(max(map(len, lines.values())), longest_name)
    rows = [[name, *(_cell(line, r) for r in radii)] for name, line in lines.items()]
    if coverage:
        cells = (_cell(coverage, r) if r < len(coverage) else "-" for r in radii)
        rows.append([IN_THE_SET, *cells])
    for name, share, always in comparisons:
        rows.append([name, *(_cell([share], 0) if r == 0 or always else "-" for r in radii)])
    print_table(
        f"% of rows, whatever is written into r of the {counts.total:,} {counts.what}",
        ["r =", *map(str, radii)],
        rows,
    )
    if len(radii) < max(map(len, lines.values())):
        print_line("Not every radius fits on the screen: --json has all of them.")
    if "label_sets" in found:
        sizes = list(enumerate(found["label_sets"]["size"]))[1:]
        listed = ", ".join(f"{size:.2f} at r = {r}" for r, size in sizes)
        print_line(f"Labels that r {counts.what} could bring about, on average: {listed}.")
    _show_alarms(found.get("kept_predictions", {}))


def _show_alarms(kept: Mapping[str, Sequence[int]]) -> None:
    """Of two labels, how many predictions of the rarer one an attacker can remove or add at r = 1.

    So that the few rows that matter do not drown in shares of all rows.
    """
    if len(kept) != 2:
        return
    rare, common = sorted(kept, key=lambda label: kept[label][0])
    now, others = kept[rare][0], kept[common][0]
    stay, silent = (rows[1] if len(rows) > 1 else 0 for rows in (kept[rare], kept[common]))
    print_line(
        f"Of {now:,} rows predicted {rare}, {stay:,} stay so at r = 1; of {others:,} predicted "
        f"{common}, {others - silent:,} may become {rare}."
    )


def _show_widths(summary: "Summary") -> None:
    """For numbers without a tolerance: how far r units can move a prediction."""
    print_line(
        "Give --tolerance or --relative to learn how many units it takes to move a prediction "
        "further than that."
    )
    rows = [[str(r), f"{width / summary.rows:.6g}"] for r, width in summary.widths.items()]
    print_table("Where r units can push a prediction", ["r", "mean width of the interval"], rows)


def _recall_lines(found: JsonObject) -> dict[str, Sequence[float]]:
    recall = found.get("certified_recall") or {}
    if not recall:
        return {}
    mean = {"mean recall": found["certified_balanced_accuracy"]}
    if len(recall) > MOST_CLASSES:
        lowest = min(recall, key=lambda label: recall[label][:2])
        return mean | {f"lowest recall ({shortened(lowest, LONGEST_LABEL)})": recall[lowest]}
    lines = mean | {
        f"recall of {shortened(label, LONGEST_LABEL)}": share for label, share in recall.items()
    }
    if len(recall) > MOST_PRECISIONS:
        return lines
    return lines | {
        f"precision of {shortened(label, LONGEST_LABEL)}": share
        for label, share in found["worst_case_precision"].items()
    }


def _comparisons(found: JsonObject) -> list[tuple[str, float, bool]]:
    """Return what else could answer: name, share of right rows, whether at every radius."""
    lines = []
    if found.get("constant_accuracy") is not None:
        answer = shortened(answer_text(found["constant_answer"]), LONGEST_LABEL)
        lines.append((f"always {answer}", found["constant_accuracy"], True))
    if found.get("full_model_accuracy") is not None:
        lines.append(("one model, all columns", found["full_model_accuracy"], False))
    return lines


def _cell(line: Sequence[float], r: int) -> str:
    return f"{100 * (line[r] if r < len(line) else 0):.1f}"
