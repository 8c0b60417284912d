"""What ``partita certify`` and ``partita report`` print for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from .._support import (
    answer_text,
    percent,
    print_line,
    print_table,
    print_warning,
    radii_that_fit,
    shortened,
)
from ..workflow import Summary

MOST_CLASSES = 8  # more classes than this are shown by their mean and the lowest only
MOST_PRECISIONS = 3  # of more classes only the recall is shown
LONGEST_LABEL = 16


def show_summary(summary: Summary) -> None:
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
    longest_name = max(len(name) for name in [*lines, *(name for name, _, _ in comparisons)])
    radii = radii_that_fit(max(map(len, lines.values())), longest_name)
    rows = [[name, *(_cell(line, r) for r in radii)] for name, line in lines.items()]
    for name, share, always in comparisons:
        rows.append([name, *(_cell([share], 0) if r == 0 or always else "-" for r in radii)])
    print_table(
        f"% of rows, whatever is written into r of the {counts.total:,} {counts.what}",
        ["r =", *map(str, radii)],
        rows,
    )
    if len(radii) < max(map(len, lines.values())):
        print_line("Not every radius fits on the screen: --json has all of them.")
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


def _show_widths(summary: Summary) -> None:
    """For numbers without a tolerance: how far r units can move a prediction."""
    print_line(
        "Give --tolerance or --relative to learn how many units it takes to move a prediction "
        "further than that."
    )
    rows = [[str(r), f"{width / summary.rows:.6g}"] for r, width in summary.widths.items()]
    print_table("Where r units can push a prediction", ["r", "mean width of the interval"], rows)


def _recall_lines(found: Mapping[str, Any]) -> dict[str, Sequence[float]]:
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


def _comparisons(found: Mapping[str, Any]) -> list[tuple[str, float, bool]]:
    """What else could answer: name, share of right rows, and whether that holds at every radius."""
    lines = []
    if found.get("constant_accuracy") is not None:
        answer = shortened(answer_text(found["constant_answer"]), LONGEST_LABEL)
        lines.append((f"always {answer}", found["constant_accuracy"], True))
    if found.get("full_model_accuracy") is not None:
        lines.append(("one model, all columns", found["full_model_accuracy"], False))
    return lines


def _cell(line: Sequence[float], r: int) -> str:
    return f"{100 * (line[r] if r < len(line) else 0):.1f}"
