"""What ``partita choose`` prints for people."""

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._support import answer_text, print_line, print_table, print_warning
from ..selection import Choice, Objective

SHARES = {"accuracy": "accuracy", "mean recall": "balanced", "lowest": "lowest"}  # of all labels


def show_choice(choice: Choice, out: Path, command: Sequence[str]) -> None:
    """Print the settings worth a look, what to compare them with, and what limits them.

    Parameters
    ----------
    choice : Choice
        What was found.
    out : path
        Where it was written.
    command : sequence of str
        ``partita fit`` with the table and everything but the settings.
    """
    best, common = choice.best, answer_text(choice.constant["answer"])
    own = [] if best is None else best.warnings
    for warning in choice.warnings:
        if warning.removesuffix(".") not in own:
            print_warning(warning)
    for warning in own:
        print_warning(f"With the recommended setting {warning}.")
    if best is None:
        print_warning(f"NO SETTING IS RECOMMENDED: {choice.reason}.")
    always = f"always answering {common}"
    if choice.radius is None:
        _show_radii(choice, always)
    else:
        _show_frontier(choice, choice.radius, always)
    number, _, kind = choice.counts.partition(" ")
    print_line(
        f"Measured on {choice.rows:,} held-out rows: {choice.about['held_out_how']}. A radius "
        f"counts {kind} ({int(number):,} in all)."
    )
    if choice.radius is None and best is not None and choice.no_more:
        print_line(f"Not listed, from r = {len(choice.by_radius)} on: {choice.no_more}.")
    if choice.radius is None and choice.one_label_from is not None:
        print_line(
            f"From r = {choice.one_label_from} on, no setting certifies a row that has another "
            f"label than {common}."
        )
    if choice.nearly_constant:
        print_line(
            f"Left out as nearly constant: {choice.nearly_constant} "
            f"setting{'s' * (choice.nearly_constant > 1)}, with one label for nearly all rows."
        )
    print_line(f"{choice.depends} On new rows expect a little less.")
    print_line(f"Written to {out}: choice.json, choice.png.")
    if best is None:
        return
    radius = choice.radius
    if radius is None:
        radius = min(1, len(choice.by_radius) - 1)
    else:
        price = round(100 * (choice.one_model["accuracy"] - best.accuracy), 1)
        costs = (
            f"the price of the proof is {price:.1f} points of accuracy"
            if price > 0
            else "the proof costs no accuracy on these rows"
        )
        print_line(f"Recommended ({choice.reason}): {costs}.")
    words = [*command, *shlex.split(best.fit_options), "--out", "model"]
    print_line(f"Next, for r = {radius}: {shlex.join(words)}")


def _show_radii(choice: Choice, always: str) -> None:
    """One line per radius, between one model on all columns and the best constant answer."""
    columns = _columns(choice.objective)
    rows = [["0", *_cells(choice.one_model, columns), "one model on all columns, no proof"]]
    for radius, one in enumerate(choice.by_radius):
        entry = choice.objective.entry(one, radius)
        rows.append([str(radius), *_cells(entry, columns), one.fit_options])
    # a constant has no row of any other label
    rows.append(["any", *_cells({"lowest": 0.0, **choice.constant}, columns), always])
    print_table(
        f"Best {choice.objective.words} at each radius r, in %",
        ["r", *columns, "options of partita fit"],
        rows,
        first_text=len(columns) + 1,
    )


def _columns(objective: Objective) -> dict[str, str]:
    """The columns of shares, by heading; what settings are compared by comes first."""
    if objective.task == "regression":
        return {"right": "accuracy"}
    if objective.by_accuracy:
        return SHARES
    if objective.label is None:
        return {name: SHARES[name] for name in ("mean recall", "lowest", "accuracy")}
    # what is bought, and what it costs
    return {"recall": "score", "precision": "precision"} | {
        name: SHARES[name] for name in ("accuracy", "mean recall")
    }


def _show_frontier(choice: Choice, radius: int, always: str) -> None:
    """The frontier of both methods, and the recommended setting if it lies inside."""
    labels = choice.objective.task == "classification"
    names = ["accuracy", "certified"] + ["balanced", "certified_balanced"] * labels
    columns = dict(zip(names, names, strict=True))
    rows = [[*_cells(choice.one_model, columns), "one model on all columns, no proof"]]
    shown = list(choice.frontier)
    if choice.best is not None and choice.best not in shown:
        shown.append(choice.best)
    for one in sorted(shown, key=lambda one: -one.accuracy):
        star = "  (recommended)" if one is choice.best else ""
        rows.append([*_cells(one.as_dict(), columns), one.fit_options + star])
    certified = {"certified": "accuracy", "certified_balanced": "balanced"}
    constant = choice.constant | {name: choice.constant[at] for name, at in certified.items()}
    rows.append([*_cells(constant, columns), always])
    headings = ["right", f"r={radius}"] + ["recall", f"r={radius}"] * labels
    recall = ", and mean recall" * labels
    print_table(
        f"Right now and whatever {radius} of the {choice.counts} say{recall}, in % of "
        f"{choice.rows:,} rows: the frontier of both methods",
        [*headings, "options of partita fit"],
        rows,
        first_text=len(headings),
    )


def _cells(one: Mapping[str, object], columns: Mapping[str, str]) -> list[str]:
    shares = [one.get(key) for key in columns.values()]
    return [
        f"{100 * share:.1f}" if isinstance(share, float) and math.isfinite(share) else "-"
        for share in shares
    ]
