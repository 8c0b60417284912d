"""The answer about attacks: the audit on the test rows, beside what is proven.

An attack that changes a certified prediction would be a bug; the answer says so first.
"""

from typing import Any

from ..attacks import Line, audit
from ._answer import Answer, percent
from ._answers import MAIN, PROVEN
from ._study import Study

ROWS = 80
ATTACKS = ("evasion", "poisoning", "checks")


def audited(study: Study, rows: int | None = None, verbose: int = 0) -> Answer:
    """Does the proof hold when somebody really attacks?"""
    own, main = study.deployment, study.main
    rows = min(ROWS if rows is None else rows, len(own.y_test))
    found = audit(
        main.model,
        own.X_test,
        own.y_test,
        own.X_train,
        own.y_train,
        tolerance=own.tolerance,
        attacks=ATTACKS,
        rows=rows,
        most=own.radius,
        verbose=verbose,
    )
    lines = [line for line in found.lines if line.r == own.radius] or list(found.lines)
    table = [
        [
            line.attack,
            str(line.attacks),
            f"{line.changed} of {line.rows}",
            f"{line.certified_changed} of {line.certified}",
            _share(line.accuracy),
            _share(line.certified_accuracy),
        ]
        for line in lines
    ]
    broken = sum(line.certified_changed for line in found.lines)
    worst = min((line.accuracy for line in lines if line.accuracy is not None), default=None)
    proven = next((line.certified_accuracy for line in lines), None)
    tried = sum(line.attacks for line in lines)
    text = (
        f"{tried} attacks with {own.sources(own.radius)} on {rows} test rows, {len(lines)} kinds: "
        + (f"{broken} BROKEN PROOFS. " if broken else "no certified prediction changed. ")
    )
    if worst is not None and proven is not None:
        text += (
            f"The strongest attack that was found leaves {percent(worst)} right, and "
            f"{percent(proven)} are proven: no attack at all can go below that."
        )
    if not lines:
        text = "No row has a radius above 0, so there is nothing that an attack could break."
    if found.checks:
        failed = sum(bool(check.problem) for check in found.checks)
        text += (
            f" {failed} OF {len(found.checks)} CHECKS FAILED: the proof does not hold here."
            if failed
            else f" All {len(found.checks)} checks of what the proof rests on passed: submodels "
            "fitted again are the same, and see their own columns and rows alone."
        )
    numbers = {
        "passed": found.passed,
        "broken": broken,
        "rows": rows,
        "under_attack": worst,
        "certified": proven,
        "audit": found.to_dict(),
    }
    return Answer(
        "audit",
        "Does the proof hold when somebody really attacks?",
        text,
        ("attack", "tried", "changed", "of certified", "right", "proven"),
        table,
        numbers,
        (lambda figure: _draw(figure, lines, own.sources(own.radius))) if lines else None,
        (7.2, 0.34 * len(lines) + 1.5),
    )


def _draw(figure: Any, lines: list[Line], sources: str) -> None:
    ax = figure.add_subplot()
    ordered = sorted(lines, key=lambda line: -(line.accuracy or 0))
    shares = [100 * (line.accuracy or 0) for line in ordered]
    bars = ax.barh([line.attack for line in ordered], shares, color=MAIN, alpha=0.85)
    ax.bar_label(bars, fmt="%.0f", padding=3, fontsize="small")
    certified = 100 * max(line.certified_accuracy or 0 for line in lines)
    ax.axvline(certified, color=PROVEN, label=f"proven: {certified:.0f} %")
    ax.set(xlabel=f"% of rows that stay right under attack with {sources}", xlim=(0, 105))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", frameon=False, fontsize="small")


def _share(share: float | None) -> str:
    return "-" if share is None else percent(share)
