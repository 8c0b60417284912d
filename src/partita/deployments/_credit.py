"""Credit: loans, of which one in twenty goes bad. The honest case: what cannot be certified.

Few strong columns, a rare label, and feeds that could be wrong. The answers show how to see that a
proof says little, before anybody relies on it.
"""

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._support import Array
from ..datasets import load_lending_club
from ..ensemble import FeaturePartitionClassifier
from ..metrics import certified_balanced_accuracy, certified_recall, worst_case_precision
from ..selection import search_offsets
from ..workflow import CertifiedTable, Summary
from ._answer import Answer, percent
from ._answers import MAIN, OTHER, PROVEN
from ._deployment import Deployment
from ._study import Study

TRAIN, VALID = 4500, 2400
SUBMODELS, GROUPS = (3, 5, 7), (5, 8)
MOST_SUBMODELS = 5
RADII = range(3)
OFFSETS = (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
BUREAU = (
    "delinquencies",
    "inquiries",
    "revolving credit",
    "new instalments",
    "instalment balances",
)


def build(path: str | os.PathLike[str] | None = None, rows: int = TRAIN) -> Deployment:
    """Loans at random: to learn from, to choose by, and to test on.

    ``path`` is a cache folder; ``rows`` are learnt from.
    """
    data = load_lending_club(path)
    order = np.random.default_rng(0).permutation(len(data.y_train))
    train, valid = order[:rows], order[rows : rows + min(rows, VALID)]
    test = np.arange(len(data.y_test))[: max(rows, 300)]
    return Deployment(
        "credit",
        "Loans, of which one in twenty goes bad",
        "Which loans go bad, if a feed of the bureau, the employer or the income check is wrong?",
        data.X_train.iloc[train],
        data.y_train[train],
        data.X_train.iloc[valid],
        data.y_train[valid],
        data.X_test.iloc[test],
        data.y_test[test],
        dict(data.units or {}),
        data.trusted,
        source="feed",
        positive="bad",
    )


def groups(deployment: Deployment) -> tuple[str, dict[str, Array]]:
    """The test rows of each label."""
    y = deployment.y_test
    return "what became of the loan", {str(label): y == label for label in np.unique(y)}


def special(
    study: Study, path: str | os.PathLike[str] | None = None, verbose: int = 0
) -> list[Answer]:
    """What is proven of the rare label, what a threshold changes, and what trust is worth."""
    return [rare(study), thresholds(study), trust(study)]


def rare(study: Study) -> Answer:
    """What is proven of the rare label, beside what certified accuracy pretends."""
    own = study.deployment
    constant = np.unique(own.y_test)[np.argmax(np.unique(own.y_test, return_counts=True)[1])]
    lines: list[dict[str, Any]] = []
    for one in (study.main, study.other):
        lines.append(
            {
                "model": one.name,
                "certified": [float(one.certified(r).mean()) for r in RADII],
                "recall": [certified_recall(own.y_test, one.proof, r)[own.positive] for r in RADII],
                "balanced": [certified_balanced_accuracy(own.y_test, one.proof, r) for r in RADII],
                "precision": [
                    worst_case_precision(own.y_test, one.proof, own.positive, r) for r in RADII
                ],
                "warnings": [*one.warnings, *_doubts(own, one.model)],
            }
        )
    rows = [
        [f"{line['model']}: {what}", *(percent(share) for share in line[key])]
        for line in lines
        for what, key in (
            ("certified accuracy", "certified"),
            ("mean certified recall", "balanced"),
            (f"certified recall of {own.positive}", "recall"),
            (f"precision of {own.positive} at worst", "precision"),
        )
    ]
    share = float((own.y_test == constant).mean())
    rows.append([f"always {constant}", *[percent(share)] * len(RADII)])
    messages = sorted({message for line in lines for message in line["warnings"]})
    best = max(lines, key=lambda line: line["recall"][own.radius])
    text = (
        f"Always answering {constant!r} is right on {percent(share)} whatever anybody does, so a "
        f"certified accuracy below that proves nothing of use. Look at the rare label instead: at "
        f"best {percent(best['recall'][own.radius])} of the {own.positive} loans are found and "
        f"proven against {own.sources(own.radius)} ({best['model']})."
    )
    if messages:
        text += f" The library says so itself: {messages[0]}"
    return Answer(
        "rare",
        f"What is proven of the {own.positive} loans?",
        text,
        ("r =", *map(str, RADII)),
        rows,
        {"lines": lines, "always": share, "warnings": messages},
        lambda figure: _draw_rare(figure, lines, str(own.positive), share),
        (8.6, 3.8),
    )


def _doubts(deployment: Deployment, model: Any) -> list[str]:
    """What the command line and the report would warn of, above these certificates."""
    table = CertifiedTable.of(model, deployment.X_test, None, None, deployment.y_test)
    return list(Summary.of(table, False).warnings())


def _draw_rare(figure: Any, lines: list[dict[str, Any]], positive: str, always: float) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for ax, key, title in zip(
        axes,
        ("certified", "recall"),
        ("all loans: looks proven", f"{positive} loans: what matters"),
        strict=True,
    ):
        for line, colour in zip(lines, (MAIN, OTHER), strict=True):
            shares = [100 * share for share in line[key]]
            ax.plot(list(RADII), shares, "o-", color=colour, label=line["model"])
        ax.set_title(title, fontsize="medium")
        ax.set(xlabel="feeds that may lie", ylim=(-3, 103))
        ax.set_xticks(list(RADII))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("% right and proven")
    axes[0].axhline(100 * always, color=PROVEN, linestyle="--", linewidth=1, label="always good")
    axes[0].legend(frameon=False, fontsize="small")


def thresholds(study: Study) -> Answer:
    """What a lower threshold for the rare label buys, and what it costs, on validation rows."""
    own = study.deployment
    model = _partition(study, own)
    found = search_offsets(
        model, own.X_valid, own.y_valid, own.positive, offsets=OFFSETS, radius=own.radius
    )
    keys = ("recall", "certified_recall", "precision", "worst_case_precision")
    rows = [
        [f"{row['offset']:+g}", str(row["alarms"]), *(percent(row[key]) for key in keys)]
        for row in found.rows
    ]
    most = max(found.rows, key=lambda row: row["certified_recall"])
    text = (
        f"A head start for {own.positive!r} moves the threshold, with the proof intact: with "
        f"{most['offset']:+g} votes {percent(most['certified_recall'])} of the {own.positive} "
        f"loans are found and proven, but only {percent(most['precision'])} of {most['alarms']} "
        f"alarms are right, and {percent(most['worst_case_precision'])} in the worst case."
    )
    return Answer(
        "thresholds",
        "Can a lower threshold help?",
        text,
        ("head start", "alarms", "recall", "proven recall", "precision", "precision at worst"),
        rows,
        {"rows": found.rows, "submodels": len(model.partition_)},
        lambda figure: _draw_thresholds(figure, found.rows),
        (7.2, 3.6),
    )


def _draw_thresholds(figure: Any, rows: list[dict[str, Any]]) -> None:
    ax = figure.add_subplot()
    places = [row["offset"] for row in rows]
    for key, style, colour, label in (
        ("recall", "o-", MAIN, "bad loans found"),
        ("certified_recall", "D--", PROVEN, "found and proven against one feed"),
        ("precision", "s:", OTHER, "alarms that are right"),
    ):
        ax.plot(places, [100 * row[key] for row in rows], style, color=colour, label=label)
    ax.set(xlabel="head start of bad, in votes", ylabel="%")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize="small")


