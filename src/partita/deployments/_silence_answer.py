"""The answer about silence: what happens when sources stop talking, declared or replayed.

A silent source is known to be missing. The ensemble's members that need it abstain; the single
model gets blanks instead.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._support import Array
from ._answer import Answer, percent
from ._answers import MAIN, PROVEN, SINGLE, plural
from ._study import Study, certified

MOST_SILENT, SETS = 3, 3


def silence(study: Study, outages: Array | None = None) -> Answer:
    """What happens when a source goes silent?

    ``outages`` are real ones to replay: which test rows lack which source, in the order of the
    deployment's units.
    """
    own, main = study.deployment, study.main
    names = list(own.units)
    rng = np.random.default_rng(0)
    lines = []
    for number in range(min(MOST_SILENT, len(names) - 1) + 1):
        sets = [rng.permutation(len(names))[:number] for _ in range(SETS if number else 1)]
        results = [_measure(study, [names[k] for k in chosen]) for chosen in sets]
        lines.append(
            {
                "silent": number,
                **{key: float(np.mean([one[key] for one in results])) for key in results[0]},
                "proven": float(np.mean(main.right & main.proof.survives(0, number))),
            }
        )
    rows = [
        [
            str(line["silent"]),
            percent(line["one_model"]),
            percent(line["ensemble"]),
            percent(line["certified"]),
            percent(line["proven"]),
        ]
        for line in lines
    ]
    numbers: dict[str, Any] = {"by_number": lines, "sets": SETS}
    text = (
        f"With one {own.source} silent, {percent(lines[1]['ensemble'])} of the test rows are right "
        f"(with all of them {percent(lines[0]['ensemble'])}), and {percent(lines[1]['proven'])} "
        f"were proven beforehand to stay right whichever {own.source} it is."
    )
    if lines[0]["certified"] > 0 and lines[1]["certified"] == 0:
        text += (
            f" While one is silent, nothing is proven against {own.sources(own.radius)} lying as "
            "well: an ensemble with a larger radius is needed for both at once."
        )
    if outages is not None:
        numbers["outages"] = found = _replay(study, outages)
        if found["rows"]:
            text += (
                f" The {found['rows']} test rows with a real outage, replayed as silence: "
                f"{percent(found['ensemble'])} are right, with one model "
                f"{percent(found['one_model'])}, and {percent(found['certified'])} are proven "
                f"against {own.sources(own.radius)} lying on top of it."
            )
            rows.append(
                [
                    f"real outages ({found['rows']} rows)",
                    percent(found["one_model"]),
                    percent(found["ensemble"]),
                    percent(found["certified"]),
                    "-",
                ]
            )
    return Answer(
        "silence",
        f"What happens when a {own.source} goes silent?",
        text,
        (
            f"silent {plural(own)}",
            "one model",
            "ensemble",
            "one lies too" if own.radius == 1 else f"{own.radius} lie too",
            "proven before",
        ),
        rows,
        numbers,
        lambda figure: _draw(figure, lines, plural(own)),
        (7.2, 3.6),
    )


def _measure(study: Study, silent: Sequence[str]) -> dict[str, float]:
    """Accuracy with these sources silent, and what is certified on top of it."""
    own, main = study.deployment, study.main
    proof = main.proof
    if silent:
        proof = certified(own, main.model, own.X_test, own.y_test, list(silent))
    blanks = with_blanks(own.X_test, [column for name in silent for column in own.units[name]])
    right = proof.correct(own.y_test)
    return {
        "one_model": float(own.right(study.single.model.predict(blanks), own.y_test).mean()),
        "ensemble": float(right.mean()),
        "certified": float(np.mean(right & (proof.radius >= own.radius))),
    }


def _replay(study: Study, outages: Array) -> dict[str, Any]:
    """The test rows in which sources were really out, declared as silent row by row."""
    own, main = study.deployment, study.main
    rows = np.flatnonzero(outages.any(axis=1))
    if not len(rows):
        return {"rows": 0}
    X, y = own.X_test.iloc[rows], own.y_test[rows]
    names = list(own.units)
    order = [names.index(name) for name in main.model.units_.names]
    proof = certified(own, main.model, X, y, outages[rows][:, order])
    right = proof.correct(y)
    return {
        "rows": len(rows),
        "most_at_once": int(outages.sum(axis=1).max()),
        "one_model": float(study.single.right[rows].mean()),
        "ensemble": float(right.mean()),
        "certified": float(np.mean(right & (proof.radius >= own.radius))),
    }


def with_blanks(X: Any, columns: Sequence[str]) -> Any:
    """The table with missing values in some columns."""
    blank = X.copy()
    for column in columns:
        blank[column] = np.nan if blank[column].dtype != object else None
    return blank


def _draw(figure: Any, lines: Sequence[Mapping[str, float]], sources: str) -> None:
    ax = figure.add_subplot()
    numbers = [line["silent"] for line in lines]
    for key, colour, style, label in (
        ("one_model", SINGLE, "s-", "one model, with blanks"),
        ("ensemble", MAIN, "o-", "ensemble"),
        ("certified", MAIN, "o:", "ensemble, while others lie"),
        ("proven", PROVEN, "D--", "proven beforehand, whichever they are"),
    ):
        ax.plot(numbers, [100 * line[key] for line in lines], style, color=colour, label=label)
    ax.set(xlabel=f"silent {sources}", ylabel="% of test rows that are right", ylim=(0, 105))
    ax.set_xticks(numbers)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
