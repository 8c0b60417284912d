"""What ``partita sweep`` prints for people."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from .._support import answer_text, print_line, print_table, print_warning


def show_sweep(found: Mapping[str, Any], out: Any, command: Sequence[str]) -> None:
    """Print the recommended settings, what to compare them with, and what limits them.

    Parameters
    ----------
    found : mapping
        What :func:`partita.selection.sweep` returned.
    out : path
        Where it was written.
    command : sequence of str
        ``partita fit`` with the table and everything but the settings.
    """
    for warning in found["warnings"]:
        print_warning(warning)
    best = found["best"]
    if not best:
        print_warning(f"NO SETTING IS RECOMMENDED: {found['no_more']}")
    _show_table(found)
    counts = found["counts"]
    print_line(
        f"Measured on {found['held_out']:,} held-out rows: {found['held_out_how']}. A radius "
        f"counts {counts['what']} ({counts['total']:,} in all)."
    )
    if found["full_model"] is None:
        print_line("One model on all columns was not tried: add 1 to --submodels.")
    if best and found["no_more"]:
        print_line(f"Not listed, from r = {len(best)} on: {found['no_more']}")
    if found["one_label_from"] is not None:
        print_line(
            f"From r = {found['one_label_from']} on, no setting certifies a row that has another "
            f"label than {answer_text(found['constant']['answer'])}."
        )
    if found["nearly_constant"]:
        several = found["nearly_constant"] > 1
        print_line(
            f"Left out as nearly constant: {found['nearly_constant']} setting{'s' * several}, "
            "with one label for nearly all rows."
        )
    print_line(f"{found['tuned']} On new rows expect a little less.")
    print_line(f"Written to {out}: sweep.json, sweep.png.")
    if best:
        one = best[min(1, len(best) - 1)]
        print_line(
            f"Next, for r = {one['radius']}: "
            f"{shlex.join([*command, *shlex.split(one['fit']), '--out', 'model'])}"
        )


def _show_table(found: Mapping[str, Any]) -> None:
    """One line per radius, between one model on all columns and the best constant answer."""
    columns = _columns(found)
    full, constant = found["full_model"], found["constant"]
    rows = []
    if full is not None:
        rows.append(["0", *_cells(full, columns), "one model on all columns, no proof"])
    rows += [[str(one["radius"]), *_cells(one, columns), one["fit"]] for one in found["best"]]
    always = f"always answering {answer_text(constant['answer'])}"
    # a constant has no row of any other label
    rows.append(["any", *_cells({"lowest": 0.0, **constant}, columns), always])
    print_table(
        f"Best {found['score_words']} at each radius r, in %",
        ["r", *columns, "options of partita fit"],
        rows,
        first_text=len(columns) + 1,
    )


def _columns(found: Mapping[str, Any]) -> dict[str, str]:
    """The columns of shares, by heading; what settings are compared by comes first."""
    if found["task"] == "regression":
        return {"right": "accuracy"}
    accuracy = {"accuracy": "accuracy"}
    recalls = {"mean recall": "balanced", "lowest": "lowest"}  # of all labels
    if found["score"] == "balanced":
        return recalls | accuracy
    if found["score"].startswith("recall:"):
        # what is bought, and what it costs
        return (
            {"recall": "score", "precision": "precision"} | accuracy | {"mean recall": "balanced"}
        )
    return accuracy | recalls


def _cells(one: Mapping[str, Any], columns: Mapping[str, str]) -> list[str]:
    shares = [one.get(key) for key in columns.values()]
    return ["-" if share is None else f"{100 * share:.1f}" for share in shares]