def trust(study: Study) -> Answer:
    """What trusting columns is worth: the same model with more and with fewer of them."""
    own = study.deployment
    bureau = tuple(column for name in BUREAU for column in own.units[name])
    rest = {name: columns for name, columns in own.units.items() if name not in BUREAU}
    cases = {
        "nothing": replace(own, units={**own.units, "terms": own.trusted}, trusted=()),
        "the lender's terms": own,
        "terms and bureau": replace(own, units=rest, trusted=(*own.trusted, *bureau)),
    }
    lines: list[dict[str, Any]] = []
    for name, case in cases.items():
        model = _partition(study, case)
        proof = model.certify(case.X_test)
        lines.append(
            {
                "trusted": name,
                "feeds": len(case.units),
                "balanced": certified_balanced_accuracy(case.y_test, proof),
                "certified_balanced": certified_balanced_accuracy(case.y_test, proof, own.radius),
                "recall": certified_recall(case.y_test, proof)[own.positive],
                "certified_recall": certified_recall(case.y_test, proof, own.radius)[own.positive],
            }
        )
    rows = [
        [
            line["trusted"],
            str(line["feeds"]),
            *(
                percent(line[key])
                for key in ("balanced", "certified_balanced", "recall", "certified_recall")
            ),
        ]
        for line in lines
    ]
    text = (
        f"With nothing trusted, {percent(lines[0]['certified_recall'])} of the {own.positive} "
        f"loans are found and proven; with the lender's terms trusted "
        f"{percent(lines[1]['certified_recall'])}, with the bureau's feeds as well "
        f"{percent(lines[2]['certified_recall'])}. A proof does not cover what is trusted: secure "
        "it by other means."
    )
    if lines[2]["certified_recall"] < lines[1]["certified_recall"]:
        text += f" With {lines[2]['feeds']} feeds left, there are too few votes for a proof."
    return Answer(
        "trust",
        "What is it worth to secure a feed by other means?",
        text,
        (
            "trusted",
            "feeds left",
            "mean recall",
            "proven",
            f"recall of {own.positive}",
            "proven ",
        ),
        rows,
        {"lines": lines},
        lambda figure: _draw_trust(figure, lines, str(own.positive)),
        (7.2, 3.4),
    )


def _partition(study: Study, case: Deployment) -> Any:
    """The partition ensemble of the study on other sources; the default one where there is none."""
    setting = study.main.setting
    usual = FeaturePartitionClassifier(n_submodels=MOST_SUBMODELS)
    by_ballots = setting.method == "partition" and "fallback" not in setting.options
    model = clone(setting.estimator) if by_ballots else usual
    size = min(int(model.n_submodels), len(case.units))
    model.set_params(units=case.units, trusted=case.trusted, n_submodels=size)
    return model.fit(case.X_train, case.y_train)


def _draw_trust(figure: Any, lines: list[dict[str, Any]], positive: str) -> None:
    ax = figure.add_subplot()
    places = np.arange(len(lines))
    for shift, key, colour, label in (
        (-0.2, "recall", MAIN, f"{positive} loans found"),
        (0.2, "certified_recall", PROVEN, "found and proven against one feed"),
    ):
        bars = ax.bar(
            places + shift, [100 * line[key] for line in lines], 0.38, color=colour, label=label
        )
        ax.bar_label(bars, fmt="%.0f", padding=1)
    ax.set_xticks(places, [line["trusted"] for line in lines])
    ax.set(xlabel="what is trusted", ylabel=f"% of {positive} loans")
    ax.margins(y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
