"""What partita sweep prints for people."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from .._support.terminal import say, show, warn
from ..workflow._recommend import shown


def show_sweep(found: Mapping[str, Any], out: Any, command: Sequence[str]) -> None:
    """The recommended settings, what to compare them with, and what must be known about them.

    Parameters
    ----------
    found : mapping
        What :func:`partita.sweep.sweep` returned.
    out : path
        Where it was written.
    command : sequence of str
        ``partita fit`` with the table and everything but the settings.
    """
    for warning in found["warnings"]:
        warn(warning)
    best, constant = found["best"], found["constant"]
    if not best:
        warn(f"NO SETTING IS RECOMMENDED: {found['no_more']}")
    of_values, by_label = found["task"] == "regression", found["score"].startswith("recall:")
    lines = [
        ("", "r"),
        *([("recall", "score")] if by_label else []),
        ("accuracy" if not of_values else "right", "accuracy"),
    ]
    lines += [] if of_values else [("mean recall", "balanced")]
    if found["score"] == "balanced":  # what settings are compared by comes first
        lines[1], lines[2] = lines[2], lines[1]
    keys = [key for _, key in lines[1:]]
    rows = []
    if found["full_model"] is not None:
        rows.append(
            [
                "0",
                *_cells(found["full_model"], keys),
                "one model on all columns, which proves nothing",
            ]
        )
    rows += [[str(one["radius"]), *_cells(one, keys), one["fit"]] for one in best]
    rows.append(["any", *_cells(constant, keys), f"always answering {shown(constant['answer'])}"])
    title = f"Best {found['score_words']} at each radius r, in %"
    show(
        title,
        ["r", *(name for name, _ in lines[1:]), "options of partita fit"],
        rows,
        texts=len(lines),
    )
    say(
        f"Measured on {found['held_out']:,} held-out rows: {found['held_out_how']}. A radius "
        f"counts {_counts(found)}."
    )
    if found["full_model"] is None:
        say("One model on all columns was not tried: add 1 to --submodels.")
    if best and found["no_more"]:
        say(f"Not listed, from r = {len(best)} on: {found['no_more']}")
    if found["nearly_constant"]:
        several = found["nearly_constant"] > 1
        say(
            f"Left out as nearly constant: {found['nearly_constant']} setting{'s' * several}, "
            "with one label for nearly all rows."
        )
    say(f"{found['tuned']} On new rows expect a little less.")
    say(f"Written to {out}: sweep.json, sweep.png.")
    if best:
        one = best[min(1, len(best) - 1)]
        say(
            f"Next, for r = {one['radius']}: "
            f"{shlex.join([*command, *shlex.split(one['fit']), '--out', 'model'])}"
        )


def _cells(one: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    return [f"{100 * one[key]:.1f}" if one.get(key) is not None else "-" for key in keys]


def _counts(found: Mapping[str, Any]) -> str:
    return f"{found['counts']['what']} ({found['counts']['total']:,} in all)"
