"""The gas detector: sixteen ageing sensors, trained on early batches and tested on later ones."""

import os
from typing import Any

import numpy as np

from .._support import Array
from ..datasets import load_gas_drift
from ._answer import Answer, percent
from ._answers import MAIN, PROVEN, SINGLE
from ._deployment import Deployment
from ._study import Study
from ._tampering import (
    Fault,
    after_backdoor,
    after_fault,
    backdoor,
    scaled,
    stuck,
    swapped,
    worst_sources,
)

TRAIN, VALID, TEST_OF_BATCH = 1200, 600, 300
SUBMODELS, GROUPS = (3, 5, 7, 11, 15), (6, 12)
FAULTS: tuple[tuple[str, Fault, int], ...] = (
    ("stuck", stuck, 1),
    ("stuck", stuck, 3),
    ("scaled", scaled, 1),
    ("scaled", scaled, 3),
    ("swapped", swapped, 2),
)


def build(path: str | os.PathLike[str] | None = None, rows: int = TRAIN) -> Deployment:
    """Rows of batches 1 to 3 to learn from, of batch 3 to choose by, of later ones to test on.

    Settings are judged on batch 3 by models of batches 1 and 2, since the sensors drift. ``rows``
    are learnt from; there are fewer than the data set has, so that everything is quick.
    """
    data = load_gas_drift(path)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.y_train))
    learnt = data.X_train.index.to_numpy()
    train, rest = order[:rows], order[rows:]
    valid = rest[learnt[rest] == learnt.max()][: min(rows, VALID)]
    batch = data.X_test.index.to_numpy()
    most = min(rows, TEST_OF_BATCH)
    test = np.sort(
        np.concatenate(
            [rng.permutation(np.flatnonzero(batch == number))[:most] for number in np.unique(batch)]
        )
    )
    return Deployment(
        "gas",
        "A gas detector of 16 ageing sensors",
        "Which of six gases is it, months after training, if a sensor is stuck, swapped or owned "
        "by somebody?",
        data.X_train.iloc[train],
        data.y_train[train],
        data.X_train.iloc[valid],
        data.y_train[valid],
        data.X_test.iloc[test],
        data.y_test[test],
        dict(data.units or {}),
        source="sensor",
        period=learnt[train],
    )


def groups(deployment: Deployment) -> tuple[str, dict[str, Array]]:
    """The test rows of each batch."""
    batch = deployment.X_test.index.to_numpy()
    return "batch (months after training)", {
        str(number): batch == number for number in np.unique(batch)
    }


def special(
    study: Study, path: str | os.PathLike[str] | None = None, verbose: int = 0
) -> list[Answer]:
    """Sensors that are stuck, scaled or swapped, and a backdoor that was trained in."""
    own, main, single = study.deployment, study.main, study.single
    lines: list[dict[str, Any]] = []
    for name, fault, number in FAULTS:
        one, _ = after_fault(own, single, fault, number)
        ensemble, broken = after_fault(own, main, fault, number)
        lines.append(_line(study, name, number, one, ensemble, broken))
    chosen = worst_sources(own, single.model, stuck, 1)
    tables = backdoor(own, chosen)
    one, _ = after_backdoor(own, single, tables, 1)
    ensemble, broken = after_backdoor(own, main, tables, 1)
    lines.append(_line(study, "trained backdoor", 1, one, ensemble, broken))
    rows = [
        [
            line["fault"],
            str(line["sensors"]),
            percent(line["one_model"]),
            percent(line["ensemble"]),
            percent(line["proven"]),
            str(line["certified_changed"]),
        ]
        for line in lines
    ]
    last = lines[-1]
    broken = sum(line["certified_changed"] for line in lines)
    text = (
        f"A backdoor in {chosen[0]} alone leaves one model {percent(last['one_model'])} right and "
        f"the ensemble {percent(last['ensemble'])}; {percent(last['proven'])} are proven. In all "
        f"these cases {broken} certified predictions changed. Each model meets the sensors that "
        "are worst for it."
    )
    return [
        Answer(
            "faults",
            "What if sensors are stuck, scaled, swapped, or have a backdoor?",
            text,
            ("fault", "sensors", "one model", "ensemble", "proven", "certified and changed"),
            rows,
            {"lines": lines, "backdoor": chosen},
            lambda figure: _draw(figure, lines, float(single.right.mean())),
            (7.6, 4.0),
        )
    ]


def _line(
    study: Study, fault: str, number: int, one: float, ensemble: float, broken: int
) -> dict[str, Any]:
    return {
        "fault": fault,
        "sensors": number,
        "one_model": one,
        "ensemble": ensemble,
        "proven": float(study.main.certified(number).mean()),
        "certified_changed": broken,
    }


def _draw(figure: Any, lines: list[dict[str, Any]], honest: float) -> None:
    ax = figure.add_subplot()
    places = np.arange(len(lines))
    for shift, key, colour, label in (
        (-0.27, "one_model", SINGLE, "one model"),
        (0.0, "ensemble", MAIN, "ensemble"),
        (0.27, "proven", PROVEN, "proven for so many sensors"),
    ):
        bars = ax.bar(
            places + shift, [100 * line[key] for line in lines], 0.26, color=colour, label=label
        )
        ax.bar_label(bars, fmt="%.0f", fontsize="small", padding=1)
    ax.axhline(
        100 * honest, color=SINGLE, linestyle=":", zorder=0, label="one model, nothing wrong"
    )
    names = [
        f"{line['fault']}\n{line['sensors']} sensor{'' if line['sensors'] == 1 else 's'}"
        for line in lines
    ]
    ax.set_xticks(places, names, fontsize="small")
    ax.set(ylabel="% of test rows that are right", ylim=(0, 105))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize="small")
