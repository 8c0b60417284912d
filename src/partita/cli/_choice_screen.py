"""What ``partita sweep --radius`` prints for people."""

import shlex
from collections.abc import Sequence
from typing import Any

from .._support import answer_text, print_line, print_table, print_warning
from ..selection import Choice, Evaluation


def show_choice(choice: Choice, rows: Any, out: Any, command: Sequence[str]) -> None:
    """Print the frontier, one model and a constant beside it, and the recommended setting.

    Parameters
    ----------
    choice : Choice
        What was found.
    rows : HeldOut
        The validation rows.
    out : path
        Where it was written.
    command : sequence of str
        ``partita fit`` with the table and everything but the settings.
    """
    for warning in rows.warnings():
        print_warning(warning)
    if choice.best is None:
        print_warning(f"NO SETTING IS RECOMMENDED: {choice.reason}.")
    for warning in [] if choice.best is None else choice.best.warnings:
        print_warning(f"With the recommended setting {warning}.")
    labels = choice.one_model["balanced"] is not None
    lines = [[*_shares(choice.one_model, labels), "one model on all columns, no proof"]]
    lines += [_line(one, labels, choice) for one in _shown(choice)]
    always = f"always answering {answer_text(choice.constant['answer'])}"
    constant = choice.constant | {
        "certified": choice.constant["accuracy"],
        "certified_balanced": choice.constant["balanced"],
    }
    lines.append([*_shares(constant, labels), always])
    headings = ["right", f"r={choice.radius}"]
    headings += ["recall", f"r={choice.radius}"] if labels else []
    recall = ", and mean recall" if labels else ""
    print_table(
        f"Right now and whatever {choice.radius} of the {choice.counts} say{recall}, in % of "
        f"{choice.rows:,} rows: the frontier of both methods",
        [*headings, "options of partita fit"],
        lines,
        first_text=len(headings),
    )
    hidden = sum(one.nearly_constant for one in choice.settings)
    if hidden:
        print_line(
            f"Left out as nearly constant: {hidden} setting{'s' * (hidden > 1)}, with one label "
            "for nearly all rows."
        )
    print_line(f"Measured on {rows.words}. {choice.depends} On new rows expect a little less.")
    print_line(f"Written to {out}: choice.json, choice.png.")
    if choice.best is not None:
        price = round(100 * (choice.one_model["accuracy"] - choice.best.accuracy), 1)
        costs = (
            f"the price of the proof is {price:.1f} points of accuracy"
            if price > 0
            else "the proof costs no accuracy on these rows"
        )
        print_line(f"Recommended ({choice.reason}): {costs}.")
        words = [*command, *shlex.split(choice.best.fit_options), "--out", "model"]
        print_line(f"Next: {shlex.join(words)}")


def _shown(choice: Choice) -> list[Evaluation]:
    """The frontier, and the recommended setting if it lies inside."""
    shown = list(choice.frontier)
    if choice.best is not None and choice.best not in shown:
        shown.append(choice.best)
    return sorted(shown, key=lambda one: -one.accuracy)


def _line(one: Evaluation, labels: bool, choice: Choice) -> list[str]:
    star = "  (recommended)" if one is choice.best else ""
    return [*_shares(vars(one), labels), one.fit_options + star]


def _shares(values: dict[str, Any], labels: bool) -> list[str]:
    names = ["accuracy", "certified"] + (["balanced", "certified_balanced"] if labels else [])
    shares = [values.get(name) for name in names]
    return ["-" if share is None else f"{100 * share:.1f}" for share in shares]
